"""A file of JSON lines that survives its writer: append-only, one write per line, private, readable after a crash."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.storage import make_folder

#: Far longer than any line we write; a longer one is not read into memory.
MAX_LINE = 256 * 1024 * 1024
_CHUNK = 1024 * 1024


class LineFile:
    """Appends objects as lines; each can be read at once and outlives the process.

    Law: a line is one `write` at the end of the file, so writers never interleave; a line is never appended to the
    unfinished line of a killed writer.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        make_folder(os.path.dirname(path))
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def append(self, value: Mapping[str, Json]) -> None:
        """Write one line; raise OSError if the disk does not accept it."""
        data = encode(value) + b"\n"
        # The lock keeps others from checking the end of the file while a long line is half written. It ends with
        # the process that holds it.
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            for _ in range(2):
                start = b"" if self._ends_clean() else b"\n"
                if os.write(self._descriptor, start + data) == len(start + data):
                    return
            raise OSError(errno.ENOSPC, "the line could not be written as a whole", self.path)
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _ends_clean(self) -> bool:
        size = os.fstat(self._descriptor).st_size
        return size == 0 or os.pread(self._descriptor, 1, size - 1) == b"\n"

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_lines(path: str) -> Iterator[dict[str, Json]]:
    """Read the objects of a file in order; skip lines that are broken, empty or not an object."""
    with open(path, "rb") as file:
        for line in _complete_lines(file):
            if (value := read_line(line)) is not None:
                yield value


def read_line(line: bytes) -> dict[str, Json] | None:
    """Read one line; None if it is not an object."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _complete_lines(file: Any) -> Iterator[bytes]:
    """Split at newlines, without lines over the limit."""
    pending: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if size <= MAX_LINE:
                yield b"".join((*pending, part))
            pending, size = [], 0
        size += len(rest)
        if size <= MAX_LINE:
            pending.append(rest)
        else:
            pending = []
    if pending and size <= MAX_LINE:
        yield b"".join(pending)
