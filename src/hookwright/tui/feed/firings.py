"""The verbose view of a firing: every run, every skip with its reason, what was printed, and who reads what."""

from __future__ import annotations

import time
from collections.abc import Iterator

from hookwright.protocol.handlers import Handler
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Ending, Run, Skip, Verdict
from hookwright.protocol.replies import Answered, Backgrounded, Exited, Failed, Judged, NoAnswer, TimedOut
from hookwright.text import flat, harmless, plural
from hookwright.tui.feed.items import Began, Firing
from hookwright.tui.feed.words import Line, Span, effects, seconds, short_label, spot
from hookwright.visibility import Reader, messages

#: How many lines of one stream are shown.
_STREAM_LINES = 40

_READERS = {Reader.MODEL: "model reads", Reader.USER: "you see", Reader.VERBOSE: "only here", Reader.DEBUG: "debug log"}


def firing_lines(firing: Firing) -> Iterator[Line]:
    """Write one firing, from its first handler to its last reader."""
    yield from _head(firing)
    ended = {run.id for run in firing.runs}
    for run in firing.runs:
        yield from run_lines(run)
    for began in firing.began:
        if began.run_id not in ended:
            yield from _still_running(began)
    outcome = firing.outcome
    if outcome is None:
        return
    for skip in outcome.skips:
        yield from skip_lines(skip)
    told = {diagnostic for run in firing.runs for diagnostic in run.verdict.diagnostics}
    for diagnostic in outcome.diagnostics:
        if diagnostic in told:
            continue
        yield (("warn", f"  {harmless(diagnostic.message)}"), ("dim", f" [{diagnostic.code}]"))
    said = list(effects(outcome))
    if firing.runs:
        words: list[Span] = [("dim", "  → ")]
        for number, (style, word) in enumerate(said or [("dim", "no objection")]):
            words.append((style, word if number == 0 else f", {word}"))
        yield tuple(words)
    yield from _readers(firing)


def _head(firing: Firing) -> Iterator[Line]:
    clock = time.strftime("%H:%M:%S", time.localtime(firing.at))
    name = ("bold", harmless(hook_name(firing.event)))
    outcome = firing.outcome
    if outcome is None:
        state = "interrupted" if firing.runs and len(firing.runs) == len(firing.began) else "running"
        yield (("accent", "◈ "), name, ("dim", f"  {clock}  "), ("warn", state))
        return
    counts = f"{len(firing.runs)} ran"
    if outcome.skips:
        counts += f", {len(outcome.skips)} skipped"
    took = f", {seconds(firing.seconds)}" if firing.runs else ""
    yield (("accent", "◈ "), name, ("dim", f"  {clock}  {counts}{took}"))


def _still_running(began: Began) -> Iterator[Line]:
    source = spot(began.handler.source)
    yield (("accent", "  ▸ "), ("", short_label(began.handler)), ("dim", f"  started  {source}"))


def run_lines(run: Run) -> Iterator[Line]:
    """Write one run: its handler, how it ended, its meaning, its output."""
    style, mark = _mark(run)
    yield ((style, f"  {mark} "), ("", short_label(run.handler)), ("dim", f"  {spot(run.handler.source)}"))
    yield from _in_full(run.handler)
    yield (("dim", f"      {how_it_ended(run)} → "), *_meaning(run))
    for diagnostic in run.verdict.diagnostics:
        yield (("warn", f"      {flat(diagnostic.message)}"), ("dim", f" [{diagnostic.code}]"))
    if isinstance(run.reply, Exited):
        suppressed = run.verdict.suppress_output and bool(run.reply.stdout.strip())
        if suppressed:
            yield (("dim", "      stdout  suppressed by the hook"),)
        else:
            yield from _stream("stdout", run.reply.stdout)
        yield from _stream("stderr", run.reply.stderr)


def _in_full(handler: Handler) -> Iterator[Line]:
    """Write the whole label if the short one omits part of it."""
    if short_label(handler) != flat(handler.label):
        yield (("dim", f"      {flat(handler.label)}"),)


def _stream(name: str, data: bytes) -> Iterator[Line]:
    lines = harmless(data.decode("utf-8", "replace").strip()).expandtabs(4).splitlines()
    for number, line in enumerate(lines[:_STREAM_LINES]):
        yield (("dim", f"      {name if number == 0 else '':6}  "), ("", line))
    if len(lines) > _STREAM_LINES:
        yield (("dim", f"              … {plural(len(lines) - _STREAM_LINES, 'more line')}"),)


def how_it_ended(run: Run) -> str:
    """Describe how a run ended."""
    took = seconds(run.timing.seconds)
    match run.reply:
        case Exited(status=status, signal=None):
            return f"exit {status} in {took}"
        case Exited(signal=signal):
            return f"ended by signal {signal} after {took}"
        case TimedOut(limit=limit):
            return f"timed out at {limit:g} s"
        case Failed(why=why, message=message):
            return f"{why.value} after {took}: {flat(message)}"
        case Backgrounded(id=name):
            return f"went to the background as {name}"
        case NoAnswer(message=message):
            return f"no answer after {took}: {flat(message)}"
        case Answered() | Judged():
            return f"answered in {took}"


def _mark(run: Run) -> Span:
    verdict = run.verdict
    if run.would is not None:
        return ("dim", "◌")
    if verdict.ending is Ending.BLOCKING or isinstance(verdict.decision, Deny | Block):
        return ("bad", "✗")
    if verdict.ending in (Ending.ERROR, Ending.CANCELLED):
        return ("warn", "!")
    if verdict.stop is not None:
        return ("bad", "■")
    return ("dim", "…") if isinstance(run.reply, Backgrounded) else ("good", "✓")


def _meaning(run: Run) -> tuple[Span, ...]:
    verdict = run.verdict
    if run.would is not None:
        reason = getattr(run.would.decision, "reason", None)
        would = f"would have refused: {flat(reason or 'no reason given')}" if run.would_refuse else "no refusal"
        return (("warn" if run.would_refuse else "dim", f"in shadow mode, no effect; {would}"),)
    match verdict.decision:
        case Deny(reason=reason):
            return (("bad", f"denies: {flat(reason)}"),)
        case Block(reason=reason):
            return (("bad", f"blocks: {flat(reason)}"),)
        case Ask(reason=reason):
            return (("warn", f"asks: {flat(reason)}"),)
        case Allow(reason=reason):
            return (("good", f"allows: {flat(reason)}" if reason else "allows"),)
        case Defer():
            return (("warn", "defers"),)
    if verdict.ending in (Ending.ERROR, Ending.CANCELLED):
        return (("warn", "no verdict: it checked nothing and blocks nothing"),)
    gifts = ", ".join(_gifts(verdict))
    return (("", gifts),) if gifts else (("dim", "no opinion (not an approval)"),)


def _gifts(verdict: Verdict) -> Iterator[str]:
    if verdict.stop is not None:
        yield "ends the turn"
    if verdict.context or verdict.plain:
        yield "adds context"
    if verdict.system_message:
        yield "message to you"
    if verdict.updated_input is not None:
        yield "rewrites the input"
    if verdict.updated_output is not None:
        yield "rewrites the output"
    if verdict.fields:
        yield "sets " + ", ".join(verdict.fields)


def skip_lines(skip: Skip) -> Iterator[Line]:
    """Write why a handler was not run."""
    yield (("dim", "  – "), ("", short_label(skip.handler)), ("dim", f"  {spot(skip.handler.source)}"))
    detail = f": {flat(skip.detail)}" if skip.detail else ""
    yield (("dim", f"      skipped, {skip.reason.value}{detail}"),)


def _readers(firing: Firing) -> Iterator[Line]:
    """Write who reads what; raw output is already shown with its run."""
    assert firing.outcome is not None
    for reader, word in _READERS.items():
        for message in messages(firing.outcome):
            if message.reader is not reader or (reader is Reader.VERBOSE and message.form.value == "output"):
                continue
            if reader is Reader.DEBUG and " stderr: " in message.text:
                continue
            first, *rest = harmless(message.text).expandtabs(4).splitlines() or [""]
            yield (("accent", f"  {word:<12} "), ("", first))
            for line in rest[:_STREAM_LINES]:
                yield (("", f"{'':15}{line}"),)
