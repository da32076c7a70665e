"""A contender: one scenario in a process of its own, that measures itself on request (see harness.py).

python bench/contender.py SCENARIO [ARGUMENT ...]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import scenarios


async def serve(name: str, arguments: list[str]) -> None:
    """Set the scenario up and answer requests until stdin ends."""
    async with scenarios.SCENARIOS[name](*arguments) as once:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            count, inflight, *pause = map(int, line.split())
            total, each = await measure(once, count, inflight, pause[0] / 1000 if pause else 0.0)
            print(total, *each, flush=True)


async def measure(
    once: Callable[[], Awaitable[object]], count: int, inflight: int, pause: float
) -> tuple[int, list[int]]:
    """Run the scenario so many times, so many of them at once, with an unmeasured pause after each."""
    each: list[int] = []
    turns = iter(range(count))
    clock = time.perf_counter_ns

    async def worker() -> None:
        for _ in turns:
            began = clock()
            await once()
            each.append(clock() - began)
            if pause:
                await asyncio.sleep(pause)

    began = clock()
    if inflight == 1:
        await worker()
    else:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(inflight):
                tasks.create_task(worker())
    return clock() - began, each


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2:]))
