"""One event loop for all hooks of a bridge, whatever calls them: a thread with its own loop, or the caller's loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine, Generator
from typing import Generic, Protocol, TypeAlias, TypeVar

from hookwright.errors import HookwrightError

T = TypeVar("T")
#: A coroutine that has not started.
Work: TypeAlias = Coroutine[object, None, T]

#: The time in seconds that closing waits for the thread.
_JOIN = 5.0


class Pending(Generic[T]):
    """An answer that is on its way: `await` it in a coroutine, or call `result()` in a plain function.

    Cancelling the task that awaits it, or interrupting `result()`, ends the hooks that run for it.
    """

    def __init__(self, future: concurrent.futures.Future[T] | asyncio.Task[T], thread: int = 0) -> None:
        self._future = future
        self._thread = thread

    def __await__(self) -> Generator[object, None, T]:
        future = self._future
        if isinstance(future, concurrent.futures.Future):
            return asyncio.wrap_future(future).__await__()
        return future.__await__()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the answer in this thread; raise HookwrightError where that could never end."""
        future = self._future
        if not isinstance(future, concurrent.futures.Future):
            raise HookwrightError('hooks run in this event loop (loop="caller"): write `await`, not `.result()`.')
        if threading.get_ident() == self._thread and not future.done():
            raise HookwrightError("a hook cannot wait for the bridge that runs it. Make the hook async and `await`.")
        try:
            return future.result(timeout)
        except BaseException:  # an interrupt as well: what waits for no one is ended, and the caller gets the error
            future.cancel()
            raise


class LoopChoice(Protocol):
    """Where the hooks of a bridge run."""

    def submit(self, work: Work[T]) -> Pending[T]:
        """Start a coroutine there."""

    def close(self) -> None:
        """Release what the loop needs; nothing is submitted afterwards."""


class Portal:
    """A daemon thread with an event loop; it starts with the first coroutine.

    A thread does not survive `fork`, so a portal belongs to the process that made it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def submit(self, work: Work[T]) -> Pending[T]:
        """Start a coroutine in the thread's loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="hookwright", daemon=True)
                self._thread.start()
            loop, thread = self._loop, self._thread
        assert thread is not None, "it starts with its loop"
        return Pending(asyncio.run_coroutine_threadsafe(work, loop), thread.ident or 0)

    def close(self) -> None:
        """Stop the loop and wait for its thread; a second call does nothing."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None or self._process != os.getpid():
            return
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(_JOIN)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    # A hook in code runs in a thread, and Python 3.12 starts none at exit: one is ready for the hooks of SessionEnd.
    loop.call_soon(lambda: loop.run_in_executor(None, int))
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


class CallerLoop:
    """The loop of the caller, for hosts whose hooks use clients that belong to it; every call needs that loop."""

    def submit(self, work: Work[T]) -> Pending[T]:
        """Start a coroutine as a task of the running loop; raise HookwrightError where none runs."""
        try:
            return Pending(asyncio.get_running_loop().create_task(work))
        except RuntimeError:
            work.close()
            raise HookwrightError('no event loop runs here, and loop="caller" needs one: use loop="portal".') from None

    def close(self) -> None:
        """Do nothing: the loop is the caller's."""
