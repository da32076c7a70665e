"""The report for people at a terminal: what was read, what changed and why, and what to type next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from hookwright.observers.percentiles import percentile
from hookwright.replay.labels import Label
from hookwright.replay.model import Bucket, Change, Code
from hookwright.replay.past import Coverage
from hookwright.replay.report.findings import ReportFinding, moment, summary
from hookwright.replay.run import HandlerRow
from hookwright.replay.totals import COLUMNS, Count, HandlerCount, Totals, deciding
from hookwright.text import flat, one_line, plural

#: Changed events that are shown per handler and bucket.
_SHOWN = 5
_HEADS = ("events", "sessions", "ran, succeeded", "rejected by the person", "failed", "unknown")
_NARROW = ("events", "sessions", "ran", "rejected", "failed", "unknown")
_LABELS = {
    Bucket.STRICTER: "stricter",
    Bucket.LOOSER: "looser",
    Bucket.REWRITTEN: "rewritten",
    Bucket.SAID: "said something else",
    Bucket.UNDECIDED: "undecided",
}
_INDENT = " " * 10


class Paint(msgspec.Struct, frozen=True):
    """How a report marks its texts."""

    bold: Callable[[str], str] = str
    dim: Callable[[str], str] = str
    bad: Callable[[str], str] = str
    warn: Callable[[str], str] = str


def terminal_lines(found: ReportFinding, repeats: int, width: int, paint: Paint) -> Iterator[str]:
    """Yield the report: coverage, what ran, the table, the changed events per handler, times, what is next."""
    yield from _history(found.totals.coverage, repeats)
    yield from _not_seen(found)
    yield from _ran(found, paint)
    if found.partial:
        done = f"interrupted after {found.totals.events:,} of {found.about.total:,} events; the rest is not replayed"
        yield paint.warn(f"{'partial':<10}{done}")
    yield ""
    yield from _table(found, width, paint)
    yield ""
    for bucket in _LABELS:
        yield from _bucket(bucket, found, width, paint)
    yield from _closing(found, paint)


def _history(coverage: Coverage, repeats: int) -> Iterator[str]:
    parts = [plural(coverage.files, "file"), _size(coverage.bytes)]
    if coverage.first is not None:
        parts.append(f"{moment(coverage.first)[:10]} … {moment(coverage.last)[:10]}")
    if coverage.versions:
        parts.append(plural(len(coverage.versions), "version"))
    yield f"{'history':<10}{', '.join(parts)}"
    copies = coverage.repeats + repeats
    left_out = f" ({copies:,} repeats of the same call ignored)" if copies else ""
    yield f"{_INDENT}{coverage.calls:,} calls in {plural(coverage.sessions, 'session')}{left_out}"


def _not_seen(found: ReportFinding) -> Iterator[str]:
    coverage = found.totals.coverage
    parts = []
    if coverage.never_started:
        parts.append(f"{coverage.never_started:,} calls never reached a hook")
    if coverage.without_mode:
        parts.append(f"{coverage.without_mode:,} without a permission mode")
    if coverage.unreadable:
        parts.append(f"{coverage.unreadable:,} unreadable lines")
    if coverage.refused:
        parts.append(f"{coverage.refused:,} files not opened")
    lines = [" · ".join(parts)] if parts else []
    kinds = [row.kind for row in found.rows if row.kind != "command"]
    if kinds:
        lines.append(f"{', '.join(sorted(set(kinds)))} hooks were not asked: {len(kinds)} configured")
    sample = found.about.sample
    if sample is not None:
        lines.append(f"a sample of {found.about.total:,} events, seed {found.about.seed}")
    for number, line in enumerate(lines):
        yield f"{'not seen' if number == 0 else '':<10}{line}"


def _ran(found: ReportFinding, paint: Paint) -> Iterator[str]:
    counts = [count for count in found.totals.handlers.values() if count.runs]
    for number, count in enumerate(counts):
        side = " and ".join(reversed(count.row.sides))
        again = f", {count.reused:,} answers used again" if count.reused else ""
        spent = sum(count.times) / 1000
        text = f"{count.runs:,} × {one_line(count.row.label, 60)} ({side}) {spent:.1f} s{again}"
        yield f"{'ran' if number == 0 else '':<10}{text}"
    untrusted = found.totals.doubts.get(Code.UNTRUSTED.value, 0)
    if untrusted:
        way = "review them with `hookwright trust`, or add --trust"
        text = f"hooks that are not trusted did not run for {plural(untrusted, 'event')}; {way}"
        yield paint.warn(f"{'' if counts else 'ran':<10}{text}")
    elif not counts:
        yield f"{'ran':<10}no hook: none is configured for these events"
    level = found.about.isolation
    isolated = "not isolated" if level == "none" else f"isolated ({level}), no network"
    yield f"{_INDENT}{found.about.candidate} against {found.about.baseline}; {isolated}"


# ── the table ───────────────────────────────────────────────────────────────


def _table(found: ReportFinding, width: int, paint: Paint) -> Iterator[str]:
    buckets = found.totals.buckets
    label = max(len(text) for text in _LABELS.values()) + 2
    heads = _HEADS if label + sum(len(head) + 3 for head in _HEADS) <= width else _NARROW
    yield paint.bold(" " * label + "".join(f"   {head}" for head in heads))
    for bucket, text in _LABELS.items():
        count = buckets[bucket]
        cells = _cells(count) if count.fates else [f"{count.events:,}", f"{len(count.sessions):,}"]
        row = "".join(cell.rjust(len(head) + 3) for cell, head in zip(cells, heads, strict=False))
        yield f"  {text:<{label - 2}}{row if count.events else '0'.rjust(len(heads[0]) + 3)}"
    same = f"{buckets[Bucket.SAME].events:,}".rjust(len(heads[0]) + 3)
    yield f"  {'same':<{label - 2}}{same}"
    after = sum(buckets[bucket].after for bucket in _LABELS)
    if after:
        yield paint.dim(f"  {after:,} of these come after a call of the same turn that would now be refused")


def _cells(count: Count) -> list[str]:
    fates = [count.fates[fate] for fate in COLUMNS]
    return [f"{number:,}" for number in (count.events, len(count.sessions), *fates, count.unknown)]


# ── the changes ─────────────────────────────────────────────────────────────


def _bucket(bucket: Bucket, found: ReportFinding, width: int, paint: Paint) -> Iterator[str]:
    changes = [change for change in found.changes if change.bucket is bucket]
    named = sorted(((_first(change, found.rows), change) for change in changes), key=lambda pair: _order(pair[0]))
    for row, group in groupby(named, key=lambda pair: pair[0]):
        members = [change for _, change in group]
        sessions = len({change.past.event.session_id for change in members})
        who = f"{one_line(row.label, 50)}  {row.path}:{row.line}" if row is not None else "the whole event"
        counts = f"{plural(len(members), 'event')} in {plural(sessions, 'session')}"
        yield f"{paint.bold(f'{bucket.value:<10}')}{flat(who)}   {counts}"
        for change in members[:_SHOWN]:
            yield from _event(change, width, paint)
        if len(members) > _SHOWN:
            yield paint.dim(f"    … and {len(members) - _SHOWN:,} more")
        yield ""


def _first(change: Change, rows: Sequence[HandlerRow]) -> HandlerRow | None:
    found = deciding(change, rows)
    return found[0] if found else None


def _order(row: HandlerRow | None) -> tuple[bool, str, int, str]:
    return (True, "", 0, "") if row is None else (False, row.path, row.line, row.id)


def _event(change: Change, width: int, paint: Paint) -> Iterator[str]:
    past = change.past
    fate = past.fate.value if past.fate is not None and change.is_call else past.event.event_name
    where = f"{one_line(past.event.session_id, 12)}:{past.place.line}"
    tail = "  ".join(filter(None, (fate, moment(past.time)[:16], where)))
    yield f"    {one_line(summary(past), max(20, width - len(tail) - 8))}  {paint.dim(tail)}"
    if change.bucket is Bucket.UNDECIDED:
        doubts = dict.fromkeys(str(doubt) for doubt in (*change.now.doubts, *change.before.doubts))
        yield paint.dim(f"      {one_line('; '.join(doubts), max(20, width - 6))}")
    elif change.now.refused and change.now.reasons:
        yield paint.dim(f"      {one_line(change.now.reasons[0], max(20, width - 6))}")


def _closing(found: ReportFinding, paint: Paint) -> Iterator[str]:
    totals = found.totals
    refused = totals.now_refused.events
    if refused:
        share = f"{totals.likely_false:,} of {refused:,} ({totals.likely_false_share:.0%})"
        unknown = f"; the fate of {totals.now_refused.unknown:,} is not known" if totals.now_refused.unknown else ""
        yield f"{'judged':<10}now refused, though they ran and succeeded: {share}, likely false positives{unknown}"
        yield f"{_INDENT}now refused, and the person rejected them: {totals.agrees:,}"
    yield from _labelled(totals)
    timeouts = totals.doubts.get(Code.TIMEOUT.value, 0)
    if totals.times:
        slow = f"p50 {percentile(totals.times, 0.5):.0f} ms, p95 {percentile(totals.times, 0.95):.0f} ms per event"
        longest = max(totals.per_session.values(), default=0.0) / 1000
        over = f"{timeouts:,} timeouts" if timeouts else "no timeout"
        yield f"{'latency':<10}{slow}; {longest:.1f} s in the longest session; {over}"
    for number, count in enumerate(_failing(totals.handlers.values())):
        text = f"{one_line(count.row.label, 50)} gave no usable answer {count.failed:,} times"
        yield paint.warn(f"{'errors' if number == 0 else '':<10}{text}")
    for number, row in enumerate(totals.never_matched):
        text = f"{row.event}  {one_line(row.label, 50)}  {row.path}:{row.line}"
        yield f"{'never ran' if number == 0 else '':<10}{flat(text)}"
    ways = "hookwright replay --format html --out replay.html · --cases .claude/hooks/tests/history.yaml"
    yield paint.dim(f"{'next':<10}{ways}")


def _labelled(totals: Totals) -> Iterator[str]:
    if totals.labelled:
        ok, bad = (f"{totals.labelled_refused[one]:,} of {totals.labelled[one]:,}" for one in (Label.OK, Label.BAD))
        yield f"{'labelled':<10}now refused: {ok} calls labelled ok, {bad} calls labelled bad"
        yield f"{_INDENT}labelled bad, and not refused: {totals.missed:,}"


def _failing(counts: Iterable[HandlerCount]) -> list[HandlerCount]:
    return [count for count in counts if count.failed]


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}" if count < 10 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"
