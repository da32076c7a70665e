"""Record the events of a session with the decisions of the hooks; `hookwright record` turns them into cases."""

from __future__ import annotations

import os

from hookwright.observers import EventEnded, Notice
from hookwright.observers.journal import decision_of
from hookwright.protocol.outcome import NO_OPINION, Outcome
from hookwright.protocol.sources import Scope
from hookwright.protocol.wire import encode, payload
from hookwright.storage import append_line

#: The environment variable with the path of the record: one line per event of every session started with it.
RECORD_VARIABLE = "HOOKWRIGHT_RECORD"


def sources_of(outcome: Outcome) -> list[str]:
    """Return the settings that a repetition of a firing has to load beyond those of the project; empty for none.

    Law: the user's settings are needed if a hook of theirs decided, or if no other hook ran; then every settings scope
    whose hooks ran is named. So a hook of the user that only watched does not bind the project's cases to it.
    """
    scopes = {run.handler.source.scope for run in outcome.runs} & {Scope.USER, Scope.PROJECT, Scope.LOCAL}
    decided = {
        run.handler.source.scope
        for run in outcome.runs
        if run.verdict.decision != NO_OPINION or run.verdict.stop is not None
    }
    if Scope.USER not in scopes or (scopes != {Scope.USER} and Scope.USER not in decided):
        return []
    return [scope.value for scope in (Scope.USER, Scope.PROJECT, Scope.LOCAL) if scope in scopes]


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
        line = {
            "payload": payload(notice.event),
            "decision": word or stopped,
            "reason": outcome.reason,
            "sources": sources_of(outcome),
        }
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            append_line(descriptor, encode(line) + b"\n")
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from None
        finally:
            os.close(descriptor)
