"""All events of one source: a session with its subagents, a recording, or an inbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.replay.agentlogs.logs import log_events
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.remote import real_path
from hookwright.replay.past import Past, Provenance
from hookwright.replay.transcripts.conversation import PastConversation
from hookwright.replay.transcripts.files import STDIN, SourceFile, SourceKind, kind_of_line
from hookwright.replay.transcripts.lines import Needed, every_line, lines_of, open_source
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.recordings import kept_events, kept_files, kept_lines
from hookwright.replay.transcripts.speaker import USUAL_AGENT, Participant, Speaker

_LARGEST_META = 1024 * 1024


#: Yields the wanted events of one transcript and counts what is in it.
Reader = Callable[[SourceFile, Speaker, Choice, Deduplication], Iterator[Past]]


def read_file(source: SourceFile, speaker: Speaker, choice: Choice, once: Deduplication) -> Iterator[Past]:
    """Read the events of one transcript from its lines."""
    talk = PastConversation(source.path, speaker, choice, once)
    yield from talk.events(_lines(source, once, talk.needed))


def events_of(source: SourceFile, choice: Choice, once: Deduplication, read: Reader = read_file) -> Iterator[Past]:
    """Yield the events of one source."""
    match source.kind:
        case SourceKind.INBOX:
            yield from kept_events(kept_files(source.payloads, once.coverage), choice, once)
        case SourceKind.RECORDING:
            yield from _recording(source, choice, once)
        case SourceKind.AGENT_LOG:
            yield from log_events(_lines(source, once), source.path, choice, once)
        case SourceKind.TRANSCRIPT:
            yield from _session(source, choice, once, read)


def events_of_stream(stream: IO[bytes], choice: Choice, once: Deduplication) -> Iterator[Past]:
    """Yield the events of standard input: a transcript or a recording, plain or compressed."""
    once.coverage.files += 1
    lines = lines_of(stream, once.coverage)
    first = next(lines, None)
    if first is None:
        return
    whole = _after(first, lines)
    kind = kind_of_line(first[1])
    if kind is SourceKind.RECORDING:
        yield from kept_events(kept_lines(whole, STDIN, once.coverage), choice, once)
        return
    if kind is SourceKind.AGENT_LOG:
        yield from log_events(whole, STDIN, choice, once)
        return
    talk = PastConversation(STDIN, Speaker(STDIN, ""), choice, once)
    yield from talk.events((number, data) for number, data in whole if talk.needed(data, 0, len(data)))


def _after(first: tuple[int, bytes], rest: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    yield first
    yield from rest


def _recording(source: SourceFile, choice: Choice, once: Deduplication) -> Iterator[Past]:
    kept = kept_lines(_lines(source, once), source.path, once.coverage)
    yield from kept_events(kept, choice, once)


def _lines(source: SourceFile, once: Deduplication, needed: Needed = every_line) -> Iterator[tuple[int, bytes]]:
    """Read the lines of a file; one that cannot be read any more is counted."""
    try:
        file = open_source(real_path(source.path))
    except OSError:
        once.coverage.refused += 1
        return
    with file:
        once.coverage.files += 1
        yield from lines_of(file, once.coverage, needed)


def _session(source: SourceFile, choice: Choice, once: Deduplication, read: Reader) -> Iterator[Past]:
    """Yield the events of a session; those of a subagent come before what happened after it began."""
    speaker = _speaker(source)
    waiting = list(source.subagents)

    def subagent(agent: SourceFile) -> Iterator[Past]:
        spoken = _speaker(agent)
        spoken.inherit(speaker.modes, agent.age[0])
        return read(agent, spoken, choice, once)

    for past in read(source, speaker, choice, once):
        while waiting and past.time is not None and waiting[0].age[0] <= past.time:
            yield from subagent(waiting.pop(0))
        yield past
    for agent in waiting:
        yield from subagent(agent)


def _speaker(source: SourceFile) -> Speaker:
    """Return who speaks in a transcript; its session is that of its place until a line names it."""
    stem = source.path.removesuffix(".gz").removesuffix(".jsonl")
    if source.agent_id is None:
        return Speaker(source.path, os.path.basename(stem))
    kind = _meta(stem + ".meta.json").get("agentType")
    sure = Provenance.RECORDED if isinstance(kind, str) else Provenance.ASSUMED
    agent = Participant(source.agent_id, kind if isinstance(kind, str) else USUAL_AGENT, sure, source.path)
    folder, name = os.path.split(os.path.dirname(source.path))
    if name == "subagents":
        return Speaker(folder + ".jsonl", os.path.basename(folder), agent)
    # Older versions put subagents beside the sessions of their project.
    return Speaker("", "", agent)


def _meta(path: str) -> dict[str, Json]:
    try:
        with open_source(path) as file:
            value = msgspec.json.decode(file.read(_LARGEST_META))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
