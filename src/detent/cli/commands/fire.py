"""Fire one event at the hooks of a project."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from detent.cli.contract import contract
from detent.cli.options import add_event, add_places, places, read_event
from detent.cli.render import late_lines, outcome_lines, problems
from detent.cli.terminal import Style, say
from detent.engine import Options
from detent.events import Event
from detent.outcome import Outcome
from detent.session import HookSession, open_session

PROCEED, BLOCKED = 0, 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_event(parser)
    add_places(parser)
    parser.add_argument("--sequential", action="store_true", help="run hooks one after the other; a stop ends the rest")
    parser.add_argument("--no-timeouts", action="store_true", help="let every hook run until it ends")
    parser.add_argument("--no-journal", action="store_true", help="leave no line in the journal")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    parser.epilog = "Exit status: 0 the action would proceed, 2 it is blocked, 1 usage or internal error."


def run(args: argparse.Namespace) -> int:
    """Fire, print, and wait for what went to the background."""
    return asyncio.run(_fire(args))


async def _fire(args: argparse.Namespace) -> int:
    event = read_event(args)
    options = Options(sequential=args.sequential, timeouts=not args.no_timeouts, await_rewake=True)
    async with open_session(places(args), options=options, journal=not args.no_journal, frozen=True) as session:
        say(problems(session.loaded), sys.stderr)
        outcome = await session.engine.fire(event)
        if args.json:
            print(json.dumps(contract(outcome), ensure_ascii=False, default=str), flush=True)
        else:
            say(outcome_lines(event, outcome, Style.of(sys.stdout)), sys.stdout)
        await _see_off(session, event, args.json)
    return status_of(outcome)


async def _see_off(session: HookSession, event: Event, quiet: bool) -> None:
    """Background hooks end with this process, so it waits for them; each ends at its own limit."""
    if session.background.running and not quiet:
        say([f"waiting for {len(session.background.running)} background hook(s); Ctrl+C ends them"], sys.stderr)
    await session.background.wait()
    if not quiet:
        for late in session.background.collect():
            say(late_lines(late, event), sys.stdout)


def status_of(outcome: Outcome) -> int:
    """2 when the action is refused or the turn ends, as a script would test it."""
    return BLOCKED if outcome.blocked or outcome.stop is not None else PROCEED
