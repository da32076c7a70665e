"""The standard streams of the program. Law: a command keeps its exit status, whatever becomes of its output.

1. A write to stdout or stderr that fails (the reader left, the disk is full) is dropped, and so is everything after it.
   The command runs to its end and exits with the status it would have had.
2. A stream that was closed from the start reads and writes /dev/null, so no file that is opened later takes its number.
3. A command without an end of its own (`trace -f`) stops at the first write that fails.
"""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

#: The exit status of a command that lost its reader before its own status was known: 128 and SIGPIPE.
UNKNOWN = 141


class GuardedOutput(io.FileIO):
    """A standard stream that drops what cannot be written."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        #: Why writing failed; None while it works.
        self.lost: OSError | None = None
        self._ends_with_reader = False

    def end_with_reader(self) -> None:
        """Raise BrokenPipeError at the first write that fails, for a command that has no other end."""
        self._ends_with_reader = True

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, waiting where the stream does not block; drop everything once writing has failed."""
        if self.lost is None:
            try:
                return self._write(data)
            except OSError as error:
                self.lost = error
            if self._ends_with_reader:
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        return memoryview(data).nbytes

    def _write(self, data: ReadableBuffer) -> int:
        while True:
            written = super().write(data)
            if written is not None:  # None: the other side made this stream non-blocking, and it is full
                return written
            _wait_until_writable(self.fileno())


def _wait_until_writable(descriptor: int) -> None:
    import select  # only where the other side made the stream non-blocking

    select.select([], [descriptor], [])


def install() -> None:
    """Replace the standard streams of this process."""
    _open_missing()
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stdout = _output(1, sys.stdout)
    sys.stderr = _output(2, sys.stderr)


def end_with_reader() -> None:
    """Let a lost stdout end the command."""
    output = _raw(sys.stdout)
    if output is not None:
        output.end_with_reader()


def problem() -> str | None:
    """Return why output is missing; None if all of it was written or its reader chose to leave."""
    output = _raw(sys.stdout)
    if output is None or output.lost is None or output.lost.errno == errno.EPIPE:
        return None
    return f"stdout is incomplete: {output.lost.strerror}"


def _open_missing() -> None:
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            os.set_inheritable(descriptor, True)


def _output(descriptor: int, before: TextIO | None) -> TextIO:
    """Wrap a stream as the interpreter does, with its encoding and buffering."""
    buffer = io.BufferedWriter(GuardedOutput(descriptor))
    if not isinstance(before, io.TextIOWrapper):
        return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
    at_once = before.line_buffering or before.write_through
    return io.TextIOWrapper(buffer, before.encoding, before.errors, line_buffering=at_once)


def _raw(stream: TextIO) -> GuardedOutput | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, GuardedOutput) else None
