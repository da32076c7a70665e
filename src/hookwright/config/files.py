"""Reading untrusted files: regular files only, up to a limit, without ever blocking."""

from __future__ import annotations

import os
import stat

from hookwright.errors import ConfigError

#: No settings file, manifest or skill comes near this size.
MAX_BYTES = 16 * 1024 * 1024


class Unreadable(OSError):
    """A file that exists and cannot be read as a plain file of reasonable size."""


def read_bytes(path: str, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file; raise FileNotFoundError if it is absent and Unreadable for anything else."""
    # O_NONBLOCK: opening a FIFO that a repository put where a file belongs must not hang.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        raise Unreadable(_reason(error)) from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise Unreadable("it is not a regular file")
        if facts.st_size > limit:
            raise Unreadable(f"it has {facts.st_size:,} bytes; the limit is {limit:,}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    except Unreadable:
        raise
    except OSError as error:
        raise Unreadable(_reason(error)) from None
    finally:
        os.close(descriptor)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_inside(path: str, directory: str) -> bool:
    """Return whether a path is the directory or inside it, with symbolic links resolved."""
    real, root = os.path.realpath(path), os.path.realpath(directory)
    return real == root or real.startswith(root.rstrip("/") + "/")


def read_to_edit(path: str) -> str | None:
    """Read a file of the user that is about to be edited, with its line ends as they are; None if it is absent.

    Raise ConfigError if it cannot be read or is not UTF-8, since an edit would then lose something.
    """
    try:
        return read_bytes(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}. Nothing was changed.") from None
