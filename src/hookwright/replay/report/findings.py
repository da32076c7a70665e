"""What every report is made from, and the texts they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec

from hookwright.observers.journal import short
from hookwright.observers.percentiles import percentile
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode, payload
from hookwright.replay.isolation.levels import LEVELS
from hookwright.replay.labels import Label
from hookwright.replay.model import Bucket, Change, Replayed
from hookwright.replay.past import Coverage, Past
from hookwright.replay.run import HandlerRow, Replay
from hookwright.replay.totals import Count, HandlerCount, Totals, deciding

#: The version of the machine formats.
VERSION = 1

#: Fields of a tool's input that say most about a call.
_TELLING = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "prompt", "description")


class About(msgspec.Struct, frozen=True, kw_only=True):
    """How a replay was run."""

    candidate: str
    baseline: str
    #: Hashes of both configurations.
    candidate_digest: str
    baseline_digest: str
    isolation: str
    #: What the level of isolation does, and what it does not cover.
    covers: str
    gaps: tuple[str, ...]
    #: The size and the seed of a sample; None if every event was replayed.
    sample: float | None
    seed: int | None
    #: The number of events to replay.
    total: int
    version: str


class ReportFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finished or interrupted replay."""

    about: About
    totals: Totals
    #: Events that are not the same, by session and line.
    changes: tuple[Change, ...]
    seconds: float
    #: Whether it ended before everything was read and replayed.
    interrupted: bool = False

    @property
    def partial(self) -> bool:
        """Whether some events are missing."""
        return self.interrupted or self.totals.events < self.about.total

    @property
    def rows(self) -> tuple[HandlerRow, ...]:
        """The handlers of both configurations."""
        return tuple(count.row for count in self.totals.handlers.values())


def about(ready: Replay, version: str) -> About:
    """Describe a replay."""
    sample = ready.conditions.sample
    level = next(one for one in LEVELS if one.name.value == ready.conditions.isolation)
    return About(
        candidate=ready.sides[1].name,
        baseline=ready.sides[0].name,
        candidate_digest=ready.digests[1],
        baseline_digest=ready.digests[0],
        isolation=level.name.value,
        covers=level.covers,
        gaps=level.gaps,
        sample=None if sample is None else sample.size,
        seed=None if sample is None else sample.seed,
        total=ready.total,
        version=version,
    )


def summary(past: Past) -> str:
    """Return what an event is about, redacted and cut: a command, a path, a prompt, else its input as JSON."""
    event = past.event
    given = getattr(event, "tool_input", None)
    if isinstance(given, Mapping):
        for name in _TELLING:
            if isinstance(given.get(name), str):
                return short(given[name])
        return short(encode(dict(given)).decode())
    for name in ("prompt", "last_assistant_message", "trigger", "source", "reason"):
        text = getattr(event, name, None)
        if isinstance(text, str):
            return short(text)
    return ""


def moment(seconds: float | None) -> str:
    """Write a time in UTC, or nothing."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


# ── records of the machine formats ──────────────────────────────────────────

Record = dict[str, Json]


def coverage_record(coverage: Coverage, repeats: int) -> Record:
    """Describe what was read and what was not."""
    record = msgspec.to_builtins(coverage)
    return {**record, "versions": sorted(coverage.versions), "repeats": coverage.repeats + repeats}


def change_record(change: Change, rows: tuple[HandlerRow, ...]) -> Record:
    """Describe one event with both outcomes; texts are redacted and cut."""
    past = change.past
    return {
        "call": past.call,
        "event": past.event.event_name,
        "tool": getattr(past.event, "tool_name", None),
        "session": past.event.session_id,
        "time": past.time,
        "file": past.place.file,
        "line": past.place.line,
        "fate": past.fate.value if past.fate is not None else None,
        "about": summary(past),
        "bucket": change.bucket.value,
        "likely_false": change.likely_false,
        "agrees": change.agrees,
        "label": change.label.value if change.label is not None else None,
        "missed": change.missed,
        "after": change.after,
        "handlers": [row.id for row in deciding(change, rows)],
        "before": outcome_record(change.before),
        "now": outcome_record(change.now),
    }


def raw_record(change: Change, rows: tuple[HandlerRow, ...]) -> Record:
    """Describe one event with its whole payload, neither redacted nor cut."""
    return {**change_record(change, rows), "private": True, "payload": payload(change.past.event)}


#: Describes one event for a program.
Describe = Callable[[Change, tuple[HandlerRow, ...]], Record]


def outcome_record(outcome: Replayed) -> Record:
    """Describe what one configuration said; an outcome that a doubt may touch has no decision."""
    return {
        "decision": None if outcome.undecided else outcome.decision,
        "reasons": list(outcome.reasons),
        "rewritten": bool(outcome.rewritten),
        "context": outcome.context,
        "undecided": outcome.undecided,
        "doubts": [
            {"code": doubt.code.name.lower(), "handler": doubt.handler, "text": str(doubt)} for doubt in outcome.doubts
        ],
        "runs": [msgspec.to_builtins(run) for run in outcome.runs],
        "skipped": outcome.skipped,
    }


def count_record(count: Count) -> Record:
    """Describe the events of a bucket."""
    fates = {fate.value if fate is not None else "none": number for fate, number in count.fates.items()}
    return {
        "events": count.events,
        "without_after": count.events - count.after,
        "sessions": len(count.sessions),
        "fates": dict(sorted(fates.items())),
    }


def handler_record(count: HandlerCount) -> Record:
    """Describe what one handler did."""
    return {
        **msgspec.to_builtins(count.row),
        "runs": count.runs,
        "reused": count.reused,
        "refused": count.refused,
        "would_refuse": count.would_refuse,
        "failed": count.failed,
        "untrusted": count.untrusted,
        "undecided": count.undecided,
        "stricter": count.stricter,
        "likely_false": count.likely_false,
        "agrees": count.agrees,
        "p50_ms": round(percentile(count.times, 0.5), 3),
        "p95_ms": round(percentile(count.times, 0.95), 3),
    }


def totals_record(found: ReportFinding, repeats: int) -> Record:
    """Describe a replay without its changes; coverage comes first."""
    totals = found.totals
    return {
        "version": VERSION,
        "coverage": coverage_record(totals.coverage, repeats),
        "settings": msgspec.to_builtins(found.about),
        "partial": found.partial,
        "events": totals.events,
        "buckets": {bucket.value: count_record(totals.buckets[bucket]) for bucket in Bucket},
        "now_refused": count_record(totals.now_refused),
        "likely_false": totals.likely_false,
        "agrees": totals.agrees,
        "labels": {
            label.value: {"calls": totals.labelled[label], "now_refused": totals.labelled_refused[label]}
            for label in Label
        },
        "missed": totals.missed,
        "doubts": dict(sorted(totals.doubts.items())),
        "errors": totals.failed,
        "never_matched": [row.id for row in totals.never_matched],
        "handlers": [handler_record(count) for count in totals.handlers.values()],
        "latency": {
            "p50_ms": round(percentile(totals.times, 0.5), 3),
            "p95_ms": round(percentile(totals.times, 0.95), 3),
            "longest_session_ms": round(max(totals.per_session.values(), default=0.0), 3),
        },
        "seconds": round(found.seconds, 3),
    }
