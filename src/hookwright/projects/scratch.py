"""Scratch copies of a project: hooks may write in them, and the user's own files stay untouched."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator

from hookwright.errors import ConfigError
from hookwright.projects.folders import NOT_SEARCHED
from hookwright.projects.git import git_command

MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
#: Folders not copied where git does not say what to ignore: version control, caches, installed dependencies.
_GENERATED = NOT_SEARCHED | {"worktrees", "target"}
#: Parts of a repository not shared with a copy.
_NOT_COPIED = frozenset({"objects", "worktrees", "modules", "lfs", "hooks"})


class Mirror:
    """The files of a project that belong in a scratch copy, listed once for all copies.

    In a git repository these are the files git does not ignore, and all of `.claude`. The copy is an independent
    repository on the same branch and index that borrows the original's objects, also when the project is a linked
    worktree.
    """

    def __init__(self, project: str) -> None:
        self.project = project
        self._names: tuple[str, ...] | None = None

    def copy_to(self, folder: str) -> None:
        """Fill an empty folder with a copy; raise ConfigError when the project is too large."""
        for name in self.names():
            source, target = os.path.join(self.project, name), os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _copy(source, target)
        if os.path.lexists(os.path.join(self.project, ".git")):
            _copy_repository(self.project, os.path.join(folder, ".git"))

    def names(self) -> tuple[str, ...]:
        """Return the relative paths of the files; raise ConfigError when the project is too large."""
        if self._names is None:
            self._names = self._listed()
        return self._names

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
                raise ConfigError(
                    f"{self.project}: too large for a scratch copy (more than {MAX_FILES:,} files or "
                    f"{MAX_BYTES >> 20} MB). Add large files to .gitignore, or start in a smaller project."
                )
        return tuple(names)


def _project_files(project: str) -> tuple[str, ...]:
    listed = _git(project, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return tuple(_walk(project, ""))
    return tuple(name for name in listed.split("\0") if name)


def _git(project: str, *arguments: str) -> str | None:
    """Return the output of a git command, or None where git is missing or fails."""
    argv = git_command(project, *arguments)
    try:
        done = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


def _walk(project: str, below: str) -> Iterator[str]:
    for folder, folders, names in os.walk(os.path.join(project, below)):
        folders[:] = [name for name in folders if name not in _GENERATED]
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


def _copy_repository(project: str, target: str) -> None:
    """Copy the repository of a project; a linked worktree adds its own HEAD and index to the shared part."""
    shared = own = os.path.join(project, ".git")
    if not os.path.isdir(own):
        found = _git(project, "rev-parse", "--git-common-dir", "--git-dir")
        if found is None:
            return
        shared, own = (os.path.join(project, line) for line in found.splitlines())
    os.makedirs(os.path.join(target, "objects", "info"))
    for folder in dict.fromkeys((shared, own)):
        _copy_git_files(folder, target)
    with open(os.path.join(target, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
        file.write(os.path.join(shared, "objects") + "\n")


def _copy_git_files(source: str, target: str) -> None:
    for name in os.listdir(source):
        path, copy = os.path.join(source, name), os.path.join(target, name)
        if name in _NOT_COPIED or name in ("commondir", "gitdir") or name.endswith(".lock"):
            continue
        if os.path.isdir(path):
            shutil.copytree(path, copy, symlinks=True, dirs_exist_ok=True)
        else:
            if os.path.lexists(copy):
                os.unlink(copy)
            _copy(path, copy)
