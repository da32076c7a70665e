"""The client in Python: for `--fast` where the C client is not installed, and for `hookwright daemon`.

It imports little: its time is that of Python's start.
"""

from __future__ import annotations

import os
import select
import socket
import stat
import struct
import sys
import time

from hookwright._version import __version__
from hookwright.resident.messages import (
    ALIVE,
    ANSWER,
    BrokenMessage,
    Reply,
    Request,
    read_reply,
    write_request,
)
from hookwright.resident.places import exposed, is_own_socket, program, socket_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

#: Seconds until the daemon must have shown a sign of life, and between two of them.
PATIENCE = 2.0
SILENCE = 5.0
#: Seconds a pipe may be silent before an event is fired without reading it, as `hookwright fire` does.
_WAIT = 0.3
#: Tells a command how many seconds its caller has already waited.
ELAPSED_VARIABLE = "HOOKWRIGHT_ELAPSED"


class NoDaemon(Exception):
    """There is no answer, and why."""


def connect(path: str) -> socket.socket:
    """Connect to the daemon of this user; raise NoDaemon if there is none that can be trusted."""
    problem = exposed(path)
    if problem:
        raise NoDaemon(problem)
    if not is_own_socket(path):
        raise NoDaemon("it is not running")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.connect(path)  # a full queue is refused at once
        if peer_of(connection)[1] != os.geteuid():
            raise NoDaemon(f"{path} is served by another user")
    except OSError as error:
        connection.close()
        raise NoDaemon(f"{path}: {error.strerror}") from None
    except BaseException:
        connection.close()
        raise
    return connection


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the pid and the user of the daemon."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _ = struct.unpack("3i", data)
    return pid, uid


def ask(connection: socket.socket, request: Request) -> Reply:
    """Send a request and wait for the whole answer; raise NoDaemon if there is none in time."""
    try:
        unsent = memoryview(write_request(request))
    except BrokenMessage as error:
        raise NoDaemon(str(error)) from None
    received = bytearray()
    deadline = time.monotonic() + PATIENCE
    while True:
        left = deadline - time.monotonic()
        ready = select.select([connection], [connection] if unsent else [], [], max(left, 0))
        if not ready[0] and not ready[1]:
            raise NoDaemon("the daemon does not answer")
        try:
            if ready[1]:
                unsent = unsent[connection.send(unsent) :]
                deadline = max(deadline, time.monotonic() + PATIENCE)
            if not ready[0]:
                continue
            chunk = connection.recv(1 << 16)
        except BlockingIOError:
            continue
        except OSError as error:
            raise NoDaemon(f"the daemon: {error.strerror}") from None
        if not chunk:
            raise NoDaemon("the daemon ended the connection")
        received += chunk if received else chunk.lstrip(ALIVE)
        deadline = time.monotonic() + SILENCE
        found = _reply(bytes(received))
        if found is not None:
            return found


def _reply(data: bytes) -> Reply | None:
    if not data:
        return None
    if data[:1] != ANSWER:
        raise NoDaemon("the daemon leaves this to its caller")
    try:
        return read_reply(data[1:])
    except BrokenMessage as error:
        raise NoDaemon(str(error)) from None


def fast(argv: Sequence[str]) -> int | None:
    """Have the daemon run a command of this process; None if the process must do it itself.

    Its stdin is then as it was. A daemon that is missing is started for the next time.
    """
    began = time.monotonic()
    path = socket_path(os.environ, program())
    if path is None:
        return None
    reply = None
    if not exposed(path) and is_own_socket(path):
        stdin = _stdin(argv[0])
        if stdin is None:
            return None
        try:
            with connect(path) as connection:
                reply = ask(connection, Request(tuple(argv), os.getcwd(), dict(os.environ), stdin, __version__))
        except (NoDaemon, OSError):
            _give_back(stdin)
    if reply is None:
        from hookwright.resident.start import start

        start(path, os.environ)
        if argv[0] == "hook":
            os.environ[ELAPSED_VARIABLE] = f"{time.monotonic() - began:.3f}"
        return None
    sys.stdout.buffer.write(reply.stdout)
    sys.stderr.buffer.write(reply.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    return reply.status


def take_elapsed(env: MutableMapping[str, str]) -> float:
    """Return how many seconds a client has already waited before it started this process; hooks do not see it."""
    try:
        return max(float(env.pop(ELAPSED_VARIABLE, "0")), 0.0)
    except ValueError:
        return 0.0


def _stdin(command: str) -> bytes | None:
    """Read stdin, without Python's buffer; None if it is open and silent, and the command may not need it."""
    mode = os.fstat(0).st_mode
    if command != "hook":
        if stat.S_ISCHR(mode):
            return b""
        if (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and not select.select([0], [], [], _WAIT)[0]:
            return None
    found = bytearray()
    while chunk := os.read(0, 1 << 20):
        found += chunk
    return bytes(found)


def _give_back(stdin: bytes) -> None:
    """Let this process read its stdin again, as a file."""
    file = os.memfd_create("stdin")
    with open(file, "wb", closefd=False) as writer:
        writer.write(stdin)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0)
    os.close(file)
