"""A view made of copies: the project in a scratch folder, and an empty folder for temporary files."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence

from hookwright.projects.scratch import Mirror
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.changes import How, Written
from hookwright.replay.isolation.descendants import end_descendants

#: What a file looked like: type and mode, size, time of modification, inode.
_Facts = tuple[int, int, int, int]


class CopiedFile:
    """The copies as one process sees them, compared with how they were."""

    def __init__(self, bounds: Bounds, project: str, temp: str) -> None:
        self._bounds = bounds
        self._project = project
        self._temp = temp
        #: Mount points in the temporary folder.
        self.own = frozenset(os.listdir(temp))
        self._before: dict[str, _Facts] = {}
        self.remember()

    def remember(self) -> None:
        """Take the files as they are now for unchanged; both processes do this after each renewal."""
        self._before = dict(_facts(self._project))

    def written(self) -> tuple[Written, ...]:
        """Return what was changed, under the names of the files outside.

        Law: a path is named if and only if its type, mode, size, modification time or inode is not that of the copy
        when it was made; of a folder, its type and mode. A removed folder is named without its content, a created one
        with it. Copies keep the old times of their originals, so whatever is written gets another time.
        """
        now = dict(_facts(self._project))
        found = [Written(os.path.join(self._bounds.project, name), how) for name, how in _compared(self._before, now)]
        for name, _ in _facts(self._temp, self.own):
            found.append(Written(os.path.join(self._bounds.temp, name), "created"))
        return tuple(sorted(found))


class Copies:
    """The folders of the view, made and renewed by its keeper. They stay the same folders: rights are bound to them."""

    def __init__(self, bounds: Bounds, prefix: str, mount_points: Sequence[str] = ()) -> None:
        self._mirror = Mirror(bounds.project)
        self.base = tempfile.mkdtemp(prefix=prefix, dir=bounds.temp)
        self.project = os.path.join(self.base, "project")
        self.temp = os.path.join(self.base, "temp")
        self.scratch = os.path.join(self.base, "scratch")
        for folder in (self.project, self.temp, self.scratch):
            os.mkdir(folder, 0o700)
        for name in mount_points:
            os.makedirs(os.path.join(self.temp, name))
        try:
            self._mirror.copy_to(self.project)
        except BaseException:  # after an interrupt as well, no copy remains
            _empty(self.base)
            os.rmdir(self.base)
            raise
        self.seen = CopiedFile(bounds, self.project, self.temp)

    def renew(self, inside: int) -> None:
        """End what hooks left, and copy the project again if anything was written."""
        end_descendants(inside)
        self.restore()

    def restore(self) -> None:
        """Copy the project again if anything was written."""
        if self.seen.written():
            _empty(self.project)
            _empty(self.temp, self.seen.own)
            self._mirror.copy_to(self.project)
            self.seen.remember()

    def close(self) -> None:
        """End what hooks left, and remove the folders."""
        end_descendants(None)
        _empty(self.base)
        os.rmdir(self.base)


def _compared(before: dict[str, _Facts], now: dict[str, _Facts]) -> Iterator[tuple[str, How]]:
    for name in before.keys() - now.keys():
        parent = os.path.dirname(name)
        if parent == "" or (parent in now and stat.S_ISDIR(now[parent][0])):
            yield name, "removed"
    for name, facts in now.items():
        if name not in before:
            yield name, "created"
        elif facts != before[name]:
            yield name, "changed"


def _facts(folder: str, spared: frozenset[str] = frozenset(), below: str = "") -> Iterator[tuple[str, _Facts]]:
    """Yield every file and folder below a folder, but for some at its top, by its relative path."""
    try:
        with os.scandir(os.path.join(folder, below)) as entries:
            found = sorted((one for one in entries if one.name not in spared), key=lambda entry: entry.name)
    except PermissionError:  # a hook took its rights away, so the folder itself is named
        return
    for entry in found:
        name = os.path.join(below, entry.name)
        one = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(one.st_mode):
            yield name, (one.st_mode, 0, 0, 0)
            yield from _facts(folder, below=name)
        else:
            yield name, (one.st_mode, one.st_size, one.st_mtime_ns, one.st_ino)


def _empty(folder: str, spared: frozenset[str] = frozenset()) -> None:
    with os.scandir(folder) as entries:
        for entry in (one for one in entries if one.name not in spared):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=_allow)
            else:
                os.unlink(entry.path)


def _allow(function: Callable[..., object], path: str, _problem: object) -> None:
    """Take a folder back whose rights a hook took away."""
    parent = os.path.dirname(path)
    os.chmod(parent, 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    else:
        function(path)
