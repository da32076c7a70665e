"""Replay on a dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from hookwright._version import __version__
from hookwright.errors import ConfigError, MissingExtra
from hookwright.replay.fleet.bundle import Bundle
from hookwright.replay.fleet.fleet import Fleet
from hookwright.replay.fleet.worker import Program, Ticket, choose_level, forget

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

#: Seconds until a scheduler has to answer.
_PATIENCE = 30


class WorkerLost(BrokenExecutor):
    """Every worker that a task was given to was killed, or the scheduler forgot the task."""


@contextmanager
def dask_cluster(address: str) -> Iterator[Fleet]:
    """Connect to a scheduler, for example `tcp://127.0.0.1:8786`; raise MissingExtra or ConfigError if that fails."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra(f"--on {address}", "dask") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigError(
            f"--on {address}: no dask scheduler answers there ({error}). Start one with `dask scheduler`, and workers "
            f"with `dask worker {address}`."
        ) from None
    with client:
        yield DaskFleet(client)


def as_fleet(executor: Executor | Fleet | Client) -> Executor | Fleet:
    """Return the fleet of a dask client, or of the executor made from one; any other executor as it is."""
    if isinstance(executor, Fleet) or type(executor).__module__.partition(".")[0] != "distributed":
        return executor
    from distributed.cfexecutor import ClientExecutor

    return DaskFleet(executor._client if isinstance(executor, ClientExecutor) else executor)


class DaskFleet(Fleet):
    """The workers of a dask cluster; those that join or are started again get the bundle as well."""

    def __init__(self, client: Client) -> None:
        super().__init__(DaskExecutor(client), 1)
        self._client = client
        self._check()

    def size(self) -> int:
        """Return the number of threads of all workers."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    @contextmanager
    def carried(self, bundle: Bundle) -> Iterator[Ticket]:
        """Give the bundle to every worker that is there and that joins."""
        from distributed.diagnostics.plugin import WorkerPlugin

        class Carrier(WorkerPlugin):  # type: ignore[misc, unused-ignore]
            """Holds a bundle on a worker."""

            def __init__(self, bundle: Bundle) -> None:
                self.bundle = bundle

            async def teardown(self, worker: object) -> None:  # noqa: ARG002  (dask passes it)
                """End the processes that use the bundle, and remove its files."""
                await asyncio.to_thread(forget, self.bundle.digest)

        ticket = PluginTicket(bundle.digest)
        self._client.register_plugin(Carrier(bundle), name=ticket.name)
        try:
            yield ticket
        finally:
            if self._client.status == "running":
                self._client.unregister_worker_plugin(ticket.name)

    def levels(self, wanted: str, *, trusted: bool) -> list[str]:
        """Ask every worker."""
        found = self._client.run(choose_level, Program(), wanted, trusted, on_error="return")
        for answer in found.values():
            if isinstance(answer, Exception):
                raise answer
        return list(found.values())

    def _check(self) -> None:
        """Raise ConfigError unless there are workers, each with this version."""
        address = self._client.scheduler.address
        with contextlib.suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        if not self._client.nthreads():
            raise ConfigError(f"{address}: the scheduler has no workers. Start one with `dask worker {address}`.")
        found = self._client.run(importlib.metadata.version, "hookwright", on_error="return")
        for worker, version in found.items():
            if isinstance(version, Exception):
                raise ConfigError(
                    f"Hookwright is not installed on the worker {worker}. Install hookwright=={__version__} there."
                )
        try:
            self._client.get_versions(check=True)
        except ValueError as error:
            raise ConfigError(f"{address}: client, scheduler and workers do not fit together: {error}") from None
        for worker, problem in self._client.run(_mismatch, Program(), on_error="return").items():
            if problem is not None:
                raise ConfigError(f"{worker}: {problem}")


def _mismatch(program: Program) -> str | None:
    try:
        program.check("this worker")
    except ConfigError as error:
        return str(error)
    return None


class PluginTicket(msgspec.Struct, frozen=True):
    """A bundle that a plugin of the worker holds."""

    digest: str

    @property
    def name(self) -> str:
        """The name of the plugin."""
        return f"hookwright-{self.digest}"

    def fetch(self) -> bytes:
        """Return the bytes of the bundle, on a worker."""
        data: bytes = _worker().plugins[self.name].bundle.data
        return data

    def folder(self) -> str | None:
        """Return the worker's folder, which dask removes when the worker is gone."""
        folder: str = _worker().local_directory
        return folder


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


class DaskExecutor(Executor):
    """Tasks on a dask cluster as futures of `concurrent.futures`; a lost worker breaks its own tasks alone."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        #: dask forgets a task whose future nobody holds.
        self._held: set[DaskFuture] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task that may be run again when its worker is lost."""
        if self._client.status not in ("running", "connecting"):
            raise ConfigError("the connection to the dask scheduler was lost. Start the replay again.")
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        task = self._client.submit(fn, *args, **kwargs, pure=False)
        with self._lock:
            self._held.add(task)
        task.add_done_callback(lambda done: self._pass_on(done, future))
        return future

    def _pass_on(self, done: DaskFuture, future: Future[Any]) -> None:
        with self._lock:
            self._held.discard(done)
        if done.status == "finished":
            try:
                future.set_result(done.result())
            except Exception as error:  # the worker with the result was lost in this moment
                future.set_exception(WorkerLost(str(error)))
            return
        future.set_exception(_as_lost(done.exception() if done.status == "error" else None))


def _as_lost(error: BaseException | None) -> BaseException:
    """Return the error of a task, or WorkerLost if it was not the task that failed."""
    from distributed.scheduler import KilledWorker

    if error is None or isinstance(error, KilledWorker):
        return WorkerLost("the worker was lost" if error is None else str(error))
    return error
