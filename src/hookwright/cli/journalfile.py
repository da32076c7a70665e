"""Read the journal with its rotated files: since a moment, filtered, or as it grows."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from hookwright.config.locations import Surroundings
from hookwright.errors import ConfigError
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.text import did_you_mean

Record = dict[str, Json]

NAME = "journal.jsonl"
#: Seconds between two reads of a journal that is followed.
INTERVAL = 0.2
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d|w)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def add_journal(parser: argparse.ArgumentParser, since: str | None) -> None:
    """Add the options that choose records."""
    parser.add_argument(
        "--since", default=since, metavar="WHEN", help="start at this time: 30m, 2h, 30d, or a date such as 2026-05-01"
    )
    parser.add_argument("--event", metavar="NAME", help="only records of this event")
    parser.add_argument("--tool", metavar="NAME", help="only records of this tool")
    parser.add_argument("--handler", metavar="TEXT", help="only hooks whose command contains TEXT")
    parser.add_argument("--session", metavar="ID", help="only sessions whose ID starts with this")
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        help="directory of the journal (default: $HOOKWRIGHT_STATE_DIR, else the XDG state directory)",
    )


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted records; None means all."""

    since: float | None = None
    event: str | None = None
    tool: str | None = None
    handler: str | None = None
    session: str | None = None
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


def read_filter(args: argparse.Namespace) -> Filter:
    """Read the options `add_journal` adds."""
    if args.event is not None and args.event not in CATALOGUE:
        raise ConfigError(f"--event {args.event}: is not an event{did_you_mean(args.event, CATALOGUE)}")
    return Filter(
        since=None if args.since is None else moment(args.since, time.time()),
        event=args.event,
        tool=args.tool,
        handler=args.handler,
        session=args.session,
    )


def moment(text: str, now: float) -> float:
    """Read a span back from now, or a date; raise ConfigError for anything else."""
    span = _SPAN.fullmatch(text)
    if span is not None:
        return now - float(span[1]) * _UNITS[span[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigError(f"--since {text}: write 30m, 2h, 30d or a date such as 2026-05-01") from None


def journal_folder(args: argparse.Namespace, env: Mapping[str, str] = os.environ) -> str:
    """Return the folder of the journal."""
    return str(args.state_dir) if args.state_dir is not None else Surroundings.here(env, None, None).state_dir


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
                yield from _wanted(file, wanted)
        except FileNotFoundError:  # rotated away while we read
            continue


def _wanted(lines: Any, wanted: Filter) -> Iterator[Record]:
    for line in lines:
        record = _record(line)
        if record is not None and wanted.takes(record):
            yield record


def _record(line: bytes) -> Record | None:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def follow(folder: str, wanted: Filter) -> Iterator[Record]:
    """Wait for new records after the current end, across rotations; never return."""
    path = os.path.join(folder, NAME)
    file = _opened(path)
    if file is not None:
        file.seek(0, os.SEEK_END)
    rest = b""
    while True:
        data = file.read() if file is not None else b""
        *lines, rest = (rest + data).split(b"\n")
        yield from _wanted(lines, wanted)
        if data:
            continue
        if file is None or _replaced(file, path):
            if file is not None:
                file.close()
            file, rest = _opened(path), b""
            if file is not None:
                continue
        time.sleep(INTERVAL)


def _opened(path: str) -> Any:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        return None


def _replaced(file: Any, path: str) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False
