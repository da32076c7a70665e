"""The past of sources: transcripts, recordings and inboxes, as events."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

from hookwright.agent.transcript.paths import project_folders
from hookwright.config.locations import Surroundings
from hookwright.replay.choice import Choice
from hookwright.replay.index.reading import IndexedReader
from hookwright.replay.index.store import IndexFolder
from hookwright.replay.past import Coverage, Past
from hookwright.replay.transcripts.files import STDIN, SourceFile, find
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.sessions import Reader, events_of, events_of_stream, read_file

#: How far back the history of a project goes if no source is named.
DEFAULT_DAYS = 30

_EVERYTHING = Choice()

#: Reads transcripts among sources on workers; returns what yields the events of all, by another reader if need be.
ReadApart = Callable[[Sequence[SourceFile], Reader], Reader]


def past_events(
    sources: Sequence[str],
    choice: Choice = _EVERYTHING,
    coverage: Coverage | None = None,
    index: IndexFolder | None = None,
    apart: ReadApart | None = None,
) -> Iterator[Past]:
    """Yield the events of sources: files, folders, globs, or `-` for standard input.

    Sessions follow each other, earliest first; the events of a session are in order, those of a subagent right after
    what happened before it began. `coverage` is complete when the last event has been yielded. With an `index`,
    transcripts that were read before are not read again, and with `apart` workers read those that URLs name; the events
    are the same. Raise NoSource for a source that does not exist.
    """
    read: Reader = read_file if index is None else IndexedReader(index)
    once = Deduplication(coverage if coverage is not None else Coverage())
    found = find([name for name in sources if name != STDIN], once.coverage, choice.since)
    if apart is not None:
        read = apart(found, read)
    for source in found:
        yield from events_of(source, choice, once, read)
    if index is not None:
        index.close()
    if STDIN in sources:
        yield from events_of_stream(sys.stdin.buffer, choice, once)


def project_sources(project_dir: str, around: Surroundings) -> list[str]:
    """Return the folders with the sessions of a project that exist."""
    folders = project_folders(around.config_dir, project_dir, around.env)
    return [folder for folder in folders if os.path.isdir(folder)]


def all_sources(around: Surroundings) -> list[str]:
    """Return the folder with the sessions of every project, if it exists."""
    folder = os.path.join(around.config_dir, "projects")
    return [folder] if os.path.isdir(folder) else []
