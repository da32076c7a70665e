"""The place where `check --run` tries hooks: a scratch copy of the project, an empty home and the sample files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from hookwright.projects.scratch import Mirror
from hookwright.protocol.samples import tool_input, tool_names

#: Settings of git that decide what a hook's git commands do.
_GIT_SETTINGS = (".gitconfig", ".config/git/config")


class TrialPlace(msgspec.Struct, frozen=True):
    """A project that hooks may change, and the environment they run in."""

    project: str
    env: Mapping[str, str]


@contextmanager
def trial_place(project: str, env: Mapping[str, str]) -> Iterator[TrialPlace]:
    """Copy a project until the block ends; raise ConfigError when it is too large."""
    with tempfile.TemporaryDirectory(prefix="hookwright-check-", ignore_cleanup_errors=True) as folder:
        copy, home, temporary = (os.path.join(folder, name) for name in ("project", "home", "tmp"))
        for made in (copy, home, temporary):
            os.makedirs(made)
        Mirror(project).copy_to(copy)
        _add_sample_files(copy)
        _copy_git_settings(env.get("HOME", ""), home)
        inner = {
            **env,
            "HOME": home,
            "TMPDIR": temporary,
            "XDG_STATE_HOME": home,
            "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        }
        yield TrialPlace(os.path.realpath(copy), inner)


def _copy_git_settings(home: str, target: str) -> None:
    """Copy the user's git settings, so that git behaves as usual and `git config --global` changes only the copy."""
    for name in _GIT_SETTINGS:
        source, copy = os.path.join(home, name), os.path.join(target, name)
        if home and os.path.isfile(source):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(source, copy)


def _add_sample_files(project: str) -> None:
    """Create the files named by sample events, where the project does not have them."""
    for tool in tool_names():
        given = tool_input(tool, project) or {}
        path = given.get("file_path") or given.get("notebook_path")
        if isinstance(path, str) and not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write("print(1)\n" if path.endswith(".py") else "{}\n")
