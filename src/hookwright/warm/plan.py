"""Decide whether a command is a plain Python hook, and find its interpreter and script."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

import msgspec

from hookwright.processes.spawn import Command
from hookwright.protocol.handlers import CommandHandler
from hookwright.warm.words import split

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
#: Options of the interpreter that do not change how it starts.
_OPTIONS = frozenset({"-u", "-B"})
#: The exit status of a fork that cannot run its script; `start/sitecustomize.py`, which imports nothing, has it also.
UNUSABLE = 86
_SHEBANG = re.compile(rb"#![ \t]*(?:(?:/usr)?/bin/env[ \t]+(?P<name>[^\s/]+)|(?P<path>/[^\s]+))[ \t]*\n")


class WarmPlan(msgspec.Struct, frozen=True):
    """A Python hook for which an interpreter can be held ready."""

    #: The interpreter as named in the command, and its file.
    interpreter: str
    program: str
    #: The interpreter's own command line, as `sys.orig_argv` will show it.
    argv: tuple[str, ...]
    #: The script as named there.
    script: str
    #: Whether the start depends on the working directory.
    local: bool
    #: Whether a shell starts it, with its own changes to the environment.
    shell: bool


class Unusual(msgspec.Struct, frozen=True):
    """Why a command is started the ordinary way."""

    reason: str


def plan(handler: CommandHandler, command: Command) -> WarmPlan | Unusual:
    """Return how to hold a command ready, or why that is not possible."""
    words = _words(handler, command)
    if isinstance(words, Unusual):
        return words
    lead = _lead(words, command)
    if isinstance(lead, Unusual):
        return lead
    program = find_program(lead[0], command.env)
    if program is None:
        return Unusual(f"{lead[0]} was not found in an absolute PATH folder")
    if not _is_binary(program):
        return Unusual(f"{program} is a script, not an interpreter")
    script = next((word for word in lead[1:] if word not in _OPTIONS), "")
    if not script or script.startswith("-"):
        return Unusual("it does not have the plain form `python3 script.py`")
    if not _is_file(os.path.join(command.cwd, script)):
        return Unusual(f"{script} is not a file")
    if "\n" in script or any("\n" in value for name, value in command.env.items() if name == "PYTHONPATH"):
        return Unusual("a path has a line break")
    local = not os.path.isabs(script) or _relative(command.env.get("PYTHONPATH", ""))
    return WarmPlan(lead[0], program, lead, script, local, handler.args is None)


def _words(handler: CommandHandler, command: Command) -> tuple[str, ...] | Unusual:
    if handler.args is not None:
        return command.argv
    if command.argv[:2] != ("/bin/sh", "-c") or command.argv[2] != handler.command:
        return Unusual("it is not started by plain /bin/sh")
    if any(name.startswith("BASH_FUNC_") for name in command.env):
        return Unusual("the environment defines shell functions")
    words = split(handler.command, command.env)
    return words if words is not None else Unusual("the command needs a shell")


def _lead(words: tuple[str, ...], command: Command) -> tuple[str, ...] | Unusual:
    """Put the interpreter first: the command names it, or the first line of the script does."""
    if _PYTHON.fullmatch(os.path.basename(words[0])):
        return words
    path = words[0] if "/" in words[0] else find_program(words[0], command.env)
    if path is None:
        return Unusual(f"{words[0]} was not found in an absolute PATH folder")
    place = os.path.join(command.cwd, path)
    interpreter = _shebang(place)
    if interpreter is None or not _PYTHON.fullmatch(os.path.basename(interpreter)):
        return Unusual("it is neither python nor a script whose first line is #!/usr/bin/env python3")
    return (interpreter, path, *words[1:])


def _shebang(path: str) -> str | None:
    if not _is_file(path) or not os.access(path, os.X_OK):
        return None
    try:
        with open(path, "rb") as file:
            found = _SHEBANG.match(file.read(256))
    except OSError:
        return None
    return os.fsdecode(found["name"] or found["path"]) if found else None


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """Find a program as the shell does; None if it is missing or its place depends on the working directory."""
    if "/" in name:
        return name if os.path.isabs(name) and os.access(name, os.X_OK) else None
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(folder):
            return None
        path = os.path.join(folder, name)
        if _is_file(path) and os.access(path, os.X_OK):
            return path
    return None


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_binary(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _relative(paths: str) -> bool:
    return bool(paths) and not all(map(os.path.isabs, paths.split(os.pathsep)))
