"""The file systems of a view: overlays where hooks may write, read-only everywhere else."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat

import msgspec

from hookwright.replay.isolation import kernel
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.changes import Written, overlay_changes
from hookwright.replay.isolation.places import places, within

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
#: Parts of /proc that belong to the whole machine; root could write to them.
MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi")
#: The folder on the stage with everything written since the last renewal.
_WRITTEN = "written"


class Layer(msgspec.Struct, frozen=True):
    """A folder of the view: its path, descriptors of the folders below, top one first, and its name on the stage."""

    path: str
    lowers: tuple[int, ...]
    name: str


#: Empty at first.
_SHARED_MEMORY = Layer("/dev/shm", (), "shm")


class Overlays:
    """All mounts of a view, made and renewed by its keeper, which is alone in having the rights to mount.

    The stage is a file system in memory for everything written in the view. It is mounted where nothing can reach it
    by a path: under the first overlay. With `shown`, the files below that folder are in the view as if it were `/`.
    """

    def __init__(self, bounds: Bounds, scratch: str, shown: str = "") -> None:
        kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_PRIVATE)
        self._scratch = scratch
        found = places(bounds, shown)
        if shown and any(within(os.path.realpath(shown), path) for path in found):
            _set_apart(shown)
        lowers = [(path, _opened(path, shown)) for path in found]
        self.layers = tuple(Layer(path, below, f"{number}") for number, (path, below) in enumerate(lowers))
        devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES if os.path.exists(f"/dev/{name}")}
        kernel.forbid_writes("/", below=True)
        # The process namespace of the view gets its own /proc, which does not show the keeper; mounts name folders
        # by descriptor, relative to this one.
        os.chdir("/proc")
        hidden = self.layers[0].path
        kernel.mount("hookwright", hidden, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0700")
        self._stage = os.open(hidden, os.O_PATH | os.O_DIRECTORY)
        os.mkdir("scratch", 0o700, dir_fd=self._stage)
        self._check_attributes()
        self._make_devices(devices)
        self._cover()

    def renew(self, _inside: int) -> None:
        """Replace every overlay by a fresh one."""
        for layer in (*self.layers, _SHARED_MEMORY):
            kernel.detach(layer.path)
        shutil.rmtree(_WRITTEN, dir_fd=self._stage)
        self._cover()

    def close(self) -> None:
        """Do nothing: the mounts end with the last process in their namespace."""

    def written(self) -> tuple[Written, ...]:
        """Return what was changed in the view; the process inside asks."""
        found: list[Written] = []
        for layer in (*self.layers, _SHARED_MEMORY):
            upper = f"/proc/self/fd/{self._stage}/{_WRITTEN}/{layer.name}"
            lowers = tuple(f"/proc/self/fd/{lower}" for lower in layer.lowers)
            found += overlay_changes(layer.path, f"{upper}/upper" if lowers else upper, lowers)
        return tuple(sorted(one for one in found if one.path != self._scratch))

    def _cover(self) -> None:
        os.mkdir(_WRITTEN, 0o700, dir_fd=self._stage)
        for layer in self.layers:
            self._overlay(layer, f"{_WRITTEN}/{layer.name}")
        shared = f"{_WRITTEN}/{_SHARED_MEMORY.name}"
        os.mkdir(shared, dir_fd=self._stage)
        os.chmod(self._on_stage(shared), 0o1777)
        kernel.mount(self._on_stage(shared), _SHARED_MEMORY.path, "none", kernel.MS_BIND)
        os.mkdir(self._scratch, 0o700)
        kernel.mount(self._on_stage("scratch"), self._scratch, "none", kernel.MS_BIND)

    def _overlay(self, layer: Layer, name: str) -> None:
        upper, work = f"{name}/upper", f"{name}/work"
        for folder in (name, upper, work):
            os.mkdir(folder, 0o700, dir_fd=self._stage)
        facts = os.stat(_descriptor(layer.lowers[-1]))
        with contextlib.suppress(PermissionError):  # an ordinary user: the owner has no id in the view
            os.chown(upper, facts.st_uid, facts.st_gid, dir_fd=self._stage)
        os.chmod(self._on_stage(upper), stat.S_IMODE(facts.st_mode))
        below = ":".join(map(_descriptor, layer.lowers))
        folders = f"lowerdir={below},upperdir={self._on_stage(upper)},workdir={self._on_stage(work)}"
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("hookwright", layer.path, "overlay", flags, f"{folders},userxattr")

    def _make_devices(self, devices: dict[str, int]) -> None:
        """Give the view a /dev with the harmless devices alone."""
        os.mkdir("dev", 0o755, dir_fd=self._stage)
        os.mkdir("dev/shm", 0o755, dir_fd=self._stage)
        for name, device in devices.items():
            os.close(os.open(f"dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666, dir_fd=self._stage))
            kernel.mount(_descriptor(device), self._on_stage(f"dev/{name}"), "none", kernel.MS_BIND)
            os.close(device)
        for name, target in _LINKS.items():
            os.symlink(target, f"dev/{name}", dir_fd=self._stage)
        kernel.mount(self._on_stage("dev"), "/dev", "none", kernel.MS_BIND | kernel.MS_REC)
        kernel.forbid_writes("/dev", below=False)

    def _check_attributes(self) -> None:
        """Check that removed folders can be marked; otherwise an overlay fails as soon as a folder is removed."""
        try:
            os.setxattr(self._on_stage("scratch"), "user.overlay.trial", b"y")
        except OSError as problem:
            raise OSError(problem.errno, "files in memory have no attributes of users before Linux 6.6") from None

    def _on_stage(self, name: str) -> str:
        return f"{_descriptor(self._stage)}/{name}"


def _set_apart(folder: str) -> None:
    """Cover a folder by a copy in memory: the folders of one overlay must not be inside each other."""
    below = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    kernel.mount("hookwright", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0700")
    shutil.copytree(f"/proc/self/fd/{below}", folder, symlinks=True, dirs_exist_ok=True)
    os.close(below)


def _opened(path: str, shown: str) -> tuple[int, ...]:
    """Open a folder of the machine, and on top of it what is shown there."""
    above = os.path.join(shown, path.lstrip("/"))
    folders = [above, path] if shown and os.path.isdir(above) else [path]
    return tuple(os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in folders)


def _descriptor(number: int) -> str:
    """Return the path of a descriptor, relative to /proc."""
    return f"self/fd/{number}"


def mount_proc() -> None:
    """Give the process namespace its own /proc; its first process does this."""
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with open("/proc/sys/user/max_user_namespaces", "wb", buffering=0) as file:
        file.write(b"0")  # hooks make no namespaces of their own, where they would be root
    for name in MACHINE if os.geteuid() == 0 else ():
        path = f"/proc/{name}"
        if os.path.exists(path):
            kernel.mount(path, path, "none", kernel.MS_BIND)
            kernel.forbid_writes(path, below=False)
