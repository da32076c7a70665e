"""`hookwright daemon`: show, stop or start the process that answers `--fast` and the C client."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time

from hookwright import cli
from hookwright.errors import ConfigError
from hookwright.resident.client import NoDaemon, ask, connect
from hookwright.resident.messages import Request
from hookwright.resident.places import program, socket_path
from hookwright.resident.start import is_locked, lock_path
from hookwright.text import say

RUNNING, ABSENT = 0, 1
#: Seconds for a daemon to end by itself, and after that by SIGTERM.
_PATIENCE = 3.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "action", choices=("status", "stop", "start"), metavar="ACTION", help="status, stop, or start (which stays)"
    )
    parser.add_argument(
        "--idle",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="with start: end after this time without a request (default: 600)",
    )
    parser.epilog = (
        "The daemon is started by `--fast` and by hookwright-client when they need it. Exit status of `status`: 0 if "
        "it is running, 1 if not."
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked."""
    path = socket_path(os.environ, program())
    if path is None:
        raise ConfigError("there is no place for the socket: set XDG_RUNTIME_DIR or HOME to a short absolute path")
    match args.action:
        case "status":
            return _status(path)
        case "stop":
            return _stop(path)
        case _:
            return _start(path, args.idle)


def _status(path: str) -> int:
    try:
        with connect(path) as connection:
            reply = ask(connection, _request("status"))
    except NoDaemon as error:
        wedged = f"; it holds {lock_path(path)}, so `hookwright daemon stop` ends it" if is_locked(path) else ""
        say([f"no daemon answers: {error}{wedged}"], sys.stdout)
        return ABSENT
    say([reply.stdout.decode("utf-8", "replace").rstrip()], sys.stdout)
    return RUNNING


def _request(word: str) -> Request:
    return Request((word,), "/", {}, b"")


def _stop(path: str) -> int:
    if not is_locked(path):
        say(["no daemon is running"], sys.stdout)
        return RUNNING
    with contextlib.suppress(NoDaemon), connect(path) as connection:
        ask(connection, _request("stop"))
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            os.kill(_pid(path), number)
            os.kill(_pid(path), signal.SIGCONT)
        until = time.monotonic() + _PATIENCE
        while is_locked(path) and time.monotonic() < until:
            time.sleep(0.02)
        if not is_locked(path):
            say(["the daemon has ended"], sys.stdout)
            return RUNNING
    raise ConfigError(f"the daemon does not end; it holds {lock_path(path)}")


def _pid(path: str) -> int:
    """Return the process that holds the lock, which wrote its pid into the file."""
    try:
        with open(lock_path(path)) as file:
            return int(file.read())
    except (OSError, ValueError):
        raise ConfigError(f"{lock_path(path)} does not name a process") from None


def _start(path: str, idle: float) -> int:
    if is_locked(path):
        return RUNNING
    try:
        asyncio.run(_serve(path, idle))
    except BlockingIOError:  # another one was quicker
        pass
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return RUNNING


async def _serve(path: str, idle: float) -> None:
    from hookwright.cli.commands import fire  # noqa: F401 - loaded for the forks that run it
    from hookwright.cli.fast.answers import Answers  # the engine; a second daemon leaves before it is needed
    from hookwright.resident.server import Daemon
    from hookwright.warm import executor  # noqa: F401 - loaded before the modules in use are noted

    os.environ.clear()  # hooks see their caller's environment and nothing of ours
    os.chdir("/")
    answers = Answers(cli.main)
    daemons: list[Daemon] = []
    daemons.append(Daemon(path, answers.commands(lambda: daemons[0]), idle))
    try:
        await daemons[0].serve()
    finally:
        await answers.aclose()
