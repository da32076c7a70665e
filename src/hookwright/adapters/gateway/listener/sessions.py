"""The connections of a listener: each with a task that opens and ends it, and no more than a few."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import msgspec

from hookwright.adapters.gateway.listener.connection import Connection
from hookwright.adapters.gateway.listener.replies import Replies, SharedReplies
from hookwright.errors import HookwrightError

#: Each session has a server of its own.
MOST_SESSIONS = 64
#: Seconds after which a session is ended whose client neither waits nor asks.
IDLE = 1800.0
_LOOK = 30.0
#: The connection of clients without a session.
_SHARED = ""

Opener = Callable[[type[Replies]], AbstractAsyncContextManager[Connection]]


class TooMany(HookwrightError):
    """One session more than the listener has."""


class Owned(msgspec.Struct, frozen=True):
    """A connection with its owner."""

    ready: asyncio.Future[Connection]
    ending: asyncio.Event
    task: asyncio.Task[None]


class Sessions:
    """The sessions by their ids, which cannot be guessed."""

    def __init__(self, opener: Opener, complain: Callable[[str], None]) -> None:
        self._opener = opener
        self._complain = complain
        self._owned: dict[str, Owned] = {}
        self._closing = False

    async def open(self) -> tuple[str, Connection]:
        """Open a session; raise TooMany, or what keeps its server from starting."""
        if sum(name != _SHARED for name in self._owned) >= MOST_SESSIONS:
            raise TooMany(f"{MOST_SESSIONS} sessions are open; end one with DELETE")
        name = secrets.token_urlsafe(24)
        return name, await self._begun(name, Replies)

    async def shared(self) -> Connection:
        """Return the connection of clients without a session; the first one opens it."""
        if _SHARED not in self._owned:
            return await self._begun(_SHARED, SharedReplies)
        return await asyncio.shield(self._owned[_SHARED].ready)

    def get(self, name: str) -> Connection | None:
        """Return an open session."""
        found = self._owned.get(name) if name != _SHARED else None
        return found.ready.result() if found is not None and found.ready.done() else None

    async def end(self, name: str) -> None:
        """End a session, and wait until its hooks and its server are done."""
        found = self._owned.pop(name, None)
        if found is not None:
            found.ending.set()
            await asyncio.wait([found.task])

    async def close(self) -> None:
        """End all sessions at once, and open no further ones."""
        self._closing = True
        await asyncio.gather(*(self.end(name) for name in list(self._owned)))

    async def _begun(self, name: str, replies: type[Replies]) -> Connection:
        if self._closing:
            raise HookwrightError("the gateway is ending")
        ready: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        ending = asyncio.Event()
        task = asyncio.create_task(self._own(name, replies, ready, ending), name=f"mcp session {name[:8]}")
        self._owned[name] = Owned(ready, ending, task)
        return await asyncio.shield(ready)

    async def _own(
        self, name: str, replies: type[Replies], ready: asyncio.Future[Connection], ending: asyncio.Event
    ) -> None:
        """Own a connection: what it opens is closed by the task that opened it."""
        try:
            async with self._opener(replies) as connection:
                ready.set_result(connection)
                await _over(connection, ending)
                self._forget(name, ready)
        except Exception as error:  # what a session cannot be opened or closed for concerns this session alone
            if ready.done():
                self._complain(f"a session ended with an error: {type(error).__name__}: {error}")
            else:
                ready.set_exception(error)
        finally:
            self._forget(name, ready)

    def _forget(self, name: str, ready: asyncio.Future[Connection]) -> None:
        """Forget a session; one that has the same name by now stays."""
        if name in self._owned and self._owned[name].ready is ready:
            del self._owned[name]


async def _over(connection: Connection, ending: asyncio.Event) -> None:
    """Wait for the end of a session: asked for, because its server left, or because its client does nothing."""
    ends = [asyncio.create_task(one.wait()) for one in (ending, connection.over)]
    try:
        while connection.idle < IDLE:
            done, _ = await asyncio.wait(ends, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return
    finally:
        for task in ends:
            task.cancel()
