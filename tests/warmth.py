"""Run Python hooks cold and in a held interpreter, and compare what they did."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hookwright.background import Background
from hookwright.executors.command import CommandExecutor
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.host import Host
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Exited, Reply
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event
from hookwright.warm.executor import WorkerExecutor
from hookwright.warm.workers import Workers
from support import event

#: The interpreter of the hooks; HOOKWRIGHT_TEST_PYTHON names another one than that of the tests.
PYTHON = os.environ.get("HOOKWRIGHT_TEST_PYTHON", sys.executable)


#: Every run has its own id, as in the engine: processes are found by it.
_RUNS = itertools.count(1)


class Bench:
    """One folder, one host, and both ways to run a hook."""

    def __init__(self, folder: Path, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        base = {"PATH": os.environ["PATH"], "HOME": str(folder), **(env or {})}
        self.host = Host(project_dir=str(folder), env=base, home=str(folder), config_dir=str(folder / ".claude"))
        self.cold = CommandExecutor(self.host, Background())
        self.workers = Workers()
        self.warm = WorkerExecutor(self.cold, self.workers)

    def job(self, command: str, moment: Event | None = None, **fields: Any) -> Job:
        """Make a job for a command."""
        happening = moment if moment is not None else event("PreToolUse", cwd=str(self.folder))
        source = fields.pop("source", Source(Scope.USER))
        timeout = fields.pop("limit", 20.0)
        handler = CommandHandler(source=source, command=command, **{"worker": "warm", **fields})
        return Job(handler, happening, encode_event(happening), 0, f"hook-{next(_RUNS)}", timeout)

    async def ready(self, job: Job) -> None:
        """Let a first event find no interpreter, and wait for the one that it asked for."""
        await self.warm(job)
        await self.workers.interpreters.settled()

    @property
    def served(self) -> int:
        """Count the events that forks have answered."""
        return self.workers.interpreters.served

    @property
    def refusals(self) -> list[str]:
        """List why commands have no interpreter."""
        return self.workers.interpreters.refusals


def on(folder: Path, work: Callable[[Bench], Awaitable[None]], env: dict[str, str] | None = None) -> None:
    """Do some work with a bench that is cleared away afterwards."""

    async def main() -> None:
        bench = Bench(folder, env)
        try:
            await work(bench)
        finally:
            await bench.workers.aclose()

    asyncio.run(main())


def facts(reply: Reply) -> tuple[int, bytes, bytes]:
    """Tell what a process did: status, stdout, stderr; addresses in memory are never twice the same."""
    assert isinstance(reply, Exited), reply
    stdout, stderr = (re.sub(rb"\b0x[0-9a-f]{8,}", b"0x", stream) for stream in (reply.stdout, reply.stderr))
    return reply.status, stdout, stderr


def same(folder: Path, job: Callable[[Bench], Job], env: dict[str, str] | None = None) -> tuple[int, bytes, bytes]:
    """Run a hook both ways in a clean `out` folder; what it answered and what it wrote must not differ."""
    result: list[tuple[int, bytes, bytes]] = []

    async def work(bench: Bench) -> None:
        wanted = job(bench)
        await bench.ready(wanted)
        assert not bench.refusals, bench.refusals
        cold = await _observed(folder, bench.cold, wanted)
        warm = await _observed(folder, bench.warm, wanted)
        assert bench.served == 1
        assert warm == cold, (warm, cold)
        result.append(warm[0])

    on(folder, work, env)
    return result[0]


async def _observed(
    folder: Path, run: Callable[[Job], Awaitable[Reply]], job: Job
) -> tuple[tuple[int, bytes, bytes], dict[str, tuple[int, bytes]]]:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    did = facts(await run(job))
    return did, {path.name: (path.stat().st_mode, path.read_bytes()) for path in sorted(out.iterdir())}
