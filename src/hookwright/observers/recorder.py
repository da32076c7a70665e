"""Record the events of a session with what the hooks decided, for `hookwright record` to make cases of."""

from __future__ import annotations

import os

from hookwright.observers import EventEnded, Notice
from hookwright.observers.journal import decision_of
from hookwright.protocol.wire import encode, payload
from hookwright.storage import append_line

#: Names the file that gets one line for every event of every session that is started with it.
RECORD_VARIABLE = "HOOKWRIGHT_RECORD"


class Recorder:
    """An observer that appends whole events to a private file; it keeps payloads, so it is opt-in."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, notice: Notice) -> None:
        """Write an event when all of its hooks have ended; a file that cannot be written is the caller's mistake."""
        if not isinstance(notice, EventEnded):
            return
        outcome = notice.outcome
        word, _ = decision_of(outcome.decision)
        stopped = "stop" if outcome.stop is not None else "none"
        line = {"payload": payload(notice.event), "decision": word or stopped, "reason": outcome.reason}
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            append_line(descriptor, encode(line) + b"\n")
        finally:
            os.close(descriptor)
