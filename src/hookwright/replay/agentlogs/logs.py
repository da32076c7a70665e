"""The past of a log of another agent, as the events that its bridge would have fired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from hookwright.dialects.incoming import Translated, translate
from hookwright.dialects.table import dialect
from hookwright.protocol.events import Event
from hookwright.replay.agentlogs.codex import Rollout
from hookwright.replay.agentlogs.gemini import Chat
from hookwright.replay.agentlogs.model import LoggedPayload, LogLine, agent_of, read_lines
from hookwright.replay.choice import Choice
from hookwright.replay.past import Coverage, Fate, Past, SourceLine
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.recordings import Kept, kept_events
from hookwright.replay.transcripts.shapes import seconds_of


def log_events(lines: Iterator[tuple[int, bytes]], path: str, choice: Choice, once: Deduplication) -> Iterator[Past]:
    """Yield the events of a log, whose first line says whose it is.

    Law: the events are those that the bridge makes of the agent's payloads, so a patch is one event per path; each of
    them is a call of its own. A call whose result says that it failed has that fate.
    """
    first = next(lines, None)
    if first is None:
        return
    agent = agent_of(first[1])
    sent = list(_payloads(agent, chain([first], lines), path, once.coverage))
    kept = [each for payload in sent for each in _kept(agent, payload, path, once.coverage)]
    failed = {str(payload.sent.get("tool_use_id")) for payload in sent if payload.failed}
    for past in kept_events(kept, choice, once):
        call = str(getattr(past.event, "tool_use_id", "")).partition("#")[0]
        done = past.fate is Fate.SUCCEEDED and call in failed
        yield msgspec.structs.replace(past, fate=Fate.FAILED) if done else past


def _payloads(agent: str, lines: Iterator[tuple[int, bytes]], path: str, coverage: Coverage) -> Iterator[LoggedPayload]:
    reader = Rollout(path) if agent == "codex" else Chat(path)
    yield from reader.payloads(_counted(read_lines(lines), coverage))


def _counted(lines: Iterable[LogLine | int], coverage: Coverage) -> Iterator[LogLine]:
    for line in lines:
        if isinstance(line, LogLine):
            yield line
        else:
            coverage.unreadable += 1


def _kept(agent: str, payload: LoggedPayload, path: str, coverage: Coverage) -> Iterator[Kept]:
    found = translate(dialect(agent), dict(payload.sent))
    if not isinstance(found, Translated):
        coverage.unreadable += 1
        return
    place, time = SourceLine(path, payload.line), seconds_of(payload.timestamp or None)
    for number, event in enumerate(found.events):
        yield Kept(_with_id(event, str(payload.sent.get("tool_use_id", "")), number), place, time)


def _with_id(event: Event, call: str, number: int) -> Event:
    """Return an event with the id that the log has for its call; a call that is several events is several calls."""
    if not call or "tool_use_id" not in event.__struct_fields__:
        return event
    return msgspec.structs.replace(event, tool_use_id=f"{call}#{number + 1}" if number else call)
