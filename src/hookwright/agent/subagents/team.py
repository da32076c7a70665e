"""A small team: teammates have a name and a mailbox, work side by side, and wait when they are done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.state.inbox import TeamMessage
from hookwright.agent.state.prompts import TEAMMATE
from hookwright.agent.state.session import Session
from hookwright.agent.subagents.runner import Crew, Member, said
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.agent.tools.board import COMPLETED, IN_PROGRESS, Task
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.tasks import feedback, task_fields
from hookwright.protocol.events import TaskCompleted, TeammateIdle
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

LEADER = "team-lead"
EVERYBODY = "*"


class Team:
    """The teammates of one session, by name."""

    def __init__(self, session: Session, crew: Crew) -> None:
        self._session = session
        self._crew = crew
        self._boxes: dict[str, asyncio.Queue[TeamMessage]] = {}

    @property
    def name(self) -> str:
        """Name the team after its session."""
        return f"session-{self._session.id[:8]}"

    def join(self, member: Member, name: str) -> ToolResult:
        """Let a new teammate begin with its task."""
        if name in self._boxes or name in (LEADER, EVERYBODY):
            return failed(f"There is a member {name} already. Choose another name.")
        member.name = name
        member.actor.system += "\n\n" + TEAMMATE.format(name=name, team=self.name)
        self._boxes[name] = asyncio.Queue()
        identity = member.actor.identity
        assert identity is not None
        self._crew.members[identity.agent_id] = member
        member.task = self._session.accompany(self._life(identity.agent_id, member))
        response = {"status": "teammate_spawned", "name": name, "team_name": self.name, "agent_id": identity.agent_id}
        return ToolResult(response, f"{name} has joined the team and works on: {member.description}")

    async def _life(self, agent_id: str, member: Member) -> None:
        """Work, go idle unless a hook objects, wait for a message, and again."""
        assert member.name is not None
        prompt = member.prompt
        try:
            while True:
                await self._crew.start(member, prompt)
                await self._work(member)
                member.idle = True
                prompt = (await self._boxes[member.name].get()).text
                member.idle = False
        except _Stopped:
            pass
        except Exception as error:  # tools and servers are other people's; the leader must not wait in vain
            self._session.inbox.put(TeamMessage(member.name, f"(ended: {type(error).__name__}: {error})"))
        finally:
            del self._crew.members[agent_id]
            del self._boxes[member.name]

    async def _work(self, member: Member) -> None:
        """Work until no hook has anything against going idle; the leader reads what was said last."""
        assert member.name is not None
        while True:
            ending = await converse(member.actor)
            objection = await self._objection(member)
            if objection is None:
                self._session.inbox.put(TeamMessage(member.name, said(ending)))
                return
            member.actor.dialogue.add_reminder(objection)

    async def _objection(self, member: Member) -> str | None:
        """Complete the teammate's tasks and ask TeammateIdle hooks, before either counts; a text sends it back."""
        actor, board = member.actor, member.actor.bench.board
        about = {"teammate_name": member.name, "team_name": self.name}
        for task in board.tasks():
            if task.owner == member.name and task.status == IN_PROGRESS:
                outcome = await actor.fire(actor.event(TaskCompleted, **task_fields(task), **about))
                if (text := _heard(actor, outcome)) is not None:
                    return text
                board.put(_completed(task))
        return _heard(actor, await actor.fire(actor.event(TeammateIdle, **about)))

    def send(self, sender: str, to: str, message: str) -> str | None:
        """Put a message into a mailbox; a text says why that cannot be done."""
        if to == LEADER:
            self._session.inbox.put(TeamMessage(sender, message))
            return None
        names = [name for name in self._boxes if name != sender] if to == EVERYBODY else [to]
        if any(name not in self._boxes for name in names):
            return f"There is no member {to}. Members: {', '.join((LEADER, *self._boxes))}."
        for name in names:
            self._boxes[name].put_nowait(TeamMessage(sender, message))
        return None


class _Stopped(Exception):
    """A hook ended a teammate."""


def _heard(actor: Actor, outcome: Outcome) -> str | None:
    actor.dialogue.record_firing(outcome)
    if outcome.stop is not None:
        raise _Stopped
    return feedback(outcome) if outcome.blocked else None


def _completed(task: Task) -> Task:
    return msgspec.structs.replace(task, status=COMPLETED)


def send_message_tool(team: Callable[[], Team], name_of: Callable[[Actor], str]) -> Tool:
    """Make the tool by which members write to each other."""

    async def run(arguments: dict[str, Json], bench: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets the bench
        problem = team().send(name_of(caller().actor), arguments["to"], arguments["message"])
        if problem is not None:
            return failed(problem)
        response = {"success": True, "to": arguments["to"]}
        return ToolResult(response, f"Sent to {arguments['to']}.")

    text = {"type": "string"}
    return Tool(
        name="SendMessage",
        description=f"Write to a member of your team by name, to `{LEADER}`, or to `{EVERYBODY}` for all.",
        parameters=parameters({"to": text, "message": text}, {"summary": text}),
        effect=Effect.SESSION,
        run=run,
        output={"type": "object"},
        render=lambda response: str(response),
    )
