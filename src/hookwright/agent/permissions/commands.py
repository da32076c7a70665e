"""Commands that need no rule: those that only read, and in `acceptEdits` those that only create, move and remove files.

Law: a command passes only if all of it is understood: every program is in the table, no part depends on the run time,
and every word that may be a path stays in the workspace. In doubt, the user is asked.
"""

from __future__ import annotations

import os
import re

from hookwright.agent.permissions.workspace import Workspace
from hookwright.matching.shell import Analysis, Redirection, SubCommand, analyse_bash
from hookwright.matching.shell.commands import UNKNOWN

_READING = frozenset(
    ["cat", "cd", "diff", "du", "echo", "find", "grep", "head", "ls", "pwd", "stat", "tail", "wc", "which"]
)
_GIT_READING = frozenset(["blame", "describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"])
_FILE_WORK = frozenset(["cp", "mkdir", "mv", "rm", "rmdir", "touch"])
#: Programs whose arguments are not paths.
_WORDS = frozenset(["echo", "which"])
#: Options that make these programs do more than read.
_ACTING = {
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)"),
    "git": re.compile(r"--(output|ext-diff|textconv|open-files-in-pager|no-index)(=.*)?|-O.*"),
}


def only_reads(command: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a command only reads files of the workspace."""
    analysis = analyse_bash(command)
    return (
        _understood(analysis)
        and all(_reads(part, cwd, workspace) for part in analysis.commands)
        and (
            all(not found.writes or found.target.shape == "/dev/null" for found in _redirections(analysis))
            and all(found.writes or _stays(found.target.shape, cwd, workspace) for found in _redirections(analysis))
        )
    )


def only_moves_files(command: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a command only reads, creates, copies, moves and removes files of the workspace."""
    analysis = analyse_bash(command)
    return (
        _understood(analysis)
        and all(_reads(part, cwd, workspace) or _works(part, cwd, workspace) for part in analysis.commands)
        and all(_may_redirect(found, cwd, workspace) for found in _redirections(analysis))
    )


def _redirections(analysis: Analysis) -> tuple[Redirection, ...]:
    return (*analysis.redirections, *(found for part in analysis.commands for found in part.redirections))


def _understood(analysis: Analysis) -> bool:
    if analysis.problem is not None or analysis.expands or not analysis.commands:
        return False
    if any(part.assignments or part.name is None for part in analysis.commands):
        return False
    if not all(word.known for part in analysis.commands for word in part.core):
        return False
    # After a `cd`, a path with `..` is relative to another directory than it seems.
    climbs = any(".." in word.shape.split("/") for part in analysis.commands for word in part.core[1:])
    return not climbs or all(part.name != "cd" for part in analysis.commands)


def _reads(part: SubCommand, cwd: str, workspace: Workspace) -> bool:
    name, words = part.name, [word.shape for word in part.core[1:]]
    if name == "git":
        known = bool(words) and words[0] in _GIT_READING
        words = words[1:]
    else:
        known = name in _READING
    if not known or any(name in _ACTING and _ACTING[name].fullmatch(word) for word in words if name):
        return False
    return name in _WORDS or all(_stays(word, cwd, workspace) for word in words)


def _works(part: SubCommand, cwd: str, workspace: Workspace) -> bool:
    words = [word.shape for word in part.core[1:]]
    return part.name in _FILE_WORK and all(_may_write(word, cwd, workspace) for word in words)


def _may_redirect(found: Redirection, cwd: str, workspace: Workspace) -> bool:
    target = found.target.shape
    if not found.writes:
        return _stays(target, cwd, workspace)
    return target == "/dev/null" or _may_write(target, cwd, workspace)


def _stays(word: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a word, if it is a path, may be read."""
    if word.startswith("-"):
        return "/" not in word and "~" not in word
    if word.startswith("~") or UNKNOWN in word:
        return False
    return workspace.readable_path(os.path.join(cwd, word))


def _may_write(word: str, cwd: str, workspace: Workspace) -> bool:
    if word.startswith("-"):
        return "/" not in word and "~" not in word
    if word.startswith("~") or UNKNOWN in word:
        return False
    path = os.path.normpath(os.path.join(cwd, word))
    # The workspace itself must not be moved or removed.
    return path != os.path.normpath(workspace.root) and workspace.writable(path) and not workspace.sensitive(path)
