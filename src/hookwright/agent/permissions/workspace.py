"""The directories of a session, and the files in them that are never changed without asking."""

from __future__ import annotations

import os
from itertools import pairwise

import msgspec

from hookwright.matching.conditions import Where

#: Folders and files through which an edit could take over the session, the repository or the user's shell.
_FOLDERS = frozenset(
    """
    .bash_completion.d .bashrc.d .claude .git .husky .idea .oh-my-zsh .vscode .zsh .zshrc.d
    """.split()  # noqa: SIM905 (a table)
)
_FILES = frozenset(
    """
    .bash_aliases .bash_completion .bash_env .bash_functions .bash_login .bash_logout .bash_profile .bashenv .bashrc
    .claude.json .cshrc .direnvrc .envrc .gitconfig .gitmodules .inputrc .kshrc .login .logout .mcp.json .mkshrc
    .profile .ripgreprc .tcshrc .xinitrc .xonshrc .xprofile .xsession .xsessionrc .zlogin .zlogout .zprofile .zshenv
    .zshrc config.fish direnvrc fish_variables microsoft.powershell_profile.ps1
    """.split()  # noqa: SIM905 (a table)
)
#: Shells that read every file in their folder below `.config`.
_CONFIGURED = frozenset({"direnv", "fish", "nushell", "xonsh"})
#: Names that an allow rule must contain to cover such a file.
SENSITIVE = _FOLDERS | _FILES | {".config/"}
#: What agents are expected to write below `.claude`.
_OPEN = frozenset({"commands", "skills", "worktrees"})


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """The directories where a session may read and, if it may write at all, write."""

    #: The directory the session started in.
    root: str
    home: str
    #: Directories added by the user.
    added: tuple[str, ...] = ()
    #: Directories that may only be read, such as the session's own folder.
    readable: tuple[str, ...] = ()

    def where(self, cwd: str) -> Where:
        """Return what paths in rules are relative to."""
        return Where(cwd=cwd, home=self.home, anchor=self.root, start=self.root)

    def writable(self, path: str) -> bool:
        """Return whether an absolute path, with links resolved, is in the workspace."""
        return _inside(path, (self.root, *self.added))

    def readable_path(self, path: str) -> bool:
        """Return whether a file may be read without asking."""
        return _inside(path, (self.root, *self.added, *self.readable))

    def sensitive(self, path: str) -> bool:
        """Return whether changing a file needs the user's approval, whatever a hook says."""
        return any(self._is_sensitive(spelling) for spelling in (os.path.normpath(path), real_path(path)))

    def _is_sensitive(self, path: str) -> bool:
        # A workspace below a folder with such a name is not sensitive as a whole.
        base = next((base for base in _both((self.root, *self.added)) if _below(path, base)), "/")
        names = [name.lower() for name in os.path.relpath(path, base).split(os.sep)]
        if names[-1] in _FILES or any(pair[0] == ".config" and pair[1] in _CONFIGURED for pair in pairwise(names)):
            return True
        found = next((place for place, name in enumerate(names) if name in _FOLDERS), None)
        if found is None:
            return False
        return not (names[found] == ".claude" and len(names) > found + 2 and names[found + 1] in _OPEN)


def _both(directories: tuple[str, ...]) -> list[str]:
    return [spelling for directory in directories for spelling in (os.path.normpath(directory), real_path(directory))]


def real_path(path: str) -> str:
    """Return a path with its links resolved, or the path itself if that cannot be done."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _inside(path: str, directories: tuple[str, ...]) -> bool:
    """Compare resolved paths; a link could point anywhere."""
    real = real_path(path)
    return any(_below(real, real_path(directory)) for directory in directories)
