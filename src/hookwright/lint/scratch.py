"""A throw-away copy of a project for hooks to run in."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from hookwright.errors import ConfigError
from hookwright.protocol.samples import tool_input, tool_names

#: Folders that are made from others, or too large to copy.
_LEFT_OUT = frozenset([".git", "node_modules", ".venv", "venv", "__pycache__", "target", ".mypy_cache", ".ruff_cache"])
_MAX_FILES = 20_000
_MAX_BYTES = 200 * 1024 * 1024


class Scratch(msgspec.Struct, frozen=True):
    """The copy, with a home and an environment of its own."""

    project: str
    env: Mapping[str, str]


@contextmanager
def scratch_copy(project: str, env: Mapping[str, str]) -> Iterator[Scratch]:
    """Copy a project for as long as it is needed; raise ConfigError when it is too large."""
    with tempfile.TemporaryDirectory(prefix="hookwright-check-") as folder:
        copy, home, temporary = (os.path.join(folder, name) for name in ("project", "home", "tmp"))
        os.makedirs(home)
        os.makedirs(temporary)
        _copy(project, copy)
        _sample_files(copy)
        inner = {
            **env,
            "HOME": home,
            "TMPDIR": temporary,
            "XDG_STATE_HOME": home,
            "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        }
        yield Scratch(os.path.realpath(copy), inner)


def _copy(source: str, target: str) -> None:
    files = size = 0

    def left_out(folder: str, names: list[str]) -> set[str]:
        nonlocal files, size
        kept = [name for name in names if name not in _LEFT_OUT]
        for name in kept:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.isfile(path):
                files, size = files + 1, size + os.path.getsize(path)
        if files > _MAX_FILES or size > _MAX_BYTES:
            raise ConfigError(f"{source}: too large to copy; --run takes {_MAX_FILES:,} files and 200 MB at most.")
        special = {name for name in kept if not _ordinary(os.path.join(folder, name))}
        return {name for name in names if name in _LEFT_OUT} | special

    shutil.copytree(source, target, symlinks=True, ignore=left_out)


def _ordinary(path: str) -> bool:
    return os.path.islink(path) or os.path.isfile(path) or os.path.isdir(path)


def _sample_files(project: str) -> None:
    """Make the files that sample events speak of, where the project has none."""
    for tool in tool_names():
        given = tool_input(tool, project) or {}
        path = given.get("file_path") or given.get("notebook_path")
        if isinstance(path, str) and not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write("print(1)\n" if path.endswith(".py") else "{}\n")
