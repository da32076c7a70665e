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
from hookwright.replay.isolation.places import places

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
#: Parts of /proc that belong to the whole machine; root could write to them.
MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi")
#: The folder on the stage with everything written since the last renewal.
_WRITTEN = "written"


class Layer(msgspec.Struct, frozen=True):
    """A folder of the view: its path, a descriptor of the folder below, if there is one, and its name on the stage."""

    path: str
    lower: int | None
    name: str


#: Empty at first.
_SHARED_MEMORY = Layer("/dev/shm", None, "shm")


class Overlays:
    """All mounts of a view, made and renewed by its keeper, which is alone in having the rights to mount.

    The stage is a file system in memory for everything written in the view. It is mounted where nothing can reach it
    by a path: under the first overlay.
    """

    def __init__(self, bounds: Bounds, scratch: str) -> None:
        kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_PRIVATE)
        self._scratch = scratch
        lowers = [(path, os.open(path, os.O_PATH | os.O_DIRECTORY)) for path in places(bounds)]
        self.layers = tuple(Layer(path, lower, f"{number}") for number, (path, lower) in enumerate(lowers))
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
            lower = None if layer.lower is None else f"/proc/self/fd/{layer.lower}"
            found += overlay_changes(layer.path, upper if lower is None else f"{upper}/upper", lower)
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
        assert layer.lower is not None
        upper, work = f"{name}/upper", f"{name}/work"
        for folder in (name, upper, work):
            os.mkdir(folder, 0o700, dir_fd=self._stage)
        facts = os.stat(_descriptor(layer.lower))
        with contextlib.suppress(PermissionError):  # an ordinary user: the owner has no id in the view
            os.chown(upper, facts.st_uid, facts.st_gid, dir_fd=self._stage)
        os.chmod(self._on_stage(upper), stat.S_IMODE(facts.st_mode))
        folders = f"lowerdir={_descriptor(layer.lower)},upperdir={self._on_stage(upper)},workdir={self._on_stage(work)}"
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
