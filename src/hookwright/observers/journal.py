"""The journal: one JSON line per run, skip, event and late end, private, rotated, without secrets."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

from hookwright.observers import EventEnded, LateEnded, Notice, RunEnded
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Late, Outcome, Run, Skip, Timing
from hookwright.protocol.replies import Backgrounded, Exited, Reply
from hookwright.protocol.secrets import redact
from hookwright.protocol.wire import encode
from hookwright.storage import append_line, make_folder

#: A file over this size is rotated before the next line.
ROTATE_AT = 8 * 1024 * 1024
KEEP = 4

_REASON = 500
#: Characters searched before a text is cut: a credential that begins in the kept part ends within these.
_SEARCHED = 8192


def short(text: str) -> str:
    """Shorten a text for the journal and redact what looks like a credential."""
    return redact(text[:_SEARCHED])[:_REASON]


class Journal:
    """An observer that appends to `<folder>/journal.jsonl`; a write error is reported once and never raises."""

    def __init__(self, folder: str, tell: Callable[[Diagnostic], None] | None = None) -> None:
        self.path = os.path.join(folder, "journal.jsonl")
        self.problem: str | None = None
        self._tell = tell

    def __call__(self, notice: Notice) -> None:
        """Record one notice."""
        match notice:
            case RunEnded(job=job, run=run):
                self._write(run_record(job.event, run))
            case LateEnded(job=job, late=late, timing=timing):
                self._write(late_record(job.event, late, timing))
            case EventEnded(event=event, outcome=outcome, seconds=seconds):
                lines = [skip_record(event, skip) for skip in outcome.skips]
                self._write(*lines, event_record(event, outcome, seconds))

    def _write(self, *records: dict[str, Json]) -> None:
        data = b"".join(encode(record) + b"\n" for record in records)
        try:
            descriptor = self._open()
            try:
                append_line(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._failed(f"{self.path}: {error.strerror}")
        else:
            self.problem = None

    def _failed(self, problem: str) -> None:
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
        if os.fstat(descriptor).st_size < ROTATE_AT:
            return descriptor
        with contextlib.suppress(FileNotFoundError):  # another process has just rotated it
            self._rotate(os.fstat(descriptor).st_ino)
        os.close(descriptor)
        return os.open(self.path, flags, 0o600)

    def _rotate(self, inode: int) -> None:
        """Rename the full file to a name no other process uses."""
        folder = os.path.dirname(self.path)
        if os.stat(self.path).st_ino == inode:
            os.rename(self.path, f"{self.path}.{time.time_ns()}")
        old = sorted(name for name in os.listdir(folder) if name.startswith("journal.jsonl."))
        for name in old[:-KEEP]:
            os.unlink(os.path.join(folder, name))


def _common(kind: str, event: Event) -> dict[str, Json]:
    record: dict[str, Json] = {"t": round(time.time(), 6), "kind": kind, "event": event.event_name}
    tool = getattr(event, "tool_name", None)
    if isinstance(tool, str):
        record["tool"] = tool
    record["session"] = event.session_id
    record["cwd"] = event.cwd
    return record


def handler_record(handler: Handler) -> dict[str, Json]:
    """Describe a handler; its place is its id."""
    source = handler.source
    return {
        "handler": short(handler.label),
        "type": handler.kind.value,
        "scope": source.scope.value,
        "source": f"{source.path}:{source.line}" if source.line else source.path,
        "id": f"{source.scope.value}:{source.pointer}",
    }


def run_record(event: Event, run: Run) -> dict[str, Json]:
    """Describe one run: outcome, times, sizes and the reason, but never its output."""
    record = _common("run", event) | handler_record(run.handler)
    decision, reason = decision_of(run.verdict.decision)
    record |= {
        "run": run.id,
        "outcome": run.label,
        "ending": run.verdict.ending.value,
        "decision": decision,
        "ms": round(run.timing.seconds * 1000, 3),
    }
    if isinstance(run.reply, Backgrounded):
        # How it ends is not known yet: a `late` record follows.
        record |= {"background": run.reply.id, "ending": None}
    return record | _details(run.reply, reason or run.verdict.error, run.verdict.diagnostics)


def late_record(event: Event, late: Late, timing: Timing) -> dict[str, Json]:
    """Describe the real end of a background hook; `run` and `background` are those of its `run` record."""
    record = _common("late", event) | handler_record(late.job.handler)
    record |= {
        "run": late.job.run_id,
        "background": late.id,
        "outcome": late.label,
        "ending": late.ending.value,
        "ms": round(timing.seconds * 1000, 3),
    }
    return record | _details(late.reply, late.rewake or late.error, late.diagnostics)


def _details(reply: Reply, reason: str | None, diagnostics: Sequence[Diagnostic]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if isinstance(reply, Exited):
        found |= {"exit": reply.status, "stdout": len(reply.stdout), "stderr": len(reply.stderr)}
    if reason:
        found["reason"] = short(reason)
    if diagnostics:
        found["codes"] = [diagnostic.code for diagnostic in diagnostics]
    return found


def skip_record(event: Event, skip: Skip) -> dict[str, Json]:
    """Describe a handler that was skipped."""
    record = _common("skip", event) | handler_record(skip.handler)
    return record | {"outcome": "skipped", "skip": skip.reason.value, "reason": short(skip.detail)}


def event_record(event: Event, outcome: Outcome, seconds: float) -> dict[str, Json]:
    """Describe the outcome of an event."""
    decision, _ = decision_of(outcome.decision)
    return _common("event", event) | {
        "decision": decision,
        "blocked": outcome.blocked,
        "stop": outcome.stop is not None,
        "ran": len(outcome.runs),
        "skipped": len(outcome.skips),
        "errors": outcome.errors,
        "context": sum(map(len, (*outcome.context, *outcome.plain))),
        "ms": round(seconds * 1000, 3),
    }


def decision_of(decision: object) -> tuple[str | None, str | None]:
    """Return the name and the reason of a decision."""
    if isinstance(decision, Allow | Ask | Defer | Deny | Block):
        return type(decision).__name__.lower(), decision.reason
    return None, None
