"""HK6xx: the right event, in the foreground, once, and without getting in each other's way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    REFUSING,
    GuardRefusal,
    all_points,
    answers,
    calls_of,
    decision,
    exits,
    program_refusals,
    refusals,
)
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Branch, Call, Hole, Leave, Program, Say, Stream
from hookwright.lint.programs.ir import TestKind as TestKind
from hookwright.lint.programs.template import looks_like_object
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import Exit2, Plain
from hookwright.protocol.handlers import CommandHandler, Kind

_INSTEAD = {
    "PostToolUse": "PreToolUse",
    "PostToolUseFailure": "PreToolUse",
    "SessionStart": "UserPromptSubmit or PreToolUse",
    "Notification": "PreToolUse",
    "SubagentStart": "PreToolUse with the matcher `Agent`",
    "SessionEnd": "Stop",
    "PostCompact": "PreCompact",
    "PermissionDenied": "PreToolUse",
    "PostModelSwitch": "PreModelSwitch",
    "StopFailure": "Stop",
}
_ADVICE = re.compile(
    r"\b(?:remember|reminder|please|you (?:must|should|need)|make sure|don'?t "
    r"forget|important:|always|never|note:|todo:)",
    re.IGNORECASE,
)
_FAILED = frozenset(["error", "is_error", "isError", "exit_code", "exitCode", "success", "returncode"])
_SUITES = re.compile(
    r"(?:npm|pnpm|yarn|bun) (?:run )?(?:test|lint|check|typecheck|build)\b|(?:npx "
    r")?(?:jest|vitest|mocha)\b|pytest\b|tox\b"
    r"|make(?: \w+)?$|cargo (?:test|clippy|check)|go (?:test|vet)|mvn |gradle |python3? -m "
    r"(?:pytest|unittest)|ruff check|mypy|tsc\b"
)
_AGENTS = {"claude": ("-p", "--print"), "codex": ("exec", "e"), "gemini": ("-p", "--prompt"), "qwen": ("-p",)}
_NO_HOOKS = re.compile(r"--bare|--safe-mode|disableAllHooks|--no-hooks|--setting-sources")


def check_events(subject: Subject) -> Iterator[Finding]:
    """Look at each hook on its event, and at hooks that run together."""
    for hook in subject.hooks:
        yield from _kind(hook)
        yield from _background(hook)
    for hook in subject.commands:
        yield from _cannot_block(hook, subject)
        yield from _dropped(hook)
        yield from _failures(hook, subject)
        yield from _stop(hook)
        yield from _agents(hook)


# ── events ──────────────────────────────────────────────────────────────────


def _cannot_block(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK601: refusals on events that cannot refuse."""
    claude_ignores = hook.rules.exit_2 is Exit2.NOTHING or hook.event == "PermissionRequest"
    if not claude_ignores:
        return
    for program in hook.launch.deciding:
        others = subject.events_of.get(program.path, frozenset()) - {hook.event}
        if program.path and others and program.mentions("hook_event_name"):
            continue
        for _, leave in exits(program):
            if leave.code != 2:
                continue
            yield finding("HK601", hook.position(program, leave.place), *_useless_exit(hook))
        for answer in answers(program):
            if decision(answer) == "block" and "block" not in hook.rules.decisions:
                what = f"{hook.event} cannot be blocked: `decision: block` is ignored."
                instead = _INSTEAD.get(hook.event, "an event that can be blocked")
                yield finding(
                    "HK601", hook.position(program, answer.point.stmt.place), what, f"The same test on {instead}."
                )


def _useless_exit(hook: CheckedHook) -> tuple[str, str]:
    if hook.event == "PermissionRequest":
        what = (
            "Claude Code ignores exit 2 on PermissionRequest, and the dialog appears as usual; Hookwright denies (D11)."
        )
        return (
            what,
            '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": '
            '"deny", "message": "…"}}}',
        )
    what = f"{hook.event} cannot be blocked: exit 2 changes nothing but the error notice."
    return what, f"The same test on {_INSTEAD.get(hook.event, 'an event that can be blocked')}."


def _dropped(hook: CheckedHook) -> Iterator[Finding]:
    """HK602: plain text that nobody reads."""
    if hook.rules.plain is not Plain.DROPPED or not hook.rules.output.keys() & {"additional_context"}:
        return
    for program in hook.launch.deciding:
        for point in all_points(program):
            stmt = point.stmt
            plain = isinstance(stmt, Say) and stmt.stream is Stream.OUT and not looks_like_object(stmt.text)
            if not plain or not isinstance(stmt, Say) or not _is_sentence(stmt) or _then_two(point.after):
                continue
            meant = bool(_ADVICE.search(stmt.text.known))
            what = (
                f"Plain stdout of {hook.event} goes to the debug log; the model never reads it. Only "
                "SessionStart, UserPromptSubmit, UserPromptExpansion and PostModelSwitch take plain text."
            )
            where = f'{{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "additionalContext": "…"}}}}'
            severity = None if meant else Severity.INFO
            yield finding("HK602", hook.position(program, stmt.place), what, where, severity=severity)


def _is_sentence(stmt: Say) -> bool:
    words = stmt.text.known.strip()
    return bool(re.search(r"[A-Za-z]{3}", words)) and "{" not in words and not isinstance(stmt.text.parts[0], Hole)


def _then_two(after: tuple[object, ...]) -> bool:
    return any(isinstance(stmt, Leave) and stmt.code == 2 for stmt in after[:2])


def _kind(hook: CheckedHook) -> Iterator[Finding]:
    """HK603: types of handlers that the event does not run."""
    kind = hook.handler.kind
    if kind in (Kind.PROMPT, Kind.AGENT) and kind not in hook.rules.model_kinds:
        what = f"{hook.event} does not run `{kind.value}` handlers: a non-blocking error each time."
        yield finding("HK603", hook.place("type"), what, "A command handler.")
    elif kind in hook.rules.skipped_kinds:
        what = f"{hook.event} skips `{kind.value}` handlers without a word."
        yield finding("HK603", hook.place("type"), what, "A command handler.")


def _failures(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK604: looking for failures where only successes come."""
    if hook.event != "PostToolUse" or any(other.event == "PostToolUseFailure" for other in subject.hooks):
        return
    for program in hook.programs:
        for read in program.fields:
            if read.path[:1] == ("tool_response",) and read.path[-1] in _FAILED:
                what = (
                    f"PostToolUse fires for calls that succeeded only; `{'.'.join(read.path)}` of a failed "
                    "call never comes here."
                )
                yield finding(
                    "HK604",
                    hook.position(program, read.place),
                    what,
                    "The same hook on PostToolUseFailure, which has `error`.",
                )
                return


# ── background ──────────────────────────────────────────────────────────────


def _background(hook: CheckedHook) -> Iterator[Finding]:
    """HK611 to HK613: answers that come too late."""
    handler = hook.handler
    if not isinstance(handler, CommandHandler):
        for key in ("async", "asyncRewake"):
            if hook.entry.get(key):
                what = f"`{key}` counts on command handlers only; this `{handler.kind.value}` handler is waited for."
                yield finding("HK613", hook.place(key), what, "A command handler, or no such key.")
        return
    if not handler.is_async or handler.async_rewake:
        return
    if hook.rules.exit_2 in REFUSING and refusals(hook):
        what = "Nobody waits for an async hook: its exit 2 and its decisions are ignored, so this guard never blocks."
        yield finding("HK611", hook.place("async"), what, "The guard without `async`.")
    elif hook.rules.plain is Plain.CONTEXT and _speaks(hook):
        what = (
            f"{hook.event} does not wait for an async hook: plain text is lost, and `additionalContext` comes "
            "a turn too late."
        )
        yield finding(
            "HK612", hook.place("async"), what, "The context without `async`; slow work in a hook of its own."
        )


def _speaks(hook: CheckedHook) -> bool:
    said = [point.stmt for program in hook.launch.deciding for point in all_points(program)]
    return any(isinstance(stmt, Say) and stmt.stream is Stream.OUT and stmt.text.parts for stmt in said)


# ── loops ───────────────────────────────────────────────────────────────────


def _stop(hook: CheckedHook) -> Iterator[Finding]:
    """HK621, HK622 and HK624: hooks at the end of a turn."""
    if hook.event not in ("Stop", "SubagentStop"):
        return
    yield from _suite(hook)
    for program in hook.launch.deciding:
        yield from _loop(hook, program)
    for program in hook.programs:
        yield from _transcript(hook, program)


def _suite(hook: CheckedHook) -> Iterator[Finding]:
    handler = hook.command
    text = handler.command.strip() if handler is not None and hook.launch.inline is not None else ""
    if hook.launch.scripts or not _SUITES.match(text) or re.search(r"exit|[;|]", text):
        return
    what = (
        "A failing suite exits 1 or the like, which does not hold the agent; and one that exits 2 would hold it "
        "again and again."
    )
    write = "A script that maps the result: exit 2 with what failed, and `stop_hook_active` checked."
    yield finding("HK622", hook.place("command"), what, write)


def _loop(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    blocking = [refusal for refusal in program_refusals(program) if not _is_stop(refusal)]
    if not blocking or any(other.mentions("stop_hook_active") for other in hook.programs) or _keeps_state(program):
        return
    what = (
        "This hook can block and never looks at `stop_hook_active`: while its condition stays, the agent "
        "goes on and on (Claude Code overrides the ninth block in a row)."
    )
    write = '`[ "$(jq -r .stop_hook_active <<<"$IN")" = true ] && exit 0` before the test.'
    yield finding("HK621", hook.position(program, blocking[0].point.stmt.place), what, write)


def _is_stop(refusal: GuardRefusal) -> bool:
    return refusal.answer is not None and decision(refusal.answer) == "stop"


def _keeps_state(program: Program) -> bool:
    """Tell whether a program counts or remembers by itself: it asks for a file and writes one."""
    asks = any(
        atom.kind is TestKind.EXISTS
        for point in all_points(program)
        if isinstance(point.stmt, Branch)
        for arm in point.stmt.arms
        for atom, _ in arm.test.atoms()
    )
    writes = any(isinstance(point.stmt, Say) and point.stmt.stream is Stream.AWAY for point in all_points(program))
    return asks and (writes or program.mentions("touch ") or program.mentions("write"))


def _transcript(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    if program.mentions("last_assistant_message"):
        return
    for read in program.fields:
        if read.path and read.path[0] in ("transcript_path", "agent_transcript_path"):
            what = "The transcript is written with a delay: at this moment its last message may be missing."
            yield finding("HK624", hook.position(program, read.place), what, "`last_assistant_message` of the event.")
            return


def _agents(hook: CheckedHook) -> Iterator[Finding]:
    """HK623: an agent inside of a hook."""
    for program in hook.programs:
        if _NO_HOOKS.search(program.text) or _has_depth_guard(program):
            continue
        for _, call in calls_of(program):
            name, arguments = _called(call)
            if name in _AGENTS and set(_AGENTS[name]) & set(arguments):
                what = (
                    f"`{name}` starts an agent that fires the same hooks: each of them starts another one, "
                    "without end and at your cost."
                )
                write = (
                    "`--settings '{\"disableAllHooks\": true}'` for the child, or an exit at once when a "
                    "variable says that a hook runs already."
                )
                yield finding("HK623", hook.position(program, call.place), what, write)


def _called(call: Call) -> tuple[str, tuple[str, ...]]:
    if call.shell or len(call.words) == 1:
        words = call.words[0].known.split() if call.words else []
        return (words[0].rsplit("/", 1)[-1], tuple(words[1:])) if words else ("", ())
    return call.name, call.arguments


def _has_depth_guard(program: Program) -> bool:
    """Tell whether a program leaves at once when a variable is set."""
    for point in all_points(program):
        if isinstance(point.stmt, Branch):
            for arm in point.stmt.arms:
                leaves = any(isinstance(stmt, Leave) and stmt.code in (0, None) for stmt in arm.body)
                if leaves and any(o.startswith("env.") for atom, _ in arm.test.atoms() for o in atom.origins):
                    return True
    return False
