"""Start a program in its own session with three given descriptors, and explain why when that fails."""

from __future__ import annotations

import errno
import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NoReturn

import msgspec

from hookwright.processes.exits import reap

# `Popen` spends 60 µs of Python on each start, a tenth of the life of `sh -c true`. The call beneath it is private
# and changes its parameters, so it is used only where it was tested; elsewhere `Popen` does the same, slower.
_DIRECT = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 13)
if _DIRECT:
    from _posixsubprocess import fork_exec


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A program, its working directory, its environment and its input."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes = b""
    #: `NAME=value` of a variable that overrides `env` and that no other process has; processes that left the group
    #: are found by it. It has no surrogates.
    mark: str = ""


class NotStarted(msgspec.Struct, frozen=True):
    """The process never ran; `blame` says whose fault it was."""

    blame: Literal["program", "cwd", "system"]
    message: str
    errno: int | None = None


def spawn(command: Command, stdin: int, stdout: int, stderr: int) -> int:
    """Start the program as leader of a new session and return its pid; raise OSError or ValueError if it cannot run."""
    if not _DIRECT:
        return _spawn_popen(command, stdin, stdout, stderr)
    # Beyond the standard streams even if the host closed its own: the given descriptors took the low numbers.
    status_read, status_write = os.pipe()
    try:
        pid = _fork_exec(command, (stdin, stdout, stderr), (status_read, status_write))
        os.close(status_write)
        status_write = -1
        failure = piece = os.read(status_read, 4096)  # empty when exec closed the other end
        while piece:
            piece = os.read(status_read, 4096)
            failure += piece
    finally:
        os.close(status_read)
        if status_write >= 0:
            os.close(status_write)
    if failure:
        _raise(command, pid, failure)
    return pid


def _fork_exec(command: Command, streams: tuple[int, int, int], status: tuple[int, int]) -> int:
    stdin, stdout, stderr = streams
    program = command.argv[0]
    sys.audit("subprocess.Popen", program, command.argv, command.cwd, command.env)
    return fork_exec(
        command.argv,
        _candidates(program, command.env.get("PATH", os.defpath)),
        True,  # close all other descriptors
        (status[1],),
        command.cwd,
        _block(command.env, command.mark),
        *(stdin, -1, -1, stdout, -1, stderr),
        *status,
        True,  # restore SIGPIPE and SIGXFSZ, which Python ignores
        True,  # setsid
        -1,  # process group: the session's
        None,  # gid
        None,  # groups
        None,  # uid
        -1,  # umask
        None,  # type: ignore[arg-type]  # preexec_fn would forbid vfork
        getattr(subprocess, "_USE_VFORK", True),  # the documented way for a host to forbid vfork
    )


def _spawn_popen(command: Command, stdin: int, stdout: int, stderr: int) -> int:
    process = subprocess.Popen(
        command.argv,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=command.cwd,
        env=with_mark(command),
        start_new_session=True,
    )
    process.returncode = 0  # we reap it: Popen must neither warn nor wait for it
    return process.pid


def with_mark(command: Command) -> dict[str, str]:
    """Write the whole environment of a command, its mark included."""
    name, _, value = command.mark.partition("=")
    return {**command.env, name: value} if name else dict(command.env)


def _block(env: Mapping[str, str], mark: str) -> list[bytes]:
    """Encode an environment; most starts have the same as the one before, and encoding costs as much as the pipes."""
    global _last_block  # a memo of a pure function, swapped as a whole
    name = mark.partition("=")[0]
    known, known_name, block = _last_block
    if env is not known or name != known_name:
        block = [_entry(key, value) for key, value in env.items() if key != name]
        if isinstance(env, MappingProxyType):  # it never changes, so its identity is enough to recognise it
            _last_block = (env, name, block)
    return [*block, mark.encode()] if mark else block


_last_block: tuple[Mapping[str, str], str, list[bytes]] = ({}, "", [])


@functools.lru_cache(maxsize=512)
def _entry(name: str, value: str) -> bytes:
    if "=" in name:
        raise ValueError(f"the environment variable name {name!r} contains '='")
    return os.fsencode(f"{name}={value}")


@functools.lru_cache(maxsize=256)
def _candidates(program: str, path: str) -> tuple[bytes, ...]:
    if "/" in program:
        return (os.fsencode(program),)
    return tuple(os.fsencode(os.path.join(directory, program)) for directory in path.split(os.pathsep))


def _raise(command: Command, pid: int, failure: bytes) -> NoReturn:
    reap(pid, 0)
    _, number, step = failure.split(b":", 2)
    code = int(number, 16)
    # Every step of the child before exec is named "noexec"; only chdir can fail there.
    raise OSError(code, os.strerror(code), command.cwd if step.startswith(b"noexec") else command.argv[0])


_WAYS_OUT = {
    errno.EMFILE: "; close files or raise the limit (ulimit -n)",
    errno.EAGAIN: "; end processes or raise the limit (ulimit -u)",
}


def explain(command: Command, problem: OSError | ValueError) -> NotStarted:
    """Explain which part of the command kept it from starting, and what to do about it."""
    if not isinstance(problem, OSError):
        return NotStarted("program", f"{command.argv[0]!r} cannot be started: {problem}")
    if problem.filename is None:
        way_out = _WAYS_OUT.get(problem.errno or 0, "")
        return NotStarted("system", f"no process can be started: {problem.strerror}{way_out}", problem.errno)
    usable = os.path.isdir(command.cwd) and os.access(command.cwd, os.X_OK)
    if problem.filename == command.cwd and not usable:
        return NotStarted("cwd", f"working directory {command.cwd!r}: {problem.strerror}", problem.errno)
    code = _meant(command, problem)
    return NotStarted("program", _program_message(command, code), code)


def _meant(command: Command, problem: OSError) -> int:
    """Return why the program cannot be started.

    The search through PATH reports EACCES when any of its directories may not be read, also if the program is in none
    of the others. Only a file that is there and cannot be executed is meant by that.
    """
    program = command.argv[0]
    if problem.errno != errno.EACCES or "/" in program:
        return problem.errno or 0
    folders = os.get_exec_path(command.env)
    return errno.EACCES if any(os.path.lexists(os.path.join(folder, program)) for folder in folders) else errno.ENOENT


def _program_message(command: Command, code: int) -> str:
    program = command.argv[0]
    path = os.path.join(command.cwd, program)
    match code:
        case errno.ENOENT if "/" in program and os.path.exists(path):
            return f"{program!r} starts with {_first_line(path)!r}, and no such interpreter exists"
        case errno.ENOENT if "/" not in program:
            return f"{program!r} was not found in PATH"
        case errno.ENOENT:
            return f"{program!r} does not exist"
        case errno.EACCES if os.path.isdir(path):
            return f"{program!r} is a directory"
        case errno.EACCES if "/" not in program:
            found = (os.path.join(folder, program) for folder in os.get_exec_path(command.env))
            place = next(place for place in found if os.path.lexists(place))
            return f"{program!r} is not executable; run: chmod +x {place}"
        case errno.EACCES:
            return f"{program!r} is not executable; run: chmod +x {program}"
        case errno.ENOEXEC:
            return f"{program!r} is not a program; a script needs a first line such as #!/bin/sh"
        case errno.E2BIG:
            return f"{program!r}: its arguments and environment are too long for the system"
        case _:
            return f"{program!r}: {os.strerror(code)}"


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.readline(200).rstrip(b"\n").decode("utf-8", "backslashreplace")
    except OSError:
        return ""
