"""Folders and records that nobody else can look into."""

from __future__ import annotations

import errno
import os


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
