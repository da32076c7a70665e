"""List the effective hooks in the order in which they count."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from hookwright.cli.options import add_places, places
from hookwright.cli.render import diagnostic_line, handler_line, problems
from hookwright.cli.terminal import Style
from hookwright.config import Loaded
from hookwright.engine import time_limit
from hookwright.hookset import Entry
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import place
from hookwright.text import one_line, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("event", nargs="?", metavar="EVENT", help="list only the hooks of this event")
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="print the hooks as JSON")


def run(args: argparse.Namespace) -> int:
    """Print every hook with its state."""
    loaded = places(args).load()
    entries = [entry for entry in loaded.hooks if args.event in (None, entry.event)]
    if args.json:
        print(json.dumps({"hooks": [record(e, loaded) for e in entries], "diagnostics": _reports(loaded)}, indent=1))
        return 0
    say(problems(loaded), sys.stderr)
    say(_lines(entries, loaded, Style.of(sys.stdout)), sys.stdout)
    return 0


def state(entry: Entry, loaded: Loaded) -> tuple[SkipReason | None, str]:
    """Tell why a handler would never run as things are, or None."""
    held = entry.held or loaded.gate.check(entry.handler)
    return held if held is not None else (None, "")


def record(entry: Entry, loaded: Loaded) -> dict[str, Json]:
    """Describe one entry as JSON."""
    handler, (reason, detail) = entry.handler, state(entry, loaded)
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
        "scope": handler.source.scope.value,
        "source": place(handler.source),
        "state": "active" if reason is None else reason.value,
        "detail": detail,
    }


def _reports(loaded: Loaded) -> list[dict[str, str]]:
    return [
        {"severity": d.severity.value, "code": d.code, "message": d.message, "source": place(d.source)}
        for d in loaded.diagnostics
    ]


def _lines(entries: list[Entry], loaded: Loaded, style: Style) -> Iterator[str]:
    if not entries:
        yield "no hooks"
    event = None
    for number, entry in enumerate(entries, 1):
        if entry.event != event:
            event = entry.event
            yield style.bold(event) + style.dim(f"  {CATALOGUE[event].rules.when}")
        reason, detail = state(entry, loaded)
        matcher = "every value"
        if entry.matcher.text:
            matcher = one_line(f"`{entry.matcher.text}` ({entry.matcher.describe()})")
        mark = style.good("active") if reason is None else style.warn(f"off: {reason.value}")
        yield f"  {number:>3}. {handler_line(entry.handler)}"
        yield f"       {mark}, {matcher}{_extras(entry)}  {style.dim(place(entry.handler.source))}"
        if detail:
            yield f"       {style.dim(detail)}"
    active = sum(state(entry, loaded)[0] is None for entry in entries)
    yield style.dim(f"{active} active, {len(entries) - active} off")
    yield from (style.dim(diagnostic_line(d)) for d in loaded.diagnostics if d.severity.value == "info")


def _extras(entry: Entry) -> str:
    handler = entry.handler
    words = [f"if {handler.condition}"] if handler.condition else []
    words += ["async"] if handler.background else []
    words += [f"timeout {handler.timeout:g} s"] if handler.timeout is not None else []
    words += ["fails closed"] if handler.on_failure.value == "block" else []
    return "".join(f", {word}" for word in words)
