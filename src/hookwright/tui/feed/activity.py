"""Which hooks run now, and what each handler did since the session began."""

from __future__ import annotations

import time

import msgspec

from hookwright.observers import EventEnded, LateEnded, Notice, RunEnded, RunStarted
from hookwright.protocol.job import Job
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Block, Deny, Ending, Late, Run, Skip
from hookwright.protocol.sources import Source
from hookwright.tui.feed.words import short_label


class Running(msgspec.Struct, frozen=True):
    """A running hook."""

    job: Job
    #: Seconds on the monotonic clock.
    since: float

    @property
    def text(self) -> str:
        """The text of the spinner: the hook's own message, else its name (R-116)."""
        handler = self.job.handler
        if handler.status_message:
            return handler.status_message
        return f"Running {hook_name(self.job.event)} hook {short_label(handler)}"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What one handler did so far."""

    runs: int = 0
    blocks: int = 0
    failures: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    last: Run | None = None
    #: The latest real end of a run that went to the background.
    last_late: Late | None = None
    #: Seconds on the wall clock, of the last run.
    last_at: float = 0.0
    skips: int = 0
    last_skip: Skip | None = None

    def ran(self, run: Run) -> Tally:
        """Count one more run."""
        verdict = run.verdict
        return msgspec.structs.replace(
            self,
            runs=self.runs + 1,
            blocks=self.blocks + isinstance(verdict.decision, Deny | Block),
            failures=self.failures + (verdict.ending in (Ending.ERROR, Ending.CANCELLED)),
            seconds=self.seconds + run.timing.seconds,
            slowest=max(self.slowest, run.timing.seconds),
            last=run,
            last_at=run.timing.started,
        )

    def ended_late(self, notice: LateEnded) -> Tally:
        """Count the real end of a run that went to the background."""
        return msgspec.structs.replace(
            self,
            failures=self.failures + (notice.late.ending in (Ending.ERROR, Ending.CANCELLED)),
            seconds=self.seconds + notice.timing.seconds,
            slowest=max(self.slowest, notice.timing.seconds),
            last_late=notice.late,
        )

    def skipped(self, skip: Skip) -> Tally:
        """Count an event that skipped the handler."""
        return msgspec.structs.replace(self, skips=self.skips + 1, last_skip=skip)


class Activity:
    """An observer that counts; it never waits and never raises."""

    def __init__(self) -> None:
        self.running: dict[str, Running] = {}
        self.tallies: dict[Source, Tally] = {}

    def notice(self, notice: Notice) -> None:
        """Count one notice of the engine."""
        match notice:
            case RunStarted(job=job):
                self.running[job.run_id] = Running(job, time.monotonic())
            case RunEnded(job=job, run=run):
                self.running.pop(job.run_id, None)
                source = job.handler.source
                self.tallies[source] = self.of(source).ran(run)
            case LateEnded(job=job):
                source = job.handler.source
                self.tallies[source] = self.of(source).ended_late(notice)
            case EventEnded(outcome=outcome):
                for skip in outcome.skips:
                    source = skip.handler.source
                    self.tallies[source] = self.of(source).skipped(skip)

    def of(self, source: Source) -> Tally:
        """Return what a handler did so far; an empty tally for an unknown one."""
        return self.tallies.get(source, Tally())

    def line(self, now: float) -> tuple[str, float] | None:
        """Return the text of the spinner and its elapsed seconds; None while no hook runs."""
        if not self.running:
            return None
        first, *others = self.running.values()
        more = f" (+{len(others)} more)" if others else ""
        return first.text + more, now - first.since
