"""Read the journal with its rotated files: since a moment, filtered, or as it grows."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Iterator
from typing import BinaryIO

import msgspec

from hookwright.observers.journal.records import Expansion, Record
from hookwright.observers.journal.writer import NAME

#: Seconds between two reads of a journal that is followed.
INTERVAL = 0.2


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted records; None means all."""

    since: float | None = None
    event: str | None = None
    tool: str | None = None
    handler: str | None = None
    session: str | None = None
    #: The agent that fired the event; `hookwright` for our own.
    agent: str | None = None
    decision: str | None = None
    outcome: str | None = None
    kinds: frozenset[str] = frozenset({"run", "late", "skip", "event"})

    def takes(self, record: Record) -> bool:
        """Return whether a record is wanted."""
        return (
            record.get("kind") in self.kinds
            and (self.since is None or float(record.get("t", 0)) >= self.since)
            and (self.handler is None or self.handler in str(record.get("handler", "")))
            and (self.session is None or str(record.get("session", "")).startswith(self.session))
            and self.agent in (None, record.get("src", "hookwright"))
            and all(
                wanted is None or record.get(key) == wanted or (wanted == "none" and record.get(key) is None)
                for key, wanted in (
                    ("event", self.event),
                    ("tool", self.tool),
                    ("decision", self.decision),
                    ("outcome", self.outcome),
                )
            )
        )


def journal_files(folder: str) -> list[str]:
    """Return the files of a journal, oldest first."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    rotated = sorted(name for name in names if name.startswith(f"{NAME}."))
    return [os.path.join(folder, name) for name in (*rotated, *([NAME] if NAME in names else []))]


def records(folder: str, wanted: Filter) -> Iterator[Record]:
    """Read all wanted records, oldest first; a torn line is skipped."""
    for path in journal_files(folder):
        try:
            if wanted.since is not None and os.stat(path).st_mtime < wanted.since:
                continue
            with open(path, "rb") as file:
                yield from _wanted(file, wanted, Expansion())
        except FileNotFoundError:  # rotated away while we read
            continue


def removed_up_to(folder: str) -> float | None:
    """Return the time up to which records were removed to keep the journal within its limits, or None."""
    cuts = []
    for path in journal_files(folder):
        expansion = Expansion()
        try:
            with open(path, "rb") as file:
                list(expanded(file.readline(), expansion))
        except OSError:
            continue
        if expansion.cut is not None:
            cuts.append(expansion.cut)
    return max(cuts, default=None)


def _wanted(lines: Iterable[bytes], wanted: Filter, expansion: Expansion) -> Iterator[Record]:
    for line in lines:
        for record in expanded(line, expansion):
            if wanted.takes(record):
                yield record


def expanded(line: bytes, expansion: Expansion) -> Iterator[Record]:
    """Yield the records of one line of a file whose lines before it are known to `expansion`; none if it is torn."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(value, dict):
        yield from expansion.read(value)


def follow(folder: str, wanted: Filter) -> Generator[Record, None, None]:
    """Wait for new records after the current end, across rotations; never return."""
    path = os.path.join(folder, NAME)
    expansion = Expansion()
    file = _opened(path)
    if file is not None:
        _skip_to_end(file, expansion)
    while True:
        if file is not None:
            with file:
                yield from _grown(file, path, wanted, expansion)
        else:
            time.sleep(INTERVAL)
        file, expansion = _opened(path), Expansion()


def _skip_to_end(file: BinaryIO, expansion: Expansion) -> None:
    """Pass over the complete lines of a file; what it says of handlers is kept for later lines."""
    whole, mark, _ = file.read().rpartition(b"\n")
    for line in whole.split(b"\n"):
        list(expanded(line, expansion))
    file.seek(len(whole) + len(mark))


def _grown(file: BinaryIO, path: str, wanted: Filter, expansion: Expansion) -> Iterator[Record]:
    """Read what is appended to a file, until it is rotated."""
    rest = b""
    while True:
        data = file.read()
        *lines, rest = (rest + data).split(b"\n")
        yield from _wanted(lines, wanted, expansion)
        if not data:
            if _replaced(file, path):
                return
            time.sleep(INTERVAL)


def _opened(path: str) -> BinaryIO | None:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        return None


def _replaced(file: BinaryIO, path: str) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False
