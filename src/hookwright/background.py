"""Hooks that outlive their event: owned by the session, collected on a later turn, stopped with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hookwright.interpret import interpret_late
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Late
from hookwright.protocol.replies import Backgrounded, Failed, Failure, Reply


class Background:
    """Runs hooks beyond their event: at most `limit` at once; the others wait, and none is dropped."""

    def __init__(self, limit: int = 32, on_end: Callable[[Late], None] | None = None) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: dict[str, Late | None] = {}
        #: Called for every hook that ends, after the listener of its job; a host may set it later.
        self.on_end = on_end
        self._count = 0

    def start(self, job: Job, work: Callable[[], Awaitable[Reply]]) -> Backgrounded:
        """Start `work` in the background; it keeps its own time limit (D6)."""
        return self._own(job, self._when_free(work), b"")

    def adopt(self, job: Job, work: Awaitable[Reply], said: bytes, pid: int) -> Backgrounded:
        """Take over a process that is running and asked for the background."""
        return self._own(job, work, said, pid)

    def _own(self, job: Job, work: Awaitable[Reply], said: bytes, pid: int | None = None) -> Backgrounded:
        self._count += 1
        name = f"{job.event.event_name}-{pid if pid is not None else 'bg'}-{self._count}"
        self._ended[name] = None
        self._tasks[name] = asyncio.ensure_future(self._finish(name, job, work))
        return Backgrounded(name, said)

    async def _when_free(self, work: Callable[[], Awaitable[Reply]]) -> Reply:
        async with self._slots:
            return await work()

    async def _finish(self, name: str, job: Job, work: Awaitable[Reply]) -> None:
        reply: Reply
        try:
            reply = await work
        except asyncio.CancelledError:
            reply = Failed(Failure.INTERRUPTED, "the session ended")
        except Exception as error:  # an executor that breaks must not take the session's background with it
            reply = Failed(Failure.EXCEPTION, f"{type(error).__name__}: {error}")
        late = interpret_late(name, job, reply)
        self._ended[name] = late
        del self._tasks[name]
        for listener in (job.on_late_end, self.on_end):
            if listener is not None:
                listener(late)

    @property
    def running(self) -> tuple[str, ...]:
        """The ids of hooks that still run or wait for a slot."""
        return tuple(self._tasks)

    def collect(self) -> tuple[Late, ...]:
        """Return the hooks that ended since the last call: each once, in the order they started."""
        done = [late for late in self._ended.values() if late is not None]
        for late in done:
            del self._ended[late.id]
        return tuple(done)

    async def wait(self) -> None:
        """Wait until no hook runs; each ends at its own limit at the latest."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def aclose(self) -> None:
        """Stop every hook that still runs, and wait until it is gone."""
        await asyncio.sleep(0)  # a task cancelled before its first step would never stop its process
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
