"""Where the files of an agent are on this machine."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, FileScope, HookFile, Layout


def found_files(dialect: Dialect, around: Surroundings, project: str) -> Iterator[tuple[HookFile, str]]:
    """Yield every file of an agent that is there, in the agent's order, each path once.

    Law: a symbolic link is a file of its own name, also one that leads nowhere; a project that is the home directory
    does not read the user's files a second time.
    """
    seen: set[str] = set()
    for declared in dialect.files:
        for path in sorted(_expanded(declared, around, project)):
            if os.path.lexists(path) and path not in seen:
                seen.add(path)
                yield declared, path


def _expanded(declared: HookFile, around: Surroundings, project: str) -> list[str]:
    path = declared.path
    named = around.env.get(declared.folder_variable) if declared.folder_variable else None
    if named and path.startswith("~/"):
        # The variable names the first folder below the home directory.
        path = os.path.join(os.path.abspath(os.path.join(around.cwd, named)), *path.split("/")[2:])
    elif path.startswith("~/"):
        path = os.path.join(around.home, path[2:])
    full = os.path.join(project, path)
    if not glob.has_magic(path):
        return [full]
    head = full[: len(full) - len(path)] if not os.path.isabs(path) else ""
    return glob.glob(glob.escape(head) + full[len(head) :])


def declared_as(dialect: Dialect, path: str, around: Surroundings) -> HookFile | None:
    """Return which of an agent's files a path is, by its name and its folder; None if it is none of them."""
    full = os.path.abspath(os.path.join(around.cwd, path))
    for declared in sorted(dialect.files, key=lambda item: item.scope is not FileScope.PROJECT):
        if declared.layout is Layout.CODE:
            continue
        if full in _expanded(declared, around, around.cwd):
            return declared
        tail = declared.path.removeprefix("~/").lstrip("/").split("/")
        mine = full.split(os.sep)[-len(tail) :]
        if len(mine) == len(tail) and all(_alike(a, b) for a, b in zip(mine, tail, strict=True)):
            return declared
    return None


def _alike(name: str, pattern: str) -> bool:
    import fnmatch

    return fnmatch.fnmatchcase(name, pattern)
