"""Files of our own: private folders, one-step replacement, appended lines, and whether a file changed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from typing import NamedTuple

Stamp = tuple[int, int, int]


class StrictStamp(NamedTuple):
    """A stamp that also changes where a program wrote other content of the same size and set the time back."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp(path: str) -> Stamp | None:
    """Return what changes when the content of a file or folder does; None where there is none."""
    found = strict_stamp(path)
    return (found.inode, found.size, found.modified) if found is not None else None


def strict_stamp(path: str) -> StrictStamp | None:
    """Return what no writer can keep the same; None where there is no such file."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path with a null byte
        return None
    return StrictStamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def make_folder(path: str) -> None:
    """Make a folder and those above it that are missing, each for this user alone, whatever the mask says."""
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
    """Write lines at the end of a file that is open for appending and reading; raise OSError if they do not fit.

    Law: lines are one `write`, so writers never interleave; they never join what a killed writer or a full disk left
    without a newline. Beside a writer that is at work an empty line may come in between.
    """
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = b"\n" + data if torn else data
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def replace_file(path: str, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write a file at once or not at all: a reader and a crash see the old one or the new one, never a part.

    Without `mode` a file keeps its rights, and those of a new one are the mask's to say. What is `durable` outlives a
    loss of power. A link would be replaced and not followed: resolve it before.
    """
    folder = os.path.dirname(path)
    if mode is None:
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(path).st_mode)
    temporary = os.path.join(folder, f".hookwright-{secrets.token_hex(8)}.tmp")
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
    except BaseException:  # an interrupt, too, leaves nothing behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        with _opened(folder) as descriptor:
            os.fsync(descriptor)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keep other programs that ask for the same from changing files of a folder."""
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
