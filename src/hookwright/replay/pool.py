"""Run tasks through any `concurrent.futures` executor, in order, without losing one to a worker that is killed."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import Generic, TypeVar

import msgspec

from hookwright.errors import HookwrightError

T = TypeVar("T")

#: Tasks that are handed out beyond those that run, so that no worker waits for its next one.
_AHEAD = 2


class Killed(msgspec.Struct, frozen=True):
    """A task that killed its worker, also when it ran alone."""


class OutOfTime(msgspec.Struct, frozen=True):
    """A task that was not begun before the time was up."""


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """Start workers from a server without threads: what they do to themselves, such as isolation, stays theirs."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hookwright.replay.work"])
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_initialise)


def _initialise() -> None:
    # A handler, not SIG_IGN, which hooks would inherit; Ctrl+C is for the process that started the workers.
    signal.signal(signal.SIGINT, lambda *_: None)


class TaskRun(Generic[T]):
    """Runs tasks on an executor and yields their results in the order of the tasks.

    Law: every task has exactly one result, whatever happens to workers. A task that was handed out when a worker was
    killed is a suspect: it runs again, alone, in a process of its own; if it kills that one as well, it is `Killed`.
    All other tasks run in a new pool. An error that a task raises is raised here.
    """

    def __init__(self, executor: Executor | None, jobs: int) -> None:
        self._jobs = jobs
        self._given = executor
        self._pool: Executor | None = executor

    def results(
        self, work: Callable[..., T], tasks: Sequence[tuple[object, ...]], until: float | None = None
    ) -> Iterator[T | Killed | OutOfTime]:
        """Yield the result of `work(*task)` for each task; none is begun after `until` on the monotonic clock."""
        done: dict[int, T | Killed | OutOfTime] = {}
        running: dict[Future[T], int] = {}
        following = 0
        for wanted in range(len(tasks)):
            while wanted not in done:
                while following < len(tasks) and len(running) < self._jobs + _AHEAD and not _is_over(until):
                    try:
                        running[self._executor().submit(work, *tasks[following])] = following
                    except BrokenExecutor:
                        break  # the futures of this pool say the same
                    following += 1
                if not running:
                    done[wanted] = OutOfTime()
                    break
                if suspects := self._finished(running, done):
                    found = self._one_by_one(work, [tasks[index] for index in suspects])
                    done |= dict(zip(suspects, found, strict=True))
            yield done.pop(wanted)

    def _executor(self) -> Executor:
        if self._pool is None:
            self._pool = process_pool(self._jobs)
        return self._pool

    def _finished(self, running: dict[Future[T], int], done: dict[int, T | Killed | OutOfTime]) -> list[int]:
        """Wait for a task; return the suspects: all that were handed out, if a worker was killed."""
        suspects: list[int] = []
        wait(running, return_when=FIRST_COMPLETED)
        broken = False
        for future in [one for one in running if one.done()]:
            index = running.pop(future)
            error = future.exception()
            if error is None:
                done[index] = future.result()
            elif isinstance(error, HookwrightError):
                raise error
            else:
                suspects.append(index)
                broken = broken or isinstance(error, BrokenExecutor)
        if broken:
            wait(running)
            for future, index in running.items():
                if future.exception() is None:
                    done[index] = future.result()
                else:
                    suspects.append(index)
            running.clear()
            self._renew()
        return sorted(suspects)

    def _renew(self) -> None:
        if self._pool is not None and self._pool is not self._given:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None

    def _one_by_one(self, work: Callable[..., T], tasks: Sequence[tuple[object, ...]]) -> list[T | Killed]:
        """Run tasks alone, one after the other, in a process that is replaced when it is killed."""
        found: list[T | Killed] = []
        while len(found) < len(tasks):
            with process_pool(1) as pool:
                found.extend(_until_killed(pool, work, tasks[len(found) :]))
        return found

    def close(self) -> None:
        """Stop the workers this run started; tasks that run are given up."""
        pool = self._pool
        if not isinstance(pool, ProcessPoolExecutor) or pool is self._given:
            return
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _until_killed(pool: Executor, work: Callable[..., T], tasks: Sequence[tuple[object, ...]]) -> Iterator[T | Killed]:
    for task in tasks:
        try:
            yield pool.submit(work, *task).result()
        except BrokenExecutor:
            yield Killed()
            return


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until
