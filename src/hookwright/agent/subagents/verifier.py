"""The session's tools for agent hooks: under the same rules, without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence

from hookwright.agent.permissions import Mode
from hookwright.agent.state.actor import Actor
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.session import Identity
from hookwright.agent.turn.tool_call import handle, plain
from hookwright.executors.toolbox import ReadResult, ToolUse
from hookwright.models.types import ToolDefinition as Offer

#: A verifying agent looks at things; it does not start others, and nobody answers it.
_NOT_FOR_HOOKS = frozenset({"Agent", "Skill", "SendMessage", "EnterWorktree", "ExitWorktree"})


class SessionTools:
    """A tool box in the sense of `hookwright.executors.toolbox`, lent by the main agent once it is there."""

    def __init__(self) -> None:
        self.lender: Actor | None = None
        self._actors: dict[str, Actor] = {}

    @property
    def tools(self) -> Sequence[Offer]:
        """List what a verifying agent may call."""
        if self.lender is None:
            return ()
        return [offer for offer in self.lender.offers if offer.name not in _NOT_FOR_HOOKS]

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call as any other: its hooks fire with the agent's id, and what is not allowed is denied."""
        assert self.lender is not None, "only what `tools` lists is called"
        actor = self._actor(use.agent_id, self.lender)
        handled = await handle(actor, {"type": "tool_use", "id": use.id, "name": use.name, "input": dict(use.input)})
        if handled.block is None:
            return ReadResult("A hook put this call off; it was not made.", True)
        text = "\n\n".join([plain(handled.block["content"]), *handled.texts])
        return ReadResult(text, bool(handled.block.get("is_error")))

    def _actor(self, agent_id: str, lender: Actor) -> Actor:
        known = self._actors.get(agent_id)
        if known is None:
            transcript = lender.dialogue.transcript.subagent(agent_id, {"agentType": "hook"})
            tools = {name: tool for name, tool in lender.tools.items() if name not in _NOT_FOR_HOOKS}
            known = Actor(
                lender.session,
                Dialogue(transcript),
                lender.bench.for_agent(),
                system="",
                tools=tools,
                identity=Identity(agent_id, ""),
            )
            known.mode = Mode.DONT_ASK
            known.parent_tool_use_id = agent_id
            self._actors = {agent_id: known, **dict(list(self._actors.items())[:7])}
        return known
