"""One connection from its first line to its last: whichever side leaves, hooks see the end and no process remains."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from typing import Any

from hookwright.adapters.gateway.gateway import LAST_HOOKS, Gateway
from hookwright.adapters.gateway.hooks import Hooks
from hookwright.adapters.gateway.streams import Inlet, Outlet, lines
from hookwright.adapters.gateway.upstream import Upstream
from hookwright.session import HookSession

#: Seconds in which calls are still answered after the client closed its side.
_GRACE = 5.0
_LOOK = 0.05
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


async def serve(session: HookSession, name: str, server: Upstream, complain: Callable[[str], None]) -> int:
    """Connect stdin and stdout with a server until one side ends; return the exit status.

    Law: the status is 0 if the client left, that of the server if it exited, and 128 and the number of a signal.
    SessionEnd fires in each case, hooks that run are ended, and the server's processes are gone.
    """
    inlet, outlet = Inlet(0), Outlet(1)
    hooks = Hooks(session, name, complain)
    gateway = Gateway(hooks, outlet.send, server.send, complain)
    status = 0
    with signals() as told:
        from_client = asyncio.create_task(pump(inlet.chunks(), gateway.from_client))
        from_server = asyncio.create_task(pump(server.chunks(), gateway.from_server))
        left = asyncio.create_task(outlet.lost.wait())
        try:
            await first(from_client, from_server, left, told)
            if from_client.done() and not from_server.done() and not told.done():
                await _see_off(gateway, outlet, from_server, told)
            if told.done():
                status = 128 + told.result()
            elif from_server.done() and (gateway.waiting or not from_client.done()):
                status = await server_left(gateway, name, server, complain)
        finally:
            for task in (from_client, from_server, left):
                task.cancel()
            await asyncio.gather(from_client, from_server, left, return_exceptions=True)
            await gateway.close()
            await asyncio.gather(hooks.end(), server.close())
    return status


async def pump(chunks: AsyncIterable[bytes], take: Callable[[bytes], Awaitable[None]]) -> None:
    """Take what arrives line by line, until the end."""
    async for line in lines(chunks):
        await take(line)


async def first(*ends: asyncio.Future[Any], timeout: float | None = None) -> None:
    """Wait for the first of these ends."""
    await asyncio.wait(ends, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)


async def _see_off(gateway: Gateway, outlet: Outlet, *ends: asyncio.Future[Any]) -> None:
    """Answer what the client has asked for, as long as it reads, and no longer than a moment."""
    until = asyncio.get_running_loop().time() + _GRACE
    while gateway.waiting and not outlet.reader_left() and asyncio.get_running_loop().time() < until:
        await first(*ends, timeout=_LOOK)
        if any(end.done() for end in ends):
            return


async def server_left(gateway: Gateway, name: str, server: Upstream, complain: Callable[[str], None]) -> int:
    """Answer what waits for a server that is gone; return its exit status."""
    status, how = await server.ended()
    text = f"the MCP server `{name}` {how}"
    complain(text)
    await gateway.server_ended(text)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(gateway.settled(), LAST_HOOKS)
    return status


@contextlib.contextmanager
def signals() -> Iterator[asyncio.Future[int]]:
    """Turn the signals that end a program into a future; a second one ends it at once."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def take(number: int) -> None:
        if not told.done():
            told.set_result(number)
        loop.remove_signal_handler(number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, take, number)
    try:
        yield told
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        told.cancel()
