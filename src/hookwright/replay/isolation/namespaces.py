"""Move a process into its own user, mount, network, process and message namespaces."""

from __future__ import annotations

import os

from hookwright.replay.isolation import kernel

_ALL = kernel.NEW_USER | kernel.NEW_MOUNT | kernel.NEW_NET | kernel.NEW_IPC | kernel.NEW_UTS | kernel.NEW_PID


def enter() -> None:
    """Enter new namespaces with the same user and group ids; the next child is process 1 of the new process namespace.

    An ordinary user has one id there. Root has all of them, which only a process outside may arrange.
    """
    if os.geteuid() != 0:
        uid, gid = os.geteuid(), os.getegid()
        kernel.unshare(_ALL)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        return
    go, ready = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os._exit(_map_everyone(os.getppid(), go, ready))
    os.close(go)
    try:
        kernel.unshare(_ALL)
        os.write(ready, b"!")
    finally:
        os.close(ready)
        _, status = os.waitpid(mapper, 0)
    if status != 0:
        raise PermissionError(1, "root may not map its users into a user namespace", "/proc/self/uid_map")


def _map_everyone(process: int, go: int, ready: int) -> int:
    os.close(ready)
    if not os.read(go, 1):
        return 1
    try:
        for name in ("gid_map", "uid_map"):
            with open(f"/proc/self/{name}", encoding="ascii") as file:
                ranges = [line.split() for line in file]
            _write(f"/proc/{process}/{name}", "".join(f"{first} {first} {size}\n" for first, _, size in ranges))
    except OSError:
        return 1
    return 0


def _write(path: str, text: str) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(text.encode())
