"""One model at work: the main agent, a subagent or a teammate."""

from __future__ import annotations

import contextvars
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from hookwright.agent.permissions import Mode
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.session import Identity, Session
from hookwright.agent.tools import Tool, ToolContext
from hookwright.models.types import Block, Response, Usage
from hookwright.models.types import ToolDefinition as Offer
from hookwright.protocol.events import Event, ModeEvent
from hookwright.protocol.outcome import Outcome

E = TypeVar("E", bound=Event)

#: How often in a row a stop hook may send the agent back to work.
STOP_CAP = 8
CAP_VARIABLE = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


class Actor:
    """A conversation, the tools and rules it works with, and what it has used up."""

    def __init__(
        self,
        session: Session,
        dialogue: Dialogue,
        bench: ToolContext,
        *,
        system: str,
        tools: Mapping[str, Tool] | None = None,
        identity: Identity | None = None,
    ) -> None:
        self.session = session
        self.dialogue = dialogue
        self.bench = bench
        self.system = system
        self.identity = identity
        #: Where it worked when it was last looked at; the bench may have moved on.
        self.cwd = bench.cwd
        #: None means whatever the session offers at the moment.
        self._tools = tools
        #: None means the session's model.
        self.model: str | None = None
        #: None means the session's mode.
        self.mode: Mode | None = None
        self.max_turns: int | None = None
        #: The call that started a subagent, for those who draw a tree.
        self.parent_tool_use_id: str | None = None
        self.turns = 0
        self.tool_calls = 0
        self.usage = Usage()
        self.displayed: str | None = None
        #: Calls of an earlier run that a hook put off.
        self.waiting_calls: list[Block] = []

    @property
    def is_main(self) -> bool:
        """Tell whether this is the agent that the user talks to."""
        return self.identity is None

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Give the tools that this agent may call."""
        return self.session.tools if self._tools is None else self._tools

    @property
    def offers(self) -> tuple[Offer, ...]:
        """Describe the tools for the model."""
        return tuple(Offer(tool.name, tool.description, tool.parameters) for tool in self.tools.values())

    def begin(self) -> None:
        """Count from zero for a new prompt."""
        self.turns = 0
        self.tool_calls = 0
        self.usage = Usage()
        self.displayed = None

    def count(self, response: Response) -> None:
        """Count an answer."""
        self.turns += 1
        self.usage += response.usage
        if self.is_main:
            self.session.voice.count(response)

    def event(self, cls: type[E], **fields: Any) -> E:
        """Build an event that happens to this agent."""
        if self.mode is not None and issubclass(cls, ModeEvent):
            fields.setdefault("permission_mode", self.mode)
        fields.setdefault("cwd", self.bench.cwd)
        return self.session.event(cls, self.identity, **fields)

    async def fire(self, event: Event) -> Outcome:
        """Fire an event on behalf of this agent's conversation."""
        self.dialogue.speak_for()
        return await self.session.fire(event)


class Caller(msgspec.Struct, frozen=True):
    """Who called the tool that runs in this task."""

    actor: Actor
    call_id: str


#: Set while a tool runs, for tools that act on behalf of an agent and not on files alone.
calling: contextvars.ContextVar[Caller] = contextvars.ContextVar("hookwright_caller")


def caller() -> Caller:
    """Tell who called the tool that runs in this task."""
    return calling.get()


class Stops:
    """How often a stop hook sent one agent back to work."""

    def __init__(self, env: Mapping[str, str]) -> None:
        text = env.get(CAP_VARIABLE, "")
        self._cap = int(text) if text.isascii() and text.isdigit() else STOP_CAP
        self._count = 0
        #: True while the agent goes on because of a stop hook.
        self.active = False

    @property
    def exhausted(self) -> bool:
        """Tell whether the next block is overridden; a cap of 0 never is."""
        return self._cap > 0 and self._count >= self._cap

    def go_on(self) -> None:
        """Count one more continuation."""
        self._count += 1
        self.active = True

    def progress(self) -> None:
        """Forget the count: the agent did something in between."""
        self._count = 0
