"""The terminal app: the reference agent with its hooks in plain sight.

| file | what it tells |
|---|---|
| `items`, `feed` | what stands on the screen, reduced from the agent's updates and the engine's notices |
| `activity` | which hooks run now, and what each of them did so far |
| `words`, `firings`, `diffs` | lines of text with names for styles: tool calls, hook lines, the verbose view, diffs |
| `choices`, `forms`, `entries`, `complete`, `history` | what dialogs offer, the browser lists and prompts complete to |
| `conductor`, `plan` | opens the agent, brings it prompts, ends it; knows no widget |
| `plain` | the same conversation line by line, where there is no screen |
| `paint`, `markdown`, `logview` | items to strips, and the view that only paints what is seen |
| `app`, `prompt`, `status`, `dialog`, `screens/` | widgets, as thin as they can be |

Everything above `paint` works without a terminal and without Textual.
"""
