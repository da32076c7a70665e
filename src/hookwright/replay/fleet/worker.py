"""The part of a replay that runs on a worker elsewhere: get the bundle, start processes, ask them."""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import platform
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from hookwright._version import __version__
from hookwright.errors import ConfigError
from hookwright.replay.fleet.bundle import Bundle, Unpacked, unpack
from hookwright.replay.fleet.contents import arrived
from hookwright.replay.fleet.inner import InnerKilled, InnerProcess
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import choose
from hookwright.replay.isolation.levels import Name
from hookwright.replay.pool import Killed
from hookwright.replay.work import ReplayPlan

Result = TypeVar("Result")

#: The key of processes that read transcripts, instead of a plan.
_READING = b"reading"


class Ticket(Protocol):
    """What a worker needs to get a bundle; it is sent with every task."""

    @property
    def digest(self) -> str:
        """The name of the bundle."""
        ...

    def fetch(self) -> bytes:
        """Return the bytes of the bundle, on the worker."""
        ...

    def folder(self) -> str | None:
        """Return the folder of this worker for its files; None for the usual one."""
        ...


class Program(msgspec.Struct, frozen=True):
    """The versions that both ends of a replay must have in common."""

    hookwright: str = __version__
    python: str = ".".join(platform.python_version_tuple()[:2])

    def check(self, where: str) -> None:
        """Raise ConfigError, with the way out, if this process has other versions."""
        here = Program()
        if here == self:
            return
        raise ConfigError(
            f"{where} has Hookwright {here.hookwright} on Python {here.python}, and this replay was started by "
            f"Hookwright {self.hookwright} on Python {self.python}. Answers would not be comparable: install "
            f"hookwright=={self.hookwright} in the workers' image, on Python {self.python}."
        )


class Errand(msgspec.Struct, frozen=True):
    """What every task of a replay carries, besides what is to be done."""

    ticket: Ticket
    #: A packed plan.
    packed: bytes
    program: Program = msgspec.field(default_factory=Program)


def place() -> str:
    """Return how messages name this worker."""
    return f"the worker {socket.gethostname()}:{os.getpid()}"


def run_errand(errand: Errand, work: Callable[..., Result], *arguments: object) -> Result | Killed:
    """Make a call in a process of its own.

    Law: a call that kills its process is made once more, alone in a new one; if it kills that as well, the result is
    `Killed`. No other call is touched by it.
    """
    errand.program.check(place())
    packed = _BUNDLES.plan(errand)
    return _asked(packed, work, packed, *arguments)


def _asked(key: bytes, work: Callable[..., Result], *arguments: object) -> Result | Killed:
    for fresh in (False, True):
        inner = _PROCESSES.take(key, fresh)
        try:
            result = inner.ask(work, *arguments)
        except InnerKilled:
            continue
        except BaseException:
            inner.close()
            raise
        _PROCESSES.give_back(key, inner)
        return result
    return Killed()


def read_errand(program: Program, read: Callable[..., Result], *arguments: object) -> Result | Killed:
    """Make a call that runs no hook; the law of `run_errand` applies."""
    program.check(place())
    return _asked(_READING, read, *arguments)


def choose_level(program: Program, wanted: str, trusted: bool) -> str:
    """Return the level of isolation of this worker for what is asked; raise ConfigError if there is none."""
    program.check(place())
    with tempfile.TemporaryDirectory(prefix="hookwright-trial-") as folder:
        inner = InnerProcess()
        try:
            return inner.ask(_chosen, wanted, Bounds(folder, os.path.expanduser("~")), trusted)
        except ConfigError as error:
            raise ConfigError(f"{place()}: {error}") from None
        finally:
            inner.close()


def _chosen(wanted: str, bounds: Bounds, trusted: bool) -> str:
    return choose(wanted, bounds, trusted=trusted).name.value


def forget(digest: str) -> None:
    """End the processes that wait, and remove a bundle."""
    _PROCESSES.close()
    _BUNDLES.remove(digest)


class _Bundles:
    """The bundles of this worker, each unpacked once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unpacked: dict[str, Unpacked] = {}
        self._plans: dict[bytes, bytes] = {}

    def plan(self, errand: Errand) -> bytes:
        """Return the plan of an errand as it is played here; the first errand of a bundle unpacks it."""
        key = hashlib.sha256(errand.packed).digest() + errand.ticket.digest.encode()
        with self._lock:
            if key not in self._plans:
                self._plans[key] = self._arrived(errand)
            return self._plans[key]

    def _arrived(self, errand: Errand) -> bytes:
        plan: ReplayPlan = pickle.loads(errand.packed)
        unpacked = self._get(errand.ticket)
        missing = unpacked.at_home()
        if missing is not None and plan.level != Name.OVERLAY.value:
            raise ConfigError(
                f"{place()}: {missing} is not there as it is on your machine, and at the level of isolation "
                f"{plan.level} files cannot be shown in its place. Allow user namespaces on the workers (--isolation "
                "overlay), or put the project, its hooks and settings into their image at the same paths."
            )
        shown = "" if missing is None else unpacked.root
        return arrived(plan, os.environ.get("PATH", os.defpath), shown).packed()

    def remove(self, digest: str) -> None:
        """Remove the files of a bundle."""
        with self._lock:
            unpacked = self._unpacked.pop(digest, None)
            self._plans = {key: plan for key, plan in self._plans.items() if not key.endswith(digest.encode())}
        if unpacked is not None:
            shutil.rmtree(unpacked.root, ignore_errors=True)

    def _get(self, ticket: Ticket) -> Unpacked:
        known = self._unpacked.get(ticket.digest)
        if known is None:
            known = unpack(Bundle(ticket.digest, ticket.fetch()), ticket.folder() or tempfile.gettempdir())
            atexit.register(shutil.rmtree, known.root, ignore_errors=True)
            self._unpacked[ticket.digest] = known
        known.check()
        return known


class _Processes:
    """The processes of this worker, by what they were started for; a process never gets another plan."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[bytes, list[InnerProcess]] = {}
        atexit.register(self.close)

    def take(self, packed: bytes, fresh: bool) -> InnerProcess:
        """Return a process that waits for a call, or a new one."""
        with self._lock:
            others = [one for plan, idle in self._idle.items() if plan != packed for one in idle]
            self._idle = {packed: self._idle.get(packed, [])}
            waiting = self._idle[packed]
            found = waiting.pop() if waiting and not fresh else None
        for one in others:
            one.close()
        return found if found is not None else InnerProcess()

    def give_back(self, packed: bytes, inner: InnerProcess) -> None:
        """Keep a process for the next call of its plan."""
        with self._lock:
            if packed in self._idle:
                self._idle[packed].append(inner)
                return
        inner.close()

    def close(self) -> None:
        """End every process that waits."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for inner in (one for waiting in idle.values() for one in waiting):
            inner.close()


_BUNDLES = _Bundles()
_PROCESSES = _Processes()
