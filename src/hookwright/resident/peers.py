"""Who is at the other end of a connection, and whether the daemon may act for it.

Law: the daemon gives a caller nothing that the caller does not have. It acts for processes of its own user that are
confined as it is: same namespaces, root, capabilities, groups, seccomp state, security label and umask. Any other
caller does its work itself, inside its own limits.
"""

from __future__ import annotations

import os
import socket
import struct

_CREDENTIALS = struct.Struct("3i")
_NAMESPACES = ("mnt", "user", "pid", "net", "ipc", "uts")
#: Lines of /proc/PID/status. A Landlock sandbox shows as NoNewPrivs.
_FACTS = frozenset(
    {b"Umask", b"Uid", b"Gid", b"Groups", b"CapInh", b"CapPrm", b"CapEff", b"CapBnd", b"CapAmb"}
    | {b"NoNewPrivs", b"Seccomp", b"Seccomp_filters"}
)

Confinement = tuple[object, ...]


def credentials(connection: socket.socket) -> tuple[int, int]:
    """Return the pid and the user of the other end; raise OSError where the system does not say."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return pid, uid


def confinement(pid: int) -> Confinement | None:
    """Return what limits a process; None if that cannot be read."""
    if pid <= 0:
        return None
    place = f"/proc/{pid}"
    try:
        with open(f"{place}/status", "rb") as file:
            status = file.read()
        links = tuple(os.readlink(f"{place}/ns/{name}") for name in _NAMESPACES)
        root = os.readlink(f"{place}/root")
    except OSError:
        return None
    lines = (line.partition(b":") for line in status.splitlines())
    return links, root, tuple((name, value) for name, _, value in lines if name in _FACTS), _label(place)


def _label(place: str) -> bytes:
    try:
        with open(f"{place}/attr/current", "rb") as file:
            return file.read()
    except OSError:  # no security module
        return b""
