"""Signal a process group, and find out whether any of it is alive."""

from __future__ import annotations

import os

_PROC = "/proc"


class Group:
    """The processes of one group, by the pid of its leader."""

    __slots__ = ("_id", "_members")

    def __init__(self, leader: int) -> None:
        self._id = leader
        self._members: list[int] = []

    def signal(self, number: int) -> bool:
        """Send a signal to all of the group; say whether there was any, zombies included."""
        try:
            os.killpg(self._id, number)
        except ProcessLookupError:
            return False
        except PermissionError:  # they are another user's, or (macOS) all of them zombies
            return True
        return True

    def alive(self) -> bool:
        """Say whether a member runs. Zombies do not count where that can be known: whoever adopted them may be slow."""
        if not self.signal(0):
            return False
        if not _proc_is_ours():
            return True
        if not any(_runs_in(pid, self._id) for pid in self._members):
            # Only now is the whole table worth reading: others may have been born meanwhile.
            self._members = [pid for pid in _all_pids() if _runs_in(pid, self._id)]
        return bool(self._members)


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
