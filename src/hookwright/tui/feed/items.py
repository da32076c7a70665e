"""The items of the conversation on the screen; plain frozen values."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome, Run


class Level(enum.Enum):
    """The importance of a remark."""

    #: Shown in the verbose view only.
    QUIET = "quiet"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Began(msgspec.Struct, frozen=True):
    """A hook that was started for an event."""

    run_id: str
    handler: Handler
    #: Seconds on the wall clock.
    at: float


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """One event on its way through its hooks; `outcome` is None while they run, and stays so after an interrupt."""

    event: Event
    at: float
    began: tuple[Began, ...] = ()
    runs: tuple[Run, ...] = ()
    outcome: Outcome | None = None
    seconds: float = 0.0


class Banner(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a conversation."""

    cwd: str
    model: str = ""
    session_id: str = ""
    #: A summary of the hooks, in one line.
    hooks: str = ""


class PromptItem(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt; `machine` is True if it was not typed by the user."""

    text: str
    machine: bool = False
    firings: tuple[Firing, ...] = ()


class AnswerText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a model message, complete or so far."""

    text: str
    done: bool = False
    #: The call that started the subagent; None for the main agent.
    parent: str | None = None


class CallState(enum.Enum):
    """The state of a tool call."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class CallItem(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, its hooks and its result."""

    id: str
    name: str
    input: Mapping[str, Json]
    state: CallState = CallState.RUNNING
    result: str = ""
    response: Json = None
    firings: tuple[Firing, ...] = ()
    parent: str | None = None

    @property
    def rewritten(self) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
        """The input before and after a hook rewrote it; None if no hook did."""
        for firing in reversed(self.firings):
            if firing.outcome is not None and firing.outcome.updated_input is not None:
                return getattr(firing.event, "tool_input", self.input), firing.outcome.updated_input
        return None


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A line for the user: a hook's message, a notice, the answer to a command."""

    text: str
    level: Level = Level.INFO
    tag: str | None = None


class Hooked(msgspec.Struct, frozen=True):
    """The summary line of hooks without a prompt or a call: at the end of a turn or the start of a session."""

    firings: tuple[Firing, ...]


class FiringItem(msgspec.Struct, frozen=True):
    """A firing in full; only the verbose view shows it."""

    firing: Firing


class AddedText(msgspec.Struct, frozen=True):
    """A text that hooks or the program added to the model's conversation; only the verbose view shows it."""

    text: str
    hook_name: str = ""


Item = Banner | PromptItem | AnswerText | CallItem | Remark | Hooked | FiringItem | AddedText
