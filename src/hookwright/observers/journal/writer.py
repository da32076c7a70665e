"""The observer that writes the journal, and how long the journal is kept."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping

import msgspec

from hookwright.observers.journal.records import (
    VERSION,
    Context,
    Record,
    event_record,
    handler_key,
    handler_record,
    late_record,
    run_record,
    skip_pair,
)
from hookwright.observers.notices import EventEnded, LateEnded, Notice, RunEnded
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import Handler
from hookwright.protocol.wire import encode
from hookwright.storage import append_line, make_folder

NAME = "journal.jsonl"

#: A file over this size is rotated before the next line.
ROTATE_AT = 8 * 1024 * 1024

#: Environment variables with the limits of the journal.
DAYS_VARIABLE = "HOOKWRIGHT_JOURNAL_DAYS"
MEGABYTES_VARIABLE = "HOOKWRIGHT_JOURNAL_MB"


class Retention(msgspec.Struct, frozen=True):
    """How much of the journal is kept; rotated files over either limit are removed, oldest first."""

    days: float = 90.0
    bytes: int = 64 * 1024 * 1024

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Retention:
        """Read the limits from the environment; a value that is not a positive number leaves the default."""
        days, megabytes = _number(env.get(DAYS_VARIABLE)), _number(env.get(MEGABYTES_VARIABLE))
        return cls(
            cls().days if days is None else days,
            cls().bytes if megabytes is None else int(megabytes * 1024 * 1024),
        )

    def removes(self, files: Iterable[tuple[str, float, int]], now: float) -> list[tuple[str, float]]:
        """Return the rotated files to remove, given (path, time of the last record, size) from old to new.

        Law: a file goes if its last record is older than `days`, or if it and all newer ones are more than `bytes`.
        """
        found: list[tuple[str, float]] = []
        total = 0
        for path, last, size in reversed(list(files)):
            total += size
            if total > self.bytes or now - last > self.days * 86400:
                found.append((path, last))
        return found


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else 0.0
    except ValueError:
        return None
    return value if 0 < value < 1e9 else None


class Journal:
    """An observer that appends to `<folder>/journal.jsonl`; a write error is reported once and never raises."""

    def __init__(
        self,
        folder: str,
        tell: Callable[[Diagnostic], None] | None = None,
        *,
        configuration: Callable[[], str] = str,
        source: str = "hookwright",
        retention: Retention | None = None,
    ) -> None:
        self.path = os.path.join(folder, NAME)
        self.problem: str | None = None
        self._tell = tell
        #: Returns the hash of the configuration in force.
        self._configuration = configuration
        self._source = source
        self._retention = Retention() if retention is None else retention
        #: Keys of handlers by identity; each handler is kept, so that no other gets its identity.
        self._keys: dict[int, tuple[Handler, str, Record]] = {}
        #: The file the last line went to, and the keys of handlers that are described in it.
        self._inode = 0
        self._described: set[str] = set()

    def __call__(self, notice: Notice) -> None:
        """Record one notice."""
        match notice:
            case RunEnded(job=job, run=run):
                context = Context(job.event, job.firing, self._source)
                self._write([job.handler], run_record(context, run, self._key(job.handler)))
            case LateEnded(job=job, late=late, timing=timing):
                context = Context(job.event, job.firing, self._source)
                self._write([job.handler], late_record(context, late, timing, self._key(job.handler)))
            case EventEnded(event=event, outcome=outcome, seconds=seconds, firing=firing):
                context = Context(event, firing, self._source)
                pairs = [skip_pair(skip, self._key(skip.handler)) for skip in outcome.skips]
                record = event_record(context, outcome, seconds, pairs, self._configuration())
                self._write([skip.handler for skip in outcome.skips], record)

    def _key(self, handler: Handler) -> str:
        known = self._keys.get(id(handler))
        if known is None:
            described = handler_record(handler)
            known = self._keys[id(handler)] = (handler, handler_key(described), described)
        return known[1]

    def _write(self, handlers: Iterable[Handler], record: Record) -> None:
        try:
            descriptor = self._open()
            try:
                append_line(descriptor, self._described_first(descriptor, handlers) + encode(record) + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            self._failed(f"{self.path}: {error.strerror}")
        else:
            self.problem = None

    def _described_first(self, descriptor: int, handlers: Iterable[Handler]) -> bytes:
        """Return the lines for handlers that this journal has not described yet in the file it writes to."""
        found = os.fstat(descriptor)
        if found.st_ino != self._inode or found.st_size == 0:
            self._inode, self._described = found.st_ino, set()
        lines = b""
        for handler in handlers:
            _, key, described = self._keys[id(handler)]
            if key not in self._described:
                self._described.add(key)
                lines += encode({"kind": "handler", "h": key} | described) + b"\n"
        return lines

    def _failed(self, problem: str) -> None:
        self._described = set()  # the lines may not have been written
        if problem != self.problem and self._tell is not None:
            self._tell(Diagnostic("journal", f"{problem}; hooks still run, without a record", None, Severity.WARNING))
        self.problem = problem

    def _open(self) -> int:
        # O_NONBLOCK: a pipe instead of the file must not hold up hooks.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            make_folder(os.path.dirname(self.path))
            descriptor = os.open(self.path, flags, 0o600)
        size = os.fstat(descriptor).st_size
        if 0 < size < ROTATE_AT:
            return descriptor
        cut = None
        if size:
            with contextlib.suppress(FileNotFoundError):  # another process has just rotated it
                cut = self._rotate(os.fstat(descriptor).st_ino)
            os.close(descriptor)
            descriptor = os.open(self.path, flags, 0o600)
        if not os.fstat(descriptor).st_size:
            head: Record = {"kind": "journal", "v": VERSION, "t": round(time.time(), 6)}
            append_line(descriptor, encode(head if cut is None else head | {"cut": cut}) + b"\n")
        return descriptor

    def _rotate(self, inode: int) -> float | None:
        """Rename the full file to a name no other process uses; return up to when older records were removed."""
        folder = os.path.dirname(self.path)
        if os.stat(self.path).st_ino == inode:
            os.rename(self.path, f"{self.path}.{time.time_ns()}")
        old = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(f"{NAME}.")]
        files = [(path, found.st_mtime, found.st_size) for path in old for found in [os.stat(path)]]
        removed = self._retention.removes(files, time.time())
        for path, _ in removed:
            os.unlink(path)
        return max((last for _, last in removed), default=None)
