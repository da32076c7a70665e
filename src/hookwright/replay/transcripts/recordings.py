"""Events that were kept whole: by a recorder, one per line, or by an observer hook, one per file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.errors import InvalidEvent
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.wire import decode_event
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.remote import real_path
from hookwright.replay.past import Coverage, Fate, Past, SourceLine
from hookwright.replay.transcripts.lines import open_source
from hookwright.replay.transcripts.once import Deduplication

#: The largest payload of an inbox.
_LARGEST = 256 * 1024 * 1024
_REFUSALS = ("deny", "block")


class Kept(msgspec.Struct, frozen=True):
    """One event that was kept."""

    event: Event
    place: SourceLine
    time: float | None = None
    #: What the hooks of the event decided, where the recorder knows it.
    decision: str | None = None


def kept_lines(lines: Iterable[tuple[int, bytes]], path: str, coverage: Coverage) -> Iterator[Kept]:
    """Read the lines of a recorder, or payloads one per line."""
    for number, data in lines:
        kept = _kept(data, SourceLine(path, number))
        if kept is None:
            coverage.unreadable += 1
        else:
            yield kept


def kept_files(paths: Iterable[str], coverage: Coverage) -> Iterator[Kept]:
    """Read the files of an inbox; an observer names them by the time, in nanoseconds."""
    for path in paths:
        try:
            with open_source(real_path(path)) as file:
                data = file.read(_LARGEST)
        except OSError:
            coverage.refused += 1
            continue
        coverage.files += 1
        coverage.lines += 1
        coverage.bytes += len(data)
        kept = _kept(data, SourceLine(path, 1))
        if kept is None:
            coverage.unreadable += 1
            continue
        name = os.path.basename(path).removesuffix(".json")
        time = int(name) / 1e9 if name.isdecimal() and len(name) == 19 else None
        yield msgspec.structs.replace(kept, time=time)


def _kept(data: bytes, place: SourceLine) -> Kept | None:
    value, problem = parse_json(data.decode("utf-8", "replace"))
    if problem is not None or not isinstance(value, dict):
        return None
    payload, decision = value.get("payload", value), value.get("decision")
    try:
        return Kept(decode_event(payload), place, None, decision if isinstance(decision, str) else None)
    except InvalidEvent:
        return None


def kept_events(kept: Iterable[Kept], choice: Choice, once: Deduplication) -> Iterator[Past]:
    """Yield the events that are asked for, each call with its fate.

    Law: a call that a later event says succeeded or failed has that fate; else the decision of its hooks is its fate
    if that refused it; else it is unanswered.
    """
    events = list(kept)
    fates = _fates(events)
    fresh: set[str] = set()
    for one in events:
        call, tool = _text(one.event, "tool_use_id"), _text(one.event, "tool_name")
        if not choice.holds(one.event.session_id, one.time):
            continue
        if call and one.event.rules.opens_call:
            once.session(one.event.session_id, None, one.time)
            if not once.call(call, None, one.event.session_id):
                continue
            fresh.add(call)
            once.coverage.without_mode += getattr(one.event, "permission_mode", "") is msgspec.UNSET
        elif call and call not in fresh:
            continue
        if choice.wants(one.event.event_name, tool):
            yield Past(event=one.event, place=one.place, time=one.time, fate=fates.get(call))


def _fates(events: Iterable[Kept]) -> dict[str, Fate]:
    fates: dict[str, Fate] = {}
    for one in events:
        call = _text(one.event, "tool_use_id")
        if not call:
            continue
        match one.event.event_name:
            case "PreToolUse":
                refused = one.decision in _REFUSALS
                fates.setdefault(call, Fate.REFUSED_BY_HOOK if refused else Fate.UNANSWERED)
            case "PostToolUse":
                fates[call] = Fate.SUCCEEDED
            case "PostToolUseFailure":
                fates[call] = Fate.INTERRUPTED if getattr(one.event, "is_interrupt", None) is True else Fate.FAILED
            case "PermissionDenied":
                fates[call] = Fate.REFUSED_BY_RULE
    return fates


def _text(event: Event, name: str) -> str:
    value: Json = getattr(event, name, "")
    return value if isinstance(value, str) else ""
