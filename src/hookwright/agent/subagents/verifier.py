"""The session's tools for agent hooks: under the same rules, without asking a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hookwright.agent.permissions import Mode
from hookwright.agent.state.actor import Actor, AgentRole
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.session import Identity
from hookwright.agent.turn.tool_call import handle, plain
from hookwright.executors.toolbox import ReadResult, ToolUse
from hookwright.models.types import ToolDefinition as Offer

#: A verifying agent inspects things; it starts no other agents and sends no messages.
_NOT_FOR_HOOKS = frozenset({"Agent", "Skill", "SendMessage", "EnterWorktree", "ExitWorktree"})
#: How many verifying agents are remembered between two of their calls.
_REMEMBERED = 8


class SessionTools:
    """A toolbox in the sense of `hookwright.executors.toolbox`, on behalf of the main agent.

    Hooks are opened before the main agent exists, so it is looked up at each call; before that there are no tools.
    """

    def __init__(self, main: Callable[[], Actor | None]) -> None:
        self._main = main
        self._actors: dict[str, Actor] = {}

    @property
    def tools(self) -> Sequence[Offer]:
        """The tools a verifying agent may call."""
        main = self._main()
        return () if main is None else [offer for offer in main.offers if offer.name not in _NOT_FOR_HOOKS]

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call like any other: its hooks fire with the agent's id, and what is not allowed is denied."""
        main = self._main()
        assert main is not None, "only what `tools` lists is called"
        actor = self._actor(use.agent_id, main)
        handled = await handle(actor, {"type": "tool_use", "id": use.id, "name": use.name, "input": dict(use.input)})
        if handled.block is None:
            return ReadResult("A hook deferred this call; it did not run.", True)
        text = "\n\n".join([plain(handled.block["content"]), *actor.dialogue.take_waiting()])
        return ReadResult(text, bool(handled.block.get("is_error")))

    def _actor(self, agent_id: str, main: Actor) -> Actor:
        known = self._actors.get(agent_id)
        if known is None:
            transcript = main.dialogue.transcript.subagent(agent_id, {"agentType": "hook"})
            role = AgentRole(
                identity=Identity(agent_id, ""),
                tools={name: tool for name, tool in main.tools.items() if name not in _NOT_FOR_HOOKS},
                mode=Mode.DONT_ASK,
                parent_tool_use_id=agent_id,
            )
            known = Actor(main.session, Dialogue(transcript), main.context.for_agent(), role)
            self._actors = {agent_id: known, **dict(list(self._actors.items())[: _REMEMBERED - 1])}
        return known
