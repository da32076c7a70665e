"""The nouns at the end of the path: Decision, Verdict, Run, Late, Skip, Outcome."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.handlers import Handler
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.replies import Answered, Backgrounded, Exited, Failed, Judged, NoAnswer, Reply, TimedOut


class NoOpinion(msgspec.Struct, frozen=True):
    """The hook took no position; this is not an approval."""


class Allow(msgspec.Struct, frozen=True):
    """The hook approves; deny and ask rules of the host still apply."""

    reason: str | None = None


class Ask(msgspec.Struct, frozen=True):
    """The user must confirm."""

    reason: str


class Defer(msgspec.Struct, frozen=True):
    """The call is deferred until the session is resumed."""

    reason: str | None = None


class Deny(msgspec.Struct, frozen=True):
    """The call is refused."""

    reason: str
    interrupt: bool = False


class Block(msgspec.Struct, frozen=True):
    """The event's own action is refused, or the model gets feedback."""

    reason: str


Decision = NoOpinion | Allow | Ask | Defer | Deny | Block

NO_OPINION = NoOpinion()

_STRICTNESS: dict[type[Any], int] = {
    kind: rank for rank, kind in enumerate((NoOpinion, Allow, Ask, Defer, Block, Deny))
}


def strictness(decision: Decision) -> int:
    """Return the rank of a decision: deny and block over defer over ask over allow over no opinion."""
    return _STRICTNESS[type(decision)]


def stricter(one: Decision, other: Decision) -> Decision:
    """Return the stricter of two decisions in one answer; the first one on a tie (R-303)."""
    return other if strictness(other) > strictness(one) else one


class EndTurn(msgspec.Struct, frozen=True):
    """The turn must end."""

    reason: str | None = None


class Ending(enum.Enum):
    """How one run ended; these four and no others (R-191)."""

    SUCCESS = "success"
    BLOCKING = "blocking"
    ERROR = "non-blocking error"
    CANCELLED = "cancelled"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one reply means under the rules of its event."""

    ending: Ending = Ending.SUCCESS
    decision: Decision = NO_OPINION
    stop: EndTurn | None = None
    context: str | None = None
    #: Plain stdout that goes to the model.
    plain: str | None = None
    system_message: str | None = None
    updated_input: Mapping[str, Json] | None = None
    updated_output: Json = None
    suppress_output: bool = False
    terminal_sequence: str | None = None
    #: The event's own fields by their Python names: watch_paths, session_title, action, retry, …
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: The message of a non-blocking error to the user; None when there is nothing to report.
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


#: The hook succeeded without an answer; this is not an approval.
SILENT = Verdict()


class Timing(msgspec.Struct, frozen=True):
    """When a run started, on the wall clock, and how long it took."""

    started: float
    seconds: float


class Run(msgspec.Struct, frozen=True):
    """A handler that was run: its reply, what the reply means, and the time it took."""

    handler: Handler
    reply: Reply
    verdict: Verdict
    timing: Timing
    id: str = ""
    #: What a handler in shadow mode would have decided; None for any other handler. It has no effect.
    would: Verdict | None = None

    @property
    def would_refuse(self) -> bool:
        """Whether a handler in shadow mode would have refused the action or ended the turn."""
        would = self.would
        return would is not None and (isinstance(would.decision, Deny | Block) or would.stop is not None)

    @property
    def label(self) -> str:
        """How the run itself ended, not what it decided: success, error, cancelled or async.

        A process succeeds when it exits 0 with usable output. A timeout is cancelled even where it blocks. A hook in
        the background is async.
        """
        match self.reply:
            case Backgrounded():
                return "async"
            case TimedOut() | NoAnswer():
                return "cancelled"
            case Failed():
                return "error"
            case Exited(status=status) if status != 0:
                return "error"
            case Exited() | Answered() | Judged():
                return "error" if self.verdict.error is not None else "success"


class Late(msgspec.Struct, frozen=True, kw_only=True):
    """What a background hook did after its event was over, by the law of `interpret_late`."""

    #: The id of the hook in the background.
    id: str
    job: Job
    reply: Reply
    context: str | None = None
    system_message: str | None = None
    #: The text that wakes the model: an `asyncRewake` hook exited 2.
    rewake: str | None = None
    ending: Ending = Ending.SUCCESS
    #: Why it was not a success; None for one that was, or that woke the model.
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def label(self) -> str:
        """How the run itself ended, as `Run.label`: success, error or cancelled."""
        match self.ending:
            case Ending.SUCCESS:
                return "success"
            case Ending.CANCELLED:
                return "cancelled"
            case Ending.BLOCKING | Ending.ERROR:
                return "error"


class SkipReason(enum.Enum):
    """Why a configured handler was not run for an event."""

    MATCHER = "matcher"
    INVALID_MATCHER = "invalid matcher"
    CONDITION = "if"
    CONDITION_ON_EVENT = "if on this event"
    UNTRUSTED = "untrusted"
    CHANGED = "changed since trusted"
    #: Only a trust check reports this: the event is refused, because the hook was trusted to fail closed.
    GUARD_CHANGED = "guard changed since trusted"
    DISABLED = "hooks disabled"
    MANAGED_ONLY = "managed hooks only"
    DUPLICATE = "duplicate"
    ONCE = "already ran once"
    KIND = "kind not supported"
    OUTER_BLOCK = "blocked by a managed hook"
    STOPPED = "an earlier hook stopped the sequence"
    INACTIVE = "component not active"
    RECURSION = "inside a hook"


class Skip(msgspec.Struct, frozen=True):
    """A configured handler that was not run, and why."""

    handler: Handler
    reason: SkipReason
    detail: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The combined result of all verdicts of one firing, by the laws of `aggregate`."""

    event: str
    #: The value that matchers were compared with, or None; `hook_name` is built from it.
    matched: str | None = None
    decision: Decision = NO_OPINION
    stop: EndTurn | None = None
    reasons: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    system_messages: tuple[str, ...] = ()
    updated_input: Mapping[str, Json] | None = None
    updated_output: Json = None
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    skips: tuple[Skip, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def hook_name(self) -> str:
        """The hook's name in messages: `PreToolUse:Bash`, or the bare event."""
        return f"{self.event}:{self.matched}" if self.matched else self.event

    @property
    def blocked(self) -> bool:
        """Whether the action is refused."""
        return isinstance(self.decision, Deny | Block)

    @property
    def reason(self) -> str | None:
        """The reasons for the decision, in configuration order."""
        return "\n".join(self.reasons) if self.reasons else None

    @property
    def errors(self) -> int:
        """The number of hooks that gave no usable answer and did not block."""
        return sum(run.verdict.ending in (Ending.ERROR, Ending.CANCELLED) for run in self.runs)
