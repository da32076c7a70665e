"""What a replay comes to: counts per bucket and fate, per handler, and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from hookwright.replay.labels import Label
from hookwright.replay.model import CHANGED, RANKS, Bucket, Change, Code, Ran
from hookwright.replay.past import Coverage, Fate
from hookwright.replay.run import HandlerRow, Replay

#: Fates in the order of a report's columns; the others are "unknown".
COLUMNS = (Fate.SUCCEEDED, Fate.REJECTED, Fate.FAILED)


class Count(msgspec.Struct):
    """The events of one bucket."""

    events: int = 0
    #: Those that follow a call of the same turn that would now be refused.
    after: int = 0
    sessions: set[str] = msgspec.field(default_factory=set)
    fates: Counter[Fate | None] = msgspec.field(default_factory=Counter)

    def add(self, change: Change) -> None:
        """Count one event."""
        self.events += 1
        self.after += change.after is not None
        self.sessions.add(change.past.event.session_id)
        if change.is_call:
            self.fates[change.past.fate] += 1

    @property
    def unknown(self) -> int:
        """Calls whose fate says neither that they ran nor that the person rejected them."""
        return sum(number for fate, number in self.fates.items() if fate not in COLUMNS)


class HandlerCount(msgspec.Struct):
    """What one handler of the candidate, or of the baseline alone, did."""

    row: HandlerRow
    runs: int = 0
    reused: int = 0
    refused: int = 0
    failed: int = 0
    #: Calls that are refused now and were not before, with this handler among those that refuse.
    stricter: int = 0
    likely_false: int = 0
    agrees: int = 0
    #: Events it would have run for, if it were trusted.
    untrusted: int = 0
    #: Events of the candidate that are undecided because of this handler.
    undecided: int = 0
    #: Verdicts of a handler in shadow mode that would have refused.
    would_refuse: int = 0
    times: list[float] = msgspec.field(default_factory=list)


class Totals(msgspec.Struct, kw_only=True):
    """Everything a report says, apart from the changes themselves."""

    coverage: Coverage
    buckets: dict[Bucket, Count] = msgspec.field(default_factory=lambda: {bucket: Count() for bucket in Bucket})
    handlers: dict[str, HandlerCount] = msgspec.field(default_factory=dict)
    #: Events of the candidate that are refused, without a doubt.
    refused: int = 0
    now_refused: Count = msgspec.field(default_factory=Count)
    likely_false: int = 0
    agrees: int = 0
    events: int = 0
    #: Calls with a label by what it says; those that are refused now, and those that are not though they should be.
    labelled: Counter[Label] = msgspec.field(default_factory=Counter)
    labelled_refused: Counter[Label] = msgspec.field(default_factory=Counter)
    missed: int = 0
    #: Doubts by their code, each event once per code.
    doubts: Counter[str] = msgspec.field(default_factory=Counter)
    #: Milliseconds per event of the candidate: its slowest hook, since hooks of one event run at the same time.
    times: list[float] = msgspec.field(default_factory=list)
    per_session: dict[str, float] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, ready: Replay, coverage: Coverage) -> Totals:
        """Begin the totals of a replay, with a row for every handler."""
        return cls(coverage=coverage, handlers={row.id: HandlerCount(row) for row in ready.handlers})

    def add(self, change: Change) -> None:
        """Count one event."""
        self.events += 1
        self.buckets[change.bucket].add(change)
        if change.now_refused:
            self.now_refused.add(change)
        self.refused += change.now.refused and not change.now.undecided
        self.likely_false += change.likely_false
        self.agrees += change.agrees
        self.missed += change.missed
        if change.is_call and change.label is not None:
            self.labelled[change.label] += 1
            self.labelled_refused[change.label] += change.now_refused
        for code in {doubt.code.value for doubt in (*change.before.doubts, *change.now.doubts)}:
            self.doubts[code] += 1
        for doubt in change.now.doubts:
            if doubt.code is Code.UNTRUSTED:
                self.handlers[doubt.handler].untrusted += 1
        self._add_times(change)
        for run in change.now.runs:
            self._add_run(run, change)
        for run in change.before.runs:
            if "candidate" not in self.handlers[run.handler].row.sides:
                self._add_run(run, change)

    def _add_times(self, change: Change) -> None:
        if change.now.runs:
            slowest = max(run.ms for run in change.now.runs)
            self.times.append(slowest)
            session = change.past.event.session_id
            self.per_session[session] = self.per_session.get(session, 0.0) + slowest

    def _add_run(self, run: Ran, change: Change) -> None:
        count = self.handlers[run.handler]
        refuses = RANKS[run.decision] >= RANKS["deny"]
        count.runs += 1
        count.reused += run.reused
        count.times.append(run.ms)
        count.failed += run.ending in ("non-blocking error", "cancelled")
        count.undecided += change.now.undecided and any(one.handler == run.handler for one in change.now.doubts)
        if run.shadow:
            count.would_refuse += refuses
            return
        count.refused += refuses
        if refuses and "candidate" in count.row.sides:
            count.stricter += change.now_refused
            count.likely_false += change.likely_false
            count.agrees += change.agrees

    @property
    def changed(self) -> int:
        """The events whose outcome changed."""
        return sum(self.buckets[bucket].events for bucket in CHANGED)

    @property
    def failed(self) -> int:
        """Runs of the candidate without a usable answer."""
        return sum(count.failed for count in self.handlers.values() if "candidate" in count.row.sides)

    @property
    def never_matched(self) -> list[HandlerRow]:
        """The handlers of the candidate that no event selected."""
        counts = self.handlers.values()
        return [c.row for c in counts if not c.runs and not c.untrusted and "candidate" in c.row.sides]

    @property
    def likely_false_share(self) -> float:
        """The share of calls now refused that ran then and succeeded; 0 if none is refused now."""
        return self.likely_false / self.now_refused.events if self.now_refused.events else 0.0


def deciding(change: Change, rows: Iterable[HandlerRow]) -> list[HandlerRow]:
    """Return the handlers that make the stricter one of both outcomes what it is, in configuration order."""
    outcome = change.before if change.bucket is Bucket.LOOSER else change.now
    strictest = {run.handler for run in outcome.runs if run.decision == outcome.decision and not run.shadow}
    doubted = {doubt.handler for doubt in (*change.before.doubts, *change.now.doubts)}
    wanted = doubted if change.bucket is Bucket.UNDECIDED else strictest
    return [row for row in rows if row.id in wanted]
