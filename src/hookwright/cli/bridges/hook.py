"""Answer another agent's hook event with the hooks of Claude Code."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from hookwright.cli.agentflags import listed
from hookwright.config import Places
from hookwright.dialects.firing import MARGIN, ForeignRequest, Opener, answered, limit_of, read_request
from hookwright.dialects.native import NativeAnswer
from hookwright.dialects.table import BRIDGED, dialect
from hookwright.errors import HookwrightError
from hookwright.resident.client import take_elapsed


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--from",
        dest="agent",
        required=True,
        metavar="AGENT",
        choices=BRIDGED,
        help=f"the agent that calls: {', '.join(BRIDGED)}",
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="the agent's time limit for this hook (default: the one that `export` writes)",
    )
    parser.add_argument(
        "--setting-sources",
        type=listed,
        metavar="LIST",
        help="load only these settings: user, project, local (comma-separated)",
    )
    parser.add_argument("--fast", action="store_true", help="let the daemon answer, which is started if needed")
    parser.epilog = (
        "The agent's payload is read from stdin, and the answer is in the agent's own words. If the hooks cannot be "
        "run, whatever the agent can refuse is refused. `hookwright export` writes the calls of this command."
    )


def run(args: argparse.Namespace) -> int:
    """Read the payload, fire, answer; every failure is an answer as well."""
    table = dialect(args.agent)
    request = read_request(table, sys.stdin.buffer.read())
    limit = max(limit_of(table, request.call.moment, args.limit) - take_elapsed(os.environ), MARGIN / 4)
    _refuse_at(limit + MARGIN / 4, request)
    try:
        found = asyncio.run(answered(request, lambda cwd: _places(cwd, args), limit))
    except BaseException as error:  # an agent takes a crash of ours for an approval
        found = _failed(request, error)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return _say(found)


async def answer(
    args: argparse.Namespace, payload: bytes, places: Callable[[str], Places], opened: Opener
) -> NativeAnswer:
    """Answer for a caller of the daemon, as `run` does in a process of its own."""
    table = dialect(args.agent)
    request = read_request(table, payload)
    limit = limit_of(table, request.call.moment, args.limit)
    try:
        return await answered(request, places, limit, opened)
    except HookwrightError as error:
        return _failed(request, error)


def _failed(request: ForeignRequest, error: BaseException) -> NativeAnswer:
    name = "" if isinstance(error, HookwrightError) else f"{type(error).__name__}: "
    return request.refused(f"{name}{error}".rstrip(". "))


def _places(cwd: str, args: argparse.Namespace) -> Places:
    return Places(project=cwd, env=dict(os.environ), sources=args.setting_sources, agent=args.agent)


def _refuse_at(seconds: float, request: ForeignRequest) -> None:
    """Refuse and exit after a time, even if Python code blocks the event loop."""

    def late(_signal: int, _frame: FrameType | None) -> None:
        os._exit(_say(request.refused(f"nothing answered within {seconds:g} s")))

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _say(answer: NativeAnswer) -> int:
    sys.stdout.write(answer.stdout + ("\n" if answer.stdout else ""))
    sys.stderr.write(answer.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    return answer.status
