"""Measure how fast the past is read: megabytes of transcript per second of processor time.

    python bench/replay.py [--megabytes N …] [--rounds N] [--folder DIR] [--json]

Each size is a synthetic history (see history.py), or with --folder the transcripts in a folder. What is asked for grows
from row to row: the bytes alone as a floor, the calls of one tool before they ran, the same with a policy,
every call, results as well, and everything; then reading with an index, for the first and for the second time. Exits 1
if a row is out of its bound.

A bound of megabytes per second is for a machine whose floor is 5 GB per second, on which it was set; on a machine that
is slower or busy it is lowered in proportion.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scenarios import PROGRAM, engine, group

from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CallbackHandler
from hookwright.replay.choice import Choice
from hookwright.replay.index.store import IndexFolder
from hookwright.replay.past import Coverage
from hookwright.replay.sources import past_events

#: Megabytes per processor second of the floor on the machine on which the bounds were set.
FLOOR = 5000
#: The most that a second reading with an index may cost of the first.
SECOND = 0.05
#: The most megabytes that reading may take.
MEMORY = 64

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


def judged(choice: Choice) -> Callable[[str], tuple[int, int]]:
    """Return a function that also fires every event at a policy: a function of this process."""

    async def fire(folder: str) -> tuple[int, int]:
        coverage, seen = Coverage(), 0
        ready = engine([group(CallbackHandler(source=PROGRAM, function=policy), matcher="Bash")])
        for past in past_events([folder], choice, coverage):
            await ready.fire(past.event)
            seen += 1
        return seen, coverage.bytes

    return lambda folder: asyncio.run(fire(folder))


async def policy(event: Event) -> dict[str, str] | None:
    """Refuse to remove folders."""
    refused = "rm -rf" in str(getattr(event, "tool_input", ""))
    return {"decision": "block", "reason": "no"} if refused else None


def indexed(folder: str, rounds: int) -> dict[str, dict[str, float]]:
    """Read with an index, for the first time and again."""
    choice, rows = ROWS["PreToolUse of Bash"][0], {}
    with tempfile.TemporaryDirectory(prefix="index-") as index:

        def read(folder: str) -> tuple[int, int]:
            coverage = Coverage()
            return sum(1 for _ in past_events([folder], choice, coverage, IndexFolder(index))), coverage.bytes

        rows["with an index, first"] = measured(read, folder, 1)
        rows["with an index, again"] = measured(read, folder, max(rounds, 3))
        size = sum(path.stat().st_size for path in Path(index).iterdir())
    first, second = (row["mb_per_cpu_second"] for row in rows.values())
    rows["with an index, again"] |= {"share_of_first": round(first / second, 3), "index_mb": round(size / 1e6, 1)}
    return rows


def table(folder: str, rounds: int) -> dict[str, dict[str, float]]:
    """Measure every row on one folder."""
    for path in Path(folder).rglob("*.jsonl"):
        os.utime(path, (0, 0))  # a file that was just written gets no table in an index
    bottom = measured(floor, folder, rounds)
    out = {"bytes and lines alone": bottom}
    slower = min(1.0, bottom["mb_per_cpu_second"] / FLOOR)
    for name, (choice, bound) in ROWS.items():
        out[name] = {**measured(asked(choice), folder, rounds), "at_least": round(bound * slower, 1)}
        if name == "PreToolUse of Bash":
            out[f"{name}, with a policy in the engine"] = measured(judged(choice), folder, rounds)
    return {**out, **indexed(folder, rounds)}


def of_size(size: float, rounds: int) -> dict[str, object]:
    """Measure a history of some size in a process of its own, so that its peak is its own."""
    here = Path(__file__)
    with tempfile.TemporaryDirectory(prefix="history-") as folder:
        made = [sys.executable, str(here.with_name("history.py")), folder, str(size)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, str(here), "--folder", folder, "--rounds", str(rounds), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    (found,) = json.loads(done.stdout).values()
    return dict(found)


def main() -> int:
    """Measure, print, and compare with the bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[100])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="measure the transcripts in this folder instead")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results: dict[str, dict[str, object]] = {}
    if args.folder:
        rows = table(args.folder, args.rounds)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        results[args.folder] = {"rows": rows, "peak_mb": round(peak, 1)}
    else:
        results = {f"{size:g} MB": of_size(size, args.rounds) for size in args.megabytes}
    if args.json:
        print(json.dumps(results, indent=1))
    else:
        say(results)
    return 1 if any(out_of_bounds(found) for found in results.values()) else 0


def say(results: dict[str, dict[str, object]]) -> None:
    """Print a table per size."""
    for size, found in results.items():
        print(f"{size}, peak memory {found['peak_mb']} MB")
        for name, row in found["rows"].items():  # type: ignore[attr-defined]
            speed = f"{row['mb_per_cpu_second']:8.0f} MB per CPU-second"
            more = f"  {row['share_of_first']:.1%} of the first" if "share_of_first" in row else ""
            bound = f"  at least {row['at_least']:.0f}" if row.get("at_least") else ""
            print(f"  {name:52} {speed}  {row['events']:9.0f} events{bound}{more}")


def out_of_bounds(found: dict[str, object]) -> bool:
    """Return whether a row is slower than its bound, or too much memory was used."""
    rows: dict[str, dict[str, float]] = found["rows"]  # type: ignore[assignment]
    slow = any(row["mb_per_cpu_second"] < row.get("at_least", 0) for row in rows.values())
    again = any(row.get("share_of_first", 0) > SECOND for row in rows.values())
    return slow or again or float(str(found["peak_mb"])) > MEMORY


if __name__ == "__main__":
    sys.exit(main())
