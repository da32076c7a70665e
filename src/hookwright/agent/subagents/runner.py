"""Subagents: agents that work on one task in their own conversation, awaited or in the background."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping

import msgspec

from hookwright.agent.permissions import read_mode
from hookwright.agent.state.actor import Actor, AgentRole, caller
from hookwright.agent.state.components import AgentType
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.endings import ApiFailed, Interrupted, TurnEnd
from hookwright.agent.state.inbox import TaskNotice
from hookwright.agent.state.prompts import agents_part, system_prompt
from hookwright.agent.state.session import Identity, Session
from hookwright.agent.state.session_model import resolve
from hookwright.agent.state.updates import Added, TaskEnded, TaskStarted
from hookwright.agent.subagents.report import final_text, finished, launched, render
from hookwright.agent.subagents.worktrees import worktree_for
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.agent.turn.loop import converse
from hookwright.protocol.events import SubagentStart
from hookwright.protocol.jsontext import Json

#: Subagents do not start other agents and do not move the session.
NOT_FOR_SUBAGENTS = frozenset({"Agent", "EnterWorktree", "ExitWorktree"})


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A subagent or a teammate."""

    actor: Actor
    identity: Identity
    description: str
    prompt: str
    started: float
    isolation: str | None = None
    #: Set for a teammate.
    name: str | None = None


class Subagents:
    """The subagents and teammates of one session that run in the background."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._idle: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether one of them is at work."""
        return any(agent_id not in self._idle for agent_id in self._members)

    def running(self) -> list[dict[str, Json]]:
        """List them as Stop hooks read it."""
        return [
            {
                "id": agent_id,
                "type": "teammate" if member.name is not None else "subagent",
                "status": "idle" if agent_id in self._idle else "running",
                "description": member.description,
                "agent_type": member.identity.agent_type,
            }
            for agent_id, member in self._members.items()
        ]

    def name_of(self, actor: Actor) -> str | None:
        """Return the name of a teammate; None for any other agent."""
        member = self._members.get(actor.identity.agent_id) if actor.identity is not None else None
        return member.name if member is not None else None

    def add(self, member: Member) -> None:
        """List a member that starts."""
        self._members[member.identity.agent_id] = member

    def remove(self, member: Member) -> None:
        """Drop a member that ended."""
        del self._members[member.identity.agent_id]

    @contextlib.contextmanager
    def idle(self, member: Member) -> Iterator[None]:
        """Mark a teammate as idle while it waits for messages."""
        self._idle.add(member.identity.agent_id)
        try:
            yield
        finally:
            self._idle.discard(member.identity.agent_id)

    def launch(self, member: Member) -> None:
        """Run a subagent in the background; the main agent gets a notice when it ends."""
        self.add(member)
        self._working[member.identity.agent_id] = member.actor.session.accompany(self._background(member))

    def stop(self, agent_id: str) -> bool:
        """Stop a subagent that works in the background; return False if there is none of that id."""
        working = self._working.pop(agent_id, None)
        return working is not None and working.cancel()

    async def _background(self, member: Member) -> None:
        agent_id = member.identity.agent_id
        try:
            ending = await work(member)
        except asyncio.CancelledError:
            if agent_id in self._working:  # the session ends; `stop` takes it out
                raise
            ending = Interrupted()
        except Exception as error:  # third-party tools and servers; the main agent needs a notice in any case
            ending = ApiFailed("unknown", f"{type(error).__name__}: {error}")
        finally:
            self.remove(member)
            self._working.pop(agent_id, None)
        stopped = isinstance(ending, Interrupted)
        status = "killed" if stopped else "failed" if isinstance(ending, ApiFailed) else "completed"
        _tell_end(member, "stopped" if stopped else status, final_text(ending))
        member.actor.session.inbox.put(
            TaskNotice(
                task_id=agent_id,
                status=status,
                summary=f'Agent "{member.description}" {"was stopped" if stopped else "ended"}',
                result=final_text(ending),
                output=member.actor.dialogue.transcript.path,
            )
        )


# ── one subagent ────────────────────────────────────────────────────────────


def create_member(parent: Actor, call_id: str, kind: AgentType, arguments: Mapping[str, Json]) -> Member:
    """Build a subagent with its own conversation, transcript and working directory."""
    session = parent.session
    identity = Identity(f"a{uuid.uuid4().hex[:16]}", kind.name)
    meta = {"agentType": kind.name, "description": arguments["description"], "toolUseId": call_id}
    transcript = parent.dialogue.transcript.subagent(identity.agent_id, meta)
    dialogue = Dialogue(transcript, on_added=lambda text, name: session.tell(Added(text, name, call_id)))
    model = arguments.get("model") or kind.model
    name = resolve(model) if model else session.model.main_model
    role = AgentRole(
        identity=identity,
        tools=_tools_for(session, kind),
        model=name if model else None,
        mode=read_mode(kind.permission_mode) if kind.permission_mode is not None else None,
        max_turns=kind.max_turns,
        parent_tool_use_id=call_id,
    )
    system = system_prompt(parent.context.cwd, name, kind.prompt, ())
    if kind.hooks:
        session.hooks.activate(kind.hooks)
    return Member(
        actor=Actor(session, dialogue, parent.context.for_agent(), role, system),
        identity=identity,
        description=arguments["description"],
        prompt=arguments["prompt"],
        started=time.monotonic(),
        isolation=arguments.get("isolation") or kind.isolation,
        name=arguments.get("name") or None,
    )


def _tell_start(member: Member, *, in_background: bool) -> None:
    """Report a subagent that starts."""
    member.actor.session.tell(
        TaskStarted(
            task_id=member.identity.agent_id,
            tool_use_id=member.actor.role.parent_tool_use_id or "",
            description=member.description,
            task_type="local_agent",
            in_background=in_background,
            agent_type=member.identity.agent_type,
            prompt=member.prompt,
        )
    )


def _tell_end(member: Member, status: str, summary: str) -> None:
    """Report a subagent that ended: completed, failed or stopped."""
    actor = member.actor
    member.actor.session.tell(
        TaskEnded(
            task_id=member.identity.agent_id,
            tool_use_id=actor.role.parent_tool_use_id or "",
            status=status,
            summary=summary,
            output_file=actor.dialogue.transcript.path,
            usage={
                "total_tokens": actor.usage.context_tokens + actor.usage.output_tokens,
                "tool_uses": actor.tool_calls,
                "duration_ms": round((time.monotonic() - member.started) * 1000),
            },
        )
    )


async def work(member: Member) -> TurnEnd:
    """Start a subagent and run it to its end, in its own worktree if it is isolated."""
    if member.isolation != "worktree":
        await start(member, member.prompt)
        return await converse(member.actor)
    async with worktree_for(member.actor):
        await start(member, member.prompt)
        return await converse(member.actor)


async def start(member: Member, prompt: str) -> None:
    """Fire SubagentStart and add the task and hooks' context to the subagent's conversation."""
    actor = member.actor
    outcome = await actor.fire(actor.event(SubagentStart))
    actor.dialogue.user(prompt, promptId=actor.session.state.prompt_id)
    actor.dialogue.record_firing(outcome)
    actor.dialogue.deliver()


def tools_of(session: Session, kind: AgentType) -> dict[str, Tool]:
    """Return the tools of an agent type, of those the session offers."""
    return {
        name: tool
        for name, tool in session.equipment.tools.items()
        if name not in kind.disallowed_tools
        and (kind.tools is None or name in kind.tools or _of_server(name, kind.tools))
    }


def _tools_for(session: Session, kind: AgentType) -> dict[str, Tool]:
    return {name: tool for name, tool in tools_of(session, kind).items() if name not in NOT_FOR_SUBAGENTS}


def _of_server(name: str, wanted: tuple[str, ...]) -> bool:
    """Return whether a tool belongs to a server that is wanted as a whole, as `mcp__server`."""
    return any(name.startswith(f"{word}__") for word in wanted if word.startswith("mcp__"))


# ── the tool ────────────────────────────────────────────────────────────────


#: Makes a subagent with a name a teammate.
Join = Callable[[Member], ToolResult]


def agent_tool(subagents: Subagents, join: Join, kinds: Mapping[str, AgentType]) -> Tool:
    """Build the tool with which the model starts subagents and teammates."""

    async def run(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
        wanted = arguments.get("subagent_type", "general-purpose")
        kind = kinds.get(wanted)
        if kind is None:
            return failed(f"Agent type '{wanted}' not found. Available agents: {', '.join(sorted(kinds))}")
        by = caller()
        before = by.actor.dialogue.messages[:-1]  # the last one makes this call
        member = create_member(by.actor, by.call_id, kind, arguments)
        if member.name is not None:
            return join(member)
        if kind.background or arguments.get("run_in_background", True):
            _tell_start(member, in_background=True)
            subagents.launch(member)
            return launched(member.actor, member.description, member.prompt)
        _tell_start(member, in_background=False)
        ending = await work(member)
        _tell_end(member, "failed" if isinstance(ending, ApiFailed) else "completed", final_text(ending))
        return finished(member.actor, member.prompt, member.started, ending, before)

    return Tool(
        name="Agent",
        description="Start an agent that works on a task in its own conversation and reports back. You "
        "continue meanwhile and are notified when it ends, unless run_in_background is false; with a name it joins "
        f"your team and waits for messages. Kinds:\n{agents_part(kinds.values())}",
        parameters=parameters(
            {"description": _text("the task in three to five words"), "prompt": _text("the task")},
            {
                "subagent_type": _text("the kind of agent; general-purpose if not given"),
                "model": _text("a model for this agent alone"),
                "run_in_background": {
                    "type": "boolean",
                    "description": "false: wait for the agent; it is true if not given",
                },
                "name": _text("a name, to make it a teammate"),
                "isolation": {"type": "string", "enum": ["worktree"], "description": "work on a copy"},
            },
        ),
        effect=Effect.SESSION,
        run=run,
        output={"type": "object"},
        render=render,
        concurrent=True,
    )


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}
