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
#: Seconds before the first sign of life, between two of them, and between two looks at the own socket.
_FIRST_PULSE = 0.5
_PULSE = 1.0
#: Bytes that are read at once.
_CHUNK = 1 << 18
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
        self._loop.add_reader(self._listener, self._accept)
        watch = self._loop.create_task(self._watch())
        try:
            await self._ending.wait()
        finally:
            watch.cancel()
            self._vacate()
            self._loop.remove_reader(self._listener)
            self._listener.close()
            while self.running:
                await asyncio.wait(self.running)
            for connection in tuple(self.connections):
                connection.close()

    def retire(self) -> None:
        """Accept nothing more, and end after the requests that are running."""
        self._ending.set()

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:  # the caller left, or no descriptor is free: it does its work itself
            return
        peer.setblocking(False)
        if len(self.connections) >= MOST or not self.accepts(peer):
            with contextlib.suppress(OSError):
                peer.send(DECLINED)
            peer.close()
            return
        self.used()
        Connection(self, peer)

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


class Connection:
    """One caller and its request.

    It uses the socket itself: the steps of a transport would take as long as the rest of the answer.
    """

    def __init__(self, daemon: Daemon, peer: socket.socket) -> None:
        self._daemon = daemon
        self._peer = peer
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._unsent = memoryview(b"")
        self._task: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(_ARRIVAL, self._decline)
        daemon.connections.add(self)
        self._loop.add_reader(peer, self._read)
        self._read()

    def _read(self) -> None:
        """Collect the request; afterwards an end of the connection means that the caller left."""
        try:
            chunk = self._peer.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk or self._task is not None:  # more than one request is not a request
            self.close()
            return
        self._received += chunk
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
        self._begin(request)

    def _begin(self, request: Request) -> None:
        command = self._daemon.commands.get(request.argv[0])
        if command is None or self._left() or not self._daemon.current(request):
            self._decline()
            return
        self._task = self._loop.create_task(self._answer(command(request)))
        self._daemon.running.add(self._task)
        self._task.add_done_callback(self._daemon.running.discard)
        self._timer.cancel()
        self._timer = self._loop.call_later(_FIRST_PULSE, self._pulse)

    def _left(self) -> bool:
        """Return whether the caller has left: its request may have waited here longer than the caller did."""
        poll = select.poll()
        poll.register(self._peer, select.POLLRDHUP)
        return bool(poll.poll(0))

    def _pulse(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                self._peer.send(ALIVE)
            except ConnectionError:
                self.close()
                return
        self._timer = self._loop.call_later(_PULSE, self._pulse)

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
        if self._peer.fileno() < 0:
            return
        self._timer.cancel()
        self._timer = self._loop.call_later(_ARRIVAL, self.close)  # a caller that does not read
        self._unsent = memoryview(data)
        self._write()

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[self._peer.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = memoryview(b"")
        if self._unsent:
            self._loop.add_writer(self._peer, self._write)
        else:
            self._task = None
            self.close()

    def close(self) -> None:
        """Close the connection, and end the request if it is still running."""
        if self._peer.fileno() >= 0:
            self._loop.remove_reader(self._peer)
            self._loop.remove_writer(self._peer)
            self._peer.close()
        self._timer.cancel()
        self._daemon.connections.discard(self)
        if self._task is not None:
            self._task.cancel()
