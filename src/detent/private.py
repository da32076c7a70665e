"""Make folders that nobody else can look into."""

from __future__ import annotations

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
