"""Reports for CI: JUnit, SARIF, GitHub annotations, and Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.replay.gate import Gate
from hookwright.replay.model import CHANGED, Bucket, Change
from hookwright.replay.report.findings import ReportFinding, moment, summary
from hookwright.replay.run import HandlerRow
from hookwright.replay.totals import COLUMNS, deciding
from hookwright.text import flat, harmless, one_line, plural

_BUCKETS = (*CHANGED, Bucket.UNDECIDED)
#: Characters that mean something in Markdown, or at the start of a mention.
_MARKUP = {ord(letter): f"&#{ord(letter)};" for letter in "&<>\\`*_[]()#!|~@"}
#: Changed events that a pull request shows.
_SHOWN = 20


def _about(row: HandlerRow | None, found: ReportFinding) -> list[Change]:
    return [change for change in found.changes if _first(change, found.rows) == row]


def _first(change: Change, rows: Sequence[HandlerRow]) -> HandlerRow | None:
    named = deciding(change, rows)
    return named[0] if named else None


def _coverage(found: ReportFinding, repeats: int) -> str:
    """Return what was read, in one sentence; every report says it first."""
    coverage = found.totals.coverage
    partial = f"; interrupted after {found.totals.events:,} of {found.about.total:,} events" if found.partial else ""
    return (
        f"{found.totals.events:,} events of {plural(coverage.sessions, 'session')} "
        f"in {plural(coverage.files, 'file')}; "
        f"{coverage.repeats + repeats:,} repeats ignored, {coverage.never_started:,} calls never reached a hook, "
        f"{coverage.unreadable:,} unreadable lines; isolation: {found.about.isolation}{partial}"
    )


# ── JUnit ───────────────────────────────────────────────────────────────────


def junit_lines(found: ReportFinding, repeats: int, gate: Gate) -> Iterator[str]:
    """Yield JUnit XML: a suite per handler with a test per bucket, and one with the limits for the whole replay."""
    failures = dict(gate.failures(found.totals))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="hookwright replay" time="{found.seconds:.3f}">'
    yield f'  <testsuite name="replay" tests="{max(1, len(failures))}" failures="{len(failures)}">'
    yield f'    <properties><property name="coverage" value={_attribute(_coverage(found, repeats))}/></properties>'
    for word, text in failures.items():
        yield from _test("replay", word, text, text)
    if not failures:
        yield from _test("replay", "limits", None, "")
    yield "  </testsuite>"
    for row in (*found.rows, None):
        yield from _suite(row, found, gate)
    yield "</testsuites>"


def _suite(row: HandlerRow | None, found: ReportFinding, gate: Gate) -> Iterator[str]:
    changes = _about(row, found)
    if row is None and not changes:
        return
    name = f"{row.event} {row.label} ({row.path}:{row.line})" if row is not None else "events as a whole"
    by_bucket = {bucket: [one for one in changes if one.bucket is bucket] for bucket in _BUCKETS}
    bad = [bucket for bucket in _BUCKETS if by_bucket[bucket] and bucket.value in gate.words]
    yield f'  <testsuite name={_attribute(name)} tests="{len(_BUCKETS)}" failures="{len(bad)}">'
    for bucket, members in by_bucket.items():
        message = plural(len(members), "event") if bucket in bad else None
        yield from _test(name, bucket.value, message, "\n".join(_line(change) for change in members[:_SHOWN]))
    yield "  </testsuite>"


def _test(suite: str, name: str, failure: str | None, text: str) -> Iterator[str]:
    head = f"    <testcase classname={_attribute(suite)} name={_attribute(name)}"
    if failure is not None:
        yield f"{head}><failure message={_attribute(failure)}>{_escaped(text)}</failure></testcase>"
    elif text:
        yield f"{head}><system-out>{_escaped(text)}</system-out></testcase>"
    else:
        yield f"{head}/>"


def _line(change: Change) -> str:
    past = change.past
    fate = past.fate.value if past.fate is not None else past.event.event_name
    return f"{one_line(summary(past), 120)}  [{fate}, {past.event.session_id}:{past.place.line}]"


def _attribute(text: str) -> str:
    return '"' + _escaped(flat(text)).replace('"', "&quot;") + '"'


def _escaped(text: str) -> str:
    return harmless(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# ── SARIF and GitHub: handlers with counts, never single calls ──────────────


def _per_handler(found: ReportFinding) -> Iterator[tuple[HandlerRow, Bucket, str]]:
    for row in found.rows:
        changes = _about(row, found)
        for bucket in _BUCKETS:
            members = [change for change in changes if change.bucket is bucket]
            if members:
                yield row, bucket, _sentence(row, bucket, members)


def _sentence(row: HandlerRow, bucket: Bucket, members: Sequence[Change]) -> str:
    sessions = len({change.past.event.session_id for change in members})
    text = f"{one_line(row.label, 80)}: {plural(len(members), 'event')} in {plural(sessions, 'session')} {bucket.value}"
    likely = sum(change.likely_false for change in members)
    agrees = sum(change.agrees for change in members)
    if likely or agrees:
        text += f"; {likely} ran and succeeded then, {agrees} were rejected by the person"
    return text


def as_sarif(found: ReportFinding, repeats: int) -> str:
    """Return SARIF 2.1.0 with a result per handler and bucket."""
    results: list[Json] = [
        {
            "ruleId": f"replay-{bucket.value}",
            "level": "note" if bucket is Bucket.SAID else "warning",
            "message": {"text": text},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": row.path.lstrip("/")},
                        "region": {"startLine": max(1, row.line)},
                    }
                }
            ],
        }
        for row, bucket, text in _per_handler(found)
    ]
    rules = [
        {"id": f"replay-{bucket.value}", "shortDescription": {"text": f"Past events are {bucket.value} now"}}
        for bucket in _BUCKETS
    ]
    driver = {"name": "hookwright replay", "version": found.about.version, "rules": rules}
    run = {"tool": {"driver": driver}, "properties": {"coverage": _coverage(found, repeats)}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return encode({"$schema": schema, "version": "2.1.0", "runs": [run]}).decode()


def github_lines(found: ReportFinding, repeats: int, gate: Gate) -> Iterator[str]:
    """Yield GitHub annotations: the coverage as a notice, then one per handler and bucket."""
    yield f"::notice title=hookwright replay::{_data(_coverage(found, repeats))}"
    for row, bucket, text in _per_handler(found):
        level = "error" if bucket.value in gate.words else "warning"
        where = f"file={_property(row.path)},line={max(1, row.line)}"
        yield f"::{level} {where},title=hookwright replay {bucket.value}::{_data(text)}"
    for word, text in gate.failures(found.totals):
        yield f"::error title=hookwright replay {word}::{_data(text)}"


def _data(text: str) -> str:
    return flat(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ── Markdown ────────────────────────────────────────────────────────────────


def markdown_lines(found: ReportFinding, repeats: int, gate: Gate) -> Iterator[str]:
    """Yield Markdown for a pull request: the table, and the first changed events folded away."""
    totals = found.totals
    yield f"### hookwright replay: {_cell(found.about.candidate)} against {_cell(found.about.baseline)}"
    yield ""
    yield _cell(_coverage(found, repeats))
    yield ""
    yield "| | events | sessions | ran, succeeded | rejected by the person | failed | unknown |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for bucket in (*_BUCKETS, Bucket.SAME):
        count = totals.buckets[bucket]
        fates = [count.fates[fate] for fate in COLUMNS]
        numbers = (count.events, len(count.sessions), *fates, count.unknown)
        yield f"| {bucket.value} | " + " | ".join(f"{number:,}" for number in numbers) + " |"
    yield ""
    for word, text in gate.failures(totals):
        yield f"- **{word}**: {_cell(text)}"
    if found.changes:
        yield ""
        yield f"<details><summary>{len(found.changes):,} changed or undecided events</summary>"
        yield ""
        yield "| | event | then | session | handler |"
        yield "|---|---|---|---|---|"
        for change in found.changes[:_SHOWN]:
            yield _markdown_row(change, found.rows)
        if len(found.changes) > _SHOWN:
            yield f"| | … and {len(found.changes) - _SHOWN:,} more | | | |"
        yield ""
        yield "</details>"


def _markdown_row(change: Change, rows: Sequence[HandlerRow]) -> str:
    past, row = change.past, _first(change, rows)
    fate = past.fate.value if past.fate is not None else past.event.event_name
    who = f"{one_line(row.label, 40)} ({row.path}:{row.line})" if row is not None else ""
    where = f"{one_line(past.event.session_id, 12)}:{past.place.line} {moment(past.time)[:16]}"
    shown = f"<code>{_cell(one_line(summary(past), 80))}</code>"
    return f"| {change.bucket.value} | {shown} | {_cell(fate)} | {_cell(where)} | {_cell(who)} |"


def _cell(text: str) -> str:
    """Return a text that is text in Markdown, whatever it contains: no tag, no link, no mention, no table."""
    return flat(text).translate(_MARKUP)
