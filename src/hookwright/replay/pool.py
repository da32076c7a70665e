"""Run tasks through any `concurrent.futures` executor, in order, without losing one to a worker that is killed."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import resource_tracker
from typing import Generic, Protocol, TypeVar

import msgspec

from hookwright.replay.work import ReplayPlan

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
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl+C back while workers are started or stopped.

    Law: no worker is left that its pool does not know; the server of workers and every worker begin with Ctrl+C held
    back, so it cannot end one before it is ready for that.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers(Protocol):
    """Where the tasks of a replay run."""

    @property
    def jobs(self) -> int:
        """How many tasks may run at once, now."""
        ...

    def pack(self, plan: ReplayPlan, /) -> bytes:
        """Return a plan as tasks carry it."""
        ...

    def submit(self, work: Callable[..., T], packed: bytes, /, *arguments: object) -> Future[T | Killed]:
        """Hand a task out; raise BrokenExecutor, or let the future raise it, when its worker was killed."""
        ...

    def renew(self) -> None:
        """Continue after a worker was killed."""
        ...

    def alone(self) -> AbstractContextManager[Workers]:
        """Return workers for tasks that run one at a time; they are left when one is killed."""
        ...

    def trying(self) -> Workers:
        """Return the workers on which handlers are tried; the caller closes them."""
        ...

    def close(self) -> None:
        """Stop the workers that were started here; tasks that run are given up."""
        ...


class PoolWorkers:
    """Workers that have this machine's files: a pool of processes, or the executor of a caller until it breaks."""

    def __init__(self, executor: Executor | None, jobs: int) -> None:
        self.jobs = jobs
        self._given = executor
        self._pool: Executor | None = executor

    def pack(self, plan: ReplayPlan, /) -> bytes:
        """Return a plan as it is."""
        return plan.packed()

    def submit(self, work: Callable[..., T], packed: bytes, /, *arguments: object) -> Future[T | Killed]:
        """Hand a task out, to a new pool if the one before broke."""
        resource_tracker.ensure_running()  # its start would let Ctrl+C through again
        with _without_interrupts():
            if self._pool is None:
                self._pool = process_pool(self.jobs)
            return self._pool.submit(work, packed, *arguments)

    def renew(self) -> None:
        """Give a broken pool up."""
        if self._pool is not None and self._pool is not self._given:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None

    @contextmanager
    def alone(self) -> Iterator[PoolWorkers]:
        """Return one process."""
        workers = PoolWorkers(None, 1)
        try:
            yield workers
        finally:
            workers.close()

    def trying(self) -> PoolWorkers:
        """Return one process: what handlers do while they are tried is not seen by others."""
        return PoolWorkers(None, 1)

    def close(self) -> None:
        """Stop the pool, if it was started here."""
        pool = self._pool
        if not isinstance(pool, ProcessPoolExecutor) or pool is self._given:
            return
        with _without_interrupts():
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()


class TaskRun(Generic[T]):
    """Runs tasks on workers and yields their results in the order of the tasks.

    Law: every task has exactly one result, whatever happens to workers. A task that was handed out when a worker was
    killed is a suspect: it runs again, alone, when all others have ended; if it kills its worker as well, it is
    `Killed`. All other tasks run on. An error that a task raises is raised here.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def results(
        self, work: Callable[..., T], packed: bytes, tasks: Sequence[tuple[object, ...]], until: float | None = None
    ) -> Iterator[T | Killed | OutOfTime]:
        """Yield the result of `work(packed, *task)` per task; none is begun after `until` on the monotonic clock."""
        done: dict[int, T | Killed | OutOfTime] = {}
        running: dict[Future[T | Killed], int] = {}
        following = 0
        for wanted in range(len(tasks)):
            while wanted not in done:
                while following < len(tasks) and len(running) < self._workers.jobs + _AHEAD and not _is_over(until):
                    try:
                        running[self._workers.submit(work, packed, *tasks[following])] = following
                    except BrokenExecutor:
                        if not running:
                            self._workers.renew()
                            continue
                        break  # the futures of this pool say the same
                    following += 1
                if not running:
                    done[wanted] = OutOfTime()
                    break
                if suspects := self._finished(running, done):
                    found = self._one_by_one(work, packed, [tasks[index] for index in suspects])
                    done |= dict(zip(suspects, found, strict=True))
            yield done.pop(wanted)

    def _finished(self, running: dict[Future[T | Killed], int], done: dict[int, T | Killed | OutOfTime]) -> list[int]:
        """Wait for a task; return the suspects: all that were handed out and have no result, if a worker was killed."""
        suspects: list[int] = []
        wait(running, return_when=FIRST_COMPLETED)
        for future in [one for one in running if one.done()]:
            _keep(future, running.pop(future), done, suspects)
        if suspects:
            wait(running)
            for future, index in running.items():
                _keep(future, index, done, suspects)
            running.clear()
            self._workers.renew()
        return sorted(suspects)

    def _one_by_one(
        self, work: Callable[..., T], packed: bytes, tasks: Sequence[tuple[object, ...]]
    ) -> list[T | Killed]:
        """Run tasks alone, one after the other, on workers that are replaced when one is killed."""
        found: list[T | Killed] = []
        while len(found) < len(tasks):
            with self._workers.alone() as workers:
                found.extend(_until_killed(workers, work, packed, tasks[len(found) :]))
        return found


def _keep(future: Future[T | Killed], index: int, done: dict[int, T | Killed | OutOfTime], suspects: list[int]) -> None:
    error = None if future.cancelled() else future.exception()
    if future.cancelled() or isinstance(error, BrokenExecutor):
        suspects.append(index)
    elif error is None:
        done[index] = future.result()
    else:
        raise error


def _until_killed(
    workers: Workers, work: Callable[..., T], packed: bytes, tasks: Sequence[tuple[object, ...]]
) -> Iterator[T | Killed]:
    for task in tasks:
        try:
            yield workers.submit(work, packed, *task).result()
        except BrokenExecutor:
            yield Killed()
            return


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until
