"""Measure how fast the past is read: megabytes of transcript per second of processor time.

    python bench/replay.py [--megabytes N …] [--rounds N] [--folder DIR] [--json]

Each size is a synthetic history (see history.py), or with --folder the transcripts in a folder. What is asked for grows
from row to row: the bytes alone as a floor, the calls of one tool before they ran, every call before it ran, results as
well, and everything. Exits 1 if a row is out of its bound.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hookwright.replay.choice import Choice
from hookwright.replay.past import Coverage
from hookwright.replay.sources import past_events

#: What a row asks for, and the megabytes per processor second it must reach.
ROWS: dict[str, tuple[Choice, float]] = {
    "PreToolUse of Bash": (Choice(wanted=lambda event, tool: (event, tool) == ("PreToolUse", "Bash")), 500),
    "PreToolUse": (Choice(events=frozenset({"PreToolUse"})), 500),
    "PreToolUse of Bash, PostToolUse of Edit and Write": (
        Choice(
            wanted=lambda event, tool: (
                (event, tool) in {("PreToolUse", "Bash"), ("PostToolUse", "Edit"), ("PostToolUse", "Write")}
            )
        ),
        400,
    ),
    "PreToolUse and PostToolUse": (Choice(events=frozenset({"PreToolUse", "PostToolUse"})), 0),
    "everything": (Choice(), 0),
}


def floor(folder: str) -> tuple[int, int]:
    """Read the bytes and split them into lines; return no events and the bytes."""
    size = 0
    for path in Path(folder).rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                size += len(line)
    return 0, size


def asked(choice: Choice) -> Callable[[str], tuple[int, int]]:
    """Return a function that reads the events of a folder and returns how many there are, and the bytes."""

    def read(folder: str) -> tuple[int, int]:
        coverage = Coverage()
        return sum(1 for _ in past_events([folder], choice, coverage)), coverage.bytes

    return read


def measured(read: Callable[[str], tuple[int, int]], folder: str, rounds: int) -> dict[str, float]:
    """Return the events, and the megabytes per processor second as a median."""
    speeds: list[float] = []
    events = 0
    for _ in range(rounds):
        before = time.process_time()
        events, size = read(folder)
        speeds.append(size / 1e6 / (time.process_time() - before))
    return {"events": events, "mb_per_cpu_second": round(statistics.median(speeds), 1)}


def table(folder: str, rounds: int) -> dict[str, dict[str, float]]:
    """Measure every row on one folder."""
    out = {"bytes and lines alone": measured(floor, folder, rounds)}
    for name, (choice, bound) in ROWS.items():
        out[name] = {**measured(asked(choice), folder, rounds), "at_least": bound}
    return out


def main() -> int:
    """Measure, print, and compare with the bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[100])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="measure the transcripts in this folder instead")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {}
    if args.folder:
        results[args.folder] = table(args.folder, args.rounds)
    for size in () if args.folder else args.megabytes:
        with tempfile.TemporaryDirectory(prefix="history-") as folder:
            # In a process of its own: the peak is that of reading.
            subprocess.run([sys.executable, str(Path(__file__).with_name("history.py")), folder, str(size)], check=True)
            results[f"{size:g} MB"] = table(folder, args.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if args.json:
        print(json.dumps({"sizes": results, "peak_mb": round(peak, 1)}, indent=1))
    else:
        for size, rows in results.items():
            print(size)
            for name, row in rows.items():
                speed = f"{row['mb_per_cpu_second']:8.0f} MB per CPU-second"
                print(f"  {name:52} {speed}  {row['events']:9.0f} events")
        print(f"peak memory {peak:.0f} MB")
    slow = [
        row for rows in results.values() for row in rows.values() if row["mb_per_cpu_second"] < row.get("at_least", 0)
    ]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
