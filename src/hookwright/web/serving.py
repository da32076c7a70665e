"""One console per state folder: its address, its lock and its end."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import msgspec
import uvicorn

from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.storage import make_folder
from hookwright.web.app import Watch, application
from hookwright.web.door import Door
from hookwright.web.traffic import Traffic
from hookwright.web.views import Console
from hookwright.web.wires import Wires

_LOCK = "web.lock"
#: Bytes of a request's line and headers.
_HEADERS = 16 * 1024
#: Connections at once, streams included.
_CONNECTIONS = 64


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """How a console is to be opened."""

    places: Places
    #: The folder of the journal.
    state: str
    port: int = 0
    #: A unix socket to listen on instead of a port.
    socket: str | None = None
    #: Show events since this time.
    since: float = 0.0


def serve(wanted: Wanted, opened: Callable[[str], None]) -> None:
    """Run a console until it is interrupted; `opened` gets its address, which has the token."""
    token = secrets.token_hex(32)
    with _alone(wanted.state) as announce, _listening(wanted) as listener:
        port = None if wanted.socket else int(listener.getsockname()[1])
        address = f"http://127.0.0.1:{port}/#{token}" if port is not None else f"{wanted.socket} token {token}"
        announce(address)
        console = Console(wanted.places, Traffic(wanted.state, wanted.since), Wires(wanted.state))
        try:
            console.traffic.poll()
            asyncio.run(_served(console, Door(port=port, token=token), listener, lambda: opened(address)))
        finally:
            console.wires.close()
            console.traffic.close()


class _Server(uvicorn.Server):
    """A server whose streams end when it does."""

    def __init__(self, settings: uvicorn.Config, watch: Watch) -> None:
        super().__init__(settings)
        self._watch = watch

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the streams, then the server; it waits for them."""
        self._watch.end()
        super().handle_exit(sig, frame)


async def _served(console: Console, door: Door, listener: socket.socket, opened: Callable[[], None]) -> None:
    watch = Watch(console)
    settings = uvicorn.Config(
        application(console, watch, door),
        log_level="error",
        access_log=False,
        server_header=False,
        http="h11",
        ws="none",
        lifespan="off",
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEADERS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    server = _Server(settings, watch)
    hang_up = functools.partial(server.handle_exit, signal.SIGHUP, None)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hang_up)  # its terminal was closed
    looking = asyncio.ensure_future(watch.run())
    try:
        opened()
        await server.serve(sockets=[listener])
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


@contextlib.contextmanager
def _alone(state: str) -> Iterator[Callable[[str], None]]:
    """Hold the lock of the state folder; raise ConfigError with the address of the console that has it."""
    make_folder(state)
    path = os.path.join(state, _LOCK)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip()
            raise ConfigError(f"a console is already open for {state}: {other or 'it is just starting'}") from None

        def announce(address: str) -> None:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{address}\n".encode(), 0)

        try:
            yield announce
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _listening(wanted: Wanted) -> Iterator[socket.socket]:
    """Listen on loopback, or on a socket that only this user can open; raise ConfigError if that is not possible."""
    if wanted.socket is None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", wanted.port))
        except OSError as error:
            listener.close()
            raise ConfigError(f"--port {wanted.port}: {error.strerror}. Leave it out to get a free one.") from None
        with listener:
            listener.listen()  # before its address is printed
            yield listener
        return
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(wanted.socket)
    except OSError as error:
        listener.close()
        raise ConfigError(f"--socket {wanted.socket}: {error.strerror}. Name a path that does not exist.") from None
    finally:
        os.umask(before)
    try:
        with listener:
            listener.listen()
            yield listener
    finally:
        with contextlib.suppress(OSError):
            os.unlink(wanted.socket)
