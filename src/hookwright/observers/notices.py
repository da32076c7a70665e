"""Notices: what the engine tells its observers while it works."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Late, Outcome, Run, Timing


class RunStarted(msgspec.Struct, frozen=True):
    """A handler starts."""

    job: Job


class RunEnded(msgspec.Struct, frozen=True):
    """A handler ended, or went to the background: then `LateEnded` follows."""

    job: Job
    run: Run


class EventEnded(msgspec.Struct, frozen=True):
    """All handlers of an event ended, and their verdicts were combined."""

    event: Event
    outcome: Outcome
    seconds: float
    #: The id of the firing, which the jobs of its runs carry too; empty if it was not given one.
    firing: str = ""


class LateEnded(msgspec.Struct, frozen=True):
    """A hook in the background ended; usually long after its event did."""

    job: Job
    late: Late
    #: From the start of the hook to its real end.
    timing: Timing


Notice = RunStarted | RunEnded | EventEnded | LateEnded

#: Called in order, and never awaited. One that raises is reported as `observer-failed`, and the firing continues.
Observer = Callable[[Notice], None]
