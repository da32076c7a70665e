"""The terminal app: the reference agent, with every hook in view.

| folder | what is in it |
|---|---|
| `feed/` | what the conversation shows, built from the agent's updates and the engine's notices, as styled lines |
| `chat/` | opens the agent, sends it prompts, ends it; dialogs, slash commands, completion; the chat line by line |
| `widgets/` | the Textual widgets, and the presenter that joins them to the chat |
| `screens/` | screens that cover the conversation: hooks browser, trust review, sessions, verbose view |

`feed/` and `chat/` work without a terminal and without Textual.
"""
