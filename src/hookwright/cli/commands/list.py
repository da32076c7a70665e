"""List every configured hook by event, in configuration order, with its state."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from hookwright.cli.options import add_places, places
from hookwright.cli.readiness import obstacle
from hookwright.cli.render import diagnostic_line, handler_line, problems
from hookwright.cli.terminal import Style, columns, folded, remark
from hookwright.config import Loaded
from hookwright.engine import time_limit
from hookwright.errors import ConfigError
from hookwright.hookset import Entry
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import place
from hookwright.selection import HookState
from hookwright.session import survey
from hookwright.text import did_you_mean, flat, one_line, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("event", nargs="?", metavar="EVENT", help="list only the hooks of this event")
    add_places(parser)
    parser.add_argument(
        "--all", action="store_true", help="list the hooks of every agent on this machine, from their own files"
    )
    parser.add_argument(
        "--import",
        dest="imported",
        metavar="AGENT",
        help="print the hooks of this agent as Claude Code settings, and on stderr what they lose",
    )
    parser.add_argument("--json", action="store_true", help="print the hooks as JSON")


def run(args: argparse.Namespace) -> int:
    """Print every hook with its state."""
    if args.event is not None and args.event not in CATALOGUE:
        raise ConfigError(f"`{args.event}` is not an event{did_you_mean(args.event, CATALOGUE)}")
    if args.imported is not None:
        from hookwright.cli.foreign.imported import print_imported  # the tables of agents are not needed otherwise

        return print_imported(args.imported, args.project)
    loaded = places(args).load()
    engine = survey(loaded)
    states = [state for state in engine.states() if args.event in (None, state.entry.event)]
    if args.all:
        return _everywhere(args, loaded, states)
    if args.json:
        print(json.dumps({"hooks": [record(s, loaded) for s in states], "diagnostics": _reports(loaded)}, indent=1))
        return 0
    remark(problems(loaded))
    say(folded(_lines(states, loaded, Style.of(sys.stdout)), columns(sys.stdout)), sys.stdout)
    return 0


def _everywhere(args: argparse.Namespace, loaded: Loaded, states: list[HookState]) -> int:
    """Print the hooks of every agent; status 0 also when a file could not be read, which is said."""
    # The tables of agents are not needed otherwise.
    from hookwright.cli.foreign.inventory import as_lines, as_record, inventory, of_event, surroundings

    around, project = surroundings(args.project)
    groups = of_event(inventory(loaded, states, around, project), args.event)
    if args.json:
        print(json.dumps(as_record(groups), indent=1))
        return 0
    say(folded(as_lines(groups, Style.of(sys.stdout), around), columns(sys.stdout)), sys.stdout)
    return 0


def record(state: HookState, loaded: Loaded) -> dict[str, Json]:
    """Describe one hook as JSON."""
    entry, handler = state.entry, state.entry.handler
    why = obstacle(handler, loaded)
    return {
        "event": entry.event,
        "matcher": entry.matcher.text or None,
        "matcher_class": entry.matcher.describe(),
        "type": handler.kind.value,
        "handler": handler.label,
        "if": handler.condition,
        "timeout": time_limit(handler, CATALOGUE[entry.event].rules),
        "async": handler.background,
        "on_failure": handler.on_failure.value,
        "mode": handler.mode.value,
        "scope": handler.source.scope.value,
        "source": place(handler.source),
        "state": "active" if state.off is None else state.off[0].value,
        "detail": (why or "") if state.off is None else state.off[1],
        "can_work": why is None,
    }


def _reports(loaded: Loaded) -> list[dict[str, str]]:
    return [
        {"severity": d.severity.value, "code": d.code, "message": d.message, "source": place(d.source)}
        for d in loaded.diagnostics
    ]


def _lines(states: list[HookState], loaded: Loaded, style: Style) -> Iterator[str]:
    if not states:
        yield "no hooks"
    event = None
    order = list(dict.fromkeys(state.entry.event for state in states))
    for number, state in sorted(enumerate(states, 1), key=lambda pair: order.index(pair[1].entry.event)):
        entry = state.entry
        if entry.event != event:
            event = entry.event
            yield style.bold(event) + style.dim(f"  {CATALOGUE[event].rules.when}")
        matcher = "every value"
        if entry.matcher.text:
            matcher = one_line(f"`{entry.matcher.text}` ({entry.matcher.describe()})")
        mark, detail = _mark(state, loaded, style)
        yield f"  {number:>3}. {handler_line(entry.handler)}"
        yield f"       {mark}, {matcher}{_extras(entry)}  {style.dim(place(entry.handler.source))}"
        if detail:
            yield f"       {style.dim(detail)}"
    yield style.dim(_counts(states, loaded))
    yield from (style.dim(diagnostic_line(d)) for d in loaded.diagnostics if d.severity.value == "info")


def _mark(state: HookState, loaded: Loaded, style: Style) -> tuple[str, str]:
    if state.off is None:
        why = obstacle(state.entry.handler, loaded)
        return (style.good("active"), "") if why is None else (style.bad(f"active, but {flat(why)}"), "")
    reason, detail = state.off[0], flat(state.off[1])
    return (style.dim(detail), "") if state.waits else (style.warn(f"off: {reason.value}"), detail)


def _counts(states: list[HookState], loaded: Loaded) -> str:
    active = sum(state.off is None for state in states)
    stuck = sum(state.off is None and obstacle(state.entry.handler, loaded) is not None for state in states)
    waiting = sum(state.waits for state in states)
    unable = f" ({stuck} cannot work here)" if stuck else ""
    text = f"{active} active{unable}, {len(states) - active - waiting} off"
    return f"{text}, {waiting} only while a skill or agent is active" if waiting else text


def _extras(entry: Entry) -> str:
    handler = entry.handler
    words = [f"if {handler.condition}"] if handler.condition else []
    words += ["async"] if handler.background else []
    words += ["shadow: decides nothing"] if handler.shadow else []
    words += [f"timeout {handler.timeout:g} s"] if handler.timeout is not None else []
    words += ["fails closed"] if handler.on_failure.value == "block" else []
    return "".join(f", {word}" for word in words)
