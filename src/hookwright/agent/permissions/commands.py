"""Commands that need no rule: those that only read, and in `acceptEdits` those that only create, move and remove files.

Law: a command passes only if every word of it is understood. Every program and every option is in a table; no word
depends on the run (no glob, no expansion); nothing runs a command that comes from elsewhere; `cd` is alone; every
path, with its links resolved, is in the workspace. In doubt, the user is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hookwright.agent.permissions.options import (
    NO_OPERANDS,
    PRINT,
    READ_PATHS,
    SEARCH,
    TALK,
    WORK,
    CommandLine,
    find_paths,
    options,
    split,
)
from hookwright.agent.permissions.repository import reading_git
from hookwright.agent.permissions.workspace import Workspace, real_path
from hookwright.matching.shell import Analysis, Redirection, SubCommand, analyse_bash

_PRINTED_LINES = re.compile(r"[0-9$]+(,[0-9$]+)?p")
_NAMES_OF_COMMANDS = options("vV")
#: How many files of a folder are looked at before it is copied, moved or removed without a question.
_MOST_FILES = 20_000


def only_reads(command: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a command only reads files of the workspace."""
    analysis = analyse_bash(command)
    return (
        _is_understood(analysis)
        and all(_reads(part, cwd, workspace) for part in analysis.commands)
        and all(_only_input(found, cwd, workspace) for found in _redirections(analysis))
    )


def only_reads_there(command: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a command changes no file: it only reads, or goes to another directory and only reads there."""
    analysis = analyse_bash(command)
    reading = [part for part in analysis.commands if part.name != "cd"]
    return (
        bool(reading)
        and _is_plain(analysis)
        and all(_reads(part, cwd, workspace) for part in reading)
        and all(_only_input(found, cwd, workspace) for found in _redirections(analysis))
    )


def only_moves_files(command: str, cwd: str, workspace: Workspace) -> bool:
    """Return whether a command only reads, creates, copies, moves and removes files of the workspace."""
    analysis = analyse_bash(command)
    return (
        _is_understood(analysis)
        and not (len(analysis.commands) > 1 and _climbs(analysis))
        and all(_reads(part, cwd, workspace) or _works(part, cwd, workspace) for part in analysis.commands)
        and all(_may_redirect(found, cwd, workspace) for found in _redirections(analysis))
    )


def _redirections(analysis: Analysis) -> tuple[Redirection, ...]:
    return (*analysis.redirections, *(found for part in analysis.commands for found in part.redirections))


def _is_understood(analysis: Analysis) -> bool:
    moves = any(part.name in ("cd", "pushd", "popd") for part in analysis.commands)
    return _is_plain(analysis) and (len(analysis.commands) == 1 or not moves)


def _is_plain(analysis: Analysis) -> bool:
    """Return whether every word of a command is known, and every program it starts."""
    if analysis.problem is not None or analysis.expands or not analysis.commands:
        return False
    if analysis.started or analysis.may_start or analysis.hidden is not None:
        return False
    words = [word for part in analysis.commands for word in part.words]
    words += [found.target for found in _redirections(analysis)]
    named = all(part.name is not None and not part.assignments for part in analysis.commands)
    return named and all(word.known for word in words)


def _climbs(analysis: Analysis) -> bool:
    """Return whether a path has `..` in it, which leads elsewhere once a part of the path was moved."""
    words = [word.shape for part in analysis.commands for word in part.core]
    words += [found.target.shape for found in _redirections(analysis)]
    return any(".." in word.split("/") for word in words)


# ── reading ─────────────────────────────────────────────────────────────────


def _reads(part: SubCommand, cwd: str, workspace: Workspace) -> bool:
    """Return whether a program only reads, and only in the workspace."""
    name, words = part.name or "", [word.shape for word in part.core[1:]]
    if any(word.raw.startswith("~") for word in part.core[1:]) and name not in PRINT:
        return False
    paths = _paths_read(name, words, cwd)
    if name == "diff" and any(os.path.isdir(os.path.join(cwd, path)) for path in paths or ()):
        return False  # it would follow the links in a folder
    return paths is not None and all(path == "-" or _is_readable(path, cwd, workspace) for path in paths)


def _paths_read(name: str, words: Sequence[str], cwd: str) -> Sequence[str] | None:
    """Return the paths that a program in the tables reads; None if it is not there, or a word of it is not."""
    if name in PRINT:
        return ()
    if name == "find":
        return find_paths(words)
    if name == "cd":
        return words if len(words) == 1 and not words[0].startswith("-") else None
    if name == "printf":
        return () if words and not words[0].startswith("-") else None
    if name == "sed":
        return words[2:] if words[:1] == ["-n"] and _is_print(words[1:]) else None
    if name == "command":
        names = split(words, _NAMES_OF_COMMANDS)
        return () if names is not None and names.given else None
    if name == "git":
        line = reading_git(words, cwd)
        return None if line is None else line.operands
    return _in_tables(name, words)


def _is_print(words: Sequence[str]) -> bool:
    return bool(words) and _PRINTED_LINES.fullmatch(words[0]) is not None and not any(w[:1] == "-" for w in words)


def _in_tables(name: str, words: Sequence[str]) -> Sequence[str] | None:
    for table in (READ_PATHS, SEARCH, TALK):
        line = split(words, table[name]) if name in table else None
        if line is None:
            continue
        if table is TALK:
            return None if name in NO_OPERANDS and line.operands else ()
        return _searched(name, line) if table is SEARCH else line.operands
    return None


def _searched(name: str, line: CommandLine) -> Sequence[str]:
    """Return the paths that a search reads; without any it reads its input, or the working directory."""
    patterned = line.given & {"e", "regexp"} or "files" in line.given
    paths = line.operands if patterned else line.operands[1:]
    recursive = name == "rg" or line.given & {"r", "recursive"}
    return paths or (["."] if recursive else [])


def _is_readable(word: str, cwd: str, workspace: Workspace) -> bool:
    return workspace.readable_path(os.path.join(cwd, word))


def _only_input(found: Redirection, cwd: str, workspace: Workspace) -> bool:
    target = found.target
    if found.writes:
        return target.shape == "/dev/null" and found.operator != "<>"
    return not target.raw.startswith("~") and _is_readable(target.shape, cwd, workspace)


# ── moving files about ──────────────────────────────────────────────────────


def _works(part: SubCommand, cwd: str, workspace: Workspace) -> bool:
    """Return whether a program only creates, copies, moves or removes files of the workspace that are not sensitive."""
    name = part.name or ""
    line = split([word.shape for word in part.core[1:]], WORK[name]) if name in WORK else None
    if line is None or any(word.raw.startswith("~") for word in part.core[1:]):
        return False
    paths = [os.path.join(cwd, operand) for operand in line.operands]
    if name in ("cp", "mv"):
        if any(os.path.basename(path.rstrip("/")) in (".", "..") for path in paths):
            return False
        paths += _destinations(paths)
        if name == "cp" and any(os.path.isdir(path) and os.path.lexists(to) for path, to in _pairs(paths, line)):
            return False
    taken = paths if name == "rm" else paths[: len(line.operands) - 1] if name in ("cp", "mv") else []
    return all(_may_write(path, workspace) for path in paths) and all(_is_plain_tree(path, workspace) for path in taken)


def _destinations(paths: Sequence[str]) -> list[str]:
    """Return where files land that are copied or moved into a folder."""
    if len(paths) < 2 or not os.path.isdir(paths[-1]):
        return []
    return [os.path.join(paths[-1], os.path.basename(os.path.normpath(path))) for path in paths[:-1]]


def _pairs(paths: Sequence[str], line: CommandLine) -> list[tuple[str, str]]:
    """Return each source with the path that it becomes."""
    count = len(line.operands)
    landed = paths[count:]
    return [(path, landed[at] if landed else paths[count - 1]) for at, path in enumerate(paths[: count - 1])]


def _is_plain_tree(path: str, workspace: Workspace) -> bool:
    """Return whether a folder contains no link and no sensitive file, as far as that can be seen in a short time."""
    if not os.path.isdir(path):
        return True
    seen = 0
    for folder, folders, files in os.walk(path):
        seen += len(folders) + len(files)
        if seen > _MOST_FILES:
            return False
        for name in (*folders, *files):
            inside = os.path.join(folder, name)
            if os.path.islink(inside) or workspace.sensitive(inside):
                return False
    return True


def _may_redirect(found: Redirection, cwd: str, workspace: Workspace) -> bool:
    if not found.writes:
        return _only_input(found, cwd, workspace)
    target = found.target
    if target.shape == "/dev/null":
        return True
    return not target.raw.startswith("~") and _may_write(os.path.join(cwd, target.shape), workspace)


def _may_write(path: str, workspace: Workspace) -> bool:
    # The workspace itself must not be moved or removed.
    is_root = real_path(path) == real_path(workspace.root)
    return not is_root and workspace.writable(path) and not workspace.sensitive(path)
