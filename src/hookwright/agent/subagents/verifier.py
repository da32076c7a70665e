"""The session's tools for agent hooks: under the same rules, without asking a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hookwright.agent.permissions import Mode
from hookwright.agent.state.actor import Actor, AgentRole
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.session import Identity
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult
from hookwright.agent.turn.loop import batched
from hookwright.agent.turn.tool_call import handle, plain
from hookwright.executors.agent import ANSWER
from hookwright.executors.toolbox import ReadResult, ToolUse
from hookwright.models.types import ToolDefinition as Offer
from hookwright.protocol.events import PostToolBatch
from hookwright.protocol.jsontext import Json

#: A verifying agent inspects things; it starts no other agents and sends no messages.
_NOT_FOR_HOOKS = frozenset({"Agent", "Skill", "SendMessage", "EnterWorktree", "ExitWorktree"})
#: How many verifying agents are remembered between two of their calls.
_REMEMBERED = 8


async def _accept(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
    return ToolResult(_ACCEPTED, _ACCEPTED)


_ACCEPTED = "Structured output provided successfully"
#: The tool with which a verifying agent answers, so that hooks see this call like any other.
_TOOL = Tool(
    name=ANSWER.name,
    description=ANSWER.description,
    parameters=ANSWER.input_schema,
    effect=Effect.SESSION,
    run=_accept,
    output={"type": "string"},
    render=str,
)


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
        return () if main is None else [*(one for one in main.offers if one.name not in _NOT_FOR_HOOKS), ANSWER]

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call like any other: its hooks fire with the agent's id, and what is not allowed is denied.

        Law (R-143): without any rule it may read exactly one file outside the workspace, the transcript of the
        conversation that fired its hook; deny rules still apply.
        """
        main = self._main()
        assert main is not None, "only what `tools` lists is called"
        actor = self._actor(use, main)
        handled = await handle(actor, {"type": "tool_use", "id": use.id, "name": use.name, "input": dict(use.input)})
        if handled.block is None:
            return ReadResult("A hook deferred this call; it did not run.", True)
        if use.name != ANSWER.name and handled.stop is None:
            batch = await actor.fire(actor.event(PostToolBatch, tool_calls=[batched(handled)]))
            actor.dialogue.record_firing(batch)
        text = "\n\n".join([plain(handled.block["content"]), *actor.dialogue.take_waiting()])
        return ReadResult(text, bool(handled.block.get("is_error")))

    def _actor(self, use: ToolUse, main: Actor) -> Actor:
        agent_id = use.agent_id
        known = self._actors.get(agent_id)
        if known is None:
            transcript = main.dialogue.transcript.subagent(agent_id, {"agentType": "hook"})
            role = AgentRole(
                identity=Identity(agent_id, ""),
                tools={
                    **{name: tool for name, tool in main.tools.items() if name not in _NOT_FOR_HOOKS},
                    ANSWER.name: _TOOL,
                },
                mode=Mode.DONT_ASK,
                readable=(use.transcript,) if use.transcript else (),
                parent_tool_use_id=agent_id,
            )
            known = Actor(main.session, Dialogue(transcript), main.context.for_agent(), role)
            self._actors = {agent_id: known, **dict(list(self._actors.items())[: _REMEMBERED - 1])}
        return known
