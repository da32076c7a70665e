"""Landlock: a process gives up writing files outside some folders, connecting, and signalling other processes.

The kernel counts what it can refuse as an ABI version: 1 writes (Linux 5.13), 2 links between folders, 3 truncation,
4 TCP, 6 signals and abstract sockets (6.12). It never refuses changes of modes, owners, times and attributes.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from hookwright.replay.isolation import kernel

#: The first version that keeps the content of files: before it, they could be truncated.
LEAST = 3
#: The first version that keeps processes from signals.
SIGNALS = 6
#: Devices that are safe to write to.
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
#: Writing, removing and making every kind of file.
_WRITES = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
_REFER, _IOCTL_DEVICE = 1 << 13, 1 << 15
_TCP = 3
_SCOPES = 3


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none or has it switched off."""
    try:
        return kernel.syscall(_CREATE_RULESET, 0, 0, _VERSION, what="landlock")
    except (OSError, AttributeError):
        return 0


def restrict(writable: Iterable[str]) -> None:
    """Give up, for this thread and its children, everything this kernel's Landlock refuses.

    Law: afterwards a file is created, opened for writing, truncated, removed or renamed only below `writable`; no TCP
    connection is made or accepted (ABI 4), and no process outside is signalled (ABI 6).
    """
    version = abi()
    writes = _WRITES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    writes |= _IOCTL_DEVICE if version >= 5 else 0
    wanted = _Ruleset(writes, _TCP if version >= 4 else 0, _SCOPES if version >= SIGNALS else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = kernel.syscall(_CREATE_RULESET, ctypes.byref(wanted), size, 0, what="landlock rules")
    try:
        for path in writable:
            _allow(rules, path, writes)
        kernel.gain_nothing()
        kernel.syscall(_RESTRICT_SELF, rules, 0, what="landlock")
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
        rule = _PathRule(rights, parent)
        kernel.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0, what=path)
    finally:
        os.close(parent)
