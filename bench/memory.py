"""Tell how much memory the engine takes: `idle` and `running` in kB for each hook, `flood` in MB.

python bench/memory.py idle|running|flood
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
from pathlib import Path

from scenarios import PROGRAM, engine, event, group, others

from hookwright.hookset import HookSet
from hookwright.protocol.handlers import CommandHandler

MANY, SOME = 10_000, 100


def resident() -> float:
    """Tell the resident memory of this process in kB."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * resource.getpagesize() / 1024


def idle() -> float:
    """Build many handlers and see what each has added."""
    gc.collect()
    before = resident()
    hooks = HookSet.build(others(MANY))
    gc.collect()
    return (resident() - before) / len(hooks)


async def running() -> float:
    """Start many hooks at once and see what each has added while it runs."""
    quick = engine([group(CommandHandler(source=PROGRAM, command="true"))])
    await quick.fire(event())
    slow = engine([group(*[CommandHandler(source=PROGRAM, command="sleep 3")] * SOME)])
    gc.collect()
    before = resident()
    fired = asyncio.ensure_future(slow.fire(event()))
    await asyncio.sleep(2.0)
    grown = resident() - before
    await fired
    return grown / SOME


async def flood() -> float:
    """Have a hook print a gigabyte and see how far the peak has moved."""
    ready = engine([group(CommandHandler(source=PROGRAM, command="head -c 1000000000 /dev/zero", timeout=120))])
    quick = engine([group(CommandHandler(source=PROGRAM, command="true"))])
    await quick.fire(event())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await ready.fire(event())
    assert outcome.runs[0].reply.dropped > 900_000_000, outcome.runs[0].reply
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


if __name__ == "__main__":
    kind = sys.argv[1]
    print(idle() if kind == "idle" else asyncio.run(running() if kind == "running" else flood()))
