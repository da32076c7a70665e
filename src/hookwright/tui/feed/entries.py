"""What the hooks browser lists: every event, its handlers, their state and what they did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from hookwright.engine import HookEngine, time_limit
from hookwright.errors import InvalidEvent
from hookwright.hookset import Entry, HookSet
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.handlers import (
    AgentHandler,
    CommandHandler,
    Handler,
    HttpHandler,
    McpToolHandler,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome, Run, SkipReason
from hookwright.protocol.replies import Backgrounded
from hookwright.protocol.samples import sample, sample_fields, tool_names
from hookwright.protocol.sources import place
from hookwright.selection import HookState
from hookwright.text import flat, plural
from hookwright.tui.feed.activity import Activity, Tally
from hookwright.tui.feed.words import Line, Span, last_result, seconds, short_label


class ListedHook(msgspec.Struct, frozen=True, eq=False):
    """One handler in the browser."""

    state: HookState
    tally: Tally

    @property
    def entry(self) -> Entry:
        """The handler in its place."""
        return self.state.entry


def listed(states: Iterable[HookState], activity: Activity) -> dict[str, list[ListedHook]]:
    """Return the handlers of every event, in catalogue order; events with handlers come first."""
    found: dict[str, list[ListedHook]] = {name: [] for name in CATALOGUE}
    for state in states:
        found[state.entry.event].append(ListedHook(state, activity.of(state.entry.handler.source)))
    return dict(sorted(found.items(), key=lambda pair: not pair[1]))


def head_counts(states: Sequence[HookState]) -> str:
    """Write in one line how many hooks there are, from how many files, and how many of them do not run."""
    if not states:
        return "no hooks configured"
    off = Counter(state.off[0] for state in states if state.off is not None)
    waiting = off.pop(SkipReason.INACTIVE, 0)
    files = len({state.entry.handler.source.path for state in states})
    text = f"{plural(len(states) - off.total() - waiting, 'hook')} active from {plural(files, 'file')}"
    text += "".join(f", {count} off ({reason.value})" for reason, count in off.items())
    return f"{text}, {waiting} only while a skill or agent is active" if waiting else text


# ── one handler ─────────────────────────────────────────────────────────────


def row(found: ListedHook) -> Line:
    """Write a handler on one line of the list."""
    handler, tally = found.entry.handler, found.tally
    off = found.state.off
    mark = ("good", "● ") if off is None else ("dim" if found.state.waits else "warn", "○ ")
    spans: list[tuple[str, str]] = [mark, ("", flat(found.entry.matcher.text or "*")), ("dim", "  ")]
    spans.append(("", short_label(handler)))
    if tally.last is not None:
        blocked = f", {tally.blocks} blocked" if tally.blocks else ""
        spans += [("dim", f"  ran {tally.runs}×{blocked}, last: "), _last(tally, tally.last)]
    return tuple(spans)


def details(found: ListedHook) -> Iterator[Line]:
    """Write everything about a handler."""
    entry, handler, tally = found.entry, found.entry.handler, found.tally
    matcher = f"{entry.matcher.text}  ({entry.matcher.describe()})" if entry.matcher.text else "every value"
    yield _fact("event", entry.event)
    yield _fact("when", CATALOGUE[entry.event].rules.when)
    yield _fact("matcher", matcher)
    yield _fact(handler.kind.value, handler.label)
    yield _fact("from", f"{place(handler.source)}  ({handler.source.scope.value})")
    yield _state_line(found.state)
    for name, value in _extras(handler, entry.event):
        yield _fact(name, value)
    yield ()
    yield from tally_lines(tally)


def state_text(state: HookState) -> str:
    """Write the state of a handler in a few words."""
    if state.off is None:
        return "active"
    reason, why = state.off
    return flat(why) if state.waits else f"off, {reason.value}"


def _state_line(state: HookState) -> Line:
    style = "good" if state.off is None else "" if state.waits else "warn"
    why = f": {flat(state.off[1])}" if state.off is not None and state.off[1] and not state.waits else ""
    return (("dim", "state     "), (style, state_text(state)), ("dim", why))


def _fact(name: str, value: str) -> Line:
    return (("dim", f"{name:<9} "), ("", flat(value)))


def _extras(handler: Handler, event: str) -> Iterator[tuple[str, str]]:
    if handler.condition:
        yield "if", handler.condition
    yield "timeout", f"{time_limit(handler, CATALOGUE[event].rules):g} s"
    if handler.background:
        yield "async", "the agent does not wait for it"
    if handler.on_failure is OnFailure.BLOCK:
        yield "onFailure", "block: a failure refuses"
    if handler.status_message:
        yield "status", handler.status_message
    if handler.once:
        yield "once", "runs only once"


def tally_lines(tally: Tally) -> Iterator[Line]:
    """Write what a handler did in this session."""
    if not tally.runs and not tally.skips:
        yield (("dim", "nothing yet in this session"),)
        return
    if tally.last is not None:
        counts = [f"{tally.blocks} blocked"] if tally.blocks else []
        counts += [f"{tally.failures} without a verdict"] if tally.failures else []
        yield _fact("ran", ", ".join([plural(tally.runs, "time"), *counts]))
        average = tally.seconds / tally.runs
        yield _fact("times", f"{seconds(average)} on average, {seconds(tally.slowest)} at most")
        yield (("dim", "last      "), _last(tally, tally.last), ("dim", f" in {seconds(tally.last.timing.seconds)}"))
    if tally.last_late is not None and tally.last_late.error is not None:
        yield _fact("later", tally.last_late.error)
    if tally.last_skip is not None:
        skip = tally.last_skip
        detail = f": {flat(skip.detail)}" if skip.detail else ""
        yield _fact("skipped", f"{plural(tally.skips, 'time')}, last {skip.reason.value}{detail}")


def _last(tally: Tally, run: Run) -> Span:
    """Name the result of the last run; of one in the background the real end, once it is known."""
    late = tally.last_late
    if late is not None and isinstance(run.reply, Backgrounded) and run.reply.id == late.id and late.error is not None:
        return ("warn", "failed later")
    return last_result(run)


_NAMES = {
    "condition": "if",
    "status_message": "statusMessage",
    "is_async": "async",
    "async_rewake": "asyncRewake",
    "allowed_env_vars": "allowedEnvVars",
    "continue_on_block": "continueOnBlock",
    "on_failure": "onFailure",
}


def as_json(entry: Entry) -> str:
    """Write a handler as JSON for a settings file."""
    handler = entry.handler
    value: dict[str, Json] = {"type": handler.kind.value}
    if isinstance(handler, CommandHandler | HttpHandler | McpToolHandler | PromptHandler | AgentHandler):
        for field in msgspec.structs.fields(handler):
            found = getattr(handler, field.name)
            if field.name == "source" or found == _default(field):
                continue
            value[_NAMES.get(field.name, field.name)] = _plain(field.name, found)
    group: dict[str, Json] = {"hooks": [value]}
    if entry.matcher.text:
        group = {"matcher": entry.matcher.text, **group}
    return json.dumps({"hooks": {entry.event: [group]}}, indent=2, ensure_ascii=False)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _plain(name: str, value: Json) -> Any:
    if name == "headers":
        return dict(value)
    if isinstance(value, OnFailure):
        return value.value
    return list(value) if isinstance(value, tuple) else value if not callable(value) else "a function"


# ── try one out ──────────────────────────────────────────────────────────


def sample_for(entry: Entry, cwd: str) -> Event:
    """Build a sample event the matcher of a handler matches, if there is one."""
    rules = CATALOGUE[entry.event].rules
    words = tool_names() if rules.target == "tool_name" else _words(entry)
    for word in words:
        if entry.matcher.matches(word):
            try:
                return sample(entry.event, cwd=cwd, **sample_fields(entry.event, cwd, word))
            except InvalidEvent:
                continue
    return sample(entry.event, cwd=cwd)


def _words(entry: Entry) -> tuple[str, ...]:
    text = entry.matcher.text or ""
    return tuple(word.strip() for word in text.replace(",", "|").split("|") if word.strip())


async def try_out(engine: HookEngine, entry: Entry, cwd: str) -> tuple[Event, Outcome, float]:
    """Fire a sample event at one handler alone, under the usual trust check and without other observers."""
    event = sample_for(entry, cwd)
    ended: list[float] = []
    alone = HookEngine(
        HookSet([entry]),
        host=engine.host,
        executors=engine.executors,
        background=engine.background,
        gate=engine.gate,
        observers=[lambda notice: ended.append(getattr(notice, "seconds", 0.0))],
    )
    outcome = await alone.fire(event)
    return event, outcome, ended[-1]
