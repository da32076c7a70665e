"""HK401 to HK408: does the script decide what its author intended? Reasons and approvals are in `reasons`."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    REFUSING,
    all_points,
    answered,
    dangerous_test,
    decides_status,
    exits,
    means_no,
    program_refusals,
    propagates,
    refuses,
)
from hookwright.lint.model import Finding
from hookwright.lint.programs.blocks import Point, flat, points
from hookwright.lint.programs.ir import (
    Block,
    Branch,
    Call,
    Eat,
    How,
    Inner,
    Language,
    Leave,
    Program,
    Say,
    Try,
    Within,
)
from hookwright.lint.programs.shell.greps import unguarded_greps
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.diagnostics import Severity

#: Programs that exit 2 when they find a problem; most others keep 2 for their own trouble.
_FAIL_WITH_2 = frozenset(["make", "gmake", "stylelint", "tsc"])


def check_deciding(subject: Subject) -> Iterator[Finding]:
    """Check how each program of each hook ends."""
    for hook in subject.commands:
        for program in hook.launch.deciding:
            yield from _wrong_status(hook, program)
            yield from _swallowed(hook, program)
            yield from _caught(hook, program)
            yield from _errexit(hook, program)
        for program in hook.programs:
            yield from _stdin(hook, program)
        yield from _lost_scripts(hook)
        yield from _accidental(hook)


# ── statuses ────────────────────────────────────────────────────────────────


def _wrong_status(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK401 and HK402: a refusal with a status that does not refuse."""
    if hook.rules.exit_2 not in REFUSING:
        return
    others = bool(program_refusals(program))
    for point, leave in exits(program):
        if leave.code in (None, 0, 2) or point.caught or answered(point):
            continue
        if leave.how is How.TEXT:
            if leave.text is not None and refuses(leave.text.known):
                what = f"A message makes the program exit 1, not 2, and 1 is a non-blocking error: {_proceeds(hook)}."
                leave_2 = "process.exit(2)" if program.language is Language.JAVASCRIPT else "sys.exit(2)"
                write = f"Print the message on stderr, then call {leave_2}."
                yield finding("HK402", hook.position(program, leave.place), what, write)
            continue
        words = means_no(point)
        if words is None and (others or dangerous_test(point) is None):
            continue
        said = f' after "{_short(words)}"' if words else ""
        what = f"Exit {leave.code}{said}: every status except 2 is a non-blocking error, so {_proceeds(hook)}."
        how = "Exit 2 with the reason on stderr, or print a `deny` decision as JSON."
        yield finding("HK401", hook.position(program, leave.place), what, how)


def _proceeds(hook: CheckedHook) -> str:
    match hook.event:
        case "PreToolUse" | "PermissionRequest":
            return "the call proceeds"
        case "UserPromptSubmit" | "UserPromptExpansion":
            return "the prompt goes to the model"
        case "Stop" | "SubagentStop":
            return "the agent stops anyway"
    return f"{hook.event} proceeds"


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 50 else line[:49] + "…"


def _swallowed(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK403: an exit 2 that the hook does not pass on."""
    for point in all_points(program):
        stmt = point.stmt
        if not isinstance(stmt, Leave) or stmt.code != 2 or not point.within or propagates(program, point):
            continue
        outer = point.within[-1].stmt
        if not isinstance(outer, Within) or program.mentions("$?") or program.mentions("PIPESTATUS"):
            continue
        if outer.checked and not _masked(point.within[-1]):
            continue
        what = (
            f"This exit 2 ends only {outer.inner.value}; the program continues, and its last status is the hook's. "
            "The 2 is lost."
        )
        write = "Move the exit outside: pass the status on (`|| exit 2`), or read from a here-string instead of a pipe."
        yield finding("HK403", hook.position(program, stmt.place), what, write)


def _masked(outer: Point) -> bool:
    """Return whether a checked status is thrown away: `check || true`."""
    following = outer.after[0] if outer.after else None
    if not isinstance(following, Branch):
        return False
    return all(not _leaves(arm.body) for arm in following.arms)


def _leaves(block: Block) -> bool:
    return any(isinstance(stmt, Leave) and stmt.code != 0 for stmt in flat(block))


def _lost_scripts(hook: CheckedHook) -> Iterator[Finding]:
    """Find guard scripts whose status the command line throws away."""
    inline = hook.launch.inline
    if hook.rules.exit_2 not in REFUSING or inline is None or inline.mentions("$?"):
        return
    for script in hook.launch.scripts:
        if script.decides or script.program is None:
            continue
        by_exit = [refusal for refusal in program_refusals(script.program) if refusal.by_exit]
        point = next((item for item in all_points(inline) if item.stmt is script.call), None)
        if not by_exit or point is None or inline.errexit or inline.pipefail:
            continue
        if script.call.checked and not _masked(point):
            continue
        how = "`|| …`" if script.call.checked else "what follows it"
        what = (
            f"{script.word.rsplit('/', 1)[-1]} refuses with exit 2, but {how} in the command gives the hook another "
            "status. The 2 is lost."
        )
        yield finding("HK403", hook.place("command"), what, "Run the script last in the command, on its own.")


def _caught(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK404: exception handlers that let everything through."""
    if program.language is not Language.PYTHON or hook.rules.exit_2 not in REFUSING:
        return
    for point in all_points(program):
        if not isinstance(point.stmt, Try):
            continue
        refusing = any(isinstance(inner.stmt, Leave) and inner.stmt.code == 2 for inner in points(point.stmt.body))
        for catch in point.stmt.catches:
            silent = all(
                isinstance(s, Leave) and s.code in (0, None) for s in catch.body if not isinstance(s, Say | Call)
            )
            all_of_it = not catch.names or {"BaseException", "SystemExit"} & set(catch.names)
            if refusing and all_of_it and silent and not any(isinstance(s, Call) for s in catch.body):
                name = ", ".join(catch.names) or "a bare `except:`"
                what = (
                    f"sys.exit raises SystemExit, and {name} catches that as well: the exit 2 of this `try` becomes "
                    "exit 0."
                )
                write = "Write `except Exception:`, or move the exit out of the `try`."
                yield finding("HK404", hook.position(program, catch.place), what, write)
            elif "Exception" in catch.names and _is_zero(catch.body) and program_refusals(program):
                what = "Any bug in this guard ends here, with exit 0: the event proceeds as if it had been checked."
                write = 'Exit 2 with a message, or remove the handler and set `"onFailure": "block"`.'
                yield finding("HK404", hook.position(program, catch.place), what, write, severity=Severity.INFO)


def _is_zero(block: Block) -> bool:
    leaves = [stmt for stmt in block if isinstance(stmt, Leave)]
    return bool(leaves) and all(leave.code == 0 and leave.how is How.EXIT for leave in leaves)


# ── stdin ───────────────────────────────────────────────────────────────────


def _stdin(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK405 and HK406: an event that never arrives, or is read twice."""
    if program.language is not Language.SHELL:
        return
    for point in all_points(program):
        stmt = point.stmt
        if not isinstance(stmt, Eat):
            continue
        at = hook.position(program, stmt.place)
        if stmt.by.endswith("<<"):
            what = (
                f"The here-document is the stdin of {stmt.by.removesuffix(' <<')}: the program reads itself, and the "
                "event never arrives."
            )
            write = "Save the event in a variable first (`IN=$(cat)`), or move the program to its own file."
            yield finding("HK405", at, what, write)
            continue
        earlier = next(
            (item for item in flat(point.before) if isinstance(item, Eat) and not item.by.endswith("<<")), None
        )
        if earlier is not None and not _same_child(point, earlier):
            what = (
                f"`{earlier.by}` in line {earlier.place.line} already read stdin to its end; `{stmt.by}` reads nothing "
                "here."
            )
            write = 'Read once, `IN=$(cat)`, and then use `jq … <<<"$IN"` or `printf "%s" "$IN" | jq …`.'
            yield finding("HK406", at, what, write)


def _same_child(point: Point, earlier: Eat) -> bool:
    """Return whether a child program read stdin in two steps: `on('data', …)` and `on('end', …)`."""
    inner = point.within[-1].stmt if point.within else None
    if not isinstance(inner, Within) or inner.inner is not Inner.CHILD:
        return False
    return any(item.stmt is earlier for item in points(inner.body))


def _accidental(hook: CheckedHook) -> Iterator[Finding]:
    """HK407: a last command that exits 2 on ordinary failure."""
    if hook.rules.exit_2 not in REFUSING:
        return
    for program in hook.launch.deciding:
        last = next((point for point in reversed(all_points(program)) if isinstance(point.stmt, Call)), None)
        if last is None or program.language is not Language.SHELL:
            continue
        call = last.stmt
        assert isinstance(call, Call)
        name = _tool(call)
        final = not last.within and not call.checked and not any(map(decides_status, last.after))
        if name in _FAIL_WITH_2 and final:
            loop = " again and again" if "Stop" in hook.event else ""
            what = (
                f"The hook exits with the status of `{name}`, which is 2 on ordinary failure: {hook.event} is "
                f"blocked{loop}, with the tool's stderr as the reason."
            )
            write = f"Write `{name} … || exit 1`, or a clear message and `exit 2` if you mean to block."
            yield finding("HK407", hook.position(program, call.place), what, write)


def _tool(call: Call) -> str:
    """Return the tool that `npx`, `uv run` or `python -m` starts."""
    words = [word.known for word in call.words]
    if call.name in ("npx", "bunx", "uvx") and len(words) > 1:
        return next((word for word in words[1:] if not word.startswith("-")), "")
    if words[:2] in (["uv", "run"], ["poetry", "run"]) or words[1:2] == ["-m"]:
        return words[2] if len(words) > 2 else ""
    return call.name


def _errexit(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK408: `set -e` and a grep without a match."""
    if program.language is not Language.SHELL or not program.errexit:
        return
    for place, name in unguarded_greps(program):
        what = f"With `set -e`, `{name}` without a match exits 1 and ends the hook here, before anything is checked."
        yield finding("HK408", hook.position(program, place), what, "Add `|| true` after it, inside the parentheses.")
