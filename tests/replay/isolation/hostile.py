"""A hook that attacks: `hostile.py TARGETS`, with the targets as JSON; prints as JSON how each attack ended.

Each attack runs in its own process, so that none spoils another.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping

Targets = Mapping[str, str]
LIBC = ctypes.CDLL(None, use_errno=True)
_PTRACE_SEIZE, _VSOCK = 0x4206, 40


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def write_home(targets: Targets) -> None:
    with open(os.path.join(targets["home"], ".profile"), "a", encoding="utf-8") as file:
        file.write("evil")


def delete_project(targets: Targets) -> None:
    shutil.rmtree(targets["project"])


def write_tmp(targets: Targets) -> None:
    with open(f"/tmp/{targets['token']}", "w", encoding="utf-8") as file:
        file.write("evil")


def write_var_tmp(targets: Targets) -> None:
    with open(f"/var/tmp/{targets['token']}", "w", encoding="utf-8") as file:
        file.write("evil")


def write_shared_memory(targets: Targets) -> None:
    with open(f"/dev/shm/{targets['token']}", "w", encoding="utf-8") as file:
        file.write("evil")


def write_elsewhere(targets: Targets) -> None:
    with open(os.path.join(targets["elsewhere"], "file"), "w", encoding="utf-8") as file:
        file.write("evil")


def truncate_elsewhere(targets: Targets) -> None:
    os.truncate(os.path.join(targets["elsewhere"], "file"), 0)


def remove_elsewhere(targets: Targets) -> None:
    os.unlink(os.path.join(targets["elsewhere"], "file"))


def rename_elsewhere(targets: Targets) -> None:
    os.rename(os.path.join(targets["elsewhere"], "file"), os.path.join(targets["elsewhere"], "other"))


def chmod_elsewhere(targets: Targets) -> None:
    os.chmod(os.path.join(targets["elsewhere"], "file"), 0o777)


def chmod_by_descriptor(targets: Targets) -> None:
    os.fchmod(os.open(os.path.join(targets["elsewhere"], "file"), os.O_RDONLY), 0o777)


def times_elsewhere(targets: Targets) -> None:
    os.utime(os.path.join(targets["elsewhere"], "file"), (1, 1))


def attribute_elsewhere(targets: Targets) -> None:
    os.setxattr(os.path.join(targets["elsewhere"], "file"), "user.evil", b"1")


def write_through_a_link(targets: Targets) -> None:
    link = f"evil-{os.getpid()}"
    os.symlink(os.path.join(targets["elsewhere"], "file"), link)
    with open(link, "w", encoding="utf-8") as file:
        file.write("evil")


def write_through_a_hard_link(targets: Targets) -> None:
    link = f"evil-{os.getpid()}"
    os.link(os.path.join(targets["home"], ".profile"), link)
    with open(link, "w", encoding="utf-8") as file:
        file.write("evil")


def write_through_the_worker(targets: Targets) -> None:
    for name in os.listdir(f"/proc/{targets['worker']}/fd"):
        with open(f"/proc/{targets['worker']}/fd/{name}/evil", "w", encoding="utf-8") as file:
            file.write("evil")


def connect_tcp(targets: Targets) -> None:
    socket.create_connection(("127.0.0.1", int(targets["tcp"])), 2).close()


def send_udp(targets: Targets) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"evil", ("127.0.0.1", int(targets["udp"])))


def connect_unix(targets: Targets) -> None:
    socket.socket(socket.AF_UNIX).connect(targets["unix"])


def connect_abstract(targets: Targets) -> None:
    socket.socket(socket.AF_UNIX).connect("\0" + targets["token"])


def connect_to_the_host(targets: Targets) -> None:
    socket.socket(_VSOCK, socket.SOCK_STREAM)


def leave_a_daemon(targets: Targets) -> None:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
        os.closerange(3, 100)
        os.execve("/bin/sh", ["sh", "-c", f": {targets['token']}; while :; do sleep 1; done"], {})


def signal_others(targets: Targets) -> None:
    os.kill(int(targets["victim"]), signal.SIGKILL)


def signal_the_keeper(targets: Targets) -> None:
    os.kill(int(targets["keeper"]), signal.SIGKILL)


def signal_a_group(targets: Targets) -> None:
    os.killpg(int(targets["victim"]), signal.SIGKILL)


def trace_others(targets: Targets) -> None:
    _checked(LIBC.ptrace(_PTRACE_SEIZE, int(targets["victim"]), None, None))


def write_memory(targets: Targets) -> None:
    with open(f"/proc/{targets['victim']}/mem", "r+b") as file:
        file.write(b"evil")


def write_memory_of_the_worker(targets: Targets) -> None:
    os.close(os.open(f"/proc/{targets['worker']}/mem", os.O_RDWR))


def mount_something(targets: Targets) -> None:
    _checked(LIBC.mount(b"evil", targets["elsewhere"].encode(), b"tmpfs", 0, None))


def unmount_the_view(targets: Targets) -> None:
    _checked(LIBC.umount2(b"/tmp", 2))


def mount_as_new_root(targets: Targets) -> None:
    _checked(LIBC.unshare(0x10000000 | 0x00020000))
    _checked(LIBC.mount(b"evil", b"/tmp", b"tmpfs", 0, None))


def become_root(targets: Targets) -> None:
    with open("/proc/self/status", encoding="ascii") as file:
        kept = "NoNewPrivs:\t1" in file.read()
    if kept:
        raise PermissionError("setuid programs give no rights")


def change_the_kernel(targets: Targets) -> None:
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))


def write_to_the_disk(targets: Targets) -> None:
    disks = [f"/dev/{name}" for name in os.listdir("/sys/block") if not name.startswith(("loop", "ram"))]
    for disk in disks:
        os.close(os.open(disk, os.O_WRONLY))


def make_a_disk(targets: Targets) -> None:
    os.mknod(f"disk-{os.getpid()}", 0o60600, os.makedev(254, 0))
    os.close(os.open(f"disk-{os.getpid()}", os.O_RDONLY))


def ask_for_keys(targets: Targets) -> None:
    _checked(LIBC.syscall(ctypes.c_long(250 if os.uname().machine == "x86_64" else 219), 0, -3, 1, 0, 0))


def use_a_ring(targets: Targets) -> None:
    _checked(LIBC.syscall(ctypes.c_long(425), 1, ctypes.create_string_buffer(256)))


ATTACKS: dict[str, Callable[[Targets], None]] = {
    name: attack
    for name, attack in list(globals().items())
    if callable(attack) and not name.startswith("_") and getattr(attack, "__module__", "") == __name__
}


def run(name: str, targets: Targets) -> str:
    """Run one attack in its own process, and return how it ended."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            ATTACKS[name](targets)
            word = "worked"
        except (OSError, ValueError) as problem:
            word = f"{type(problem).__name__}: {problem}"
        os.write(theirs, word.encode())
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        word = file.read().decode()
    os.waitpid(child, 0)
    return word


if __name__ == "__main__":
    chosen = json.loads(sys.argv[1])
    os.chdir(chosen["start"])
    first = [name for name in ATTACKS if name not in ("run", "delete_project")]
    print(json.dumps({name: run(name, chosen) for name in (*first, "delete_project")}))
