"""What the past holds: events as hooks read them, how sure each field is, and what became of each call."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from hookwright.protocol.events import Event


class Provenance(enum.Enum):
    """How sure a field of a rebuilt event is."""

    #: The source holds the value.
    RECORDED = "recorded"
    #: The value follows from other recorded values.
    DERIVED = "derived"
    #: The usual value, which this session may not have had.
    ASSUMED = "assumed"
    #: Not known; the event does not have the field.
    UNKNOWN = "unknown"


class Fate(enum.Enum):
    """What became of a tool call."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    #: The person said no.
    REJECTED = "rejected by the person"
    REFUSED_BY_HOOK = "refused by a hook"
    REFUSED_BY_RULE = "refused by a rule"
    #: An unknown tool or an invalid input: no tool hook ran.
    NEVER_STARTED = "never started"
    INTERRUPTED = "interrupted"
    #: The source ends before a result.
    UNANSWERED = "unanswered"


class SourceLine(msgspec.Struct, frozen=True, order=True):
    """A line of a source; the first line is 1."""

    file: str
    line: int


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """One event that happened."""

    event: Event
    place: SourceLine
    #: Seconds since 1970; None if the source has no time.
    time: float | None
    #: What became of the call; None for events without a call.
    fate: Fate | None
    #: How sure each field is, by its name in the payload; a field that is missing here was recorded.
    provenance: Mapping[str, Provenance] = msgspec.field(default_factory=dict)

    @property
    def call(self) -> str:
        """The id of the call: the session and the tool use, or the place for events without a call."""
        call = getattr(self.event, "tool_use_id", None)
        where = call if isinstance(call, str) else f"{self.event.event_name}@{self.place.line}"
        return f"{self.event.session_id}:{where}"


class Coverage(msgspec.Struct, kw_only=True):
    """What was read and what was not; every report begins with it."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    #: Lines that could not be read: torn, too long, not JSON, not text.
    unreadable: int = 0
    #: Files that could not be opened, or that a link outside the source points to.
    refused: int = 0
    sessions: int = 0
    calls: int = 0
    #: Copies of calls that another file already had.
    repeats: int = 0
    #: Calls that no hook saw: an unknown tool or an invalid input.
    never_started: int = 0
    #: Calls without a recorded permission mode.
    without_mode: int = 0
    versions: set[str] = msgspec.field(default_factory=set)
    #: The times of the first and the last event.
    first: float | None = None
    last: float | None = None
