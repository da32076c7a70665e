"""Write the measured rows as a table and as a picture."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from harness import Row, Spread

#: Colours that read on a light and on a dark page.
KEPT, MISSED, PLAIN = "#2a9d5c", "#d1495b", "#4a7fb5"


def number(value: float) -> str:
    """Write a figure with three meaningful digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 3)}f}"


def spread(value: Spread) -> str:
    """Write the median with its tenth and ninetieth percentile."""
    return f"{number(value.median)} ({number(value.low)} – {number(value.high)})"


def bound(row: Row) -> str:
    """Write what a row must keep, and whether it does."""
    if row.kept is None:
        return ""
    limit = f"≤ {number(row.at_most)}" if row.at_most is not None else f"≥ {number(row.at_least or 0.0)}"
    return f"{limit} {'✓' if row.kept else '**missed**'}"


def machine() -> str:
    """Say on what the figures were measured."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    return f"{os.cpu_count()} × {model}, {system}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def table(rows: Sequence[Row]) -> str:
    """Write the page."""
    parts = [_HEAD.format(machine=machine())]
    for group in dict.fromkeys(row.group for row in rows):
        remark = f"{REMARKS[group]}\n\n" if group in REMARKS else ""
        head = "| what | median (p10 – p90) | against | ratio | bound |\n|---|---|---|---|---|"
        parts.append(f"## {group}\n\n{remark}{head}")
        for row in (row for row in rows if row.group == group):
            other = f"{row.against}: {number(row.other.median)} {row.unit}" if row.other is not None else ""
            ratio = spread(row.ratio) if row.ratio is not None else ""
            note = f" {row.note}" if row.note else ""
            parts.append(f"| {row.what}{note} | {spread(row.ours)} {row.unit} | {other} | {ratio} | {bound(row)} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


REMARKS = {
    "Where the time of one command hook goes": """\
Measured by `bench/segments.py`. The kernel starts the child on its parent's CPU and rarely moves it in so short a life:
60 µs of work in the parent after the start delayed the exit by 62 µs. So all of Python's work adds to the total, before
the start, while the child runs, and after it. The C floor spends about 83 µs of CPU time per hook, all of it in the
kernel; the host spends less there and the rest in the interpreter, in about 120 short calls, a third of them asyncio's.
Tried without gain: one timer for all processes, `__slots__`, no garbage collection. Waking the waiting task without the
loop gained 4 µs, but would step one task from inside another.""",
}

_HEAD = """# Benchmarks

Written by `make bench`: one run, each contender in its own process, asked in turn, in random order, round by round. A
ratio is taken inside a round, so that a busy machine affects both sides; the table shows its median over the rounds
and, in parentheses, the tenth and ninetieth percentile. The absolute numbers are those of this machine:
{machine}.

The C floor is `bench/floor/floor.c`: `posix_spawn` of the same command in its own session, three pipes, one kilobyte on
stdin, both outputs read, the exit noticed by a pidfd, and nothing else. `make bench-check` compares the ratios with
`bench/baseline.json`; `make bench-peers` runs the same hook through [other engines](#other-engines).

![ratios of the table as bars, with their bounds](benchmarks.svg)
"""


# ── the picture ─────────────────────────────────────────────────────────────

_WIDTH, _LEFT, _RIGHT, _LINE, _TOP = 900, 430, 90, 24, 34


def picture(rows: Sequence[Row]) -> str:
    """Draw how much of each bound is used: bars that end left of the line keep it."""
    shown = [row for row in rows if row.kept is not None]
    height = _TOP + _LINE * len(shown) + 30
    scale = (_WIDTH - _LEFT - _RIGHT) / 1.6
    line = _LEFT + scale
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        "<title>How much of each bound is used</title>",
        f'<text x="{line}" y="18" text-anchor="middle" fill="#777">bound</text>',
    ]
    for index, row in enumerate(shown):
        parts += _bar(row, _TOP + index * _LINE, scale)
    bottom = _TOP + _LINE * len(shown)
    parts.append(f'<line x1="{line}" y1="{_TOP - 8}" x2="{line}" y2="{bottom}" stroke="#777" stroke-dasharray="4 3"/>')
    parts.append(
        f'<text x="{_LEFT}" y="{bottom + 18}" fill="#777">share of the bound that is used; shorter is better</text>'
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(row: Row, y: float, scale: float) -> list[str]:
    judged = row.ratio if row.ratio is not None else row.ours
    shares = [_share(row, value) for value in (judged.median, judged.low, judged.high)]
    middle, low, high = (min(share, 1.55) * scale for share in (shares[0], min(shares[1:]), max(shares[1:])))
    colour = KEPT if row.kept else MISSED
    text = f"{number(row.judged)}{'×' if row.ratio is not None else ' ' + row.unit}"
    return [
        f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end" fill="#777">{escape(row.what.replace("`", ""))}</text>',
        f'<rect x="{_LEFT}" y="{y}" width="{middle:.1f}" height="15" rx="2" fill="{colour}"/>',
        f'<line x1="{_LEFT + low:.1f}" y1="{y + 7.5}" x2="{_LEFT + high:.1f}" y2="{y + 7.5}" stroke="{PLAIN}" '
        'stroke-width="2"/>',
        f'<text x="{_LEFT + max(middle, high) + 6:.1f}" y="{y + 12}" fill="#777">{escape(text)}</text>',
    ]


def _share(row: Row, value: float) -> float:
    """Tell how much of its bound a value uses; over 1 is too much, whichever way the bound points."""
    if row.at_most is not None:
        return max(value, 0.0) / row.at_most
    return (row.at_least or 0.0) / max(value, 1e-9)


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write both into the documentation, and keep what `make bench-peers` added."""
    page = folder / "benchmarks.md"
    before = page.read_text() if page.exists() else ""
    kept = before[before.index(PEERS) :] if PEERS in before else ""
    page.write_text(table(rows) + ("\n" + kept if kept else ""))
    (folder / "benchmarks.svg").write_text(picture(rows))


PEERS = "## Other engines"


def show(rows: Sequence[Row]) -> None:
    """Print the rows as they are."""
    for row in rows:
        ratio = f"  ratio {spread(row.ratio)}" if row.ratio is not None else ""
        print(f"{row.what:70} {spread(row.ours)} {row.unit}{ratio}  {bound(row)}", file=sys.stderr, flush=True)
