"""Read a whole transcript into a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import IO

import msgspec

from hookwright.protocol.events import Event
from hookwright.replay.choice import Choice
from hookwright.replay.index.table import (
    COPY,
    MOST_KINDS,
    NEVER,
    WITH_MODE,
    WITHOUT_MODE,
    EventColumns,
    EventTable,
    fate_number,
    has_response,
)
from hookwright.replay.past import Coverage, Past, Provenance
from hookwright.replay.transcripts.calls import response_left_out
from hookwright.replay.transcripts.conversation import PastConversation
from hookwright.replay.transcripts.lines import lines_of
from hookwright.replay.transcripts.once import Deduplication, is_unique
from hookwright.replay.transcripts.speaker import Speaker

_ENCODER = msgspec.msgpack.Encoder()


class _Everything(Choice, frozen=True, kw_only=True):
    """Asks for everything, and notes the sessions and times that it is asked about."""

    seen_sessions: dict[str, None] = msgspec.field(default_factory=dict)
    seen_times: list[float] = msgspec.field(default_factory=list)

    def holds(self, session: str, time: float | None) -> bool:
        """Note a session and a time."""
        self.seen_sessions[session] = None
        if time is not None:
            self.seen_times.append(time)
        return True


class _Noted(Deduplication):
    """Notes every call and every other event of one file, in order."""

    def __init__(self) -> None:
        super().__init__(Coverage())
        #: The id, the time as written, the session, and whether it is the first of its kind in the file.
        self.calls: list[tuple[str, str | None, str, bool]] = []
        self.moments: list[tuple[str | None, str]] = []
        self.sessions: dict[str, int] = {}

    def call(self, call_id: str, timestamp: str | None, session_id: str) -> bool:
        new = super().call(call_id, timestamp, session_id)
        self.calls.append((call_id, timestamp, session_id, new))
        return new

    def moment(self, event: str, timestamp: str | None, about: str) -> bool:
        new = super().moment(event, timestamp, about)
        if new:
            self.moments.append((timestamp, about))
        return new

    def session(self, session_id: str, version: str | None, time: float | None) -> None:
        super().session(session_id, version, time)
        self.sessions.setdefault(session_id, len(self.sessions))


def built(file: IO[bytes], path: str, speaker: Speaker) -> tuple[EventTable, bytes] | None:
    """Read a file into a table and its rows; None if a table cannot give back what reading the file does.

    That is a file with a line whose being counted as unreadable depends on what is asked for, with two calls of the
    same id, or with a payload that has no compact form.
    """
    lines, once, choice = Coverage(), _Noted(), _Everything()
    places: dict[int, tuple[int, int]] = {}
    talk = PastConversation(path, speaker, choice, once, response_left_out)
    pasts = list(talk.events(lines_of(file, lines, places=places)))
    ids = [call_id for call_id, _, _, new in once.calls if new]
    if once.coverage.unreadable or len(set(ids)) < len(ids):
        return None
    rows = _Rows(once, places)
    try:
        for past in pasts:
            rows.add(past)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None
    if max(len(rows.kinds), len(rows.provenance)) >= MOST_KINDS:
        return None
    plain = all(is_unique(call_id) for call_id, _, _, _ in once.calls)
    times, modes = speaker.modes.noted
    coverage = once.coverage
    table = EventTable(
        lines=lines.lines,
        size=lines.bytes,
        unreadable=lines.unreadable,
        sessions=list(once.sessions),
        versions=sorted(coverage.versions),
        first=coverage.first,
        last=coverage.last,
        all_sessions=list(choice.seen_sessions),
        earliest=min(choice.seen_times, default=None),
        latest=max(choice.seen_times, default=None),
        ids=[call_id for call_id, _, _, _ in once.calls],
        stamps=[] if plain else [timestamp for _, timestamp, _, _ in once.calls],
        owners=[] if plain else [once.sessions[session] for _, _, session, _ in once.calls],
        ends=bytes(rows.call_ends),
        times=times,
        modes=modes,
        agents_inside=talk.has_agents_inside,
        kinds=list(rows.kinds),
        provenance=rows.provenance,
        moments=once.moments,
        columns=EventColumns.of(**rows.columns),
    )
    return table, b"".join(rows.data)


class _Rows:
    """The columns and rows of a table in the making."""

    def __init__(self, once: _Noted, places: dict[int, tuple[int, int]]) -> None:
        self._places = places
        self._moments = 0
        self._calls = {call_id: number for number, (call_id, _, _, new) in enumerate(once.calls) if new}
        self._sure: dict[tuple[tuple[str, Provenance], ...], int] = {}
        self.call_ends = bytearray(NEVER if new else COPY for _, _, _, new in once.calls)
        self.kinds: dict[tuple[str, str], int] = {}
        self.provenance: list[dict[str, Provenance]] = []
        self.columns: dict[str, list[float]] = {name: [] for name in EventColumns.__struct_fields__}
        self.data: list[bytes] = []
        self._size = 0

    def add(self, past: Past) -> None:
        """Add an event."""
        event = past.event
        call_id = getattr(event, "tool_use_id", "")
        if not call_id:
            self._moments += 1
        call = self._calls[call_id] if call_id else -self._moments
        if event.rules.opens_call:
            self.call_ends[call] = WITHOUT_MODE if getattr(event, "permission_mode", "") is msgspec.UNSET else WITH_MODE
        data = _ENCODER.encode(event)
        self._size += len(data)
        self.data.append(data)
        start, size = self._places[past.place.line] if has_response(event) else (0, 0)
        row = {
            "kind": self.kinds.setdefault(_kind(event), len(self.kinds)),
            "fate": fate_number(past.fate),
            "provenance": self._known(past),
            "call": call,
            "line": past.place.line,
            "end": self._size,
            "time": math.nan if past.time is None else past.time,
            "response_start": start,
            "response_size": size,
        }
        for name, value in row.items():
            self.columns[name].append(value)

    def _known(self, past: Past) -> int:
        key: Sequence[tuple[str, Provenance]] = tuple(past.provenance.items())
        number = self._sure.setdefault(tuple(key), len(self._sure))
        if number == len(self.provenance):
            self.provenance.append(dict(past.provenance))
        return number


def _kind(event: Event) -> tuple[str, str]:
    return event.event_name, getattr(event, "tool_name", "")
