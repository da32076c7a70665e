"""Fire `true` ten thousand times and give up a hook in the middle a thousand times; nothing may be left over.

python bench/soak.py [FIRES] [CANCELLATIONS]
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from hookwright import Places, open_session
from hookwright.protocol.samples import sample


def rss() -> int:
    """Tell the resident memory in kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def children() -> int:
    """Count the processes whose parent is this one."""
    me, count = str(os.getpid()), 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            count += fields[1] == me
    return count


def state(folder: Path) -> dict[str, int]:
    """Count what could be left over."""
    gc.collect()
    return {
        "processes": children(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "tasks": len(asyncio.all_tasks()),
        "files": sum(1 for _ in folder.rglob("*")),
        "rss_kb": rss(),
    }


async def soak(fires: int, cancellations: int, folder: Path) -> None:
    """Run both loads and print what was there before, in between and after."""
    settings = {
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "sleep 5; true"}]}],
        }
    }
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none")}
    places = Places(project=str(folder), env=env, settings=(json.dumps(settings),))
    async with open_session(places) as session:
        event, stop = sample("PreToolUse", cwd=str(folder)), sample("Stop", cwd=str(folder))
        for _ in range(200):
            await session.fire(event)
        print("start        ", state(folder))
        started = time.perf_counter()
        for number in range(fires):
            outcome = await session.fire(event)
            assert outcome.runs[0].label == "success"
            if number in (fires // 4, fires // 2, 3 * fires // 4):
                print(f"{number:>6} fires ", state(folder))
        print(f"{fires:>6} fires ", state(folder), f"{(time.perf_counter() - started) / fires * 1000:.2f} ms each")
        started = time.perf_counter()
        for _ in range(cancellations):
            task = asyncio.create_task(session.fire(stop))
            await asyncio.sleep(random.uniform(0, 0.01))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        print(
            f"{cancellations:>6} given up",
            state(folder),
            f"{(time.perf_counter() - started) / cancellations * 1000:.2f} ms each",
        )


def main() -> None:
    """Read the counts and run."""
    fires, cancellations = (int(arg) for arg in [*sys.argv[1:], "10000", "1000"][:2])
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(soak(fires, cancellations, Path(folder)))


if __name__ == "__main__":
    main()
