"""A listening gateway from its first client to its last: a signal ends every session, and no process remains."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import uvicorn

from hookwright.adapters.gateway.hooks import Hooks
from hookwright.adapters.gateway.listener.connection import Connection, connected
from hookwright.adapters.gateway.listener.doors import Doors
from hookwright.adapters.gateway.listener.front import Front
from hookwright.adapters.gateway.listener.replies import Replies
from hookwright.adapters.gateway.listener.sessions import Sessions
from hookwright.adapters.gateway.serve import first, signals
from hookwright.adapters.gateway.upstream import Upstream
from hookwright.errors import ConfigError
from hookwright.session import HookSession

#: HTTP requests at once, streams included.
_MOST_REQUESTS = 1024
#: Seconds for the last bytes of answers after all sessions have ended.
_LAST_BYTES = 3

#: Opens the hooks of one client, and starts a server for it.
OpenHooks = Callable[[], AbstractAsyncContextManager[HookSession]]
StartServer = Callable[[HookSession], Awaitable[Upstream]]


class _Server(uvicorn.Server):
    """A server that leaves signals to the gateway."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


async def listen(doors: Doors, name: str, hooks: OpenHooks, start: StartServer, complain: Callable[[str], None]) -> int:
    """Serve clients until a signal; return the exit status 0.

    Law: each session has its own hooks and its own server. At the end SessionEnd fires in each, hooks that run are
    ended, and the processes of all servers are gone.
    """

    @asynccontextmanager
    async def opened(replies: type[Replies]) -> AsyncIterator[Connection]:
        async with hooks() as session:
            server = await start(session)
            own = Hooks(session, name, complain)
            async with connected(own, server, replies(complain), complain) as connection:
                yield connection

    with _listening(doors) as sock, signals() as told:
        bound = doors.at(sock.getsockname()[1])
        sessions = Sessions(opened, complain)
        server = _Server(_config(Front(bound, sessions)))
        serving = asyncio.create_task(server.serve([sock]))
        complain(f"listening on {bound.url}")
        try:
            await first(serving, told)
        finally:
            await sessions.close()
            server.should_exit = True
            await serving
    return 0


def _config(front: Front) -> uvicorn.Config:
    return uvicorn.Config(
        front,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_REQUESTS,
        timeout_graceful_shutdown=_LAST_BYTES,
    )


def _listening(doors: Doors) -> socket.socket:
    host = doors.host.strip("[]")
    try:
        return socket.create_server((host, doors.port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigError(f"--listen {doors.host}:{doors.port}: {error.strerror}") from None
