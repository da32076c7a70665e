"""Fire one event at the hooks of a project."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack

import msgspec

from hookwright.cases.inject import FAULTS, Injector, read_fault
from hookwright.cli.contract import contract
from hookwright.cli.options import add_event, add_places, add_shadow, places, read_event
from hookwright.cli.render import diagnostic_line, late_lines, latency_line, outcome_lines, problems
from hookwright.cli.servers import add_servers, powers
from hookwright.cli.terminal import Style, columns, folded, remark
from hookwright.cli.watch import stamps, wait_for_change, watched_files
from hookwright.config import Loaded, TrustPolicy
from hookwright.engine import Options
from hookwright.protocol.events import Event
from hookwright.protocol.outcome import Late, Outcome
from hookwright.protocol.wire import payload
from hookwright.session import HookSession, open_session
from hookwright.text import escaped, harmless, plural, say
from hookwright.visibility import Part, Reader, as_sent, for_reader, late_messages

PROCEED, BLOCKED = 0, 2
UNDONE = "no event was fired, so exit status 2 does not mean blocked here"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_event(parser)
    add_places(parser)
    add_servers(parser)
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        help="fire at this agent's own hooks, and do with the answers what it does: codex, …",
    )
    add_shadow(parser)
    parser.add_argument("--sequential", action="store_true", help="run hooks one after another; a stop skips the rest")
    parser.add_argument("--no-timeouts", action="store_true", help="ignore the hooks' timeouts")
    parser.add_argument("--no-journal", action="store_true", help="do not write to the journal")
    parser.add_argument(
        "--inject",
        action="append",
        default=[],
        metavar="FAULT[:PATTERN]",
        help=f"make hooks fail ({', '.join(FAULTS)}=2s), or only those whose command contains PATTERN",
    )
    parser.add_argument("--fast", action="store_true", help="let the daemon fire, which is started if needed")
    parser.add_argument("--watch", action="store_true", help="fire again whenever settings or scripts change")
    parser.add_argument("--as-model", action="store_true", help="print exactly what the model would read")
    parser.add_argument(
        "--show-event", action="store_true", help="print the event as hooks would read it, without running any"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    parser.epilog = (
        "Exit status: 0 if the action would proceed, 2 if it is blocked, 1 for internal errors. A usage error is 2 as "
        f"well, with nothing on stdout and, as the last line of stderr, `hookwright: {UNDONE}`."
    )


class Fired(msgspec.Struct, frozen=True):
    """One firing and what is needed to report it."""

    event: Event
    outcome: Outcome
    seconds: float
    #: The injected fault of each run, by run id.
    struck: dict[str, str]


def endless(args: argparse.Namespace) -> bool:
    """Return whether only its reader can end this command."""
    return bool(args.watch)


def run(args: argparse.Namespace) -> int:
    """Fire, print, and wait for background hooks; with --watch, again after each change."""
    if args.agent is not None:
        from hookwright.cli.foreign.native import fire_native  # the tables of agents are not needed otherwise

        return fire_native(args)
    event = read_event(args)
    if args.show_event:
        say([escaped(json.dumps(payload(event), ensure_ascii=False))], sys.stdout)
        return PROCEED
    status, loaded = asyncio.run(_fire(event, args))
    try:
        while args.watch:
            seen = stamps(watched_files(loaded))
            remark([f"watching {plural(len(seen), 'file')}; Ctrl+C ends{_untrusted_by_edits(loaded)}"])
            changed = wait_for_change(seen)
            say(["", f"{time.strftime('%H:%M:%S')}  {', '.join(map(harmless, changed))} changed"], sys.stderr)
            status, loaded = asyncio.run(_fire(event, args))
    except KeyboardInterrupt:  # the ordinary way out of watching
        pass
    return status


def _untrusted_by_edits(loaded: Loaded) -> str:
    """Say what an edit does to the trust in a project's hooks, where that decides what runs."""
    gated = loaded.gate.policy is TrustPolicy.STORED and any(entry.handler.source.gated for entry in loaded.hooks)
    return "; an edited hook of the project is skipped until you trust it again: add --trust" if gated else ""


async def _fire(event: Event, args: argparse.Namespace) -> tuple[int, Loaded]:
    options = Options(sequential=args.sequential, timeouts=not args.no_timeouts, await_rewake=True)
    injector = Injector([read_fault(text) for text in args.inject])
    async with AsyncExitStack() as closing:
        lent = powers(args)
        if lent.servers is not None:
            await closing.enter_async_context(lent.servers)
        session = await closing.enter_async_context(
            open_session(places(args), powers=lent, options=options, journal=not args.no_journal, frozen=True)
        )
        engine = session.engine
        engine.reconnect(engine.host, injector.wrap(engine.executors), engine.gate)
        remark(problems(session.loaded))
        began = time.perf_counter()
        outcome = await engine.fire(event)
        fired = Fired(event, outcome, time.perf_counter() - began, injector.struck)
        _tell(fired, args)
        unwatched = [note for note in outcome.diagnostics if note.code == "observer-failed"]
        remark(f"hookwright: {diagnostic_line(note)}" for note in unwatched)
        _tell_late(await _see_off(session, args.json), event, args)
        remark(f"hookwright: {diagnostic_line(notice)}" for notice in session.notices)
        return status_of(outcome), session.loaded


def _tell(fired: Fired, args: argparse.Namespace) -> None:
    if args.as_model:
        parts = as_sent(for_reader(fired.outcome, Reader.MODEL))
        if args.json:
            say([escaped(json.dumps([msgspec.to_builtins(part) for part in parts], ensure_ascii=False))], sys.stdout)
        else:
            say(_texts(parts), sys.stdout)
            say([] if parts else ["hookwright: the model receives nothing from these hooks"], sys.stderr)
    elif args.json:
        ours = {"ms": round(fired.seconds * 1000, 3), "injected": fired.struck}
        say([escaped(json.dumps({**contract(fired.outcome), **ours}, ensure_ascii=False, default=str))], sys.stdout)
    else:
        style = Style.of(sys.stdout)
        lines = [
            *outcome_lines(fired.event, fired.outcome, style, fired.struck),
            *latency_line(fired.outcome, fired.seconds, style),
        ]
        say(folded(lines, columns(sys.stdout)), sys.stdout)


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    """Print texts unchanged to a pipe; on a terminal they must not move the cursor."""
    return (harmless(part.text) if sys.stdout.isatty() else part.text for part in parts)


def _tell_late(lates: Sequence[Late], event: Event, args: argparse.Namespace) -> None:
    if args.as_model and not args.json:
        say(_texts(as_sent(message for late in lates for message in late_messages(late))), sys.stdout)
    elif not args.json:
        for late in lates:
            say(late_lines(late, event), sys.stdout)


async def _see_off(session: HookSession, quiet: bool) -> tuple[Late, ...]:
    """Wait for background hooks, which end with this process; each ends at its own limit."""
    if session.background.running and not quiet:
        say([f"waiting for {plural(len(session.background.running), 'background hook')}; Ctrl+C ends them"], sys.stderr)
    await session.background.wait()
    return session.background.collect()


def status_of(outcome: Outcome) -> int:
    """Return 2 if the action is refused or the turn ends, else 0."""
    return BLOCKED if outcome.blocked or outcome.stop is not None else PROCEED
