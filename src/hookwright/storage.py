"""Hookwright's own files: private folders, atomic replacement, appended lines, and whether a file changed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

Stamp = tuple[int, int, int]


class StrictStamp(NamedTuple):
    """A stamp that also changes when a program writes other content of the same size and resets the time."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp(path: str) -> Stamp | None:
    """Return what changes when the content of a file or folder does; None if it does not exist."""
    found = strict_stamp(path)
    return (found.inode, found.size, found.modified) if found is not None else None


def strict_stamp(path: str) -> StrictStamp | None:
    """Return what no writer can leave unchanged; None if the file does not exist."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path with a null byte
        return None
    return StrictStamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def make_folder(path: str) -> None:
    """Create a folder and its missing parents, each for this user alone, whatever the umask."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above == path or not above:
            raise
        make_folder(above)
        make_folder(path)


def append_line(descriptor: int, data: bytes) -> None:
    """Append lines to a file that is open for appending and reading; raise OSError if the disk is full.

    Law: lines are written with one `write`, so writers never interleave. They never join a partial line left by a
    killed writer or a full disk. Two writers at the same moment may leave an empty line between their lines.
    """
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = b"\n" + data if torn else data
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def replace_file(path: str, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Replace a file atomically: a reader, and a crash, sees the old content or the new, never a part of it.

    Without `mode` an existing file keeps its permissions and a new one gets those of the umask. A `durable` write
    survives a power loss. A symbolic link is replaced, not followed: resolve it first. A device, a socket or a FIFO is
    never replaced: that raises OSError.
    """
    folder = os.path.dirname(path)
    _refuse_special(path)
    if mode is None:
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(path).st_mode)
    temporary = os.path.join(folder, f".hookwright-{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(descriptor, mode)
            if durable:
                file.flush()
                os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:  # after an interrupt as well, no temporary file remains
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        with _opened(folder) as descriptor:
            os.fsync(descriptor)


def _refuse_special(path: str) -> None:
    """Raise OSError unless a path is absent, a regular file or a link to either; a folder fails by itself."""
    for facts in (os.lstat, os.stat):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            mode = facts(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
                raise OSError(errno.EINVAL, "it is a device, a socket or a FIFO and is not replaced", path)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the lock of a folder, so that only one program at a time changes its files."""
    with _opened(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int]:
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
