"""Record the events of a session with the decisions of the hooks; `hookwright record` turns them into cases."""

from __future__ import annotations

import os

from hookwright.observers import EventEnded, Notice
from hookwright.observers.journal import decision_of
from hookwright.protocol.wire import encode, payload
from hookwright.storage import append_line

#: The environment variable with the path of the record: one line per event of every session started with it.
RECORD_VARIABLE = "HOOKWRIGHT_RECORD"


class Recorder:
    """An observer that appends whole events to a private file; it is opt-in, since it keeps payloads."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, notice: Notice) -> None:
        """Write an event when all its hooks have ended; raise OSError if the file cannot be written."""
        if not isinstance(notice, EventEnded):
            return
        outcome = notice.outcome
        word, _ = decision_of(outcome.decision)
        stopped = "stop" if outcome.stop is not None else "none"
        line = {"payload": payload(notice.event), "decision": word or stopped, "reason": outcome.reason}
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            append_line(descriptor, encode(line) + b"\n")
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from None
        finally:
            os.close(descriptor)
