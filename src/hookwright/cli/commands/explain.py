"""Tell for every configured hook why it would or would not run for an event, without running anything."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.cli.options import add_event, add_places, places, read_event
from hookwright.cli.render import problems
from hookwright.cli.terminal import Style
from hookwright.config import Loaded
from hookwright.executors.command import arguments, base_environment
from hookwright.hookset import Entry
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler, Handler
from hookwright.protocol.host import Host
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name, matched_value
from hookwright.protocol.outcome import Skip, SkipReason
from hookwright.protocol.sources import place
from hookwright.text import harmless, one_line, say


class Step(msgspec.Struct, frozen=True):
    """One link of the chain from a settings file to a process."""

    name: str
    passed: bool
    detail: str


_ENABLED = (SkipReason.DISABLED, SkipReason.MANAGED_ONLY, SkipReason.INACTIVE)

#: The links in their order; a handler falls at the first that fails.
_LINKS: tuple[tuple[str, tuple[SkipReason, ...]], ...] = (
    ("enabled", _ENABLED),
    ("trusted", (SkipReason.UNTRUSTED, SkipReason.CHANGED, SkipReason.GUARD_CHANGED)),
    ("matcher", (SkipReason.MATCHER, SkipReason.INVALID_MATCHER)),
    ("if", (SkipReason.CONDITION, SkipReason.CONDITION_ON_EVENT)),
    ("kind", (SkipReason.KIND,)),
    ("dedupe", (SkipReason.DUPLICATE,)),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_event(parser)
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="print the explanation as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the chain of every handler."""
    event = read_event(args)
    loaded = places(args).load()
    host = loaded.host
    chains = explain(event, loaded, host)
    if args.json:
        print(json.dumps([_record(entry, steps, host) for entry, steps in chains], indent=1))
        return 0
    say(problems(loaded), sys.stderr)
    say(_lines(event, chains, host, Style.of(sys.stdout)), sys.stdout)
    return 0


def explain(event: Event, loaded: Loaded, host: Host) -> list[tuple[Entry, list[Step]]]:
    """Follow every handler along the chain with the same functions that fire uses."""
    selection = loaded.hooks.select(event, host.home, host.project_dir)
    skips = {id(skip.handler): skip for skip in selection.skips}
    chains = []
    for entry in loaded.hooks:
        if entry.event != event.event_name:
            chains.append((entry, [_source(entry), Step("event", False, f"it is for {entry.event}")]))
            continue
        skip = skips.get(id(entry.handler))
        if skip is None or skip.reason not in _ENABLED:  # trust comes before the matcher in the chain
            skip = _held_by_gate(entry.handler, loaded, event.cwd) or skip
        chains.append((entry, [_source(entry), Step("event", True, entry.event), *_steps(entry, skip, event)]))
    return chains


def _held_by_gate(handler: Handler, loaded: Loaded, cwd: str) -> Skip | None:
    held = loaded.gate.check(handler, cwd)
    return Skip(handler, *held) if held is not None else None


def _source(entry: Entry) -> Step:
    return Step("source", True, f"{entry.handler.source.scope.value} {place(entry.handler.source)}")


def _steps(entry: Entry, skip: Skip | None, event: Event) -> Iterator[Step]:
    for name, reasons in _LINKS:
        if skip is not None and skip.reason in reasons:
            yield Step(name, False, skip.detail or skip.reason.value)
            return
        yield Step(name, True, _passed(name, entry, event))


def _passed(name: str, entry: Entry, event: Event) -> str:
    if name == "matcher":
        value = matched_value(event)
        if value is None:
            return "this event has no matcher"
        shown = entry.matcher.text or "*"
        return f"`{shown}` ({entry.matcher.describe()}) matches `{value}`"
    if name == "if":
        return f"`{entry.handler.condition}` holds or cannot be decided" if entry.handler.condition else "none"
    if name == "kind":
        return entry.handler.kind.value
    return "yes" if name != "dedupe" else "no equal handler"


def _would_run(handler: Handler, host: Host) -> str:
    if not isinstance(handler, CommandHandler):
        return f"{handler.kind.value} {one_line(handler.label)}"
    return shlex.join(arguments(handler, base_environment(host)))


def _record(entry: Entry, steps: Sequence[Step], host: Host) -> dict[str, Json]:
    runs = all(step.passed for step in steps)
    return {
        "handler": entry.handler.label,
        "event": entry.event,
        "would_run": runs,
        "as": _would_run(entry.handler, host) if runs else None,
        "chain": [{"step": step.name, "passed": step.passed, "detail": step.detail} for step in steps],
    }


def _lines(event: Event, chains: list[tuple[Entry, list[Step]]], host: Host, style: Style) -> Iterator[str]:
    yield style.bold(hook_name(event)) + style.dim(f"  {len(chains)} configured handler(s), nothing is run")
    for entry, steps in chains:
        runs = all(step.passed for step in steps)
        yield f"  {style.good('✓') if runs else style.dim('–')} {one_line(entry.handler.label)}"
        for step in steps:
            mark = style.good("yes") if step.passed else style.bad("no ")
            yield f"      {step.name.ljust(8)} {mark} {harmless(step.detail)}"
        if runs:
            yield f"      {'would run'.ljust(8)} {harmless(_would_run(entry.handler, host))}"
            yield f"      {'in'.ljust(8)}  {event.cwd}"
