"""End the processes that hooks left, where no process namespace does it."""

from __future__ import annotations

import contextlib
import os
import signal
import time

_PAUSE = 0.002
#: Seconds in which everything must be gone; what is left then cannot be killed by us.
_LONGEST = 5.0


def end_descendants(spared: int | None) -> None:
    """Kill every descendant of this process but one, which must be its child; orphans must also be its children."""
    until = time.monotonic() + _LONGEST
    while time.monotonic() < until:
        found = [pid for pid in _descendants() if pid != spared]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _reap(spared)
        if not found:
            return
        time.sleep(_PAUSE)


def _descendants() -> list[int]:
    """Return the live descendants of this process; zombies are dead."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent, *_ = file.read().rpartition(b")")[2].split()
                if state not in (b"Z", b"X"):
                    parents[int(name)] = int(parent)
    found, ours = [], {os.getpid()}
    waiting = True
    while waiting:
        next_ones = [pid for pid, parent in parents.items() if parent in ours and pid not in ours]
        found += next_ones
        ours |= set(next_ones)
        waiting = bool(next_ones)
    return found


def _reap(spared: int | None) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == spared:
                return
            os.waitpid(ended.si_pid, 0)
