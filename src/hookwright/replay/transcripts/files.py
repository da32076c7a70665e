"""Find the files of sources: each session with its subagents, in an order that only depends on what is in them."""

from __future__ import annotations

import enum
import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from typing import IO

import msgspec

from hookwright.errors import HookwrightError
from hookwright.replay.agentlogs.model import agent_of
from hookwright.replay.fleet.remote import is_url, listed, local_path, modified, real_path
from hookwright.replay.past import Coverage
from hookwright.replay.transcripts.lines import lines_of, open_source, unpacked_head
from hookwright.replay.transcripts.shapes import read_line, seconds_of

#: The source that names standard input.
STDIN = "-"

_HEAD = 64 * 1024
_TAIL = 64 * 1024
_TIMESTAMP = re.compile(rb'"timestamp"\s*:\s*"([0-9T:.Z+-]{10,40})"')
_NAMED = b'"timestamp"'
_FORKED = b'"forkedFrom"'
_AGENT = re.compile(r"agent-(.+?)\.jsonl(?:\.gz)?")
_LINES = (".jsonl", ".jsonl.gz")


class NoSource(HookwrightError):
    """A source that does not exist."""


class SourceKind(enum.Enum):
    """What a file has."""

    TRANSCRIPT = "a transcript"
    #: Lines of a recorder or whole payloads, one per line.
    RECORDING = "recorded events"
    #: A folder in which an observer hook keeps one payload per file.
    INBOX = "observed events"
    #: The log of another agent.
    AGENT_LOG = "a log of another agent"


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file to read."""

    path: str
    kind: SourceKind
    #: Sorts copies of a session after it: first time, whether it is a fork, last time, path.
    age: tuple[float, bool, float, str]
    #: Transcripts of the subagents of this session.
    subagents: tuple[SourceFile, ...] = ()
    #: The id of the subagent whose transcript this is; None for a session.
    agent_id: str | None = None
    #: The files of an inbox, earliest first.
    payloads: tuple[str, ...] = ()


def find(sources: Sequence[str], coverage: Coverage, since: float | None = None) -> list[SourceFile]:
    """Return the files of sources, earliest first; raise NoSource for a source that does not exist.

    Law: a file is listed once, however many sources name it; the order only depends on contents and paths. Links that
    lead out of the folder they are in, and what cannot be opened, are counted as refused. With `since`, a file that
    was not written to after that time is not opened.
    """
    paths: dict[str, str] = {}
    for source in sources:
        for path in _paths(source, coverage):
            paths.setdefault(real_path(path), path if is_url(path) else os.path.abspath(path))
    wanted = (path for real, path in paths.items() if since is None or _modified(real) >= since)
    known = [file for path in wanted if (file := _described(path, coverage)) is not None]
    return sorted(_grouped(known), key=lambda file: file.age)


def _paths(source: str, coverage: Coverage) -> Iterator[str]:
    source = local_path(source)
    if is_url(source):
        yield from _remote_paths(source)
    elif os.path.isdir(source):
        yield from _below(source, coverage)
    elif os.path.lexists(source):
        real = os.path.realpath(source)
        yield real
        folder = os.path.join(_stem(real), "subagents")
        if os.path.isdir(folder):
            yield from _below(folder, coverage)
    else:
        found = sorted(glob.glob(os.path.expanduser(source), recursive=True, include_hidden=True))
        if not found:
            raise NoSource(f"{source}: no such file or folder; name transcripts (.jsonl), a folder of them, or -")
        for path in found:
            yield from _paths(path, coverage)


def _remote_paths(url: str) -> Iterator[str]:
    """Yield the files of a URL: one file with its subagents, or whatever a folder or a pattern has."""
    found = listed(url)
    one_file = len(found) == 1 and os.path.basename(found[0]) == os.path.basename(url)
    if one_file or any(mark in url for mark in "*?["):
        yield from found
        found = [agent for one in found for agent in listed(f"{_stem(one)}/subagents")]
    elif not found:
        raise NoSource(f"{url}: nothing is there; name a transcript (.jsonl) or a folder of them")
    yield from (one for one in found if _is_source(os.path.basename(one)))


def _stem(path: str) -> str:
    return path.removesuffix(".gz").removesuffix(".jsonl")


def _below(folder: str, coverage: Coverage) -> Iterator[str]:
    """Walk a folder; a link is followed only to a file inside it."""
    root = os.path.realpath(folder)

    def refuse(_error: OSError) -> None:
        coverage.refused += 1

    for where, folders, files in os.walk(folder, onerror=refuse):
        for name in sorted(folders):
            target = os.path.join(where, name)
            if os.path.islink(target):
                coverage.refused += not _inside(target, root)
        folders.sort()
        for name in sorted(files):
            path = os.path.join(where, name)
            if not _is_source(name):
                continue
            if os.path.islink(path) and not _inside(path, root):
                coverage.refused += 1
                continue
            yield path


def _inside(path: str, root: str) -> bool:
    real = os.path.realpath(path)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _is_source(name: str) -> bool:
    """Return whether a file of a folder may have events; files in the making begin with a dot."""
    return name.endswith((*_LINES, ".json")) and not name.startswith(".") and not name.endswith(".meta.json")


def _modified(path: str) -> float:
    if is_url(path):
        return modified(path)
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")  # what cannot be read is opened, and so counted


def _described(path: str, coverage: Coverage) -> SourceFile | None:
    """Look at the start and the end of a file; None for one that cannot be opened or has nothing of the past."""
    try:
        with open_source(real_path(path)) as file:
            data = file.read(_HEAD)
            head, tail = unpacked_head(data), _tail(file, data)
            file.seek(0)
            kind = _kind(path, file, head)
    except OSError:
        coverage.refused += 1
        return None
    if kind is None:
        return None
    agent = _AGENT.fullmatch(os.path.basename(path))
    first, last = _time(_TIMESTAMP.search(head)), _last_time(tail)
    age = (first if first is not None else float("inf"), _FORKED in head, last or float("inf"), path)
    return SourceFile(path=path, kind=kind, age=age, agent_id=agent[1] if agent is not None else None)


def _time(found: re.Match[bytes] | None) -> float | None:
    return seconds_of(found[1].decode()) if found is not None else None


def _last_time(tail: bytes) -> float | None:
    """Return the last time in the end of a file."""
    at = len(tail)
    while (at := tail.rfind(_NAMED, 0, at)) >= 0:
        if (found := _TIMESTAMP.match(tail, at)) is not None:
            return _time(found)
    return None


def _tail(file: IO[bytes], head: bytes) -> bytes:
    size = file.seek(0, os.SEEK_END)
    if size <= len(head):
        return head
    file.seek(max(0, size - _TAIL))
    return file.read(_TAIL)


def _kind(path: str, file: IO[bytes], head: bytes) -> SourceKind | None:
    if path.endswith(".json"):
        return SourceKind.INBOX if b'"hook_event_name"' in head else None
    start = io.BytesIO(head[: head.find(b"\n") + 1]) if head.startswith(b"{") and b"\n" in head else file
    first = next(lines_of(start, Coverage()), None)
    return kind_of_line(first[1]) if first is not None else SourceKind.TRANSCRIPT


def kind_of_line(first: bytes) -> SourceKind:
    """Return what a file has that begins with a line."""
    if is_recording(first):
        return SourceKind.RECORDING
    return SourceKind.AGENT_LOG if agent_of(first) else SourceKind.TRANSCRIPT


def is_recording(data: bytes) -> bool:
    """Return whether a line has a whole event; the lines of a transcript have a type."""
    line = read_line(data) if b'"hook_event_name"' in data else None
    return line is not None and not line.type


def _grouped(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Put transcripts of subagents below those of their sessions, and the payloads of a folder together."""
    sessions = {_stem(file.path) for file in files if file.agent_id is None and file.kind is SourceKind.TRANSCRIPT}
    below: dict[str, list[SourceFile]] = {}
    inboxes: dict[str, list[str]] = {}
    alone: list[SourceFile] = []
    for file in files:
        folder, name = os.path.split(os.path.dirname(file.path))
        if file.kind is SourceKind.INBOX:
            inboxes.setdefault(os.path.dirname(file.path), []).append(file.path)
        elif file.agent_id is not None and name == "subagents" and folder in sessions:
            below.setdefault(folder, []).append(file)
        else:
            alone.append(file)
    for file in alone:
        agents = sorted(below.get(_stem(file.path), ()), key=lambda agent: agent.age)
        yield msgspec.structs.replace(file, subagents=tuple(agents)) if agents else file
    for folder, paths in inboxes.items():
        age = (float("inf"), False, float("inf"), folder)
        yield SourceFile(path=folder, kind=SourceKind.INBOX, age=age, payloads=tuple(sorted(paths)))
