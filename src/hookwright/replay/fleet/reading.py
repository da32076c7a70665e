"""Read transcripts on workers; this machine puts together what they found."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from typing import IO

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.fleet import Fleet, FleetReaders
from hookwright.replay.fleet.remote import is_url, real_path, size_of
from hookwright.replay.index.build import built
from hookwright.replay.index.reading import about_of, response_in, usable
from hookwright.replay.index.table import EventTable
from hookwright.replay.past import Coverage, Past
from hookwright.replay.pool import TaskRun, Workers
from hookwright.replay.transcripts.files import SourceFile, SourceKind
from hookwright.replay.transcripts.lines import open_source
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.sessions import Reader, events_of, read_file
from hookwright.replay.transcripts.speaker import Speaker

#: The least bytes of a task, so that what is read is worth the way there and back.
LEAST = 64 * 1024 * 1024
#: A larger file is read event by event on this machine, and never kept whole.
_LARGEST = 256 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_EDGE = 4096


class ReadTable(msgspec.Struct, frozen=True):
    """What a worker found in one file."""

    path: str
    #: Everything besides its content that the events of the file depend on.
    about: str
    #: The size of the file, and a checksum of its start and its end.
    state: tuple[int, int]
    table: EventTable
    rows: bytes


def read_tables(home: bytes, sources: Sequence[SourceFile]) -> list[ReadTable]:
    """Read sessions with their subagents, on a worker; leave out what it cannot read as this machine would."""
    os.environ["HOME"] = os.fsdecode(home)
    reader = _TableReader()
    for source in sources:
        for _ in events_of(source, Choice(), Deduplication(Coverage()), reader):
            pass
    return reader.found


class _TableReader:
    """Reads each file into a table, and yields nothing."""

    def __init__(self) -> None:
        self.found: list[ReadTable] = []

    def __call__(self, source: SourceFile, speaker: Speaker, _choice: Choice, _once: Deduplication) -> Iterator[Past]:
        about = about_of(speaker)
        try:
            with open_source(real_path(source.path)) as file:
                state = _state(file)
                if state is None or state[0] > _LARGEST:
                    return iter(())
                file.seek(0)
                made = built(file, source.path, speaker.again())
        except OSError:
            return iter(())
        if made is not None and made[0].size == state[0]:
            speaker.modes.restore(made[0].times, made[0].modes)
            self.found.append(ReadTable(source.path, about, state, *made))
        return iter(())


def _state(file: IO[bytes]) -> tuple[int, int] | None:
    """Return the size of an open file and a checksum of its ends; None for a compressed one."""
    start = file.read(_EDGE)
    if start[:2] == _GZIP:
        return None
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _EDGE))
    return size, zlib.crc32(file.read(_EDGE), zlib.crc32(start))


class FleetReader:
    """Yields the events of files that workers read.

    Law: the events and everything that is counted are those of reading the files here. What a worker did not read, or
    read while it was another file than it is here, is read here.
    """

    def __init__(self, tables: Sequence[ReadTable], killed: frozenset[str], otherwise: Reader) -> None:
        self._tables = {(table.path, table.about): table for table in tables}
        self._killed = killed
        self._otherwise = otherwise

    def __call__(self, source: SourceFile, speaker: Speaker, choice: Choice, once: Deduplication) -> Iterator[Past]:
        """Yield the wanted events of one file; one that killed its reader is counted as refused."""
        if source.path in self._killed:
            once.coverage.refused += 1
            return
        found = self._tables.pop((source.path, about_of(speaker)), None)
        if found is None or not usable(found.table, source, choice):
            yield from self._otherwise(source, speaker, choice, once)
            return
        try:
            file = open_source(real_path(source.path))
        except OSError:
            once.coverage.refused += 1
            return
        with file:
            if _state(file) != found.state:
                yield from self._otherwise(source, speaker, choice, once)
                return
            speaker.modes.restore(found.table.times, found.table.modes)

            def response(place: tuple[int, int], call_id: str) -> Json:
                file.seek(place[0])
                return response_in(file.read(place[1]), call_id)

            yield from found.table.events(memoryview(found.rows), source.path, choice, once, response)


def read_apart(fleet: Fleet, sources: Sequence[SourceFile], otherwise: Reader) -> Reader:
    """Read the transcripts that URLs name on the workers of a fleet, which may not have the files of this machine."""
    return read_by(FleetReaders(fleet), [source for source in sources if is_url(source.path)], otherwise)


def read_by(
    workers: Workers, sources: Sequence[SourceFile], otherwise: Reader = read_file, least: int = LEAST
) -> Reader:
    """Read transcripts in tasks of at least so many bytes; a file that kills its worker alone is not read at all."""
    home = os.fsencode(os.path.expanduser("~"))
    cut = cut_evenly([one for one in sources if one.kind is SourceKind.TRANSCRIPT], least)
    run: TaskRun[list[ReadTable]] = TaskRun(workers)
    tables: list[ReadTable] = []
    suspects: list[SourceFile] = []
    for task, result in zip(cut, run.results(read_tables, home, [(task,) for task in cut]), strict=True):
        if isinstance(result, list):
            tables += result
        else:
            suspects += task
    killed = set()
    for source, result in zip(
        suspects, run.results(read_tables, home, [((source,),) for source in suspects]), strict=True
    ):
        if isinstance(result, list):
            tables += result
        else:
            killed.add(source.path)
    return FleetReader(tables, frozenset(killed), otherwise)


def cut_evenly(sources: Sequence[SourceFile], least: int) -> list[tuple[SourceFile, ...]]:
    """Cut sources into tasks, in order.

    Law: every source is in one task; every task but the last has at least `least` bytes, and none could be cut again.
    """
    tasks: list[tuple[SourceFile, ...]] = []
    held: list[SourceFile] = []
    size = 0
    for source in sources:
        held.append(source)
        size += sum(map(_size, (source, *source.subagents)))
        if size >= least:
            tasks.append(tuple(held))
            held, size = [], 0
    return [*tasks, tuple(held)] if held else tasks


def _size(source: SourceFile) -> int:
    return size_of(source.path)
