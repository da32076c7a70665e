"""HK409 to HK412: reasons that nobody reads, and approvals that nobody meant."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    REFUSING,
    PrintedAnswer,
    about_content,
    answered,
    answers,
    decision,
    exits,
    program_refusals,
)
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point, flat, points
from hookwright.lint.programs.ir import (
    Block,
    Branch,
    Call,
    Leave,
    Program,
    Say,
    Stmt,
    Stream,
    TestKind,
    Text,
    Try,
)
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import POWERFUL, matched
from hookwright.protocol.events import Exit2

#: Programs that say nothing on stderr unless they are called wrongly.
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
    """Look at the words of each refusal, and at each approval."""
    for hook in subject.commands:
        for program in hook.launch.deciding:
            yield from _without_reason(hook, program)
            yield from _on_stderr(hook, program)
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
                "With exit 2 the reason is read from stderr; what is printed on stdout here is lost, and the "
                "reason is empty."
            )
            yield finding(
                "HK410",
                hook.position(program, near[-1].place),
                what,
                "The same text with `>&2` (Python: file=sys.stderr).",
            )
        elif not said:
            reader = (
                "The model"
                if hook.rules.exit_2 is not Exit2.BLOCK or hook.event in ("Stop", "SubagentStop")
                else "The reader"
            )
            what = (
                f"Exit 2 with nothing on stderr: {reader.lower()} is told `No stderr output` and cannot know "
                "what to change."
            )
            yield finding("HK409", at, what, "The reason on stderr before the exit.")
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
        what = f"`{made}` without `{key}`: the model is told only `Blocked by hook` and tries again in another way."
        yield finding("HK409", hook.position(program, answer.point.stmt.place), what, f'"{key}": what to do instead.')


def _others_speak(point: Point) -> bool:
    """Tell whether something that was started before may have written to stderr itself."""
    for stmt in flat(point.before):
        if isinstance(stmt, Call) and stmt.err is Stream.ERR and stmt.name not in _QUIET:
            return True
        if isinstance(stmt, Branch | Try) and _prints_somewhere(stmt):
            return True
    return any(isinstance(part, Try) for part in point.inside) and point.caught


def _prints_somewhere(stmt: Stmt) -> bool:
    """Tell whether a branch before may have printed the reason."""
    return any(
        (isinstance(inner.stmt, Say) and inner.stmt.stream is Stream.ERR)
        or (isinstance(inner.stmt, Call) and inner.stmt.err is Stream.ERR and inner.stmt.name not in _QUIET)
        for inner in points((stmt,))
    )


def _on_stderr(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK411: words on stderr that nobody reads."""
    for point, leave in exits(program):
        near = [say for say in point.near if isinstance(say, Say)]
        if leave.code == 0 and near and near[-1].stream is Stream.ERR and point.near[-1] is near[-1]:
            what = "stderr at exit 0 goes to the debug log; neither the user nor the model sees it."
            write = (
                '"systemMessage" for the user, "additionalContext" for the model, or exit 2 to give it to the model.'
            )
            yield finding("HK411", hook.position(program, near[-1].place), what, write)


# ── approvals ───────────────────────────────────────────────────────────────


def _falls_through(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK412: an approval of everything that was not refused."""
    if not hook.rules.permission or hook.handler.condition is not None or not matched(hook.matcher) & POWERFUL:
        return
    for answer in answers(program):
        if decision(answer) not in ("allow", "approve") or _has_rewrite(answer):
            continue
        if _is_default(answer.point, program):
            what = (
                "This approves whatever the tests before it did not refuse, and so switches off the "
                "permission prompt for it."
            )
            write = "Nothing: a hook that prints nothing has no opinion, and the normal rules decide."
            yield finding("HK412", hook.position(program, answer.point.stmt.place), what, write)


def _has_rewrite(answer: PrintedAnswer) -> bool:
    return answer.specific is not None and "updatedInput" in answer.specific.items


def _is_default(point: Point, program: Program) -> bool:
    """Tell whether a point is reached by everything that no test picked out."""
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
    """Tell whether a statement lets some calls go without an opinion, for what they are about."""
    if not isinstance(stmt, Branch):
        return False
    for arm in stmt.arms:
        silent = any(isinstance(s, Leave) and s.code in (0, None) for s in arm.body) and not _speaks(arm.body)
        if silent and any(about_content(atom) and atom.kind is not TestKind.EMPTY for atom, _ in arm.test.atoms()):
            return True
    rest = stmt.otherwise
    return any(isinstance(s, Leave) and s.code in (0, None) for s in rest) and not _speaks(rest)


def _speaks(block: Block) -> bool:
    return any(isinstance(stmt, Say) and stmt.stream is Stream.OUT for stmt in block)
