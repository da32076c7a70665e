"""Subagents: an agent that works on one task in a conversation of its own, awaited or in the background."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping

import msgspec

from hookwright.agent.permissions import read_mode
from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.state.components import AgentType
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.endings import ApiFailed, Finished, StopPrevented, TurnEnd
from hookwright.agent.state.inbox import TaskNotice
from hookwright.agent.state.prompts import agents_part, system_prompt
from hookwright.agent.state.session import Identity, Session
from hookwright.agent.state.session_model import resolve
from hookwright.agent.state.updates import Added
from hookwright.agent.subagents.worktrees import worktree_for
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.tasks import task_gate
from hookwright.protocol.events import SubagentStart
from hookwright.protocol.jsontext import Json

#: Subagents do not start agents of their own and do not move the session.
NOT_FOR_SUBAGENTS = frozenset({"Agent", "EnterWorktree", "ExitWorktree"})


class Member(msgspec.Struct, kw_only=True):
    """A subagent at work, or a teammate."""

    actor: Actor
    description: str
    prompt: str
    started: float
    isolation: str | None = None
    task: asyncio.Task[None] | None = None
    #: Set for a teammate that waits for messages.
    idle: bool = False
    name: str | None = None


class Crew:
    """The subagents and teammates of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.members: dict[str, Member] = {}

    @property
    def busy(self) -> bool:
        """Tell whether somebody works beside the main agent."""
        return any(not member.idle for member in self.members.values())

    def running(self) -> list[dict[str, Json]]:
        """List who works in the background, as Stop hooks read it."""
        return [
            {
                "id": agent_id,
                "type": "teammate" if member.name is not None else "subagent",
                "status": "idle" if member.idle else "running",
                "description": member.description,
                "agent_type": _type_of(member),
            }
            for agent_id, member in self.members.items()
        ]

    # ── one subagent ────────────────────────────────────────────────────────

    def hire(self, parent: Actor, call_id: str, kind: AgentType, arguments: Mapping[str, Json]) -> Member:
        """Set up a subagent with its own conversation, transcript and bench."""
        session = self._session
        identity = Identity(f"a{uuid.uuid4().hex[:16]}", kind.name)
        meta = {"agentType": kind.name, "description": arguments["description"], "toolUseId": call_id}
        transcript = parent.dialogue.transcript.subagent(identity.agent_id, meta)
        told = Dialogue(transcript, on_added=lambda text, name: session.tell(Added(text, name, call_id)))
        model = arguments.get("model") or kind.model
        name = resolve(model) if model else session.voice.main_model
        actor = Actor(
            session,
            told,
            parent.bench.for_agent(),
            system=system_prompt(parent.bench.cwd, name, kind.prompt, ()),
            tools=_tools_for(session, kind),
            identity=identity,
        )
        actor.bench.gate = task_gate(actor)
        actor.model = name if model else None
        actor.mode = read_mode(kind.permission_mode) if kind.permission_mode is not None else None
        actor.max_turns = kind.max_turns
        actor.parent_tool_use_id = call_id
        if kind.hooks:
            session.hooks.activate(kind.hooks)
        return Member(
            actor=actor,
            description=arguments["description"],
            prompt=arguments["prompt"],
            started=time.monotonic(),
            isolation=arguments.get("isolation") or kind.isolation,
        )

    async def work(self, member: Member) -> TurnEnd:
        """Let a subagent start and carry out its task, in a worktree of its own where it is to be kept apart."""
        if member.isolation != "worktree":
            await self.start(member, member.prompt)
            return await converse(member.actor)
        async with worktree_for(member.actor):
            await self.start(member, member.prompt)
            return await converse(member.actor)

    async def start(self, member: Member, prompt: str) -> None:
        """Fire SubagentStart and put the task before the subagent, with what its hooks add."""
        actor = member.actor
        outcome = await actor.fire(actor.event(SubagentStart))
        actor.dialogue.user(prompt, promptId=self._session.prompt_id)
        actor.dialogue.add_system(actor.dialogue.record_firing(outcome))

    def launch(self, member: Member) -> None:
        """Let a subagent work in the background; the main agent hears of its end."""
        identity = member.actor.identity
        assert identity is not None
        self.members[identity.agent_id] = member
        member.task = self._session.accompany(self._background(identity.agent_id, member))

    async def _background(self, agent_id: str, member: Member) -> None:
        try:
            ending = await self.work(member)
        except Exception as error:  # tools and servers are other people's; the main agent must not wait in vain
            ending = ApiFailed("unknown", f"{type(error).__name__}: {error}")
        finally:
            del self.members[agent_id]
        self._session.inbox.put(
            TaskNotice(
                task_id=agent_id,
                status="failed" if isinstance(ending, ApiFailed) else "completed",
                summary=f'Agent "{member.description}" ended',
                result=said(ending),
                output=member.actor.dialogue.transcript.path,
            )
        )


def said(ending: TurnEnd) -> str:
    """Give what a subagent leaves for whoever started it."""
    if isinstance(ending, Finished | StopPrevented):
        return ending.text
    if isinstance(ending, ApiFailed):
        return ending.text
    return "(The subagent ended before it gave an answer.)"


def _type_of(member: Member) -> str:
    return member.actor.identity.agent_type if member.actor.identity is not None else ""


def _tools_for(session: Session, kind: AgentType) -> dict[str, Tool]:
    out = NOT_FOR_SUBAGENTS | set(kind.disallowed_tools)
    return {
        name: tool
        for name, tool in session.tools.items()
        if name not in out and (kind.tools is None or name in kind.tools or _offered_whole(name, kind.tools))
    }


def _offered_whole(name: str, wanted: tuple[str, ...]) -> bool:
    """Let `mcp__server` stand for every tool of a server."""
    return any(name.startswith(f"{word}__") for word in wanted if word.startswith("mcp__"))


# ── the tool ────────────────────────────────────────────────────────────────


#: Makes a subagent a teammate of this name.
Join = Callable[[Member, str], ToolResult]


def agent_tool(crew: Crew, join: Join, kinds: Mapping[str, AgentType]) -> Tool:
    """Make the tool by which the model starts subagents and teammates."""

    async def run(arguments: dict[str, Json], bench: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets the bench
        wanted = arguments.get("subagent_type", "general-purpose")
        kind = kinds.get(wanted)
        if kind is None:
            return failed(f"Agent type '{wanted}' not found. Available agents: {', '.join(sorted(kinds))}")
        by = caller()
        member = crew.hire(by.actor, by.call_id, kind, arguments)
        if arguments.get("name"):
            return join(member, arguments["name"])
        if arguments.get("run_in_background", kind.background):
            crew.launch(member)
            return _launched(member)
        return _finished(member, await crew.work(member))

    return Tool(
        name="Agent",
        description="Start an agent that carries out a task in a conversation of its own and reports back. With "
        "run_in_background you go on and hear of its end later; with a name it joins your team and stays for "
        f"messages. Kinds:\n{agents_part(kinds.values())}",
        parameters=parameters(
            {"description": _text("the task in three to five words"), "prompt": _text("the task")},
            {
                "subagent_type": _text("the kind of agent; general-purpose if not given"),
                "model": _text("a model for this agent alone"),
                "run_in_background": {"type": "boolean", "description": "do not wait for the agent"},
                "name": _text("a name, to make it a teammate"),
                "isolation": {"type": "string", "enum": ["worktree"], "description": "work on a copy"},
            },
        ),
        effect=Effect.OTHER,
        run=run,
        output={"type": "object"},
        render=_render,
    )


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


def _launched(member: Member) -> ToolResult:
    identity = member.actor.identity
    assert identity is not None
    response = {
        "status": "async_launched",
        "agentId": identity.agent_id,
        "description": member.description,
        "prompt": member.prompt,
        "outputFile": member.actor.dialogue.transcript.path,
        "resolvedModel": member.actor.model or member.actor.session.voice.main_model,
    }
    return ToolResult(response, _render(response))


def _finished(member: Member, ending: TurnEnd) -> ToolResult:
    if isinstance(ending, ApiFailed):
        return failed(ending.text)
    actor = member.actor
    assert actor.identity is not None
    response = {
        "status": "completed",
        "prompt": member.prompt,
        "agentId": actor.identity.agent_id,
        "agentType": actor.identity.agent_type,
        "content": [{"type": "text", "text": said(ending)}],
        "totalDurationMs": round((time.monotonic() - member.started) * 1000),
        "totalTokens": actor.usage.context_tokens + actor.usage.output_tokens,
        "totalToolUseCount": actor.tool_calls,
        "usage": msgspec.structs.asdict(actor.usage),
        "resolvedModel": actor.model or actor.session.voice.main_model,
    }
    return ToolResult(response, _render(response))


def _render(response: Json) -> str:
    if not isinstance(response, dict) or response.get("status") == "async_launched":
        return (
            f"The agent works in the background as {response.get('agentId')}. You will hear when it is done; its "
            f"conversation is recorded in {response.get('outputFile')}."
        )
    content = response.get("content", ())
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
