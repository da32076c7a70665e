"""Compare key ratios with the committed baseline and fail on a clear loss.

    python bench/check.py [--update]

Every figure has a wide margin and three tries: it fails only if it is out of its margin each time. Ratios against the
C floor and against a bare interpreter move little with the machine; where valgrind is there, pure Python is counted in
instructions, which do not move at all. Not part of `make test`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import counts
import rows
from harness import Row

BASELINE = Path(__file__).with_name("baseline.json")
TRIES = 3
#: Part of the table → its figures that are guarded, and how much worse each may become.
GUARDED: dict[str, dict[str, float]] = {
    "processes": {"command": 1.20, "exec": 1.20, "large-parent": 1.15, "at-once-8": 1.25, "at-once-64": 1.25},
    "python": {"python-warm": 1.5},
    "in-process": {"select-10000": 1.5, "callback-10000": 1.5},
}
INSTRUCTIONS = 1.15


def loss(row: Row, before: float) -> float:
    """Tell how many times worse a figure has become; below 1 it is better."""
    return before / row.judged if row.at_least is not None else row.judged / before


def main() -> int:
    """Measure the guarded figures; write them with --update."""
    parser = argparse.ArgumentParser(description="Compare key ratios with bench/baseline.json.")
    parser.add_argument("--update", action="store_true", help="write what is measured now as the new baseline")
    arguments = parser.parse_args()
    baseline: dict[str, float] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    measured: dict[str, float] = {}
    lost = [name for part, figures in GUARDED.items() for name in _check(part, figures, baseline, measured)]
    if counts.available():
        counted = counts.all_counts()
        measured |= counted
        lost += [name for name, value in counted.items() if value > baseline.get(name, value) * INSTRUCTIONS]
    for name, value in measured.items():
        print(f"{name:32} {value:12,.2f}  baseline {baseline.get(name, float('nan')):12,.2f}")
    if arguments.update:
        BASELINE.write_text(json.dumps({**baseline, **measured}, indent=1) + "\n")
        return 0
    if lost:
        print(f"bench-check: clearly worse than the baseline: {', '.join(lost)}", file=sys.stderr)
    return 1 if lost else 0


def _check(part: str, figures: dict[str, float], baseline: dict[str, float], measured: dict[str, float]) -> list[str]:
    """Measure a part until no figure is lost, at most so many times; name those that stay lost."""
    lost = list(figures)
    for _ in range(TRIES):
        found = {row.key: row for row in rows.ALL[part](5)}
        for name in lost:
            measured[name] = found[name].judged
        lost = [name for name in lost if loss(found[name], baseline.get(name, found[name].judged)) > figures[name]]
        if not lost:
            break
    return lost


if __name__ == "__main__":
    sys.exit(main())
