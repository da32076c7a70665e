"""Enter a view of the machine: from then on this process and the hooks it starts change nothing outside."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from hookwright.errors import ConfigError, HookwrightError
from hookwright.replay.isolation import kernel, landlock, namespaces, seccomp
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.bwrap import Wrapped
from hookwright.replay.isolation.changes import Written
from hookwright.replay.isolation.copies import CopiedFile, Copies
from hookwright.replay.isolation.keeper import Keeper, end_with_keeper, split
from hookwright.replay.isolation.levels import IsolationLevel, Name
from hookwright.replay.isolation.overlay import Overlays, mount_proc

#: What hooks find in their environment during a replay.
MARK = "HOOKWRIGHT_REPLAY"

_PREFIX = "hookwright-view-"

#: Returns what was written since the last renewal; None if that is not known.
Look = Callable[[], tuple[Written, ...] | None]


class View:
    """The files hooks see, with their writes kept apart."""

    def __init__(
        self, level: IsolationLevel, bounds: Bounds, scratch: str, look: Look, refresh: Callable[[], None]
    ) -> None:
        self.level = level
        #: The project in the view; hooks start in it.
        self.project = bounds.project
        #: A folder for files of the process that runs hooks: not renewed, and not part of what is written.
        self.scratch = scratch
        #: What hooks need in their environment.
        self.env: Mapping[str, str] = MappingProxyType(
            {MARK: "1", "HOME": bounds.home, "TMPDIR": bounds.temp, "PYTHONDONTWRITEBYTECODE": "1"}
        )
        self._look = look
        self._refresh = refresh

    @property
    def isolated(self) -> bool:
        """Whether writes outside the view and the network are refused."""
        return self.level.isolated

    def written(self) -> tuple[Written, ...] | None:
        """Return what was changed since the last renewal, sorted by path; None if that is not known."""
        return self._look()

    def renew(self) -> None:
        """End every process that hooks left in the view, and forget what was written: files are as outside."""
        self._refresh()


def enter(level: IsolationLevel, bounds: Bounds, shown: str = "") -> View:
    """Enter a view with this process, which must be fresh and have one thread; raise OSError if the system refuses.

    The caller continues in a child; see the package's documentation. With `shown`, the files below that folder are in
    the view as if the folder were `/`; only the level `overlay` can do this.
    """
    if shown and level.name is not Name.OVERLAY:
        raise ConfigError(f"files from elsewhere can be shown at the level {Name.OVERLAY.value} alone")
    match level.name:
        case Name.OVERLAY:
            return _enter_overlay(level, bounds.resolved(shown), shown)
        case Name.LANDLOCK:
            return _enter_landlock(level, bounds.resolved())
        case Name.BWRAP:
            return _enter_bwrap(level, bounds.resolved())
        case Name.NONE:
            return _open(level, bounds.resolved())
        case _:
            assert_never(level.name)


def _open(level: IsolationLevel, bounds: Bounds) -> View:
    scratch = tempfile.mkdtemp(prefix=_PREFIX)
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return View(level, bounds, scratch, lambda: None, lambda: None)


def _enter_overlay(level: IsolationLevel, bounds: Bounds, shown: str) -> View:
    here = os.getcwd()
    scratch = os.path.join(bounds.temp, f"{_PREFIX}{secrets.token_hex(8)}")
    namespaces.enter()
    stage = Overlays(bounds, scratch, shown)
    keeper = split(stage)
    mount_proc()
    _give_up_rights()
    os.chdir(here)
    return View(level, bounds, scratch, stage.written, lambda: _renew_overlay(keeper, here))


def _enter_landlock(level: IsolationLevel, bounds: Bounds) -> View:
    version = landlock.abi()
    if version < landlock.LEAST or not seccomp.available():
        needs = f"it needs Landlock version {landlock.LEAST} (Linux 6.2) on x86-64 or 64-bit ARM"
        raise OSError(errno.ENOSYS, f"{needs}; this is version {version} on {os.uname().machine}")
    copies = Copies(bounds, _PREFIX)
    kernel.adopt_orphans()
    keeper = split(copies)
    root = os.geteuid() == 0
    kernel.keep_capabilities(kernel.ROOT_READS if root else 0)
    # Root could change the machine's settings below /proc; others write their own memory there, as warm hooks do.
    writable = (copies.project, copies.temp, copies.scratch, *landlock.DEVICES, *(() if root else ("/proc",)))
    landlock.restrict(writable)
    seccomp.apply(seccomp.ALONE)
    kernel.hide_memory()
    end_with_keeper()
    inside = Bounds(copies.project, bounds.home, copies.temp)
    os.chdir(copies.project)
    return View(level, inside, copies.scratch, copies.seen.written, lambda: _renew_copies(keeper, copies))


def _renew_copies(keeper: Keeper, copies: Copies) -> None:
    keeper.renew()
    _reap()
    copies.seen.remember()
    os.chdir(copies.project)


def _enter_bwrap(level: IsolationLevel, bounds: Bounds) -> View:
    wrapped = Wrapped(bounds, _PREFIX)
    keeper = split(wrapped)
    wrapped.join()
    _give_up_rights()
    os.chdir(bounds.project)
    seen = CopiedFile(bounds, bounds.project, bounds.temp)

    def renew() -> None:
        wrapped.end_others()
        keeper.renew()
        seen.remember()
        os.chdir(bounds.project)

    return View(level, bounds, wrapped.scratch, seen.written, renew)


def _give_up_rights() -> None:
    """Give up, in namespaces, what hooks could misuse to leave them."""
    kernel.keep_capabilities(kernel.ROOT_KEEPS if os.geteuid() == 0 else 0)
    if seccomp.available():
        seccomp.apply(seccomp.IN_NAMESPACES)
    kernel.hide_memory()
    end_with_keeper()


def _reap() -> None:
    """Collect children that have ended, orphans of hooks among them."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _renew_overlay(keeper: Keeper, start: str) -> None:
    try:
        here = os.getcwd()
    except FileNotFoundError:  # a hook removed it
        here = start
    if os.getpid() != 1:  # the next line would end every process of this user
        raise HookwrightError("only the process that entered the view can renew it")
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    os.chdir("/")
    keeper.renew()
    os.chdir(here if os.path.isdir(here) else start)
