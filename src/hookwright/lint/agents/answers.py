"""What becomes of a script's answers in another agent: refusals, questions, rewrites and context that get lost."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from hookwright.dialects.model import AnswerEffect, Moment, Vocabulary
from hookwright.dialects.native import NativeAnswer, obeyed, read_before_call
from hookwright.lint.agents.hook import AgentHook
from hookwright.lint.guards import REFUSING, PrintedAnswer, answers, decision, exits, reachable
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point, points
from hookwright.lint.programs.ir import Call, Leave, Program, Say, Stmt, Stream
from hookwright.lint.programs.template import looks_like_object, plain, read_template

#: Programs that print nothing on stderr as long as they work.
_QUIET = frozenset(
    ["jq", "grep", "egrep", "cat", "head", "tail", "sed", "awk", "cut", "tr", "sort", "wc", "test", "[", "read", "set"]
)
_BEFORE_CALL = "PreToolUse"


class StaticAnswer(msgspec.Struct, frozen=True, eq=False):
    """An answer that a program gives at one place, as far as its text says."""

    program: Program
    point: Point
    answer: NativeAnswer
    #: deny, block, stop, ask; `exit 2` for the status alone.
    means: str


def check_answers(hook: AgentHook) -> Iterator[Finding]:
    """Compare every answer that a hook's programs give with what the agent does after it."""
    if hook.moment is None or hook.rules is None or hook.kind != "command":
        return
    for program in hook.launch.deciding:
        for answer in _static(program, hook.event):
            yield from _refusal(hook, hook.moment, answer)
            yield from _question(hook, answer)
        for printed in answers(program):
            if reachable(hook.event, printed.point):
                yield from _rewrite(hook, program, printed)
                yield from _context(hook, program, printed)


def _static(program: Program, event: str) -> Iterator[StaticAnswer]:
    """List the answers of a program that refuse or ask, and whose status and output are known."""
    for point, leave in exits(program):
        if leave.code == 2 and reachable(event, point):
            spoken = _speaks(point)
            if spoken is not None:
                yield StaticAnswer(program, point, NativeAnswer(2, _printed(point), spoken), "exit 2")
    for printed in answers(program):
        means = decision(printed)
        status = _status(printed.point)
        if means not in ("deny", "block", "stop", "ask") or status is None or not reachable(event, printed.point):
            continue
        if status != 2 and printed.object is not None and not printed.object.open:
            text = json.dumps(plain(printed.object))
            yield StaticAnswer(program, printed.point, NativeAnswer(status, text, ""), means)


def _speaks(point: Point) -> str | None:
    """Return the text on stderr before an exit, empty if there surely is none; None if that is not known."""
    stmt = point.stmt
    if isinstance(stmt, Leave) and stmt.text is not None:
        return stmt.text.known or "…"
    found = ""
    for before in _all(point.before):
        if isinstance(before, Say) and before.stream is Stream.ERR:
            found = before.text.known.strip() or "…"
        elif isinstance(before, Call) and (before.out is Stream.ERR or _may_speak(before)):
            return found or None
    return found


def _may_speak(call: Call) -> bool:
    return call.err is Stream.ERR and (not call.program or call.name not in _QUIET)


def _all(block: tuple[Stmt, ...]) -> Iterator[Stmt]:
    return (point.stmt for point in points(block))


def _printed(point: Point) -> str:
    """Return the JSON object that was surely printed before a point."""
    said = [say for say in point.said if say.stream is Stream.OUT and looks_like_object(say.text)]
    value = read_template(said[-1].text) if said else None
    shown = plain(value) if said else None  # type: ignore[arg-type]
    return json.dumps(shown) if isinstance(shown, dict) else ""


def _status(point: Point) -> int | None:
    """Return the status with which a program ends after a point; None if it is computed."""
    for stmt in point.after:
        if isinstance(stmt, Leave):
            return stmt.code
    return 0


def _refusal(hook: AgentHook, moment: Moment, given: StaticAnswer) -> Iterator[Finding]:
    """HK909: a refusal that the agent does not obey."""
    rules = hook.rules
    assert rules is not None
    counts = rules.exit_2 in REFUSING and (given.means != "stop" or rules.stops)
    if given.means == "ask" or not counts:
        return
    at = hook.position(given.program, given.point.stmt.place)
    proof = hook.dialect.answers.proof if hook.event == _BEFORE_CALL else moment.proof
    said = "Exit status 2" if given.means == "exit 2" else f"`{given.means}`"
    if hook.event == _BEFORE_CALL:
        reading = read_before_call(hook.dialect, given.answer)
        if reading.stops:
            return
        what = f"{said} does not stop the call in {hook.title}, the tool runs: {reading.why}."
        if hook.dialect.answers.vocabulary is Vocabulary.CURSOR and hook.borrowed:
            what = f"{said}: {hook.title} documents `permission: deny`; that it reads Claude Code's form is not proven."
    elif not moment.refused_by:
        what = f"{said} has no effect: {hook.title} cannot be refused anything on `{moment.name}`."
    elif obeyed(moment, given.answer):
        return
    else:
        what = f"{said} in this form is not obeyed by {hook.title} on `{moment.name}`."
    yield hook.found("HK909", at, proof, (what, _way_out(moment)))


def _way_out(moment: Moment) -> str:
    if not moment.refused_by:
        return "Refuse at an event the agent can be refused at, such as PreToolUse."
    return f"Use {moment.refused_by[0].value}, or `hookwright export`, which translates every refusal."


def _question(hook: AgentHook, given: StaticAnswer) -> Iterator[Finding]:
    """HK910: a question to the user that is never asked."""
    if given.means != "ask" or hook.event != _BEFORE_CALL:
        return
    rules = hook.dialect.answers
    reading = read_before_call(hook.dialect, given.answer)
    if reading.effect in (AnswerEffect.REFUSED, AnswerEffect.ASKS):
        return
    effect = "the call runs without a question" if reading.effect is AnswerEffect.RUNS else reading.effect.value
    what = f"`ask` in {hook.title}: {effect} ({reading.why})."
    at = hook.position(given.program, given.point.stmt.place)
    yield hook.found("HK910", at, rules.proof, (what, "Refuse with a reason, or use `hookwright export`."))


def _rewrite(hook: AgentHook, program: Program, printed: PrintedAnswer) -> Iterator[Finding]:
    """HK911: a rewritten input that the agent does not apply."""
    rules = hook.dialect.answers
    if hook.event != _BEFORE_CALL or printed.specific is None or "updatedInput" not in printed.specific.items:
        return
    if rules.rewrite == "updatedInput":
        return
    instead = f"it reads `{rules.rewrite}`" if rules.rewrite else "it has no rewrite"
    what = f"{hook.title} ignores `updatedInput` and runs the original call: {instead}."
    at = hook.position(program, printed.point.stmt.place)
    write = "Refuse the call and name the right one in the reason, or use `hookwright export`."
    yield hook.found("HK911", at, rules.proof, (what, write))


def _context(hook: AgentHook, program: Program, printed: PrintedAnswer) -> Iterator[Finding]:
    """HK916: context that does not reach the model."""
    assert hook.moment is not None
    if printed.specific is None or "additionalContext" not in printed.specific.items or hook.moment.context:
        return
    at = hook.position(program, printed.point.stmt.place)
    what = f"`additionalContext` on `{hook.moment.name}` does not reach the model in {hook.title}."
    write = "Give the context at an event that carries it, such as PostToolUse or SessionStart."
    yield hook.found("HK916", at, hook.moment.proof, (what, write))
