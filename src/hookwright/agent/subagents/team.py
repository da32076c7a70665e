"""A small team: teammates have a name and a mailbox, work in parallel, and wait when they are done."""

from __future__ import annotations

import asyncio

import msgspec

from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.state.inbox import TeamMessage
from hookwright.agent.state.prompts import TEAMMATE
from hookwright.agent.state.session import Session
from hookwright.agent.subagents.report import final_text
from hookwright.agent.subagents.runner import Member, Subagents, start
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.agent.tools.board import COMPLETED, IN_PROGRESS, Task
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.tasks import task_fields
from hookwright.protocol.events import TaskCompleted, TeammateIdle
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.visibility import Place, model_texts

LEADER = "team-lead"
EVERYBODY = "*"


class Team:
    """The teammates of one session, by name."""

    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents
        self._boxes: dict[str, asyncio.Queue[TeamMessage]] = {}

    def join(self, member: Member) -> ToolResult:
        """Start a new teammate on its task."""
        name, actor = _name(member), member.actor
        if name in self._boxes or name in (LEADER, EVERYBODY):
            return failed(f"There is already a member named {name}. Choose another name.")
        team = team_name(actor.session)
        actor.instruct(f"{actor.system}\n\n{TEAMMATE.format(name=name, team=team)}")
        self._boxes[name] = asyncio.Queue()
        self._subagents.add(member)
        actor.session.accompany(self._life(member))
        agent_id = member.identity.agent_id
        response = {"status": "teammate_spawned", "name": name, "team_name": team, "agent_id": agent_id}
        return ToolResult(response, f"{name} has joined the team and works on: {member.description}")

    async def _life(self, member: Member) -> None:
        """Work, go idle unless a hook objects, wait for a message, repeat."""
        name, prompt = _name(member), member.prompt
        try:
            while True:
                await start(member, prompt)
                await self._work(member)
                with self._subagents.idle(member):
                    prompt = (await self._boxes[name].get()).text
        except _Stopped:
            pass
        except Exception as error:  # third-party tools and servers; the leader needs a message in any case
            member.actor.session.inbox.put(TeamMessage(name, f"(ended: {type(error).__name__}: {error})"))
        finally:
            self._subagents.remove(member)
            del self._boxes[name]

    async def _work(self, member: Member) -> None:
        """Work until no hook objects to going idle; the leader gets the last answer."""
        actor = member.actor
        while True:
            ending = await converse(actor)
            objections = await self._objections(member)
            if not objections:
                actor.session.inbox.put(TeamMessage(_name(member), final_text(ending)))
                return
            for text in objections:
                actor.dialogue.add_reminder(text)

    async def _objections(self, member: Member) -> tuple[str, ...]:
        """Fire TaskCompleted for the teammate's open tasks, then TeammateIdle; texts send it back to work."""
        actor, board = member.actor, member.actor.context.board
        about = {"teammate_name": member.name, "team_name": team_name(actor.session)}
        for task in board.tasks():
            if task.owner == member.name and task.status == IN_PROGRESS:
                outcome = await actor.fire(actor.event(TaskCompleted, **task_fields(task), **about))
                if texts := _recorded(actor, outcome, Place.RESULT):
                    return texts
                board.put(_completed(task))
        return _recorded(actor, await actor.fire(actor.event(TeammateIdle, **about)), Place.USER)

    def send(self, actor: Actor, to: str, message: str) -> str | None:
        """Put a message into a mailbox; return why that is not possible, else None."""
        sender = self._subagents.name_of(actor) or (LEADER if actor.is_main else "subagent")
        if to == LEADER:
            actor.session.inbox.put(TeamMessage(sender, message))
            return None
        names = [name for name in self._boxes if name != sender] if to == EVERYBODY else [to]
        if any(name not in self._boxes for name in names):
            return f"There is no member named {to}. Members: {', '.join((LEADER, *self._boxes))}."
        for name in names:
            self._boxes[name].put_nowait(TeamMessage(sender, message))
        return None


class _Stopped(Exception):
    """A hook ended a teammate."""


def team_name(session: Session) -> str:
    """Return the name of a session's team."""
    return f"session-{session.state.id[:8]}"


def _name(member: Member) -> str:
    assert member.name is not None, "only members with a name join a team"
    return member.name


def _recorded(actor: Actor, outcome: Outcome, place: Place) -> tuple[str, ...]:
    actor.dialogue.record_firing(outcome)
    if outcome.stop is not None:
        raise _Stopped
    return model_texts(outcome, place)


def _completed(task: Task) -> Task:
    return msgspec.structs.replace(task, status=COMPLETED)


def send_message_tool(team: Team) -> Tool:
    """Build the tool with which members write to each other."""

    async def run(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
        problem = team.send(caller().actor, arguments["to"], arguments["message"])
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
