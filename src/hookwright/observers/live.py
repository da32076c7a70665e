"""What a session writes for an open console: inputs, outputs, texts, and hooks that have started.

The journal never holds what a hook read or printed. A console shows it, and only while it is open: it keeps a folder
`live` beside the journal and renews a file in it. A session that finds that file fresh appends to its own file there;
otherwise an event costs one look at the file system. Nothing here can hold up a session: there is no socket and nothing
to wait for. The file is private and short-lived, so texts are in it as they are; the console redacts what it shows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from hookwright.observers.notices import EventEnded, LateEnded, Notice, RunEnded, RunStarted
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.replies import Exited, Reply
from hookwright.protocol.wire import encode, payload
from hookwright.storage import append_line

#: The folder beside the journal, and the file in it that a console renews.
LIVE = "live"
BEACON = "console"
#: A console that has not renewed its file for this many seconds is gone, or stopped.
FRESH = 15.0
#: A session's file does not grow beyond this.
MOST = 16 * 1024 * 1024
#: Characters of one output and of one input that are kept.
_CUT = 64 * 1024
_INPUT = 512 * 1024

#: Returns what the model and the user read of an outcome.
Texts = Callable[[Outcome], Mapping[str, Sequence[str]]]


class LiveFeed:
    """An observer that writes for a console while one is open; an error of the file system is never the session's."""

    def __init__(self, folder: str, texts: Texts) -> None:
        self._folder = os.path.join(folder, LIVE)
        self._beacon = os.path.join(self._folder, BEACON)
        self._texts = texts
        self._path = os.path.join(self._folder, f"{os.getpid()}-{os.urandom(6).hex()}.jsonl")

    def __call__(self, notice: Notice) -> None:
        """Write one notice, if somebody is there to read it."""
        if not self._is_watched():
            return
        try:
            self._append(self._record(notice))
        except OSError:  # the console has just removed its folder, or the disk is full: the session continues
            return

    def _is_watched(self) -> bool:
        try:
            return time.time() - os.stat(self._beacon).st_mtime < FRESH
        except OSError:
            return False

    def _append(self, record: Mapping[str, Json]) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            if os.fstat(descriptor).st_size < MOST:
                append_line(descriptor, encode(dict(record)) + b"\n")
        finally:
            os.close(descriptor)

    def _record(self, notice: Notice) -> dict[str, Json]:
        match notice:
            case RunStarted(job=job):
                return _about("start", job.event, job.firing) | {"run": job.run_id, "handler": job.handler.label}
            case RunEnded(job=job, run=run):
                return _about("run", job.event, job.firing) | {"run": job.run_id} | _output(run.reply)
            case LateEnded(job=job, late=late):
                return _about("late", job.event, job.firing) | {"run": job.run_id} | _output(late.reply)
            case EventEnded(event=event, outcome=outcome, firing=firing):
                read = {reader: [_cut(text) for text in texts] for reader, texts in self._texts(outcome).items()}
                return _about("event", event, firing) | {"input": _written(event)} | read


def _about(kind: str, event: Event, firing: str) -> dict[str, Json]:
    return {"kind": kind, "fire": firing, "t": round(time.time(), 6), "event": event.event_name}


def _written(event: Event) -> str:
    text = encode(payload(event)).decode("utf-8", "replace")
    return text if len(text) <= _INPUT else f"{text[:_INPUT]}… ({len(text)} characters)"


def _output(reply: Reply) -> dict[str, Json]:
    if not isinstance(reply, Exited):
        return {"reply": type(reply).__name__.lower()}
    found = {"stdout": reply.stdout, "stderr": reply.stderr}
    return {name: _cut(data.decode("utf-8", "replace")) for name, data in found.items()} | {"exit": reply.status}


def _cut(text: str) -> str:
    """Keep the beginning of a long text."""
    return text if len(text) <= _CUT else f"{text[:_CUT]}… ({len(text)} characters)"
