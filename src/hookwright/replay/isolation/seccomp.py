"""A filter of system calls for what namespaces and Landlock leave open, on x86-64 and 64-bit ARM.

Unix sockets by path are reachable from every network namespace: a filter on `socket` keeps hooks from agents and
daemons. Landlock does not see changes of modes, owners, times and attributes: without a mount namespace the filter
keeps them from taking effect, everywhere, the scratch copy included.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterable

import msgspec

from hookwright.replay.isolation import kernel

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
#: Offsets in what a filter sees of a call.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
#: Calls of the x32 interface have this bit.
_X32 = 0x40000000
_MODE_FILTER = 1
_NETLINK = 16
#: Keep older kernels from slowing down every filtered process.
_SPECULATE = 4

#: The number of each call on x86-64 and on ARM; None where a machine does not have it.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "seccomp": (317, 277),
    "io_uring_setup": (425, 425),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_KEYS = ("add_key", "request_key", "keyctl")
_OUTSIDE = ("shmget", "semget", "msgget", "mq_open", "mq_unlink")
_CHANGES = tuple(name for name in _NUMBERS if name.startswith(("chmod", "fchmod", "chown", "fchown", "lchown")))
_ATTRIBUTES = tuple(name for name in _NUMBERS if name.endswith(("xattr", "xattrat", "file_setattr")))
_TIMES = ("utime", "utimes", "futimesat", "utimensat")


class SeccompFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a process may no longer do."""

    #: Address families that sockets may have.
    families: tuple[int, ...]
    #: Calls that fail with EPERM.
    refused: tuple[str, ...]
    #: Calls that succeed without effect.
    ignored: tuple[str, ...] = ()


#: With namespaces: the network of the view is empty, so only families that ignore network namespaces are refused.
IN_NAMESPACES = SeccompFilter(families=(socket.AF_INET, socket.AF_INET6, _NETLINK), refused=_KEYS)
#: Without namespaces: no sockets at all, and no change that Landlock does not see. Modes, owners and times are ignored
#: instead of refused: `touch` and `cp` set them on files they have just created, and would fail.
ALONE = SeccompFilter(families=(), refused=(*_KEYS, *_OUTSIDE, *_ATTRIBUTES), ignored=(*_CHANGES, *_TIMES))


def available() -> bool:
    """Return whether filters can be built for this machine."""
    return os.uname().machine in _MACHINES and os.uname().sysname == "Linux"


def apply(wanted: SeccompFilter) -> None:
    """Give up what the filter refuses, for this thread and its children."""
    column, architecture = _MACHINES[os.uname().machine]
    code = b"".join(_program(wanted, column, architecture))
    lines = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(lines))
    number = _NUMBERS["seccomp"][column]
    assert number is not None
    kernel.gain_nothing()
    kernel.syscall(number, _MODE_FILTER, _SPECULATE, ctypes.create_string_buffer(program), what="seccomp")


def _program(wanted: SeccompFilter, column: int, architecture: int) -> Iterable[bytes]:
    yield _line(_LOAD, _ARCHITECTURE)
    yield _line(_EQUAL, architecture, yes=1)
    yield _line(_RETURN, _ERRNO | errno.ENOSYS)
    yield _line(_LOAD, _NUMBER)
    if column == 0:
        yield _line(_AT_LEAST, _X32, no=1)
        yield _line(_RETURN, _ERRNO | errno.ENOSYS)
    for names, answer in (
        (("io_uring_setup",), errno.ENOSYS),  # its requests pass no filter
        (wanted.refused, errno.EPERM),
        (wanted.ignored, 0),
    ):
        for name in names:
            number = _NUMBERS[name][column]
            if number is not None:
                yield _line(_EQUAL, number, no=1)
                yield _line(_RETURN, _ERRNO | answer)
    socket_number = _NUMBERS["socket"][column]
    assert socket_number is not None
    yield _line(_EQUAL, socket_number, no=2 + 2 * len(wanted.families))
    yield _line(_LOAD, _FIRST_ARGUMENT)
    for family in wanted.families:
        yield _line(_EQUAL, family, no=1)
        yield _line(_RETURN, _ALLOW)
    yield _line(_RETURN, _ERRNO | errno.EACCES)
    yield _line(_RETURN, _ALLOW)


def _line(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
