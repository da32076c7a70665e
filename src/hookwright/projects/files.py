"""Read text files: regular files only, without waiting, within fixed memory."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

#: Lines returned at once.
LINES = 2000
#: Characters of a line that are shown.
WIDTH = 2000
_CHUNK = 1024 * 1024


class Refused(Exception):
    """A file or a search that cannot be used as asked; the message is for the model."""


class Lines(NamedTuple):
    """Some lines of a file; `total` counts all of its lines."""

    text: str
    first: int
    kept: int
    total: int
    size: int
    #: False when the requested lines exceed the byte limit; `text` then holds those that fit.
    complete: bool


def open_regular(path: str) -> int:
    """Open a file for reading; raise Refused for anything but a regular file."""
    try:
        # O_NONBLOCK: a FIFO or device where a file was expected must not make us wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Refused(f"File does not exist: {path}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        raise Refused(f"{path} cannot be read: {reason(error)}") from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    what = "a directory; list it with Bash or Glob" if stat.S_ISDIR(mode) else "not a regular file"
    raise Refused(f"{path} cannot be read: it is {what}.")


def reason(error: OSError | ValueError) -> str:
    """Return the system's message without the error number and the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_binary(sample: bytes) -> bool:
    """Return whether a sample is not text: it has a NUL byte, or many control characters."""
    if b"\0" in sample:
        return True
    odd = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in sample)
    return odd * 10 > len(sample)


def read_lines(path: str, first: int, wanted: int, most: int, widest: int) -> Lines:
    """Read `wanted` lines from number `first` on: at most `most` bytes, each line cut after `widest` bytes.

    All lines of the file are counted. What follows the last newline is a line, even if it is empty.
    """
    with open(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if is_binary(file.read(8192)):
            raise Refused(f"{path} is a binary file; use a command that understands it.")
        if not size:
            return Lines("", first, 0, 0, 0, True)
        file.seek(0)
        kept = _Kept(most)
        number, width = 1, 0
        while piece := file.readline(_CHUNK):
            body = piece.removesuffix(b"\n")
            if first <= number < first + wanted:
                kept.add(number, body[: max(widest - width, 0)] + piece[len(body) :])
            width += len(body)
            if len(body) < len(piece):
                number, width = number + 1, 0
    count = max(min(first + wanted - 1, number) - first + 1, 0) if kept.complete else len(kept.lines)
    text = kept.text()
    at_end = first + count - 1 == number
    return Lines(text if at_end else text.removesuffix("\n"), first, count, number, size, kept.complete)


class _Kept:
    """Whole lines by number, as many as fit."""

    def __init__(self, most: int) -> None:
        self.complete = True
        self.lines: dict[int, bytes] = {}
        self._most = most
        self._size = 0

    def add(self, number: int, piece: bytes) -> None:
        if not self.complete:
            return
        self._size += len(piece)
        self.complete = self._size <= self._most
        if self.complete:
            self.lines[number] = self.lines.get(number, b"") + piece
        else:
            self.lines.pop(number, None)

    def text(self) -> str:
        joined = b"".join(self.lines.values()).decode("utf-8", "replace")
        return joined.removeprefix("\ufeff").replace("\r\n", "\n")


def numbered(text: str, first: int) -> str:
    """Number lines, with a tab after each number, and cut long ones."""
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]}... [line truncated]" for line in text.split("\n")]
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, first))
