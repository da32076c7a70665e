"""One client over HTTP: its hooks, its server, the gateway between them, and what it reads."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable

from hookwright.adapters.gateway.gateway import Gateway
from hookwright.adapters.gateway.hooks import Hooks
from hookwright.adapters.gateway.listener.replies import Replies, Reply, renamed
from hookwright.adapters.gateway.messages import Batch, Message, notification
from hookwright.adapters.gateway.serve import pump, server_left
from hookwright.adapters.gateway.upstream import Upstream
from hookwright.errors import HookwrightError


class Ended(HookwrightError):
    """A message for a session that has ended."""


class Connection:
    """The messages of one client, or of all clients without a session."""

    def __init__(self, gateway: Gateway, replies: Replies) -> None:
        self._gateway = gateway
        self._replies = replies
        self._numbers = itertools.count(1)
        self._used = time.monotonic()
        #: Set when the server has left, or the connection ends.
        self.over = asyncio.Event()

    @property
    def idle(self) -> float:
        """Seconds since the client last waited for something."""
        if self._replies.busy:
            self._used = time.monotonic()
        return time.monotonic() - self._used

    async def post(self, found: Message | Batch) -> Reply:
        """Take what a client posted; return the reply to its requests, which is empty if there are none.

        Raise ValueError for a request with the id of another one that is not answered, and Ended.
        """
        self._use()
        messages = found.messages if isinstance(found, Batch) else (found,)
        requests = [one for one in messages if one.method is not None and one.id is not None]
        keys = [one.key for one in requests]
        if len({*keys}) < len(keys) or any(map(self._replies.awaits, keys)):
            raise ValueError("a request has the id of another one that has not been answered")
        reply = self._replies.expect(requests)
        await self._gateway.from_client(found.raw)
        return reply

    async def post_alone(self, message: Message) -> Reply:
        """Take the request of a client without a session, under a name of ours; raise Ended."""
        self._use()
        ours, names = renamed(message, f"http-{next(self._numbers)}-{os.urandom(4).hex()}")
        reply = self._replies.expect([ours], names)
        await self._gateway.from_client(ours.raw)
        return reply

    def _use(self) -> None:
        self._used = time.monotonic()
        if self.over.is_set():
            raise Ended("this session has ended")

    def stream(self) -> Reply | None:
        """Open the stream on which the client hears what no request asked for; None if it has one."""
        return self._replies.stream()

    def left(self, reply: Reply) -> list[str]:
        """Forget a reply that is read no more; return its requests without an answer."""
        self._used = time.monotonic()
        return self._replies.left(reply)

    async def cancel(self, keys: list[str]) -> None:
        """Cancel requests whose client is gone."""
        for key in keys:
            params = {"requestId": key, "reason": "the client closed the connection"}
            line = notification("notifications/cancelled", params)
            await self._gateway.from_client(line)


@contextlib.asynccontextmanager
async def connected(
    hooks: Hooks, server: Upstream, replies: Replies, complain: Callable[[str], None]
) -> AsyncIterator[Connection]:
    """Connect a client with a server; at the end SessionEnd fires, hooks that run are ended, and so is the server."""
    gateway = Gateway(hooks, replies.send, server.send, complain)
    connection = Connection(gateway, replies)

    async def from_server() -> None:
        try:
            await pump(server.chunks(), gateway.from_server)
            await server_left(gateway, hooks.server, server, complain)
        finally:
            connection.over.set()

    reading = asyncio.create_task(from_server())
    try:
        yield connection
    finally:
        connection.over.set()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await gateway.close()
        replies.end()
        await asyncio.gather(hooks.end(), server.close())
