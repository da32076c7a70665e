"""One model at work: the main agent, a subagent or a teammate."""

from __future__ import annotations

import contextvars
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from hookwright.agent.permissions import Mode
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.session import Identity, Session
from hookwright.agent.state.user_notes import changed_hooks
from hookwright.agent.tools import Tool, ToolContext
from hookwright.models.types import Response, Usage
from hookwright.models.types import ToolDefinition as Offer
from hookwright.protocol.events import Event, ModeEvent
from hookwright.protocol.outcome import Outcome, Run

E = TypeVar("E", bound=Event)


class AgentRole(msgspec.Struct, frozen=True, kw_only=True):
    """What distinguishes one agent of a session from another; fixed for its lifetime. The default is the main agent."""

    #: None for the main agent.
    identity: Identity | None = None
    #: None for the tools the session offers at the moment.
    tools: Mapping[str, Tool] | None = None
    #: None for the session's model.
    model: str | None = None
    #: None for the session's mode.
    mode: Mode | None = None
    max_turns: int | None = None
    #: Files it may read besides those of the workspace.
    readable: tuple[str, ...] = ()
    #: The call that started a subagent, for hosts that draw a tree.
    parent_tool_use_id: str | None = None


class Actor:
    """A conversation, the tools and rules it works with, and what it has used."""

    def __init__(
        self, session: Session, dialogue: Dialogue, context: ToolContext, role: AgentRole, system: str = ""
    ) -> None:
        self.session = session
        self.role = role
        #: What its tools work with.
        self.context = context
        self.dialogue = dialogue
        self.system = system
        #: The working directory before the running call; `context.cwd` may be ahead of it.
        self.cwd = context.cwd
        self.turns = 0
        self.tool_calls = 0
        self.usage = Usage()
        #: The last answer as hooks display it; None where that is the answer itself.
        self.displayed: str | None = None
        #: Hooks that changed after they were trusted and are on record as not run.
        self._changed: set[str] = set()

    @property
    def is_main(self) -> bool:
        """Whether this is the agent the user talks to."""
        return self.identity is None

    @property
    def identity(self) -> Identity | None:
        """The id and type of a subagent; None for the main agent."""
        return self.role.identity

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools this agent may call, without those that a rule denies as a whole."""
        offered = self.session.equipment.tools if self.role.tools is None else self.role.tools
        rules = self.session.permissions.rules
        return {name: tool for name, tool in offered.items() if not rules.remove(name)}

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The tools as the model reads them."""
        return tuple(Offer(tool.name, tool.description, tool.parameters) for tool in self.tools.values())

    def begin(self) -> None:
        """Start counting from zero for a new prompt."""
        self.turns = 0
        self.tool_calls = 0
        self.usage = Usage()
        self.displayed = None

    def count(self, response: Response) -> None:
        """Count a response."""
        self.turns += 1
        self.usage += response.usage
        if self.is_main:
            self.session.model.count(response)

    def count_calls(self, number: int) -> None:
        """Count tool calls."""
        self.tool_calls += number

    def display(self, text: str | None) -> None:
        """Note how the last answer is displayed; None for as it is."""
        self.displayed = text

    def instruct(self, system: str) -> None:
        """Work under another system prompt from now on."""
        self.system = system

    def restart(self, dialogue: Dialogue) -> None:
        """Continue in another conversation."""
        self.dialogue = dialogue

    def start_in(self, directory: str) -> None:
        """Work in a directory of its own, from before its first call."""
        self.cwd = directory
        self.context.move(directory)

    def move(self, directory: str) -> str:
        """Work in another directory from now on; return the one before."""
        before = self.cwd
        self.start_in(directory)
        self.dialogue.transcript.move(directory)
        if self.is_main:
            self.session.state.move(directory)
        return before

    def event(self, cls: type[E], **fields: Any) -> E:
        """Build an event of this agent."""
        if self.role.mode is not None and issubclass(cls, ModeEvent):
            fields.setdefault("permission_mode", self.role.mode)
        fields.setdefault("cwd", self.context.cwd)
        return self.session.event(cls, self.identity, **fields)

    async def fire(self, event: Event) -> Outcome:
        """Fire an event on behalf of this agent's conversation."""
        self.dialogue.speak_for()
        return self._kept(await self.session.fire(event))

    async def recheck(self, event: Event, before: Sequence[Run]) -> Outcome:
        """Let guards judge an input that was rewritten after they ran, on behalf of this agent's conversation."""
        self.dialogue.speak_for()
        return self._kept(await self.session.recheck(event, before))

    def _kept(self, outcome: Outcome) -> Outcome:
        """Write to disk which hooks were switched off by a change, each once."""
        for place, note in changed_hooks(outcome).items():
            if place not in self._changed:
                self._changed.add(place)
                self.dialogue.transcript.system("informational", note.text, note.level, tag=note.tag)
        return outcome


class Caller(msgspec.Struct, frozen=True):
    """The agent and the call of the tool that runs in this task."""

    actor: Actor
    call_id: str


#: Set while a tool runs, for tools that act on behalf of an agent.
calling: contextvars.ContextVar[Caller] = contextvars.ContextVar("hookwright_caller")


def caller() -> Caller:
    """Return who called the tool that runs in this task."""
    return calling.get()
