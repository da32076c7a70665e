"""Write for a terminal what ran, what did not, what each reply meant and who reads what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookwright.cli.terminal import Style
from hookwright.config import Loaded, review_line, waits_for_review
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler, Kind
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Ending, Late, Outcome, Run, Skip, Verdict
from hookwright.protocol.replies import Backgrounded, Exited, Failed, TimedOut
from hookwright.protocol.sources import place
from hookwright.text import flat, harmless, one_line
from hookwright.visibility import Reader, messages

#: The most lines of each stream of a failed hook that are shown.
_SHOWN = 20


def outcome_lines(
    event: Event, outcome: Outcome, style: Style, struck: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Write one firing, from the first handler to the last reader; `struck` names injected faults by run."""
    yield style.bold(flat(hook_name(event))) + style.dim(f"  {_counts(outcome)}")
    for run in outcome.runs:
        yield from _run_lines(run, style)
        if struck and run.id in struck:
            yield f"      {style.warn(f'injected: {struck[run.id]}')}"
    for skip in outcome.skips:
        yield from _skip_lines(skip, style)
    if not outcome.runs and not outcome.skips:
        yield style.dim("  no hook is configured for this event")
    yield ""
    yield style.bold("outcome  ") + _position(outcome, style)
    yield from _effects(outcome)
    yield from _readers(outcome, style)


def latency_line(outcome: Outcome, seconds: float, style: Style) -> Iterator[str]:
    """Write how long the event took, and its slowest hook."""
    if not outcome.runs:
        return
    slowest = max(outcome.runs, key=lambda run: run.timing.seconds)
    text = f"{seconds * 1000:.0f} ms in total, slowest {slowest.timing.seconds * 1000:.0f} ms"
    yield style.bold("latency  ") + text + style.dim(f"  {one_line(slowest.handler.label, 80)}")


def _counts(outcome: Outcome) -> str:
    ran = f"{len(outcome.runs)} ran"
    return f"{ran}, {len(outcome.skips)} skipped" if outcome.skips else ran


def _run_lines(run: Run, style: Style) -> Iterator[str]:
    mark, word = _verdict_word(run, style)
    yield f"  {mark} {one_line(run.handler.label)}  {style.dim(place(run.handler.source))}"
    yield f"      {_how_it_ended(run)} → {word}"
    for diagnostic in run.verdict.diagnostics:
        yield f"      {style.warn(flat(diagnostic.message))} {style.dim('[' + diagnostic.code + ']')}"
    if run.verdict.ending is Ending.ERROR and isinstance(run.reply, Exited):
        yield from printed_lines(run.reply, style)


def printed_lines(reply: Exited, style: Style) -> Iterator[str]:
    """Write what a failed process printed, the end of each stream."""
    for name, data in (("stdout", reply.stdout), ("stderr", reply.stderr)):
        lines = harmless(data.decode("utf-8", "replace")).rstrip().splitlines()
        if lines:
            more = f" (last {_SHOWN} of {len(lines)} lines)" if len(lines) > _SHOWN else ""
            yield style.dim(f"      {name}{more}:")
            yield from (f"        {line}" for line in lines[-_SHOWN:])


def _how_it_ended(run: Run) -> str:
    milliseconds = f"{run.timing.seconds * 1000:.0f} ms"
    match run.reply:
        case Exited() if run.handler.kind is not Kind.COMMAND:
            return f"answered in {milliseconds}"
        case Exited(status=status, signal=None):
            return f"exit {status} in {milliseconds}"
        case Exited(signal=signal):
            return f"ended by signal {signal} after {milliseconds}"
        case TimedOut(limit=limit):
            return f"timed out at {limit:g} s, killed with its process group"
        case Failed(why=why, message=message):
            return f"{why.value}: {one_line(message)}"
        case Backgrounded(id=name):
            return f"went to the background as {name}"
        case _:
            return f"answered in {milliseconds}"


def _verdict_word(run: Run, style: Style) -> tuple[str, str]:
    verdict = run.verdict
    if run.would is not None:
        return style.dim("◌"), f"in shadow mode, no effect; {_would_word(run.would)}"
    if verdict.ending is Ending.BLOCKING or isinstance(verdict.decision, Deny | Block):
        return style.bad("✗"), style.bad(_decision_word(verdict.decision) or "blocks")
    if verdict.ending in (Ending.ERROR, Ending.CANCELLED):
        return style.warn("!"), style.warn("no verdict: this hook checked nothing and blocks nothing")
    if isinstance(run.reply, Backgrounded):
        return style.dim("…"), "no effect on this event"
    said = _decision_word(verdict.decision)
    if verdict.stop is not None:
        return style.bad("■"), style.bad("ends the turn")
    if said is not None:
        return style.good("✓"), said
    gave = [name for name, value in _gifts(run) if value]
    return style.good("✓"), ", ".join(gave) if gave else "no opinion (not an approval)"


def _would_word(would: Verdict) -> str:
    """Return what a handler in shadow mode would have done, in words."""
    if would.ending in (Ending.ERROR, Ending.CANCELLED):
        return "it gave no verdict"
    said = _decision_word(would.decision)
    if isinstance(would.decision, Deny | Block):
        return f"it would have refused: {one_line(would.decision.reason)}"
    if would.stop is not None:
        return "it would have ended the turn"
    return f"it would have said: {said}" if said is not None else "it would have had no opinion"


def _gifts(run: Run) -> list[tuple[str, object]]:
    verdict = run.verdict
    return [
        ("adds context", verdict.context or verdict.plain),
        ("message to the user", verdict.system_message),
        ("rewrites the input", verdict.updated_input),
        ("rewrites the output", verdict.updated_output is not None),
        ("sets " + ", ".join(verdict.fields), verdict.fields),
    ]


def _decision_word(decision: object) -> str | None:
    match decision:
        case Deny(reason=reason):
            return f"denies: {one_line(reason)}"
        case Block(reason=reason):
            return f"blocks: {one_line(reason)}"
        case Ask(reason=reason):
            return f"asks: {one_line(reason)}"
        case Allow(reason=reason):
            return f"allows{': ' + one_line(reason) if reason else ''}"
        case Defer():
            return "defers"
    return None


def _skip_lines(skip: Skip, style: Style) -> Iterator[str]:
    yield f"  {style.dim('–')} {one_line(skip.handler.label)}  {style.dim(place(skip.handler.source))}"
    detail = f": {flat(skip.detail)}" if skip.detail else ""
    yield f"      skipped, {skip.reason.value}{detail}"


def _position(outcome: Outcome, style: Style) -> str:
    if outcome.blocked:
        return style.bad("BLOCKED") + (" and the turn ends" if outcome.stop is not None else "")
    if outcome.stop is not None:
        return style.bad("STOP") + f", the turn ends: {one_line(outcome.stop.reason or 'no reason given')}"
    match outcome.decision:
        case Ask():
            return style.warn("ASK") + ", a person must confirm"
        case Defer():
            return style.warn("DEFER")
        case Allow():
            return style.good("ALLOW") + ", rules of the host still apply"
    silent = outcome.errors
    shadows = sum(run.would is not None for run in outcome.runs)
    if shadows == len(outcome.runs):
        return (
            style.warn("PROCEED") + ", no hook checked this" + (", apart from those in shadow mode" if shadows else "")
        )
    if silent == len(outcome.runs) - shadows:
        return style.warn("PROCEED") + ", no hook gave a verdict"
    return style.good("PROCEED") + ", no hook objected" + (f", {silent} gave no verdict" if silent else "")


def _effects(outcome: Outcome) -> Iterator[str]:
    if outcome.updated_input is not None:
        yield f"  input becomes    {one_line(str(dict(outcome.updated_input)))}"
    if outcome.updated_output is not None:
        yield f"  output becomes   {one_line(str(outcome.updated_output))}"
    for name, value in outcome.fields.items():
        yield f"  {name.ljust(16)} {one_line(str(value))}"


def _readers(outcome: Outcome, style: Style) -> Iterator[str]:
    for reader in (Reader.MODEL, Reader.USER, Reader.VERBOSE):
        for message in messages(outcome):
            if message.reader is reader:
                first, *rest = harmless(message.text).splitlines() or [""]
                yield f"  {style.dim((reader.value + ' sees').ljust(18))} {first}"
                yield from (f"  {' ' * 18} {line}" for line in rest[:20])


def late_lines(late: Late, event: Event) -> Iterator[str]:
    """Write what a background hook added."""
    said = [text for text in (late.context, late.system_message, late.rewake) if text]
    yield f"  … {one_line(late.job.handler.label)} ended ({type(late.reply).__name__.lower()})"
    for text in said:
        yield f"      model sees on the next turn after {event.event_name}: {one_line(text)}"


def problems(loaded: Loaded) -> Iterator[str]:
    """Write the problems of the configuration, worst first."""
    waiting = [diagnostic for diagnostic in loaded.diagnostics if waits_for_review(diagnostic)]
    if waiting:
        yield f"hookwright: {review_line(waiting)}"
    ranked = sorted(loaded.diagnostics, key=lambda d: list(Severity).index(d.severity))
    for diagnostic in ranked:
        if diagnostic.severity is not Severity.INFO and diagnostic not in waiting:
            yield f"hookwright: {diagnostic.severity.value}: {diagnostic_line(diagnostic)}"


def diagnostic_line(diagnostic: Diagnostic) -> str:
    """Write one diagnostic on one line."""
    where = f"{place(diagnostic.source)}: " if diagnostic.source is not None else ""
    return flat(f"{where}{diagnostic.message} [{diagnostic.code}]")


def handler_line(handler: Handler) -> str:
    """Write kind and label of a handler."""
    return f"{handler.kind.value} {one_line(handler.label)}"
