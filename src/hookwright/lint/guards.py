"""What a hook decides: the answers it prints, and the places where it refuses or approves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from hookwright.lint.programs.blocks import Point, points
from hookwright.lint.programs.ir import (
    Arm,
    Asks,
    Block,
    Branch,
    Call,
    How,
    Inner,
    Leave,
    Object,
    Program,
    Say,
    Stmt,
    Stream,
    Test,
    Text,
    Value,
)
from hookwright.lint.programs.template import NotJson, Several, looks_like_object, read_template
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.events import Exit2
from hookwright.protocol.handlers import CommandHandler

#: Events on which exit 2 refuses something.
REFUSING = frozenset({Exit2.DENY, Exit2.BLOCK, Exit2.STOP})

_REFUSAL = re.compile(
    r"\b(?:block(?:ed|ing)|den(?:y|ied|ying)|refus(?:e|ed|ing)|forbid(?:den)?|not allowed|disallowed|reject(?:ed|ing)?"
    r"|prohibited|protected|dangerous|unsafe|not permitted|must not|is off[- ]limits)\b",
    re.IGNORECASE,
)
_DANGER = re.compile(
    r"\brm\b|sudo|--force|push.*-f\b|git push|reset\W+--hard|drop\W+table|\.env\b|secret|mkfs|chmod\W+777|--no-verify"
    r"|id_rsa|credential|password|\bdd\b.*of=|kubectl\W+delete|terraform\W+destroy",
    re.IGNORECASE,
)
#: Words of a message that sends the agent back, unless it is about the hook's own trouble.
_REPROACH = re.compile(
    r"\b(?:invalid|illegal|violat\w+|abort\w*|cannot|can'?t|don'?t|do not|must|never|only|instead|first|please|use"
    r"|not on|no \w+ (?:to|on|in)|stop|requires?|needs?|fix|large|too|fail(?:s|ed|ing)"
    r"|not (?:valid|in|ok|safe|approved|yet))\b",
    re.IGNORECASE,
)
_OWN_TROUBLE = re.compile(
    r"\b(?:jq|json|pars\w+|stdin|install\w*|missing|not found|no such|usage|config\w*|python3?|node|depend\w+"
    r"|unavailable|internal|hook (?:error|failed)|time[d ]*out|input)\b",
    re.IGNORECASE,
)
#: Where the content of an event is, or where authors expect it.
_CONTENT = ("event.tool_input", "event.prompt", "env.CLAUDE_TOOL", "env.TOOL_INPUT", "env.CLAUDE_FILE")
_SEARCHES = frozenset({Asks.CONTAINS, Asks.REGEX, Asks.GLOB, Asks.PREFIX, Asks.EQUALS, Asks.SUFFIX})


class PrintedAnswer(msgspec.Struct, frozen=True, eq=False):
    """A JSON object on stdout, or an attempt at one."""

    point: Point
    value: Value | NotJson | Several

    @property
    def object(self) -> Object | None:
        """The object, if it could be read."""
        return self.value if isinstance(self.value, Object) else None

    @property
    def specific(self) -> Object | None:
        """`hookSpecificOutput`, if it could be read."""
        found = self.object.items.get("hookSpecificOutput") if self.object is not None else None
        return found if isinstance(found, Object) else None


class GuardRefusal(msgspec.Struct, frozen=True, eq=False):
    """A place where a program refuses."""

    point: Point
    by_exit: bool
    answer: PrintedAnswer | None = None


@lru_cache(maxsize=1024)
def all_points(program: Program) -> tuple[Point, ...]:
    """List all statements of a program once."""
    return tuple(points(program.body))


@lru_cache(maxsize=1024)
def answers(program: Program) -> tuple[PrintedAnswer, ...]:
    """List the JSON objects a program prints."""
    found = []
    for point in all_points(program):
        stmt = point.stmt
        if isinstance(stmt, Say) and stmt.stream is Stream.OUT and looks_like_object(stmt.text):
            found.append(PrintedAnswer(point, read_template(stmt.text)))
    return tuple(found)


def constant(value: Value) -> str | None:
    """Return the text of a template value, if all of it is known."""
    return value.constant if isinstance(value, Text) else None


def decision(answer: PrintedAnswer) -> str:
    """Return what an answer decides: deny, allow, ask, defer, block, approve, stop, or an empty string."""
    if answer.object is None:
        return ""
    specific = answer.specific.items if answer.specific is not None else {}
    request = specific.get("decision")
    behavior = constant(request.items.get("behavior")) if isinstance(request, Object) else None
    said = constant(specific.get("permissionDecision")) or behavior or constant(answer.object.items.get("decision"))
    if said is not None:
        return said
    return "stop" if answer.object.items.get("continue") is False else ""


def propagates(program: Program, point: Point) -> bool:
    """Return whether an exit at a point ends the hook with that status, not only an inner shell or child."""
    return all(_reaches(program, outer) for outer in point.within)


def _reaches(program: Program, outer: Point) -> bool:
    stmt = outer.stmt
    if getattr(stmt, "checked", False) or getattr(stmt, "inner", None) is Inner.BACKGROUND:
        return False
    return program.errexit or not any(map(decides_status, outer.after))


def decides_status(stmt: Stmt) -> bool:
    """Return whether a later statement changes the program's status."""
    return not (isinstance(stmt, Leave) and (stmt.code is None or stmt.how is How.RETURN))


def exits(program: Program) -> Iterator[tuple[Point, Leave]]:
    """List the places where a program exits, and the hook with it."""
    for point in all_points(program):
        if isinstance(point.stmt, Leave) and point.stmt.how is not How.RETURN and propagates(program, point):
            yield point, point.stmt


@lru_cache(maxsize=1024)
def program_refusals(program: Program) -> tuple[GuardRefusal, ...]:
    """List where a program refuses: exit 2, or an answer that denies, blocks or stops."""
    found = [GuardRefusal(point, True) for point, leave in exits(program) if leave.code == 2]
    refusing = [answer for answer in answers(program) if decision(answer) in ("deny", "block", "stop")]
    return (*found, *(GuardRefusal(answer.point, False, answer) for answer in refusing))


def refusals(hook: CheckedHook) -> list[tuple[Program, GuardRefusal]]:
    """List where a hook refuses, in any program whose status or output is the hook's."""
    return [(program, refusal) for program in hook.launch.deciding for refusal in program_refusals(program)]


def is_guard(hook: CheckedHook) -> bool:
    """Return whether a hook can refuse something on its event."""
    if hook.rules.exit_2 not in REFUSING:
        return False
    return any(_counts(hook, refusal) for _, refusal in refusals(hook))


def _counts(hook: CheckedHook, refusal: GuardRefusal) -> bool:
    said = decision(refusal.answer) if refusal.answer is not None else ""
    return refusal.by_exit or (said in ("deny", "block")) or (said == "stop" and hook.rules.stops)


def guards(subject: Subject) -> list[CheckedHook]:
    """List the command hooks that can refuse something."""
    return [hook for hook in subject.commands if is_guard(hook)]


def tool_guards(subject: Subject) -> list[CheckedHook]:
    """List the guards over tool calls."""
    return [hook for hook in guards(subject) if hook.rules.permission]


def waits(hook: CheckedHook) -> bool:
    """Return whether the event waits for the hook's answer."""
    return not (isinstance(hook.handler, CommandHandler) and hook.handler.background)


# ── intent ──────────────────────────────────────────────────────────────────


def means_no(point: Point) -> str | None:
    """Return the refusal message printed right before a point, or None."""
    for stmt in (*_spoken_first(point), *point.near):
        if not isinstance(stmt, Say) or stmt.stream is Stream.AWAY or looks_like_object(stmt.text):
            continue
        words = stmt.text.known
        if _REFUSAL.search(words) or (point.under and _reproaches(point, words)):
            return words.strip()
    return None


def _spoken_first(point: Point) -> tuple[Stmt, ...]:
    """Return the message in `echo … && exit 1`, which comes before the branch."""
    last = point.under[-1] if point.under else None
    if last is None or last.arm is None or point.near:
        return ()
    chain = last.arm.test.kind is Asks.ALL and last.arm.test.parts
    final = last.arm.test.parts[-1] if chain else last.arm.test
    if final.patterns[:1] not in (("echo",), ("printf",)):
        return ()
    before = point.before[-1:]
    if chain and before and isinstance(before[0], Branch):
        return before[0].arms[-1].body[-1:]
    return before


def _reproaches(point: Point, words: str) -> bool:
    """Return whether a message sends the agent back: it follows a test of the event, or says what to do."""
    if not re.search(r"[A-Za-z]{3}", words) or _OWN_TROUBLE.search(words):
        return False
    tests = [atom for condition in point.under for arm in condition.branch.arms for atom, _ in arm.test.atoms()]
    content = any(about_content(atom) and atom.kind in _SEARCHES for atom in tests)
    return content or bool(_REPROACH.search(words))


def refuses(words: str) -> bool:
    """Return whether a message is a refusal."""
    return bool(_REFUSAL.search(words))


def dangerous_test(point: Point) -> Test | None:
    """Return the test for something dangerous that leads to a point, or None."""
    for condition in point.under:
        if condition.arm is None:
            continue
        for atom, against in condition.arm.test.atoms():
            searched = not against and atom.kind in _SEARCHES and about_content(atom)
            if searched and any(map(_DANGER.search, atom.patterns)):
                return atom
    return None


def about_content(test: Test) -> bool:
    """Return whether a test is about the event's content: the tool's input or the prompt."""
    return any(origin == "event" or origin.startswith(_CONTENT) for origin in test.origins)


def answered(point: Point) -> bool:
    """Return whether a decision was printed earlier; JSON is read at every status."""
    return any(looks_like_object(said.text) for said in point.said if said.stream is Stream.OUT)


def arms(program: Program) -> Iterator[tuple[Point, Arm]]:
    """List the arms of all branches of a program."""
    for point in all_points(program):
        if isinstance(point.stmt, Branch):
            yield from ((point, arm) for arm in point.stmt.arms)


def questions(program: Program) -> Iterator[tuple[Test, bool]]:
    """List the single tests of all branches, each with whether it must fail."""
    for _, arm in arms(program):
        yield from arm.test.atoms()


def lets_through(block: Block) -> bool:
    """Return whether a block ends the program without an error."""
    return any(isinstance(stmt, Leave) and stmt.code in (0, None) for stmt in block)


def speaks(block: Block) -> bool:
    """Return whether a block prints something on stdout."""
    return any(isinstance(stmt, Say) and stmt.stream is Stream.OUT for stmt in block)


def possible(hook: CheckedHook, point: Point) -> bool:
    """Return whether a hook reaches a point on its event."""
    return reachable(hook.event, point)


def reachable(event: str, point: Point) -> bool:
    """Return whether a program reaches a point on an event, by the tests of `hook_event_name` on the way."""
    for condition in point.under:
        for arm in condition.branch.arms:
            taken = condition.arm is arm
            for atom, against in arm.test.atoms() if arm.test.kind is not Asks.ANY or not taken else ():
                if atom.kind is not Asks.EQUALS or "event.hook_event_name" not in atom.origins or not atom.patterns:
                    continue
                holds = (event in atom.patterns) is not against
                if taken and not holds:
                    return False
                if condition.arm is None and holds and not arm.test.parts:
                    return False
    return True


def calls_of(program: Program) -> Iterator[tuple[Point, Call]]:
    """List the calls of a program."""
    for point in all_points(program):
        if isinstance(point.stmt, Call):
            yield point, point.stmt
