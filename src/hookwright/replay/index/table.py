"""The events of one transcript as a table: columns to choose by, and a row of bytes per event."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator

import msgspec

from hookwright.protocol.events import CATALOGUE, Event, PostToolUse
from hookwright.protocol.jsontext import Json
from hookwright.replay.choice import Choice
from hookwright.replay.past import Fate, Past, Provenance, SourceLine
from hookwright.replay.transcripts.once import Deduplication

#: What became of a call, as a column of bytes: no hook saw it, hooks read its mode, or they did not; a copy.
NEVER, WITH_MODE, WITHOUT_MODE, COPY = range(4)

_FATES = tuple(Fate)


#: A file with more kinds of events or of provenance has no table.
MOST_KINDS = 255

_DECODERS = {name: msgspec.msgpack.Decoder(cls) for name, cls in CATALOGUE.items()}

#: Returns the response of a tool: by the place of its line, and the call.
Responses = Callable[[tuple[int, int], str], Json]


class EventColumns(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """An event per entry, in order; numbers as a processor holds them, since most of them are not looked at."""

    #: A position in `kinds`, in `Fate` (`MOST_KINDS` for events without a call) and in `provenance`.
    kind: bytes
    fate: bytes
    provenance: bytes
    #: The number of the call, or -1 minus that of the moment; the number of the line; and where the payload ends.
    call: bytes
    line: bytes
    end: bytes
    #: Seconds since 1970; not a number for none.
    time: bytes
    #: Where the line with the response of a tool begins, and how long it is; 0 for none.
    response_start: bytes
    response_size: bytes

    @classmethod
    def of(cls, **columns: Iterable[float]) -> EventColumns:
        """Pack columns."""
        packed = {name: array(_CODES[name], values).tobytes() for name, values in columns.items()}
        return cls(**packed)

    @property
    def size(self) -> int:
        """The bytes of all payloads together."""
        ends = self.column("end")
        return ends[-1] if ends else 0

    def column(self, name: str) -> memoryview:
        """Return a column as numbers."""
        return memoryview(getattr(self, name)).cast(_CODES[name])  # type: ignore[call-overload,no-any-return]


_CODES = {
    "kind": "B",
    "fate": "B",
    "provenance": "B",
    "call": "i",
    "line": "q",
    "end": "q",
    "time": "d",
    "response_start": "q",
    "response_size": "q",
}


class EventTable(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """The events of one file, and everything that reading it counts."""

    lines: int
    size: int
    unreadable: int
    #: Of calls alone: their sessions, versions, and the first and last time.
    sessions: list[str]
    versions: list[str]
    first: float | None
    last: float | None
    #: Of everything: the sessions, and the first and last time.
    all_sessions: list[str]
    earliest: float | None
    latest: float | None
    #: A call per entry, in order: its id, its time as written and its session, if an id is not unique, and what became
    #: of it.
    ids: list[str]
    stamps: list[str | None]
    owners: list[int]
    ends: bytes
    #: Modes and prompts over time, which subagents inherit.
    times: list[float]
    modes: list[tuple[str | None, str | None]]
    #: Whether the file also has events of subagents.
    agents_inside: bool
    kinds: list[tuple[str, str]]
    provenance: list[dict[str, Provenance]]
    #: What tells an event without a call from copies of it: its time as written, and what it is about.
    moments: list[tuple[str | None, str]]
    columns: EventColumns

    def is_covered_by(self, choice: Choice) -> bool:
        """Return whether everything in the file belongs to the history that is asked for."""
        inside = choice.holds
        sessions = self.all_sessions or [""]
        return all(inside(session, time) for session in sessions for time in (self.earliest, self.latest))

    def count(self, once: Deduplication) -> frozenset[int]:
        """Count what reading the file counts; return the calls that another file already had."""
        coverage = once.coverage
        coverage.files += 1
        coverage.lines += self.lines
        coverage.bytes += self.size
        coverage.unreadable += self.unreadable
        for session in self.sessions:
            for time in (self.first, self.last):
                once.session(session, None, time)
        coverage.versions.update(self.versions)
        if COPY not in self.ends and not self.stamps and once.all_new(self.ids):
            coverage.never_started += self.ends.count(NEVER)
            coverage.without_mode += self.ends.count(WITHOUT_MODE)
            return frozenset()
        copies = set()
        for number, end in enumerate(self.ends):
            stamp = self.stamps[number] if self.stamps else ""
            if not once.call(self.ids[number], stamp, self.sessions[self.owners[number] if self.owners else 0]):
                copies.add(number)
                continue
            coverage.never_started += end == NEVER
            coverage.without_mode += end == WITHOUT_MODE
        return frozenset(copies)

    def events(
        self, payloads: memoryview, path: str, choice: Choice, once: Deduplication, responses: Responses
    ) -> Iterator[Past]:
        """Yield the wanted events, and count everything."""
        copies, columns = self.count(once), self.columns.column
        decoders = [_DECODERS[name].decode if choice.wants(name, tool) else None for name, tool in self.kinds]
        kinds, calls, ends, sizes = columns("kind"), columns("call"), columns("end"), columns("response_size")
        fates, known, lines, times = columns("fate"), columns("provenance"), columns("line"), columns("time")
        for number in [number for number, kind in enumerate(kinds) if decoders[kind] is not None]:
            call, kind = calls[number], kinds[number]
            if call in copies or (call < 0 and not once.moment(self.kinds[kind][0], *self.moments[-1 - call])):
                continue
            decode = decoders[kind]
            assert decode is not None
            event, time = decode(payloads[ends[number - 1] if number else 0 : ends[number]]), times[number]
            if sizes[number]:
                place = columns("response_start")[number], sizes[number]
                event = msgspec.structs.replace(event, tool_response=responses(place, self.ids[call]))
            yield Past(
                event=event,
                place=SourceLine(path, lines[number]),
                time=time if time == time else None,  # not a number is not equal to itself
                fate=_FATES[fates[number]] if fates[number] != MOST_KINDS else None,
                provenance=self.provenance[known[number]],
            )


def fate_number(fate: Fate | None) -> int:
    """Return a fate as a number."""
    return MOST_KINDS if fate is None else _FATES.index(fate)


def has_response(event: Event) -> bool:
    """Return whether an event has the response of a tool, which a table leaves in the transcript."""
    return isinstance(event, PostToolUse)
