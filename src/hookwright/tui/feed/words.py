"""Short texts for the user: a line is a tuple of (style, text) spans, and styles are names a theme knows."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import CommandHandler, Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Outcome, Run, SkipReason
from hookwright.protocol.sources import Source, place
from hookwright.text import flat, harmless, one_line, plural, short_path
from hookwright.tui.feed.items import Banner, CallItem, CallState, Firing, PromptItem

#: (style, text). Styles: "" plain, dim, bold, good, bad, warn, accent, tool, add, remove.
Span = tuple[str, str]
Line = tuple[Span, ...]

#: How many lines of a tool's result the ordinary view shows.
RESULT_LINES = 6
#: How many lines of a prompt, which may be a pasted file.
PROMPT_LINES = 30
#: How many of either in the verbose view; the transcript has them all.
VERBOSE_LINES = 500
_LABEL = 28


# ── tool calls ──────────────────────────────────────────────────────────────

#: The argument that says most about a tool call.
_MAIN = ("command", "file_path", "notebook_path", "pattern", "path", "url", "query", "skill", "subject", "description")


def call_argument(name: str, arguments: Mapping[str, Json], cwd: str = "") -> str:
    """Return the argument that says what a call is about."""
    for key in ("description", "prompt") if name == "Agent" else _MAIN:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return short_path(value, cwd) if key.endswith("path") else value
    return json.dumps(dict(arguments), ensure_ascii=False) if arguments else ""


_CALL_STYLE = {
    CallState.RUNNING: "accent",
    CallState.DONE: "good",
    CallState.FAILED: "bad",
    CallState.INTERRUPTED: "warn",
}


def call_head(call: CallItem, cwd: str = "") -> Line:
    """Write the line of a call itself."""
    argument = flat(call_argument(call.name, call.input, cwd))
    return ((_CALL_STYLE[call.state], "● "), ("tool", harmless(call.name)), ("", " " + argument if argument else ""))


def result_lines(call: CallItem, limit: int = RESULT_LINES) -> Iterator[Line]:
    """Write the result of a call, or its first lines."""
    style = "bad" if call.state is CallState.FAILED else "dim"
    if call.state is CallState.INTERRUPTED:
        yield (("warn", "interrupted"),)
        return
    if call.state is CallState.RUNNING:
        return
    shown, more = _beginning(call.result.strip("\n") or "(no output)", limit)
    for line in shown:
        yield ((style, line),)
    if more:
        yield (("dim", more),)


def _beginning(text: str, limit: int) -> tuple[list[str], str]:
    """Return the first lines of a text and a note about the rest; a single further line is shown instead."""
    lines = harmless(text).expandtabs(4).splitlines() or [""]
    if len(lines) <= limit + 1:
        return lines, ""
    key = " (ctrl+o)" if limit < VERBOSE_LINES else ""
    return lines[:limit], f"… {len(lines) - limit} more lines{key}"


# ── hooks ───────────────────────────────────────────────────────────────────


def short_label(handler: Handler) -> str:
    """Name a handler briefly: the script it runs, the host it calls, the start of its prompt."""
    return script_of(handler.label) if isinstance(handler, CommandHandler) else one_line(handler.label, _LABEL)


def script_of(command: str) -> str:
    """Name a command by the script it runs."""
    return one_line(_script(command), _LABEL)


_SHELLS = ("sh", "bash", "dash", "zsh", "python", "python3", "node", "uv", "npx", "env", "exec")


def _script(command: str) -> str:
    """Return the part of a command that identifies it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    named = [word for word in words if not word.startswith("-") and "=" not in word and word not in _SHELLS]
    is_file = bool(named) and ("/" in named[0] or "." in named[0])
    if not is_file or any(mark in command for mark in ";|&\n"):
        return command
    return os.path.basename(named[0].rstrip("/")) or command


def seconds(value: float) -> str:
    """Write a duration."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{int(value // 60)} min {int(value % 60)} s"


def quiet_line(firings: Sequence[Firing]) -> Line | None:
    """Summarise the hooks of a call or a turn in one line: count, slowest, decision; None if none ran."""
    done = [firing for firing in firings if firing.outcome is not None and (firing.runs or _held(firing.outcome))]
    runs = [run for firing in done for run in firing.runs]
    if not done:
        return None
    spans: list[Span] = [("dim", "◈ " + (plural(len(runs), "hook") if runs else "no hook ran"))]
    if runs:
        slow = max(runs, key=lambda run: run.timing.seconds)
        which = f"slowest {short_label(slow.handler)} " if len(runs) > 1 else f"{short_label(slow.handler)} "
        spans.append(("dim", f" · {which}{seconds(slow.timing.seconds)}"))
    spans += _decisions(done)
    return tuple(spans)


def _decisions(firings: Sequence[Firing]) -> Iterator[Span]:
    """Name each decision; one phrase covers all events that changed nothing."""
    several = len({firing.event.event_name for firing in firings}) > 1
    counts: Counter[tuple[str, str, str]] = Counter()
    for firing in firings:
        assert firing.outcome is not None
        name = firing.event.event_name if several else ""
        counts.update((style, name, word) for style, word in effects(firing.outcome))
    for (style, name, word), count in counts.items():
        yield (style, " · " + " ".join(filter(None, (name, word, f"{count}×" if count > 1 else ""))))
    if not counts:
        yield ("dim", " · no objection")


def effects(outcome: Outcome) -> Iterator[Span]:
    """Name what an outcome changes, the most severe first; nothing for hooks without an objection."""
    yield from _position(outcome)
    if outcome.stop is not None:
        yield ("bad", "stopped the turn")
    if outcome.updated_input is not None:
        yield ("warn", "input rewritten")
    if outcome.updated_output is not None:
        yield ("warn", "output rewritten")
    if outcome.context or outcome.plain:
        yield ("dim", "context added")
    if outcome.errors:
        yield ("warn", f"{outcome.errors} gave no verdict")
    held = _held(outcome)
    if held:
        yield ("warn", f"{held} not trusted")


def _position(outcome: Outcome) -> Iterator[Span]:
    match outcome.decision:
        case Deny():
            yield ("bad", "denied")
        case Block():
            yield ("bad", CATALOGUE[outcome.event].rules.block_effect)
        case Defer():
            yield ("warn", "deferred")
        case Ask():
            yield ("warn", "asked you")
        case Allow():
            yield ("good", "allowed")


def _held(outcome: Outcome) -> int:
    """Count the hooks that would have run if they were trusted."""
    return sum(skip.reason in (SkipReason.UNTRUSTED, SkipReason.CHANGED) for skip in outcome.skips)


def last_result(run: Run) -> Span:
    """Name the result of one run."""
    decision, error = run.verdict.decision, run.verdict.error
    if run.would is not None:
        return ("dim", "would refuse" if run.would_refuse else "shadow")
    match decision:
        case Deny() | Block():
            return ("bad", "denied" if isinstance(decision, Deny) else "blocked")
        case Ask():
            return ("warn", "asked")
        case Defer():
            return ("warn", "deferred")
        case Allow():
            return ("good", "allowed")
    if error is not None:
        return ("warn", "no verdict")
    if run.verdict.stop is not None:
        return ("bad", "stopped")
    return ("good", "async" if run.label == "async" else "ok")


# ── helpers ─────────────────────────────────────────────────────────────────


def spot(source: Source) -> str:
    """Name the file and line of a declaration, as the user would type it."""
    return place(msgspec.structs.replace(source, pointer=""))


def banner_lines(banner: Banner, version: str) -> Iterator[Line]:
    """Write the head of a conversation."""
    yield (
        ("accent", "◈ "),
        ("bold", f"Hookwright {version}"),
        ("dim", f"  {flat(banner.model)}" if banner.model else ""),
    )
    yield (("dim", f"  {flat(short_path(banner.cwd, home=os.path.expanduser('~')))}"),)
    if banner.hooks:
        yield (("dim", f"  {banner.hooks}"),)


def prompt_lines(prompt: PromptItem, limit: int = PROMPT_LINES) -> Iterator[Line]:
    """Write a prompt, or its first lines."""
    style = "dim" if prompt.machine else "bold"
    shown, more = _beginning(prompt.text, limit)
    for number, line in enumerate(shown):
        yield (("accent", "❯ " if number == 0 else "  "), (style, line))
    if more:
        yield (("dim", f"  {more}"),)
