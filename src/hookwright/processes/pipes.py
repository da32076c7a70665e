"""The three pipes of a process; our ends never block, the child's do."""

from __future__ import annotations

import contextlib
import fcntl
import os

STDIN, STDOUT, STDERR = 0, 1, 2

_PIPE_SIZE = 65536
#: The largest pipe any user may have, unless the system is configured otherwise.
_LARGEST_PIPE = 1024 * 1024


class Pipes:
    """The open ends, ours and the child's, by stream, and the part of stdin not sent yet."""

    __slots__ = ("childs", "ours", "unsent")

    def __init__(self) -> None:
        self.ours: dict[int, int] = {}
        self.childs: dict[int, int] = {}
        self.unsent = memoryview(b"")

    def open(self, data: bytes) -> None:
        """Open the pipes, and write as much of stdin as fits before the child reads it."""
        ours, childs = self.ours, self.childs
        childs[STDIN], ours[STDIN] = os.pipe()
        ours[STDOUT], childs[STDOUT] = os.pipe()
        ours[STDERR], childs[STDERR] = os.pipe()
        if len(data) > _PIPE_SIZE:  # else it fits, and the write cannot block
            os.set_blocking(ours[STDIN], False)
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                with contextlib.suppress(OSError):  # over the user's quota; the rest is sent while the process runs
                    fcntl.fcntl(ours[STDIN], fcntl.F_SETPIPE_SZ, min(len(data), _LARGEST_PIPE))
        self.unsent = memoryview(data)
        self.feed()
        if not self.unsent:
            os.close(ours.pop(STDIN))

    def feed(self) -> None:
        """Send as much of stdin as fits now."""
        try:
            sent = os.write(self.ours[STDIN], self.unsent)
        except BlockingIOError:
            return
        self.unsent = self.unsent[sent:]

    def leave_to_child(self) -> None:
        """Close the child's ends, now that it has them, and make ours non-blocking; neither delays its start.

        While something is unsent we keep its stdin: so our writes never break, not even in a host that restored
        SIGPIPE, when the child closes it or exits without reading.
        """
        os.set_blocking(self.ours[STDOUT], False)
        os.set_blocking(self.ours[STDERR], False)
        if not self.unsent:
            os.close(self.childs.pop(STDIN))
        os.close(self.childs.pop(STDOUT))
        os.close(self.childs.pop(STDERR))

    def close(self) -> None:
        """Close all open ends; unregister them from the loop first."""
        for ends in (self.ours, self.childs):
            while ends:
                os.close(ends.popitem()[1])
