"""The machine outside a view: folders, listeners and a process that hostile hooks aim at."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator

import msgspec

from hookwright.replay.isolation import kernel
from hookwright.replay.isolation.bounds import Bounds

ORDINARY = 65534


class Outside(msgspec.Struct, frozen=True):
    """What hooks must not change or reach."""

    bounds: Bounds
    #: A folder outside the bounds that the user may write to.
    elsewhere: str
    token: str
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    victim: int

    def targets(self) -> dict[str, str]:
        """Return what a hostile hook is given."""
        return {
            "project": self.bounds.project,
            "home": self.bounds.home,
            "elsewhere": self.elsewhere,
            "token": self.token,
            "tcp": str(self.tcp.getsockname()[1]),
            "udp": str(self.udp.getsockname()[1]),
            "unix": self.unix.getsockname(),
            "victim": str(self.victim),
        }

    def files(self) -> dict[str, tuple[object, ...]]:
        """Return everything about the files that could be changed."""
        found: dict[str, tuple[object, ...]] = {}
        for folder in (self.bounds.project, self.bounds.home, self.bounds.temp, self.elsewhere):
            found |= tree(folder)
        del found[self.bounds.temp]  # the keeper of a view may make a folder in it
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            found[f"{folder}/{self.token}"] = (os.path.lexists(f"{folder}/{self.token}"),)
        return found

    def reached(self) -> list[str]:
        """Return which listeners a connection or a packet reached."""
        found = []
        for name in ("tcp", "udp", "unix", "abstract"):
            with contextlib.suppress(BlockingIOError):
                listener: socket.socket = getattr(self, name)
                if name == "udp":
                    listener.recv(100)
                else:
                    listener.accept()[0].close()
                found.append(name)
        return found

    def alive(self) -> bool:
        """Return whether the process that hooks attack still runs and is not traced."""
        with open(f"/proc/{self.victim}/status", encoding="ascii") as file:
            text = file.read()
        return "\nTracerPid:\t0\n" in text and "\nState:\tS" in text

    def left(self) -> list[int]:
        """Return the processes that hooks left running."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal() and int(name) != os.getpid():
                with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                    if self.token.encode() in file.read():
                        found.append(int(name))
        return found


def tree(folder: str) -> dict[str, tuple[object, ...]]:
    """Return type, rights, owner, times, attributes and content of everything in a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for place, folders, names in os.walk(folder):
        for path in [place, *(os.path.join(place, name) for name in (*folders, *names))]:
            facts = os.lstat(path)
            content = ""
            if stat.S_ISREG(facts.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            attributes = os.listxattr(path, follow_symlinks=False)
            times = (facts.st_mtime_ns, facts.st_ctime_ns)
            found[path] = (facts.st_mode, facts.st_uid, facts.st_gid, facts.st_nlink, times, attributes, content)
    return found


@contextlib.contextmanager
def outside(user: int) -> Iterator[Outside]:
    """Make folders of a user, listeners on every kind of socket, and a process of the user."""
    with contextlib.ExitStack() as closing:
        base = tempfile.mkdtemp(prefix="hookwright-outside-")
        closing.callback(shutil.rmtree, base)
        elsewhere = tempfile.mkdtemp(prefix="hookwright-outside-", dir="/usr/local" if os.geteuid() == 0 else None)
        closing.callback(shutil.rmtree, elsewhere)
        bounds = Bounds(*(os.path.join(base, name) for name in ("project", "home", "temp")))
        for folder in (bounds.project, bounds.home, bounds.temp):
            os.mkdir(folder)
        token = f"evil{secrets.token_hex(8)}"
        for path in (f"{bounds.project}/a.txt", f"{bounds.home}/.profile", f"{elsewhere}/file"):
            with open(path, "w", encoding="utf-8") as file:
                file.write("good")
        tcp, udp, unix, abstract = (closing.enter_context(one) for one in _listeners(base, token))
        if user != os.geteuid():
            for folder in (base, elsewhere):
                subprocess.run(["chown", "-R", f"{user}:{user}", folder], check=True)
        victim = _started(user)
        closing.callback(os.waitpid, victim, 0)
        closing.callback(_ended, victim)
        yield Outside(bounds, elsewhere, token, tcp, udp, unix, abstract, victim)


def _listeners(base: str, token: str) -> Iterator[socket.socket]:
    for family, kind, address in (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        (socket.AF_UNIX, socket.SOCK_STREAM, f"{base}/socket"),
        (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{token}"),
    ):
        listener = socket.socket(family, kind)
        listener.bind(address)
        listener.setblocking(False)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        yield listener


def _started(user: int) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        if user != os.geteuid():
            become(user)
        os.execv("/bin/sleep", ["sleep", "300"])
    return child


def _ended(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def become(user: int) -> None:
    """Turn this process of root into one of an ordinary user, as if it had been started by that user."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    kernel.libc().prctl(4, 1, 0, 0, 0)
