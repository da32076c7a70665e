"""The report as one HTML file: no script, no other file, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from hookwright.observers.percentiles import percentile
from hookwright.replay.model import CHANGED, Bucket, Change, Replayed
from hookwright.replay.report.findings import ReportFinding, moment, summary
from hookwright.replay.report.terminal import Paint, terminal_lines
from hookwright.replay.run import HandlerRow
from hookwright.replay.totals import COLUMNS, deciding
from hookwright.text import harmless, plural

_COLOURS = {
    Bucket.STRICTER: "#c0392b",
    Bucket.LOOSER: "#1f7a4d",
    Bucket.REWRITTEN: "#8e44ad",
    Bucket.SAID: "#2471a3",
    Bucket.UNDECIDED: "#b7950b",
}
_STYLE = (
    ":root{color-scheme:light dark;--line:#8884}body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;"
    "margin:2rem auto;padding:0 1rem}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"
    "table{border-collapse:collapse}th,td{padding:.25rem .75rem;border-bottom:1px solid var(--line);text-align:right}"
    "th:first-child,td:first-child{text-align:left}pre,code{font:13px/1.45 ui-monospace,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
    "details{border-bottom:1px solid var(--line);padding:.3rem 0}summary{cursor:pointer}summary code{font-weight:600}"
    ".tag{display:inline-block;min-width:5.5rem;font-weight:600}.dim{opacity:.7}dl{display:grid;"
    "grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.5rem 0 .5rem 1rem}dt{opacity:.7}dd{margin:0}"
    "svg{width:100%;height:auto}text{font:11px system-ui;fill:currentColor}"
    + "".join(f".{bucket.value}{{color:{colour};fill:{colour}}}" for bucket, colour in _COLOURS.items())
)
#: Bars of the histogram.
_BARS = 60
_WIDTH, _HEIGHT = 960, 160


def html_lines(found: ReportFinding, repeats: int) -> Iterator[str]:
    """Yield the page."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    title = f"hookwright replay: {found.about.candidate} against {found.about.baseline}"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{_text(title)}</h1>"
    yield from _coverage(found, repeats)
    yield from _table(found)
    yield from _histogram(found.changes)
    yield from _handlers(found)
    yield from _changes(found)
    yield "</body></html>"


def _text(text: str) -> str:
    return escape(harmless(text))


def _coverage(found: ReportFinding, repeats: int) -> Iterator[str]:
    """Yield the first lines of the terminal's report: what was read, what was not, what ran."""
    lines = []
    for line in terminal_lines(found, repeats, 120, Paint()):
        if not line:
            break
        lines.append(_text(line))
    yield "<h2>History</h2><pre>" + "\n".join(lines) + "</pre>"


def _table(found: ReportFinding) -> Iterator[str]:
    totals = found.totals
    heads = ("", "events", "without those after a refusal", "sessions", "ran, succeeded", "rejected by the person")
    yield (
        "<h2>Outcomes</h2><table><tr>" + "".join(f"<th>{head}</th>" for head in (*heads, "failed", "unknown")) + "</tr>"
    )
    for bucket in (*CHANGED, Bucket.UNDECIDED, Bucket.SAME):
        count = totals.buckets[bucket]
        fates = [count.fates[fate] for fate in COLUMNS]
        numbers = (count.events, count.events - count.after, len(count.sessions), *fates, count.unknown)
        cells = "".join(f"<td>{number:,}</td>" for number in numbers)
        yield f'<tr><td><span class="{bucket.value}">{bucket.value}</span></td>{cells}</tr>'
    yield "</table>"
    if totals.now_refused.events:
        share = f"{totals.likely_false:,} of {totals.now_refused.events:,} ({totals.likely_false_share:.0%})"
        yield (
            f"<p>Now refused, though they ran and succeeded (likely false positives): {share}. "
            f"Now refused, and the person rejected them: {totals.agrees:,}.</p>"
        )


# ── over time ───────────────────────────────────────────────────────────────


def _histogram(changes: Sequence[Change]) -> Iterator[str]:
    """Draw the changed and undecided events over time, stacked by bucket."""
    timed = [(change.past.time, change.bucket) for change in changes if change.past.time is not None]
    if not timed:
        return
    first, last = min(time for time, _ in timed), max(time for time, _ in timed)
    span = max(last - first, 1.0)
    bars: dict[int, Counter[Bucket]] = {}
    for time, bucket in timed:
        bars.setdefault(min(int((time - first) / span * _BARS), _BARS - 1), Counter())[bucket] += 1
    highest = max(sum(bar.values()) for bar in bars.values())
    yield "<h2>Over time</h2>"
    label = f"{len(timed)} changed or undecided events from {moment(first)} to {moment(last)}"
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 24}" role="img" aria-label="{_text(label)}">'
    for place, bar in sorted(bars.items()):
        yield from _bar(place, bar, highest, first + span * place / _BARS)
    yield f'<line x1="0" x2="{_WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}" stroke="currentColor" stroke-width="1"/>'
    yield f'<text x="0" y="{_HEIGHT + 18}">{moment(first)[:16]}</text>'
    yield f'<text x="{_WIDTH}" y="{_HEIGHT + 18}" text-anchor="end">{moment(last)[:16]}</text>'
    yield f'<text x="{_WIDTH // 2}" y="{_HEIGHT + 18}" text-anchor="middle">highest bar: {highest:,}</text></svg>'


def _bar(place: int, bar: Counter[Bucket], highest: int, begins: float) -> Iterator[str]:
    wide = _WIDTH / _BARS
    top = float(_HEIGHT)
    for bucket in _COLOURS:
        if bar[bucket]:
            tall = (_HEIGHT - 8) * bar[bucket] / highest
            top -= tall
            yield (
                f'<rect class="{bucket.value}" x="{place * wide + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" '
                f'height="{tall:.1f}"><title>{moment(begins)[:16]}: {bar[bucket]} {bucket.value}</title></rect>'
            )


# ── handlers and events ─────────────────────────────────────────────────────


def _handlers(found: ReportFinding) -> Iterator[str]:
    heads = ("handler", "of", "runs", "refused", "likely false", "agrees", "undecided", "failed", "p50 ms", "p95 ms")
    yield "<h2>Handlers</h2><table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
    for count in found.totals.handlers.values():
        row = count.row
        name = (
            f"<code>{_text(row.label)}</code><br><span class=dim>{_text(f'{row.event} {row.path}:{row.line}')}</span>"
        )
        times = (f"{percentile(count.times, share):.0f}" for share in (0.5, 0.95)) if count.runs else ("", "")
        ran = f"{count.runs:,}" if count.runs else "never ran"
        numbers = (count.refused, count.likely_false, count.agrees, count.undecided, count.failed)
        cells = (" and ".join(row.sides), ran, *(f"{number:,}" for number in numbers), *times)
        yield f"<tr><td>{name}</td>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</table>"


def _changes(found: ReportFinding) -> Iterator[str]:
    yield f"<h2>{plural(len(found.changes), 'changed or undecided event')}</h2>"
    for change in sorted(found.changes, key=lambda one: list(_COLOURS).index(one.bucket)):
        yield from _details(change, found.rows)


def _details(change: Change, rows: Iterable[HandlerRow]) -> Iterator[str]:
    past = change.past
    fate = past.fate.value if past.fate is not None else past.event.event_name
    head = f'<span class="tag {change.bucket.value}">{change.bucket.value}</span> <code>{_text(_head(change))}</code>'
    yield f"<details><summary>{head} <span class=dim>{_text(fate)} {moment(past.time)[:16]}</span></summary><dl>"
    facts = [
        ("event", f"{past.event.event_name} {getattr(past.event, 'tool_name', '')}".strip()),
        ("about", summary(past)),
        ("session", f"{past.event.session_id}, {past.place.file}:{past.place.line}"),
        ("before", _outcome(change.before)),
        ("now", _outcome(change.now)),
        ("handlers", "\n".join(f"{row.label} ({row.path}:{row.line})" for row in deciding(change, list(rows)))),
        ("after", f"{change.after} of the same turn would now be refused" if change.after else ""),
    ]
    for name, text in facts:
        if text:
            yield f"<dt>{name}</dt><dd><pre>{_text(text)}</pre></dd>"
    yield "</dl></details>"


def _head(change: Change) -> str:
    text = " ".join(summary(change.past).split()) or change.past.event.event_name
    return text if len(text) <= 100 else text[:99] + "…"


def _outcome(outcome: Replayed) -> str:
    if outcome.undecided:
        return "\n".join(["undecided", *(str(doubt) for doubt in outcome.doubts)])
    rewritten = ["rewrites the input or the output"] if outcome.rewritten else []
    return "\n".join([outcome.decision, *rewritten, *outcome.reasons])
