"""System calls of Linux that Python has no function for; each raises OSError when it fails."""

from __future__ import annotations

import ctypes
import functools
import os

NEW_USER, NEW_MOUNT, NEW_NET, NEW_IPC, NEW_UTS, NEW_PID = (
    0x10000000,
    0x00020000,
    0x40000000,
    0x08000000,
    0x04000000,
    0x20000000,
)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
DETACH = 2

_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP, _SET_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_LAST_CAPABILITY = 63
#: What root keeps inside: to read and change files as root does. CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID,
#: SETUID, by their numbers.
ROOT_KEEPS = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7))

#: What root keeps where it has no namespaces: to read files as root does, and to run as another user.
ROOT_READS = sum(1 << number for number in (1, 6, 7))


@functools.cache
def libc() -> ctypes.CDLL:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """Return the result of a call, or raise OSError if it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    """Make a system call by its number."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return checked(libc().syscall(ctypes.c_long(number), *words), what)


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    checked(libc().unshare(flags), "new namespaces")


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system; a bind mount has the kind `none`."""
    data = os.fsencode(options) if options else None
    result = libc().mount(os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data)
    checked(result, target)


def detach(target: str) -> None:
    """Unmount what is mounted last on a folder; processes that use it keep it."""
    checked(libc().umount2(os.fsencode(target), DETACH), target)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user", ctypes.c_uint64),
    )


def forbid_writes(target: str, *, below: bool) -> None:
    """Make a mount read-only, and with `below` all mounts below it; programs there gain no rights by setuid."""
    attributes = _MountAttributes(MS_RDONLY | MS_NOSUID, 0, 0, 0)
    flags = _AT_RECURSIVE if below else 0
    address, size = ctypes.byref(attributes), ctypes.sizeof(attributes)
    syscall(_MOUNT_SETATTR, _AT_FDCWD, ctypes.c_char_p(os.fsencode(target)), flags, address, size, what=target)


def _prctl(option: int, value: int, what: str) -> None:
    zero = ctypes.c_ulong(0)
    checked(libc().prctl(option, ctypes.c_ulong(value), zero, zero, zero), what)


def die_with_parent(number: int) -> None:
    """Ask for a signal when the parent ends; a change of rights cancels it, so this comes last."""
    _prctl(_SET_PDEATHSIG, number, "a signal at the parent's end")


def hide_memory() -> None:
    """Keep processes of the same user from tracing this process and from its /proc files."""
    _prctl(_SET_DUMPABLE, 0, "hidden memory")


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_SET_SUBREAPER, 1, "adoption of orphans")


def gain_nothing() -> None:
    """Give up gaining rights by setuid programs, for this process and its children."""
    _prctl(_SET_NO_NEW_PRIVS, 1, "no new privileges")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityHalf(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def keep_capabilities(kept: int) -> None:
    """Give up all capabilities but these, for this process and the programs it starts."""
    for number in range(_LAST_CAPABILITY + 1):
        if not kept >> number & 1:
            libc().prctl(_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0)  # unknown to this kernel: nothing to drop
    low, high = kept & 0xFFFFFFFF, kept >> 32
    halves = (_CapabilityHalf * 2)(_CapabilityHalf(low, low, 0), _CapabilityHalf(high, high, 0))
    header = _CapabilityHeader(0x20080522, 0)
    checked(libc().capset(ctypes.byref(header), halves), "fewer capabilities")
