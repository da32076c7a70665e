"""HK409 to HK412 and HK519: reasons that are never read, and approvals that were not intended."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    REFUSING,
    PrintedAnswer,
    about_content,
    all_points,
    answered,
    answers,
    constant,
    decision,
    exits,
    lets_through,
    program_refusals,
    speaks,
)
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point, flat, points
from hookwright.lint.programs.ir import (
    Asks,
    Block,
    Branch,
    Call,
    Leave,
    Program,
    Say,
    Stmt,
    Stream,
    Text,
    Try,
)
from hookwright.lint.programs.template import looks_like_object, read_template
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import POWERFUL, matched
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import Exit2

#: Programs that print nothing on stderr when called correctly.
_QUIET = frozenset(
    [
        "awk",
        "basename",
        "cat",
        "cd",
        "cut",
        "date",
        "dirname",
        "egrep",
        "fgrep",
        "git",
        "grep",
        "head",
        "jq",
        "mkdir",
        "printf",
        "sed",
        "sort",
        "tail",
        "tee",
        "touch",
        "tr",
        "uniq",
        "wc",
        "rm",
        "hostname",
        "whoami",
        "id",
        "uname",
    ]
)


def check_reasons(subject: Subject) -> Iterator[Finding]:
    """Check the reason of each refusal, and each approval."""
    for hook in subject.commands:
        for program in hook.launch.deciding:
            yield from _without_reason(hook, program)
            yield from _on_stderr(hook, program)
            yield from _answer_on_stderr(hook, program)
            yield from _falls_through(hook, program)


# ── reasons ─────────────────────────────────────────────────────────────────


def _without_reason(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK409 and HK410: refusals whose reason is missing or on the wrong stream."""
    if hook.rules.exit_2 not in REFUSING and hook.rules.exit_2 is not Exit2.FEEDBACK:
        return
    for point, leave in exits(program):
        if leave.code != 2 or answered(point):
            continue
        said = [say for say in point.said if say.stream is not Stream.AWAY and say.text.parts]
        if any(say.stream is Stream.ERR for say in said) or _others_speak(point):
            continue
        at = hook.position(program, leave.place)
        near = [say for say in point.near if isinstance(say, Say) and say.stream is Stream.OUT and say.text.parts]
        if near:
            what = (
                "With exit 2 the reason is read from stderr; this message on stdout is lost, and the reason is empty."
            )
            write = "Print the message with `>&2` (Python: file=sys.stderr)."
            yield finding("HK410", hook.position(program, near[-1].place), what, write)
        elif not said:
            reader = (
                "the model"
                if hook.rules.exit_2 is not Exit2.BLOCK or hook.event in ("Stop", "SubagentStop")
                else "the user"
            )
            what = (
                f"Exit 2 with nothing on stderr: {reader} reads only `No stderr output` and cannot know what to change."
            )
            yield finding("HK409", at, what, "Print the reason on stderr before the exit.")
    for answer in answers(program):
        yield from _reasonless(hook, program, answer)


def _reasonless(hook: CheckedHook, program: Program, answer: PrintedAnswer) -> Iterator[Finding]:
    made = decision(answer)
    if answer.object is None or answer.object.open:
        return
    specific = answer.specific.items if answer.specific is not None else {}
    key = "permissionDecisionReason" if made == "deny" and "permissionDecision" in specific else ""
    if made == "block" and hook.rules.exit_2 is Exit2.DENY:
        specific, key = answer.object.items, "reason"
    if not key or (answer.specific is not None and answer.specific.open):
        return
    if key not in specific or specific[key] == Text():
        what = f"`{made}` without `{key}`: the model reads only `Blocked by hook` and tries another way."
        yield finding(
            "HK409", hook.position(program, answer.point.stmt.place), what, f'Add "{key}" with what to do instead.'
        )


def _others_speak(point: Point) -> bool:
    """Return whether a program started earlier may have written to stderr itself."""
    for stmt in flat(point.before):
        if isinstance(stmt, Call) and stmt.err is Stream.ERR and stmt.name not in _QUIET:
            return True
        if isinstance(stmt, Branch | Try) and _prints_somewhere(stmt):
            return True
    return any(isinstance(part, Try) for part in point.inside) and point.caught


def _prints_somewhere(stmt: Stmt) -> bool:
    """Return whether an earlier branch may have printed the reason."""
    return any(
        (isinstance(inner.stmt, Say) and inner.stmt.stream is Stream.ERR)
        or (isinstance(inner.stmt, Call) and inner.stmt.err is Stream.ERR and inner.stmt.name not in _QUIET)
        for inner in points((stmt,))
    )


def _on_stderr(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK411: messages on stderr that are never read."""
    for point, leave in exits(program):
        near = [say for say in point.near if isinstance(say, Say)]
        if leave.code == 0 and near and near[-1].stream is Stream.ERR and point.near[-1] is near[-1]:
            what = "stderr at exit 0 goes to the debug log; neither the user nor the model sees it."
            write = (
                'Print "systemMessage" for the user or "additionalContext" for the model, or exit 2 so that the model '
                "reads it."
            )
            yield finding("HK411", hook.position(program, near[-1].place), what, write)


def _answer_on_stderr(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK519: a decision as JSON on stderr."""
    for point in all_points(program):
        stmt = point.stmt
        if not isinstance(stmt, Say) or stmt.stream is not Stream.ERR or not looks_like_object(stmt.text):
            continue
        answer = PrintedAnswer(point, read_template(stmt.text))
        keys = {*answer.object.items} if answer.object is not None else set[str]()
        if not keys & {"hookSpecificOutput", "decision", "permissionDecision", "continue"}:
            continue
        said = decision(answer)
        refused = any(isinstance(after, Leave) and after.code == 2 for after in point.after[:2])
        if refused and said in ("deny", "block", "stop"):
            what, severity = "Exit 2 refuses by itself, with this whole JSON text as the reason.", Severity.INFO
        elif refused:
            what = f"JSON is read from stdout only: with exit 2 the event is refused, not `{said or 'decided'}`."
            severity = Severity.ERROR
        else:
            what, severity = "JSON is read from stdout only: this decision on stderr is ignored.", Severity.ERROR
        write = "Print the JSON on stdout and exit 0, or print only the reason on stderr and exit 2."
        yield finding("HK519", hook.position(program, stmt.place), what, write, severity=severity)


# ── approvals ───────────────────────────────────────────────────────────────


def _falls_through(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK412: an approval of everything not refused."""
    if not hook.rules.permission or hook.handler.condition is not None or not matched(hook.matcher) & POWERFUL:
        return
    for answer in answers(program):
        if decision(answer) not in ("allow", "approve") or _has_rewrite(answer) or _is_void(answer):
            continue
        if _is_default(answer.point, program):
            what = (
                "This approves every call the earlier tests did not refuse, and so switches off the permission prompt "
                "for all of them."
            )
            write = "Print nothing: the hook then has no opinion, and the normal rules decide."
            yield finding("HK412", hook.position(program, answer.point.stmt.place), what, write)


def _is_void(answer: PrintedAnswer) -> bool:
    return answer.object is not None and constant(answer.object.items.get("decision")) == "allow"


def _has_rewrite(answer: PrintedAnswer) -> bool:
    return answer.specific is not None and "updatedInput" in answer.specific.items


def _is_default(point: Point, program: Program) -> bool:
    """Return whether a point is reached by every call that no test singled out."""
    if point.within or point.caught:
        return False
    for condition in point.under:
        refused = all(_refuses(arm.body, program) for arm in condition.branch.arms)
        if condition.arm is not None or not refused:
            return False
    return not any(_opts_out(stmt) for stmt in point.before)


def _refuses(block: Block, program: Program) -> bool:
    wanted = {id(refusal.point.stmt) for refusal in program_refusals(program)}
    return any(id(inner.stmt) in wanted for inner in points(block))


def _opts_out(stmt: Stmt) -> bool:
    """Return whether a statement lets some calls pass without an opinion, because of their content."""
    if not isinstance(stmt, Branch):
        return False
    for arm in stmt.arms:
        silent = lets_through(arm.body) and not speaks(arm.body)
        if silent and any(about_content(atom) and atom.kind is not Asks.EMPTY for atom, _ in arm.test.atoms()):
            return True
    return lets_through(stmt.otherwise) and not speaks(stmt.otherwise)
