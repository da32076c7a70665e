"""The resident workers of one session: started when needed, reused while unchanged, replaced when old or large."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Hashable
from typing import Any

import msgspec

from hookwright.processes.spawn import Command, explain
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.replies import Failed, Failure, Reply, TimedOut
from hookwright.warm.domains import domain
from hookwright.warm.plan import Unusual
from hookwright.warm.resident import Resident
from hookwright.warm.words import split

#: Idle workers kept per command; more are started while events arrive at once.
_IDLE = 2
#: A worker is replaced after this many events, seconds or bytes of memory; the memory is checked now and then.
_EVENTS = 10_000
_AGE = 3600.0
_MEMORY = 512 * 1024 * 1024
_LOOK = 64
#: Failing answers in a row after which a worker is replaced, and workers replaced in a row before there are no more.
_FAILURES = 3
_SPOILT = 2
#: Seconds a worker may take for its greeting.
_PATIENCE = 20.0


class _Place(msgspec.Struct, eq=False):
    """The state of one command."""

    idle: list[Resident] = msgspec.field(default_factory=list)
    unusual: Unusual | None = None
    #: Workers that were replaced because they only failed, since the last good answer.
    spoilt: int = 0


class Residents:
    """Answers events with resident workers."""

    def __init__(self) -> None:
        self._places: dict[Hashable, _Place] = {}
        self._busy: set[Resident] = set()
        self._leaving: set[asyncio.Task[None]] = set()

    async def ask(self, handler: CommandHandler, command: Command, limit: float | None) -> Reply | Unusual:
        """Have an event answered by an idle worker, else by a new one.

        Law: a worker that only fails is replaced, for its state may be the cause. If a new one only fails as well, the
        command is started for every event.
        """
        where = None if _is_placed(handler, command) else command.cwd
        place = self._places.setdefault((domain(handler.source), command.argv, where), _Place())
        if place.unusual is not None:
            return place.unusual
        worker = self._waiting(place, command)
        left = limit
        if worker is None:
            began = asyncio.get_running_loop().time()
            started = await self._start(place, command, limit)
            if not isinstance(started, Resident):
                return started
            worker = started
            if limit is not None:
                left = max(0.0, limit - (asyncio.get_running_loop().time() - began))
        self._busy.add(worker)
        try:
            reply = await worker.ask(command, left)
        finally:
            self._busy.discard(worker)
        if isinstance(reply, TimedOut) and limit is not None:
            reply = TimedOut(limit)
        if self._is_spoilt(place, worker):
            self._dismiss(worker)
        elif len(place.idle) < _IDLE and worker.usable() and self._lasts(worker):
            place.idle.append(worker)
        else:
            self._dismiss(worker)
        return reply

    def _waiting(self, place: _Place, command: Command) -> Resident | None:
        while place.idle:
            worker = place.idle.pop()
            if worker.usable() and worker.fits(command):
                return worker
            self._dismiss(worker)
        return None

    async def _start(self, place: _Place, command: Command, limit: float | None) -> Resident | Reply | Unusual:
        try:
            worker = Resident(command)
        except (OSError, ValueError) as error:
            return Failed(Failure.LAUNCH, explain(command, error).message)
        unusual = await worker.greeting(_PATIENCE if limit is None else min(limit, _PATIENCE))
        if unusual is not None:
            place.unusual = unusual
            return unusual
        return worker

    def _is_spoilt(self, place: _Place, worker: Resident) -> bool:
        """Return whether a worker neither permitted nor refused anything for a while; after two, give up on workers."""
        if worker.failures < _FAILURES:
            place.spoilt = place.spoilt if worker.failures else 0
            return False
        place.spoilt += 1
        if place.spoilt >= _SPOILT:
            place.unusual = Unusual(f"each of {_SPOILT} workers failed {_FAILURES} times in a row")
            while place.idle:
                self._dismiss(place.idle.pop())
        return True

    def _lasts(self, worker: Resident) -> bool:
        """Return whether a worker is young and small enough for another event."""
        if worker.asked >= _EVENTS or asyncio.get_running_loop().time() - worker.started > _AGE:
            return False
        return worker.asked % _LOOK != 0 or worker.memory() <= _MEMORY

    def _dismiss(self, worker: Resident) -> None:
        self._own(worker.leave())

    def _own(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def aclose(self) -> None:
        """End all workers and wait until they are gone."""
        places, self._places = self._places, {}
        for place in places.values():
            for worker in place.idle:
                self._dismiss(worker)
        for worker in self._busy:
            self._own(worker.end())
        while self._leaving:
            await asyncio.wait(self._leaving)


def _is_placed(handler: CommandHandler, command: Command) -> bool:
    """Return whether a command is the same program in every directory: no word names a file in this one."""
    words = split(handler.command, command.env) if handler.args is None else command.argv
    return words is not None and not any(
        not os.path.isabs(word) and os.path.lexists(os.path.join(command.cwd, word)) for word in words
    )
