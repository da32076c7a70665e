"""Workers that do not have this machine's files: an executor, and a way to carry a bundle to its workers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import Self, TypeVar

import msgspec

from hookwright.replay.fleet.bundle import Bundle, pack
from hookwright.replay.fleet.contents import contents_of, travelling, unsent_files
from hookwright.replay.fleet.remote import read_url, write_url
from hookwright.replay.fleet.worker import Errand, Program, Ticket, choose_level, read_errand, run_errand
from hookwright.replay.isolation.levels import LEVELS
from hookwright.replay.pool import Killed, process_pool
from hookwright.replay.sides import ReplaySide
from hookwright.replay.work import ReplayPlan

T = TypeVar("T")


class SharedFile(msgspec.Struct, frozen=True):
    """A bundle that workers read from a file or a URL."""

    digest: str
    url: str

    def fetch(self) -> bytes:
        """Return the bytes of the bundle."""
        return read_url(self.url)

    def folder(self) -> str | None:
        """Return None: a worker unpacks it into its folder for temporary files."""
        return None


class Fleet:
    """An executor whose workers get hooks and settings as a bundle.

    `share` is a folder or a URL that all workers can read, for example `s3://bucket/replay`; a bundle is a file there.
    `jobs` is how many tasks may run at once.
    """

    def __init__(self, executor: Executor, jobs: int, share: str | None = None) -> None:
        self.executor = executor
        self._jobs = jobs
        self._share = share
        self._own: Executor | None = None

    def size(self) -> int:
        """Return how many tasks may run at once, now."""
        return self._jobs

    @contextmanager
    def carried(self, bundle: Bundle) -> Iterator[Ticket]:
        """Put a bundle where workers can get it, for as long as the context lasts."""
        name = f"hookwright-{bundle.digest}.tar"
        if self._share is not None:
            ticket = SharedFile(bundle.digest, f"{self._share.rstrip('/')}/{name}")
            write_url(ticket.url, bundle.data)
            yield ticket
            return
        with tempfile.TemporaryDirectory(prefix="hookwright-share-") as folder:
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(bundle.data)
            yield SharedFile(bundle.digest, path)

    def levels(self, wanted: str, *, trusted: bool) -> list[str]:
        """Return the level of isolation of workers for what is asked: of each of them, or of one that is free."""
        return [self.executor.submit(choose_level, Program(), wanted, trusted).result()]

    def replace(self) -> None:
        """Continue in processes of this machine: the executor is broken for good, as a pool with a killed worker is."""
        self.close()
        self.executor = self._own = process_pool(self._jobs)

    def close(self) -> None:
        """Stop the processes that were started here; the executor of the caller stays as it is."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)
            self._own = None


def fleet_level(fleet: Fleet, wanted: str, *, trusted: bool) -> str:
    """Return the level of isolation of a replay on a fleet; raise ConfigError if a worker has none.

    Law: it is what was asked for, never less. `auto` is the best level that every worker has: each is asked for its
    best, and then for the least of those.
    """
    found = set(fleet.levels(wanted, trusted=trusted))
    if len(found) > 1:
        order = [level.name.value for level in LEVELS]
        found = set(fleet.levels(max(found, key=order.index), trusted=trusted))
    return next(iter(found))


class FleetReaders:
    """The workers of a fleet for tasks that need no bundle: reading transcripts."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    @property
    def jobs(self) -> int:
        """How many tasks may run at once, now."""
        return self._fleet.size()

    def pack(self, plan: ReplayPlan, /) -> bytes:
        """Return a plan as tasks carry it."""
        return travelling(plan).packed()

    def submit(self, work: Callable[..., T], packed: bytes, /, *arguments: object) -> Future[T | Killed]:
        """Hand a task out."""
        return self._hand_out(read_errand, Program(), work, packed, *arguments)

    def _hand_out(self, function: Callable[..., T | Killed], *arguments: object) -> Future[T | Killed]:
        """Submit a task, to other workers if the executor is broken."""
        try:
            return self._fleet.executor.submit(function, *arguments)
        except BrokenExecutor:
            self._fleet.replace()
            return self._fleet.executor.submit(function, *arguments)

    def renew(self) -> None:
        """Do nothing: the next task that is handed out shows whether the executor is broken."""

    @contextmanager
    def alone(self) -> Iterator[Self]:
        """Return the same workers, for tasks that run one at a time, while nothing else runs."""
        yield self

    def trying(self) -> Self:
        """Return the same workers."""
        return self

    def close(self) -> None:
        """Stop what was started instead of a broken executor."""
        self._fleet.close()


class FleetWorkers(FleetReaders):
    """The workers of one replay on a fleet, with its bundle carried to them."""

    def __init__(self, fleet: Fleet, ticket: Ticket, unsent: Mapping[str, str] | None = None) -> None:
        super().__init__(fleet)
        self._ticket = ticket
        self._unsent = unsent or {}

    def pack(self, plan: ReplayPlan, /) -> bytes:
        """Return a plan as tasks carry it, with what its hooks will miss."""
        return super().pack(msgspec.structs.replace(plan, unsent=self._unsent))

    def submit(self, work: Callable[..., T], packed: bytes, /, *arguments: object) -> Future[T | Killed]:
        """Hand a task out."""
        return self._hand_out(run_errand, Errand(self._ticket, packed), work, *arguments)


@contextmanager
def fleet_workers(fleet: Fleet, sides: Sequence[ReplaySide], further: Sequence[str] = ()) -> Iterator[FleetWorkers]:
    """Pack what the configurations of a replay need, with further files, and carry it to the workers."""
    places = [side.places for side in sides if side.places is not None]
    contents = contents_of(places, further)
    with fleet.carried(pack(contents)) as ticket:
        yield FleetWorkers(fleet, ticket, unsent_files(places, contents))
