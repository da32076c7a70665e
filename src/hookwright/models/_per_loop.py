"""One client per event loop: its connections cannot outlive the loop that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """A client that holds connections."""

    async def close(self) -> None:
        """Close the connections."""
        ...


Client = TypeVar("Client", bound=Closable)


class PerLoop(Generic[Client]):
    """Makes the client on first use, and a new one for another event loop."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self) -> Client:
        """Return the running loop's client.

        `connect` imports an SDK, which takes up to a second, so it runs in a thread and does not block the loop.
        """
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            client = await asyncio.to_thread(self._connect)
            if self._client is None or self._loop is not loop:
                self._client, self._loop = client, loop
        return self._client

    async def close(self) -> None:
        """Close the running loop's client, if there is one."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()
