"""The folders of a project: which ones are not searched, and a walk through the others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

#: Entries a walk reads before it stops.
MAX_ENTRIES = 200_000

#: Folders with version control data, installed packages and caches: large, and not written by the project's authors.
NOT_SEARCHED = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", ".bzr"),
        *("node_modules", ".venv", "venv"),
        *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox"),
    }
)


class Walk:
    """Yields the files below a folder; `complete` is False after a walk that stopped at MAX_ENTRIES.

    Law: folders in NOT_SEARCHED are skipped unless the walk starts there or the glob pattern names them. Linked folders
    are not entered. A linked file is yielded if the file it really is lies below the walk's root or below one of the
    directories `inside`.
    """

    def __init__(self, root: str, pattern: str = "", inside: Sequence[str] = ()) -> None:
        self.root = root
        self._inside = tuple(os.path.realpath(folder).rstrip("/") + "/" for folder in (root, *inside))
        self.complete = True
        self._skipped = NOT_SEARCHED.difference(re.split(r"[/{},]", pattern))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield (path relative to the folder, path), sorted by name within each folder."""
        seen = 0
        stack = [""]
        while stack:
            folder = stack.pop()
            try:
                entries = sorted(os.scandir(os.path.join(self.root, folder)), key=lambda entry: entry.name)
            except OSError:
                continue
            deeper = []
            for entry in entries:
                seen += 1
                if seen > MAX_ENTRIES:
                    self.complete = False
                    return
                relative = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in self._skipped:
                        deeper.append(f"{relative}/")
                elif entry.is_file() and (not entry.is_symlink() or self._stays(entry.path)):
                    yield relative, os.path.join(self.root, relative)
            stack += reversed(deeper)

    def _stays(self, link: str) -> bool:
        return os.path.realpath(link).startswith(self._inside)
