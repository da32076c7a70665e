"""The events of a file from its table, if it has one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.remote import is_url
from hookwright.replay.index.build import built
from hookwright.replay.index.store import FileState, IndexFolder
from hookwright.replay.index.table import EventTable
from hookwright.replay.past import Past
from hookwright.replay.transcripts.calls import response_of
from hookwright.replay.transcripts.files import SourceFile
from hookwright.replay.transcripts.lines import open_source
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.sessions import read_file
from hookwright.replay.transcripts.shapes import read_line, read_progress
from hookwright.replay.transcripts.speaker import Speaker

#: A larger file is read event by event, and never kept whole.
_LARGEST = 256 * 1024 * 1024
_GZIP = b"\x1f\x8b"


class IndexedReader:
    """Reads files through an index.

    Law: the events and everything that is counted are those of reading the file itself.
    """

    def __init__(self, index: IndexFolder) -> None:
        self._index = index

    def __call__(self, source: SourceFile, speaker: Speaker, choice: Choice, once: Deduplication) -> Iterator[Past]:
        """Yield the wanted events of one file; what a URL names is read each time."""
        if is_url(source.path):
            yield from read_file(source, speaker, choice, once)
            return
        with ExitStack() as closing:
            try:
                file = closing.enter_context(open_source(os.path.realpath(source.path)))
            except OSError:
                once.coverage.refused += 1
                return
            found = self._found(file, source, speaker)
            if found is None or not usable(found[0], source, choice):
                closing.close()
                yield from read_file(source, speaker, choice, once)
                return
            table, rows = found
            speaker.modes.restore(table.times, table.modes)

            def response(place: tuple[int, int], call_id: str) -> Json:
                start, size = place
                return response_in(os.pread(file.fileno(), size, start), call_id)

            yield from table.events(rows, source.path, choice, once, response)

    def _found(self, file: IO[bytes], source: SourceFile, speaker: Speaker) -> tuple[EventTable, memoryview] | None:
        """Return the table of a file: the one that is kept, or one that is made and kept."""
        state, about = FileState.of(file), about_of(speaker)
        if state.stamp.size > _LARGEST or os.pread(file.fileno(), 2, 0) == _GZIP:
            return None
        known = self._index.load(source.path, about, state)
        if known is not None:
            return known
        made = built(file, source.path, speaker.again())
        if made is None or FileState.of(file) != state:
            return None
        self._index.save(source.path, about, state, *made)
        return made[0], memoryview(made[1])


def usable(table: EventTable, source: SourceFile, choice: Choice) -> bool:
    """Return whether a table may answer: all or nothing of it is asked for, and no call is in two files at once."""
    return table.is_covered_by(choice) and not (table.agents_inside and source.subagents)


def about_of(speaker: Speaker) -> str:
    """Return everything besides its content that the events of a file depend on."""
    agent = speaker.agent
    named = None if agent is None else [agent.id, agent.type, agent.sure.value, agent.transcript]
    facts = [speaker.transcript, speaker.session_id, speaker.mode, speaker.prompt_id, named, os.path.expanduser("~")]
    return encode(facts).decode()


def response_in(data: bytes, call_id: str) -> Json:
    """Return the response of a tool from the line that has it."""
    line = read_line(data.strip())
    if line is not None and line.type == "progress":
        progress = read_progress(line.data)
        line = progress.message if progress is not None else None
    message = line.message if line is not None else None
    for block in message.blocks if message is not None else ():
        if line is not None and block.tool_use_id == call_id:
            return response_of(line, block)[0]
    return None
