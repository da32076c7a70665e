"""Change a file in one step, while no other program changes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator


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
