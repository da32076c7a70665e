"""`hookwright daemon`: show, stop or start the process that answers `--fast` and the C client."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable

from hookwright import cli
from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.resident.client import NoDaemon, ask, connect
from hookwright.resident.messages import Request
from hookwright.resident.places import program, socket_path
from hookwright.resident.start import is_locked, lock_path
from hookwright.text import plural, say

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
    parser.add_argument("--json", action="store_true", help="with status: print one JSON object")
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
            return _status(path, _as_json if args.json else _as_text)
        case "stop":
            return _stop(path)
        case _:
            return _start(path, args.idle)


def _status(path: str, form: Callable[[dict[str, Json]], str]) -> int:
    try:
        with connect(path) as connection:
            facts = json.loads(ask(connection, _request("status")).stdout)
    except NoDaemon as error:
        wedged = f"; one holds {lock_path(path)}: end it with `hookwright daemon stop`" if is_locked(path) else ""
        say([form({"problem": f"no daemon answers: {error}{wedged}"})], sys.stdout)
        return ABSENT
    say([form(facts)], sys.stdout)
    return RUNNING


def _as_json(facts: dict[str, Json]) -> str:
    return json.dumps(facts)


def _as_text(facts: dict[str, Json]) -> str:
    if "problem" in facts:
        return str(facts["problem"])
    counts = f"{plural(facts['answered'], 'request')} answered, {facts['running']} running"
    return f"process {facts['pid']}, version {facts['version']}, {counts}, at {facts['socket']}"


def _request(word: str) -> Request:
    return Request((word,), "/", {}, b"")


def _stop(path: str) -> int:
    if not is_locked(path):
        say(["no daemon is running"], sys.stdout)
        return RUNNING
    try:
        with connect(path) as connection:
            ask(connection, _request("stop"))
        ended = _ends(path)
    except NoDaemon:
        ended = False
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not ended:
            os.kill(_pid(path), number)
            os.kill(_pid(path), signal.SIGCONT)
            ended = _ends(path)
    if not ended:
        raise ConfigError(f"the daemon does not end; it holds {lock_path(path)}")
    say(["the daemon has ended"], sys.stdout)
    return RUNNING


def _ends(path: str) -> bool:
    until = time.monotonic() + _PATIENCE
    while is_locked(path) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_locked(path)


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
    gc.collect()
    gc.freeze()  # what is loaded stays, so looking for garbage in it would only take time
    answers = Answers(cli.main)
    daemons: list[Daemon] = []
    daemons.append(Daemon(path, answers.commands(lambda: daemons[0]), idle))
    try:
        await daemons[0].serve()
    finally:
        await answers.aclose()
