"""Keep 64 sessions busy at once, eight hooks an event: no error, bounded memory, and how long events take.

    python bench/load.py [--seconds 60] [--sessions 64] [--json]

Every outcome is checked: each of the eight hooks must have run and said what it says, and one of them denies. Exits 1
on a wrong outcome, on a leftover, or when memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hookwright.config import Places
from hookwright.observers.journal.reader import Filter, records
from hookwright.protocol.outcome import Deny, Outcome
from hookwright.protocol.samples import sample
from hookwright.session import open_session

_CONTEXT = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "seen"}}
#: Eight hooks as people have them: silent ones, one that reads, one that talks, one that fails, one that denies.
HOOKS = (
    *("true", "true # two", "cat > /dev/null", "cat | wc -c > /dev/null", "exit 1"),
    *(f"printf '%s' '{json.dumps(_CONTEXT)}'", "echo noise >&2", "echo no >&2; exit 2"),
)
#: MB that the process may grow after its first quarter.
GROWTH = 32.0


class Tally:
    """What all sessions did together."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.wrong: list[str] = []
        self.memory: list[tuple[float, float]] = []

    def note(self, outcome: Outcome, seconds: float) -> None:
        """Check one outcome."""
        self.seconds.append(seconds)
        endings = sorted(run.label for run in outcome.runs)
        right = (
            isinstance(outcome.decision, Deny)
            and endings == ["error"] * 2 + ["success"] * 6
            and outcome.context == ("seen",)
        )
        if not right:
            self.wrong.append(f"{outcome.decision} {endings} {[d.message for d in outcome.diagnostics]}"[:300])


def status(field: str) -> float:
    """Read a figure of this process in MB."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found is not None else 0.0


def counts() -> dict[str, int]:
    """Count what could be left over."""
    gc.collect()
    children = 0
    for task in Path("/proc/self/task").iterdir():
        children += len((task / "children").read_text().split())
    return {"processes": children, "descriptors": len(os.listdir("/proc/self/fd")), "tasks": len(asyncio.all_tasks())}


async def worker(number: int, folder: Path, until: float, tally: Tally) -> None:
    """Be one session: fire one event after the other until the time is up."""
    handlers = [{"type": "command", "command": text, "timeout": 120} for text in HOOKS]
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    home = folder / str(number)
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HOOKWRIGHT_STATE_DIR": str(folder / "state")}
    places = Places(project=str(home), env=env, settings=(json.dumps(settings),))
    async with open_session(places, journal=True) as session:
        event = sample("PreToolUse", cwd=str(home), session_id=f"session-{number}")
        while time.monotonic() < until:
            started = time.perf_counter()
            outcome = await session.fire(event)
            tally.note(outcome, time.perf_counter() - started)


async def watch(started: float, until: float, tally: Tally) -> None:
    """Look at the memory twice a second."""
    while time.monotonic() < until:
        tally.memory.append((time.monotonic() - started, status("VmRSS")))
        await asyncio.sleep(0.5)


async def load(sessions: int, seconds: float, folder: Path) -> dict[str, Any]:
    """Run all sessions at once and give the figures."""
    tally = Tally()
    before = counts()
    started = time.monotonic()
    until = started + seconds
    async with asyncio.TaskGroup() as group:
        group.create_task(watch(started, until, tally))
        for number in range(sessions):
            group.create_task(worker(number, folder, until, tally))
    took = time.monotonic() - started
    after = counts()
    written = sum(1 for _ in records(str(folder / "state"), Filter()))
    settled = [memory for at, memory in tally.memory if at > seconds / 4]
    spread = statistics.quantiles(tally.seconds, n=100)
    return {
        "sessions": sessions,
        "seconds": round(took, 1),
        "events": len(tally.seconds),
        "hooks": len(tally.seconds) * len(HOOKS),
        "hooks_per_second": round(len(tally.seconds) * len(HOOKS) / took),
        "wrong": len(tally.wrong),
        "examples": tally.wrong[:3],
        "latency_ms": {
            name: round(value * 1000)
            for name, value in {
                "min": min(tally.seconds),
                "p50": spread[49],
                "p95": spread[94],
                "p99": spread[98],
                "max": max(tally.seconds),
            }.items()
        },
        "memory_mb": {"first": round(settled[0]), "last": round(settled[-1]), "peak": round(status("VmHWM"))},
        "growth_mb": round(max(settled[len(settled) // 2 :]) - settled[0], 1),
        "left": {name: after[name] - before[name] for name in ("processes", "descriptors", "tasks")},
        "journal_records": written,
    }


def main() -> int:
    """Read the size of the load, run it, print the figures."""
    parser = argparse.ArgumentParser(description="Keep many sessions busy at once.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(load(args.sessions, args.seconds, Path(folder)))
    # The loop keeps one descriptor for noticing exits.
    left = found["left"]["processes"] > 0 or found["left"]["descriptors"] > 1 or found["left"]["tasks"] > 0
    good = not found["wrong"] and not left and found["growth_mb"] <= GROWTH
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name:18} {value}")
        print(f"{'verdict':18} {'ok' if good else 'NOT OK'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
