"""Say where the time of one `sh -c true` hook goes, from the call of `fire` to its outcome.

    python bench/segments.py [COUNT]

Marks the time at the borders of the path, and reads the processor time of the host for each hook, in Python and in
the system. Prints JSON: microseconds by name, medians over the hooks. The marks themselves take about two of them.
"""

from __future__ import annotations

import asyncio
import functools
import resource
import statistics
import sys
import time
from typing import Any

import msgspec
import scenarios

from hookwright import engine
from hookwright.processes import exits as _exits
from hookwright.processes import pipes as _pipes
from hookwright.processes import process as _process
from hookwright.processes import spawn as _spawn

#: What ends at each mark, in the order in which they come.
BORDERS = {
    "pipes open": "before the start: choose, encode, prepare",
    "fork": "the three pipes, with the event inside",
    "forked": "fork and exec, until the shell runs",
    "watched": "watch its exit, set its limit, close its ends",
    "exit": "the shell runs, and the loop waits",
    "finished": "collect its status, read both outputs, close everything",
    "interpret": "the loop's next turn",
    "end": "interpret, aggregate",
}
_marks: list[tuple[str, int]] = []


def marked(owner: Any, name: str, before: str = "", after: str = "") -> None:
    """Mark the time when a function is called, when it is done, or both."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if before:
            _marks.append((before, time.perf_counter_ns()))
        result = function(*arguments, **named)
        if after:
            _marks.append((after, time.perf_counter_ns()))
        return result

    setattr(owner, name, call)


async def measure(count: int) -> dict[str, float]:
    """Fire so many times; give the median of every part."""
    parts: dict[str, list[float]] = {name: [] for name in BORDERS.values()}
    async with scenarios.command() as once:
        for _ in range(100):
            await once()
        used = resource.getrusage(resource.RUSAGE_SELF)
        for _ in range(count):
            await once()
        now = resource.getrusage(resource.RUSAGE_SELF)
        marked(_pipes.Pipes, "open", before="pipes open")
        marked(_spawn, "fork_exec", before="fork", after="forked")
        marked(_process.Process, "begin", after="watched")
        marked(_exits._PidfdWatch, "look", before="exit", after="finished")
        marked(engine, "interpret", before="interpret")
        for _ in range(count):
            _marks.clear()
            last = time.perf_counter_ns()
            await once()
            _marks.append(("end", time.perf_counter_ns()))
            for name, at in _marks:
                parts[BORDERS[name]].append((at - last) / 1000)
                last = at
    found = {name: statistics.median(values) for name, values in parts.items()}
    found["processor time of the host, in Python"] = (now.ru_utime - used.ru_utime) / count * 1e6
    found["processor time of the host, in the system"] = (now.ru_stime - used.ru_stime) / count * 1e6
    return found


if __name__ == "__main__":
    measured = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
    print(msgspec.json.format(msgspec.json.encode(measured), indent=1).decode())
