"""Explain for every configured hook why it would or would not run for an event, without running anything."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.cli.options import add_event, add_places, places, read_event
from hookwright.cli.readiness import obstacle
from hookwright.cli.render import problems
from hookwright.cli.terminal import Style, columns, folded, remark
from hookwright.config import Loaded
from hookwright.engine import HookEngine
from hookwright.executors.command import arguments, base_environment
from hookwright.hookset import Entry
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler, Handler
from hookwright.protocol.host import Host
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name, matched_value
from hookwright.protocol.outcome import Skip, SkipReason
from hookwright.protocol.sources import place
from hookwright.session import survey
from hookwright.text import flat, one_line, plural, say


class Step(msgspec.Struct, frozen=True):
    """One link of the chain from a settings file to a process."""

    name: str
    passed: bool
    detail: str


#: The links after `enabled`, in the order of `HookEngine.select`; the chain of a handler ends at the first that fails.
_LINKS: tuple[tuple[str, tuple[SkipReason, ...]], ...] = (
    ("matcher", (SkipReason.MATCHER, SkipReason.INVALID_MATCHER)),
    ("kind", (SkipReason.KIND,)),
    ("if", (SkipReason.CONDITION, SkipReason.CONDITION_ON_EVENT)),
    ("active", (SkipReason.RECURSION, SkipReason.INACTIVE, SkipReason.ONCE)),
    ("trusted", (SkipReason.UNTRUSTED, SkipReason.CHANGED, SkipReason.GUARD_CHANGED)),
    ("dedupe", (SkipReason.DUPLICATE,)),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_event(parser)
    add_places(parser)
    parser.add_argument(
        "--agent", metavar="AGENT", help="explain this agent's own hooks, by its rules: codex, gemini, …"
    )
    parser.add_argument("--json", action="store_true", help="print the explanation as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the chain of every handler."""
    if args.agent is not None:
        from hookwright.cli.foreign.native import explain_native  # the tables of agents are not needed otherwise

        return explain_native(args)
    event = read_event(args)
    loaded = places(args).load()
    chains = explain(event, survey(loaded))
    if args.json:
        print(json.dumps([_record(entry, steps, loaded) for entry, steps in chains], indent=1))
        return 0
    remark(problems(loaded))
    say(folded(explanation(event, chains, loaded, Style.of(sys.stdout)), columns(sys.stdout)), sys.stdout)
    return 0


def explain(event: Event, engine: HookEngine) -> list[tuple[Entry, list[Step]]]:
    """Write what `HookEngine.select` says of every handler as a chain of steps."""
    selection = engine.select(event)
    reasons = {id(skip.handler): skip for skip in (*selection.skips, *selection.failing)}
    chains = []
    for entry in engine.hooks:
        steps = [_source(entry)]
        if entry.event == event.event_name:
            steps += [Step("event", True, entry.event), *_steps(entry, reasons.get(id(entry.handler)), event)]
        else:
            steps.append(Step("event", False, f"it is for {entry.event}"))
        chains.append((entry, steps))
    return chains


def _source(entry: Entry) -> Step:
    return Step("source", True, f"{entry.handler.source.scope.value} {place(entry.handler.source)}")


def _steps(entry: Entry, skip: Skip | None, event: Event) -> Iterator[Step]:
    if entry.held is not None:
        reason, detail = entry.held
        yield Step("enabled", False, detail or reason.value)
        return
    yield Step("enabled", True, "")
    for name, reasons in _LINKS:
        if skip is not None and skip.reason in reasons:
            yield Step(name, False, _failed(skip))
            return
        yield Step(name, True, _passed(name, entry, event))


def _failed(skip: Skip) -> str:
    detail = skip.detail or skip.reason.value
    return f"{detail}; it fails closed, so the event is refused" if skip.reason is SkipReason.GUARD_CHANGED else detail


def _passed(name: str, entry: Entry, event: Event) -> str:
    match name:
        case "matcher":
            value = matched_value(event)
            if value is None:
                return "this event has no matcher"
            return f"`{entry.matcher.text or '*'}` ({entry.matcher.describe()}) matches `{value}`"
        case "if":
            return (
                f"`{entry.handler.condition}` matches or cannot be decided"
                if entry.handler.condition
                else "no condition"
            )
        case "kind":
            return entry.handler.kind.value
        case "dedupe":
            return "no equal handler"
    return ""


def _would_run(handler: Handler, host: Host) -> str:
    if not isinstance(handler, CommandHandler):
        return f"{handler.kind.value} {one_line(handler.label)}"
    return shlex.join(arguments(handler, base_environment(host)))


def would_run(steps: Sequence[Step]) -> bool:
    """Return whether a handler with this chain would run."""
    return all(step.passed for step in steps)


def _record(entry: Entry, steps: Sequence[Step], loaded: Loaded) -> dict[str, Json]:
    runs = would_run(steps)
    return {
        "handler": entry.handler.label,
        "event": entry.event,
        "would_run": runs,
        "mode": entry.handler.mode.value,
        "as": _would_run(entry.handler, loaded.host) if runs else None,
        "obstacle": obstacle(entry.handler, loaded) if runs else None,
        "chain": [{"step": step.name, "passed": step.passed, "detail": step.detail} for step in steps],
    }


def explanation(event: Event, chains: list[tuple[Entry, list[Step]]], loaded: Loaded, style: Style) -> Iterator[str]:
    """Yield the explanation of an event, as the command prints it."""
    about = [(entry, steps) for entry, steps in chains if entry.event == event.event_name]
    yield style.bold(flat(hook_name(event))) + style.dim(f"  {plural(len(about), 'hook')}, nothing is run")
    for entry, steps in about:
        runs = would_run(steps)
        yield f"  {style.good('✓') if runs else style.dim('–')} {one_line(entry.handler.label)}"
        for step in steps:
            mark = style.good("✓") if step.passed else style.bad("✗")
            yield f"      {mark} {step.name.ljust(8)} {flat(step.detail)}".rstrip()
        if runs:
            yield f"      would run {flat(_would_run(entry.handler, loaded.host))}"
            why = obstacle(entry.handler, loaded)
            if why is not None:
                yield f"      {style.bad('but ' + flat(why))}"
            yield f"      in        {event.cwd}"
            if entry.handler.shadow:
                yield f"      {style.warn('in shadow mode: what it says has no effect')}"
    others = len(chains) - len(about)
    if others:
        yield style.dim(f"{plural(others, 'hook')} of other events; hookwright list shows them")
