"""Hooks that outlive their event: owned by the session, collected on a later turn, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import parse_json
from hookwright.protocol.replies import Backgrounded, Exited, Failed, Failure, Reply


class Late(msgspec.Struct, frozen=True):
    """What a background hook said after its event was over."""

    id: str
    job: Job
    reply: Reply
    context: str | None = None
    system_message: str | None = None
    #: The text that wakes the model: an `asyncRewake` hook exited 2.
    rewake: str | None = None


def interpret_late(id: str, job: Job, reply: Reply) -> Late:  # noqa: A002 - the protocol's own word
    """Read the output of a background hook.

    Law (R-170, R-171): only `additionalContext` and `systemMessage` count, each alone if it is a string; decisions,
    plain text and exit codes have no effect, except that exit 2 of an `asyncRewake` hook wakes the model with its
    stderr, or its stdout where that is empty.
    """
    if not isinstance(reply, Exited):
        return Late(id, job, reply)
    context, message = _late_fields(reply.stdout.decode("utf-8", "replace"), job.event.event_name)
    rewake = None
    handler = job.handler
    if isinstance(handler, CommandHandler) and handler.async_rewake and reply.status == 2:
        said = reply.stderr or reply.stdout
        rewake = said.decode("utf-8", "replace").strip() or "No stderr output"
    return Late(id, job, reply, context, message, rewake)


def _late_fields(stdout: str, event: str) -> tuple[str | None, str | None]:
    for text in (stdout.strip(), *reversed(stdout.strip().splitlines())):
        if not text.strip().startswith("{"):
            continue
        value, problem = parse_json(text)
        if problem is None and isinstance(value, dict) and "async" not in value:
            specific = value.get("hookSpecificOutput")
            fits = isinstance(specific, dict) and specific.get("hookEventName", event) == event
            context = specific.get("additionalContext") if fits and isinstance(specific, dict) else None
            message = value.get("systemMessage")
            return (context if isinstance(context, str) else None, message if isinstance(message, str) else None)
    return None, None


class AsyncRequest(msgspec.Struct, frozen=True):
    """A hook asked for the background by its first line of output."""

    #: Seconds, from `asyncTimeout`; None where it set none.
    limit: float | None


def async_request(line: bytes) -> AsyncRequest | None:
    """Read a first complete line as the request `{"async": true, "asyncTimeout": ms}`; anything else is none."""
    value, problem = parse_json(line.decode("utf-8", "replace"))
    if problem is not None or not isinstance(value, dict) or value.get("async") is not True:
        return None
    limit = value.get("asyncTimeout")
    if isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0:
        return AsyncRequest(limit / 1000)
    return AsyncRequest(None)


class Background:
    """Runs hooks beyond their event; at most `limit` at once, the others wait and none is dropped."""

    def __init__(self, limit: int = 32, on_end: Callable[[Late], None] | None = None) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: dict[str, Late | None] = {}
        #: Hears of every hook that ends; a host may set it later.
        self.on_end = on_end
        self._count = 0

    def start(self, job: Job, work: Callable[[], Awaitable[Reply]]) -> Backgrounded:
        """Begin `work` in the background; it keeps its own time, which holds (D6)."""
        return self._own(job, self._when_free(work), b"")

    def adopt(self, job: Job, work: Awaitable[Reply], said: bytes, pid: int) -> Backgrounded:
        """Take over a process that is already running and asked for the background."""
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
        if self.on_end is not None:
            self.on_end(late)

    @property
    def running(self) -> tuple[str, ...]:
        """List the ids of hooks that still run or wait."""
        return tuple(self._tasks)

    def collect(self) -> tuple[Late, ...]:
        """Take what has ended since the last call: each once, in the order of their start."""
        done = [late for late in self._ended.values() if late is not None]
        for late in done:
            del self._ended[late.id]
        return tuple(done)

    async def wait(self) -> None:
        """Wait until no hook runs; each ends at its own limit at the latest."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def aclose(self) -> None:
        """End every hook that still runs and wait until it is gone."""
        await asyncio.sleep(0)  # a task cancelled before its first step would never take hold of its process
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
