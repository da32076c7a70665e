"""The daemon: it listens on a private socket, answers requests, and ends when it is idle or no longer current.

Laws
* It acts only for processes of its own user that are confined as it is (`peers`).
* A request that it cannot read, that came for another version, or that arrives while it has too many, is declined or
  its connection closed; the caller then does the work itself. Nothing but a whole answer is ever an answer.
* A caller that leaves ends its request, with the hooks of that request.
* While a request runs, its caller gets a sign of life every second.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping

from hookwright._version import __version__
from hookwright.errors import ConfigError
from hookwright.resident.installed import Installed
from hookwright.resident.messages import (
    ALIVE,
    DECLINED,
    BrokenMessage,
    Reply,
    Request,
    expected,
    read_request,
    write_reply,
)
from hookwright.resident.peers import Confinement, confinement, credentials
from hookwright.resident.places import exposed
from hookwright.resident.start import lock_path
from hookwright.storage import make_folder, strict_stamp

#: Seconds without a request after which the daemon ends.
IDLE = 600.0
#: Connections at once; a further one is closed, and its caller does the work itself.
MOST = 64
#: Seconds in which a request must have arrived.
_ARRIVAL = 5.0
#: Seconds between two signs of life, and between two looks at the own socket.
_PULSE = 1.0
#: Requests after which the daemon ends, so that nothing can pile up forever.
_REQUESTS = 100_000
_BACKLOG = 128


class Declined(Exception):
    """The caller must do the work itself."""


Command = Callable[[Request], Awaitable[Reply]]


class Daemon:
    """Answers requests until it is idle, told to stop, or not current any more."""

    def __init__(self, path: str, commands: Mapping[str, Command], idle: float = IDLE) -> None:
        self.path = path
        self.commands = commands
        self.answered = 0
        self.running: set[asyncio.Task[None]] = set()
        self.connections: set[Connection] = set()
        self._idle = idle
        self._installed = Installed()
        self._own: Confinement | None = confinement(os.getpid())
        self._loop = asyncio.get_running_loop()
        self._used = self._loop.time()
        self._ending = asyncio.Event()
        self._lock = _locked(path)
        self._listener = _listening(path)
        self._socket = strict_stamp(path)

    async def serve(self) -> None:
        """Serve until the end; when this returns no request is running and nothing is left on disk."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._loop.add_signal_handler(number, self.retire)
        server = await self._loop.create_unix_server(lambda: Connection(self), sock=self._listener)
        watch = self._loop.create_task(self._watch())
        try:
            await self._ending.wait()
        finally:
            watch.cancel()
            self._vacate()
            server.close()
            while self.running:
                await asyncio.wait(self.running)

    def retire(self) -> None:
        """Accept nothing more, and end after the requests that are running."""
        self._ending.set()

    def accepts(self, connection: socket.socket) -> bool:
        """Return whether the daemon may act for the other end of a connection."""
        try:
            pid, uid = credentials(connection)
        except OSError:
            return False
        return uid == os.geteuid() and self._own is not None and confinement(pid) == self._own

    def current(self, request: Request) -> bool:
        """Return whether this process may answer; retire it if it runs other code than its caller would."""
        if request.version in ("", __version__) and self._installed.current() and self.answered < _REQUESTS:
            return not self._ending.is_set()
        self.retire()
        return False

    def used(self) -> None:
        """Note that somebody needs the daemon."""
        self._used = self._loop.time()

    def _vacate(self) -> None:
        """Give up the socket and the lock, so that another daemon can start."""
        if self._is_own():
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        os.close(self._lock)

    def _is_own(self) -> bool:
        found = strict_stamp(self.path)
        return found is not None and self._socket is not None and found.inode == self._socket.inode

    async def _watch(self) -> None:
        while not self._ending.is_set():
            await asyncio.sleep(_PULSE if self._idle > _PULSE else self._idle / 2)
            idle = not self.running and self._loop.time() - self._used > self._idle
            if idle or not self._is_own() or not self._installed.current():
                self.retire()


def _locked(path: str) -> int:
    """Lock the socket's place; raise ConfigError if it is not private, BlockingIOError if another daemon is there."""
    make_folder(os.path.dirname(path))
    problem = exposed(path)
    if problem:
        raise ConfigError(problem)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(lock_path(path), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _listening(path: str) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # of a daemon that was killed: we hold its lock
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


class Connection(asyncio.Protocol):
    """One caller and its request."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Check the caller."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("socket")
        daemon = self._daemon
        if len(daemon.connections) >= MOST or not daemon.accepts(peer):
            self._decline()
            return
        daemon.connections.add(self)
        daemon.used()
        self._timer = asyncio.get_running_loop().call_later(_ARRIVAL, self._decline)

    def data_received(self, data: bytes) -> None:
        """Collect the request; more than one request is not a request."""
        if self._task is not None or self not in self._daemon.connections:
            self._abort()
            return
        self._received += data
        try:
            whole = expected(self._received)
            if whole is None or len(self._received) < whole:
                return
            if len(self._received) > whole:
                raise BrokenMessage("bytes follow the request")
            request = read_request(bytes(self._received))
        except BrokenMessage:
            self._decline()
            return
        self._received.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._begin(request)

    def eof_received(self) -> bool:
        """Treat an end from the caller as its departure."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """End the request of a caller that left."""
        self._daemon.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _begin(self, request: Request) -> None:
        command = self._daemon.commands.get(request.argv[0])
        if command is None or self._left() or not self._daemon.current(request):
            self._decline()
            return
        self._task = asyncio.get_running_loop().create_task(self._answer(command(request)))
        self._daemon.running.add(self._task)
        self._task.add_done_callback(self._daemon.running.discard)
        self._pulse()

    def _left(self) -> bool:
        """Return whether the caller has left: its request may have waited here longer than the caller did."""
        assert self._transport is not None
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))

    def _pulse(self) -> None:
        if self._task is not None and not self._task.done() and self._transport is not None:
            self._transport.write(ALIVE)
            self._timer = asyncio.get_running_loop().call_later(_PULSE, self._pulse)

    async def _answer(self, answer: Awaitable[Reply]) -> None:
        try:
            data = write_reply(await answer)
        except Declined:
            data = DECLINED
        except Exception:  # whatever went wrong here, the caller's own process may do it right
            data = DECLINED
        self._daemon.answered += 1
        self._daemon.used()
        self._end(data)

    def _decline(self) -> None:
        self._end(DECLINED)

    def _end(self, data: bytes) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)
            self._transport.close()
            self._timer = asyncio.get_running_loop().call_later(_ARRIVAL, self._abort)  # a caller that does not read

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
