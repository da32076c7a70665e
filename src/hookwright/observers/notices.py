"""Progress for a screen or a log: one callable that hears what the engine does."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Outcome, Run


class RunStarted(msgspec.Struct, frozen=True):
    """A handler starts."""

    job: Job


class RunEnded(msgspec.Struct, frozen=True):
    """A handler ended; for a background hook this comes twice: at hand-over and at its real end."""

    job: Job
    run: Run


class EventEnded(msgspec.Struct, frozen=True):
    """All handlers of an event ended and were combined."""

    event: Event
    outcome: Outcome
    seconds: float


Notice = RunStarted | RunEnded | EventEnded

#: An exception in an observer is the host's mistake and raises out of `fire`.
Observer = Callable[[Notice], None]
