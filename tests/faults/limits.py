"""Set limits on the running process as a system would: processes, mounts, and a clock that jumps."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Impossible(Exception):
    """This machine or this user cannot bring the fault about."""


def mount(folder: Path, *options: str) -> None:
    """Put a small file system over a folder; the row runs in mounts of its own."""
    if shutil.which("mount") is None:
        raise Impossible("needs the program `mount`, which is not installed")
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode:
        raise Impossible(f"needs the right to mount: {done.stderr.decode().strip()}")


def may_mount() -> bool:
    """Return whether a process can have mounts of its own."""
    return bool(shutil.which("unshare")) and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """Let this process and its children start only so many processes and threads more."""
    if os.geteuid() != 0:
        before = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (_threads_of_user() + more, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NPROC, before)
        return
    # The limit of a user does not bind root; a control group does.
    group = _pids_group() / f"hookwright-faults-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise Impossible(f"needs a control group for processes: {error}") from None
    try:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        (group / "pids.max").write_text(str(int((group / "pids.current").read_text()) + more))
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def _pids_group() -> Path:
    mounts = Path("/proc/mounts").read_text()
    found = re.search(r"^\S+ (\S+) cgroup \S*\bpids\b", mounts, re.MULTILINE)
    if found is None:
        raise Impossible("needs the control group `pids`, which is not mounted here, or a user other than root")
    own = re.search(r"^\d+:pids:(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    return Path(found[1]) / (own[1].lstrip("/") if own is not None else "")


def _threads_of_user() -> int:
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(list((entry / "task").iterdir()))
            except OSError:
                continue
    return count


def jumping_clock(folder: Path) -> Path:
    """Build the library that makes the wall clock jump."""
    library = folder / "jump.so"
    source = Path(__file__).parent / "jump.c"
    compiler = shutil.which("cc")
    if compiler is None:
        raise Impossible("needs a C compiler")
    done = subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], capture_output=True, check=False)
    if done.returncode:
        raise Impossible(f"the C compiler failed: {done.stderr.decode().strip()[:200]}")
    return library


def own_mounts(argv: list[str]) -> list[str]:
    """Wrap a command so that what it mounts is its own and goes with it."""
    return ["unshare", "-m", "--propagation", "private", *argv] if may_mount() else argv


def temporary() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for one row."""
    return tempfile.TemporaryDirectory(prefix="hookwright-fault-", ignore_cleanup_errors=True)
