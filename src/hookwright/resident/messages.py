"""What a client and the daemon send each other: one request, signs of life, one answer.

    request   MAGIC, length of the rest, then strings: number of arguments, arguments, directory,
              number of variables, variables (NAME=value), stdin, version of the client's package or nothing
    answer    any number of ALIVE, then DECLINED, or ANSWER with status, stdout, stderr and END

Numbers have four bytes, the lowest first; a string is its length and its bytes. The C client writes the same.
"""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAGIC = b"hookwright 1\n"
ALIVE, DECLINED, ANSWER, END = b".", b"-", b"=", b"\n"
#: Bytes of a request and of each part of an answer, at most; what is longer is done without the daemon.
LONGEST = 16 * 1024 * 1024
#: Strings of a request, at most.
_MOST = 100_000
_NUMBER = struct.Struct("<I")
_HEAD = struct.Struct("<III")


class BrokenMessage(Exception):
    """Bytes that are not a message."""


class Request:
    """A command to run as the caller would: its arguments, directory, environment and stdin."""

    __slots__ = ("argv", "cwd", "env", "stdin", "version")

    def __init__(self, argv: tuple[str, ...], cwd: str, env: dict[str, str], stdin: bytes, version: str = "") -> None:
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.stdin = stdin
        #: The version of the caller's package; empty if it has none.
        self.version = version


class Reply:
    """What the command would have printed, and its status."""

    __slots__ = ("status", "stderr", "stdout")

    def __init__(self, status: int, stdout: bytes = b"", stderr: bytes = b"") -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr


def write_request(request: Request) -> bytes:
    """Return the bytes of a request; raise BrokenMessage if it is too long."""
    env = [os.fsencode(f"{name}={value}") for name, value in request.env.items()]
    argv = [os.fsencode(word) for word in request.argv]
    parts = [*_counted(argv), _string(os.fsencode(request.cwd)), *_counted(env)]
    body = b"".join([*parts, _string(request.stdin), _string(request.version.encode())])
    if len(body) > LONGEST or max(len(argv), len(env)) > _MOST:
        raise BrokenMessage("the request is too long")
    return MAGIC + _NUMBER.pack(len(body)) + body


def _counted(strings: Sequence[bytes]) -> Iterator[bytes]:
    yield _NUMBER.pack(len(strings))
    yield from map(_string, strings)


def _string(data: bytes) -> bytes:
    return _NUMBER.pack(len(data)) + data


def expected(data: bytes | bytearray) -> int | None:
    """Return the whole length of the request that begins like this; None while that is open.

    Raise BrokenMessage as soon as the bytes cannot become a request.
    """
    if not MAGIC.startswith(data[: len(MAGIC)]):
        raise BrokenMessage("it is not a request of this version")
    head = len(MAGIC) + _NUMBER.size
    if len(data) < head:
        return None
    (length,) = _NUMBER.unpack_from(data, len(MAGIC))
    if length > LONGEST:
        raise BrokenMessage("the request is too long")
    return int(head + length)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self) -> int:
        try:
            (found,) = _NUMBER.unpack_from(self._data, self._at)
        except struct.error:
            raise BrokenMessage("the message ends early") from None
        self._at += _NUMBER.size
        return int(found)

    def string(self) -> bytes:
        length = self.number()
        if length > len(self._data) - self._at:
            raise BrokenMessage("a string is longer than the message")
        self._at += length
        return self._data[self._at - length : self._at]

    def strings(self) -> list[bytes]:
        count = self.number()
        if count > _MOST:
            raise BrokenMessage("too many strings")
        return [self.string() for _ in range(count)]

    def end(self) -> None:
        if self._at != len(self._data):
            raise BrokenMessage("bytes follow the message")


def read_request(data: bytes) -> Request:
    """Read a whole request; raise BrokenMessage for anything else."""
    reader = _Reader(data[len(MAGIC) + _NUMBER.size :])
    argv = tuple(map(os.fsdecode, reader.strings()))
    cwd = os.fsdecode(reader.string())
    pairs = [os.fsdecode(entry).partition("=") for entry in reader.strings()]
    stdin, version = reader.string(), reader.string()
    reader.end()
    if not argv or not os.path.isabs(cwd) or any("\0" in word for word in (*argv, cwd)):
        raise BrokenMessage("a request has arguments and an absolute directory")
    # The first of several variables of one name is the one that a program reads.
    env = {name: value for name, equals, value in reversed(pairs) if equals and name and "\0" not in value}
    return Request(argv, cwd, env, stdin, version.decode("utf-8", "replace"))


def write_reply(reply: Reply) -> bytes:
    """Return the bytes of an answer; a part that is too long declines instead."""
    if max(len(reply.stdout), len(reply.stderr)) > LONGEST:
        return DECLINED
    head = _HEAD.pack(reply.status & 0xFF, len(reply.stdout), len(reply.stderr))
    return ANSWER + head + reply.stdout + reply.stderr + END


def read_reply(data: bytes) -> Reply | None:
    """Read an answer that follows ANSWER; None while it is incomplete. Raise BrokenMessage for anything else."""
    if len(data) < _HEAD.size:
        return None
    status, out, err = _HEAD.unpack_from(data)
    if status > 0xFF or max(out, err) > LONGEST:
        raise BrokenMessage("it is not an answer")
    whole = _HEAD.size + out + err + len(END)
    if len(data) < whole:
        return None
    if len(data) > whole or data[-1:] != END:
        raise BrokenMessage("it is not an answer")
    return Reply(status, data[_HEAD.size : _HEAD.size + out], data[_HEAD.size + out : whole - 1])
