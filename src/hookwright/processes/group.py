"""Signal a process group, check whether any of it is alive, and end processes that left it."""

from __future__ import annotations

import contextlib
import os
import signal

_PROC = "/proc"
#: Searches for strays: a process that forks meanwhile may be missed, and is given up after this many.
_LOOKS = 8


class Group:
    """The processes of one group, by the pid of its leader; `mark` is an environment entry no other process has."""

    __slots__ = ("_id", "_mark", "_members")

    def __init__(self, leader: int, mark: str = "") -> None:
        self._id = leader
        self._mark = mark
        self._members: list[int] = []

    def signal(self, number: int) -> bool:
        """Send a signal to the whole group; return whether it has any process, zombies included."""
        if self._id <= 1:  # 0 is our own group, and 1 is every process
            return False
        try:
            os.killpg(self._id, number)
        except ProcessLookupError:
            return False
        except PermissionError:  # they are another user's, or (macOS) all of them zombies
            return True
        return True

    def alive(self) -> bool:
        """Return whether a member runs; zombies are ignored where they can be recognised: their parent may be slow."""
        if not self.signal(0):
            return False
        if not _proc_is_ours():
            return True
        if not any(_runs_in(pid, self._id) for pid in self._members):
            # Only now is the whole table worth reading: others may have started meanwhile.
            self._members = [pid for pid in _all_pids() if _runs_in(pid, self._id)]
        return bool(self._members)

    def end_strays(self) -> None:
        """Kill the processes that left the group and carry its mark, where the system shows environments."""
        killed: set[int] = set()
        mark = os.fsencode(self._mark)
        for _ in range(_LOOKS if mark and _proc_is_ours() else 0):
            found = {pid for pid in _all_pids() if pid not in killed and _carries(pid, mark)}
            if not found:
                return
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            killed |= found


def leaders(mark: str) -> set[int]:
    """Return the groups of all processes that carry a mark, by the pids of their leaders."""
    found = set()
    for pid in _all_pids() if _proc_is_ours() else ():
        if _carries(pid, os.fsencode(mark)):
            with contextlib.suppress(ProcessLookupError):
                found.add(os.getpgid(pid))
    return found


def _proc_is_ours() -> bool:
    try:
        return os.readlink(f"{_PROC}/self") == str(os.getpid())
    except OSError:  # not Linux, or not mounted
        return False


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]


def _runs_in(pid: int, group: int) -> bool:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            # "pid (name) state ppid pgrp …", and a name may hold spaces and parentheses
            state, _, pgrp, *_ = file.read().rpartition(b")")[2].split()
    except OSError:
        return False
    return int(pgrp) == group and state not in (b"Z", b"X")


def _carries(pid: int, mark: bytes) -> bool:
    """Return whether a process was started with the mark, or with one that continues it after a slash."""
    name, _, value = mark.partition(b"=")
    if not name or not value:  # it would be found in every environment
        return False
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            environment = b"\0" + file.read() + b"\0"
    except OSError:
        return False
    return b"\0" + mark + b"\0" in environment or b"\0" + mark + b"/" in environment
