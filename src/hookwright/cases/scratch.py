"""Scratch copies of a project, so that a case may write files and nobody's work is touched."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping

from hookwright.errors import InvalidCase

MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
#: Parts of a repository that a copy must not share or does not need.
_GIT_LEFT_OUT = frozenset({"objects", "worktrees", "modules", "lfs", "hooks"})


class Mirror:
    """Knows which files of a project are copied; they are listed once for all copies.

    In a git repository those are the files that git does not ignore, and all of `.claude`. The copy is a repository
    of its own that borrows the original's objects.
    """

    def __init__(self, project: str) -> None:
        self.project = project
        self._names: tuple[str, ...] | None = None

    def copy_to(self, folder: str) -> None:
        """Fill an empty folder with a copy."""
        if self._names is None:
            self._names = self._listed()
        for name in self._names:
            source, target = os.path.join(self.project, name), os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _copy(source, target)
        git = os.path.join(self.project, ".git")
        if os.path.isdir(git):
            _copy_repository(git, os.path.join(folder, ".git"))

    def _listed(self) -> tuple[str, ...]:
        names = dict.fromkeys((*_project_files(self.project), *_walk(self.project, ".claude")))
        size = 0
        for number, name in enumerate(names, 1):
            try:
                facts = os.lstat(os.path.join(self.project, name))
            except FileNotFoundError:
                continue
            size += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
            if number > MAX_FILES or size > MAX_BYTES:
                raise InvalidCase(
                    f"{self.project}: too large for a scratch copy (over {MAX_FILES} files or "
                    f"{MAX_BYTES >> 20} MB that git does not ignore); start from a smaller --project"
                )
        return tuple(names)


def put_files(folder: str, files: Mapping[str, str]) -> None:
    """Write the files of a case; what begins like a script becomes executable."""
    for name, text in files.items():
        path = inside(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if text.startswith("#!"):
            os.chmod(path, 0o755)


def inside(folder: str, name: str) -> str:
    """Give the path of a case's file; raise InvalidCase when it leads out of the folder."""
    path = os.path.normpath(os.path.join(folder, name))
    if not path.startswith(folder.rstrip("/") + "/"):
        raise InvalidCase(f"`{name}` leads out of the scratch copy; write a path inside the project")
    if os.path.realpath(os.path.dirname(path)) != os.path.normpath(
        os.path.join(os.path.realpath(folder), os.path.dirname(os.path.relpath(path, folder)))
    ):
        raise InvalidCase(f"`{name}` leads out of the scratch copy through a link")
    return path


def _project_files(project: str) -> tuple[str, ...]:
    argv = ["git", "-C", project, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        found = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        found = None
    if found is None or found.returncode != 0:
        return tuple(_walk(project, ""))
    return tuple(name for name in os.fsdecode(found.stdout).split("\0") if name)


def _walk(project: str, below: str) -> Iterator[str]:
    for folder, folders, names in os.walk(os.path.join(project, below)):
        folders[:] = [name for name in folders if name not in (".git", "worktrees", "__pycache__", "node_modules")]
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(folder, name), project)


def _copy(source: str, target: str) -> None:
    try:
        mode = os.lstat(source).st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISREG(mode):
            shutil.copy2(source, target)
    except (FileNotFoundError, FileExistsError):  # deleted, or listed twice through a link
        return


def _copy_repository(source: str, target: str) -> None:
    os.makedirs(os.path.join(target, "objects", "info"))
    for name in os.listdir(source):
        path = os.path.join(source, name)
        if name in _GIT_LEFT_OUT or name.endswith(".lock"):
            continue
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(target, name), symlinks=True)
        else:
            _copy(path, os.path.join(target, name))
    with open(os.path.join(target, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
        file.write(os.path.join(source, "objects") + "\n")
