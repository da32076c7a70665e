"""The namespaces of a view, made by bubblewrap where this user may not make them without it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
from typing import NoReturn

from hookwright.errors import HookwrightError
from hookwright.replay.isolation import kernel
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.copies import Copies
from hookwright.replay.isolation.landlock import DEVICES
from hookwright.replay.isolation.overlay import MACHINE
from hookwright.replay.isolation.places import within

_ALL = kernel.NEW_USER | kernel.NEW_MOUNT | kernel.NEW_NET | kernel.NEW_IPC | kernel.NEW_UTS | kernel.NEW_PID
#: Holds the namespaces open: prints its number in them, and waits.
_HOLDER = ("/bin/sh", "-c", "echo $$; exec sleep infinity")


class Wrapped:
    """Copies of the project and of temporary files, in namespaces where they have the names of the originals."""

    def __init__(self, bounds: Bounds, prefix: str) -> None:
        program = shutil.which("bwrap")
        if program is None:
            raise OSError(errno.ENOENT, "it needs the program bwrap, of the package bubblewrap")
        nested = [os.path.relpath(bounds.project, bounds.temp)] if within(bounds.project, bounds.temp) else []
        name = f"{prefix}{os.urandom(8).hex()}"
        #: The folder in the view for the process that runs hooks.
        self.scratch = os.path.join(bounds.temp, name)
        self.copies = Copies(bounds, prefix, (name, *nested))
        information, theirs = os.pipe()
        try:
            argv = [program, *self._options(bounds), "--info-fd", str(theirs), "--", *_HOLDER]
            self._holder = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(theirs,)
            )
        finally:
            os.close(theirs)
        with open(information, "rb") as file, contextlib.ExitStack() as failed:
            failed.callback(self.close)
            self.first, self.holder = self._started(file.read())
            failed.pop_all()

    def _options(self, bounds: Bounds) -> list[str]:
        options = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc"]
        for part in MACHINE:
            options += ["--ro-bind-try", f"/proc/{part}", f"/proc/{part}"]
        options += ["--tmpfs", "/dev", "--tmpfs", "/dev/shm"]
        for device in DEVICES:
            options += ["--dev-bind-try", device, device]
        for copy, original in (
            (self.copies.temp, bounds.temp),
            (self.copies.project, bounds.project),
            (self.copies.scratch, self.scratch),
        ):
            options += ["--bind", copy, original]
        return options

    def _started(self, information: bytes) -> tuple[int, int]:
        """Return the process that has all namespaces, as seen from here, and the holder's number inside."""
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        number = self._holder.stdout.readline()
        if not number:
            raise HookwrightError(self._holder.stderr.read().decode(errors="replace").strip() or "bwrap failed")
        for field in information.decode().strip("{} \n").split(","):
            name, _, value = field.partition(":")
            if name.strip(' "\n') == "child-pid":
                return int(value), int(number)
        raise HookwrightError(f"bwrap did not name its process: {information!r}")

    def renew(self, _inside: int) -> None:
        """Copy the project again if anything was written; the process inside ended what hooks left."""
        self.copies.restore()

    def close(self) -> None:
        """End every process in the namespaces, and remove the copies."""
        self._holder.kill()
        self._holder.communicate()
        self.copies.close()

    def join(self) -> None:
        """Move this process into the namespaces, and continue in a child, which alone is in the process namespace."""
        process = os.pidfd_open(self.first)
        kernel.checked(kernel.libc().setns(process, _ALL), "the namespaces of bwrap")
        os.close(process)
        child = os.fork()
        if child != 0:
            _follow(child)

    def end_others(self) -> None:
        """End all processes in the namespaces but the first, the holder and this one; only this one asks for that."""
        spared = {1, self.holder, os.getpid()}
        while found := {int(name) for name in os.listdir("/proc") if name.isdecimal()} - spared:
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _follow(child: int) -> NoReturn:
    """End as the child does; if this process is killed, so is the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.die_with_parent(signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(os.waitstatus_to_exitcode(status))
