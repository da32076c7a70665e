"""HK6xx: the right event, in the foreground, without endless loops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    REFUSING,
    GuardRefusal,
    all_points,
    answers,
    arms,
    calls_of,
    decision,
    exits,
    lets_through,
    possible,
    program_refusals,
    questions,
    refusals,
)
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Asks, Call, Hole, Leave, Program, Say, Stream
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
    """Check each hook on its event."""
    for hook in subject.hooks:
        yield from _kind(hook)
        yield from _background(hook)
    for hook in subject.commands:
        yield from _cannot_decide(hook, subject)
        yield from _dropped(hook)
        yield from _failures(hook, subject)
        yield from _stop(hook)
        yield from _agents(hook)


# ── events ──────────────────────────────────────────────────────────────────


def _cannot_decide(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK601: decisions on events that have none to make."""
    yield from _cannot_block(hook, subject)
    if hook.event == "PermissionRequest" or (hook.rules.fire_and_forget and not hook.rules.output):
        return
    for program in hook.launch.deciding if "permission_decision" not in hook.rules.output else ():
        for answer in answers(program):
            wanted = answer.specific is not None and "permissionDecision" in answer.specific.items
            if wanted and possible(hook, answer.point):
                what = f"{hook.event} has no permission to decide: `permissionDecision` is ignored."
                write = "Decide on PreToolUse, before the call runs."
                yield finding("HK601", hook.position(program, answer.point.stmt.place), what, write)


def _cannot_block(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    claude_ignores = hook.rules.exit_2 is Exit2.NOTHING or hook.event == "PermissionRequest"
    if not claude_ignores:
        return
    for program in hook.launch.deciding:
        others = subject.events_of.get(program.path, frozenset()) - {hook.event}
        if program.path and others and program.mentions("hook_event_name"):
            continue
        for point, leave in exits(program):
            if leave.code != 2 or not possible(hook, point):
                continue
            yield finding("HK601", hook.position(program, leave.place), *_useless_exit(hook))
        for answer in answers(program):
            unread = decision(answer) == "block" and "block" not in hook.rules.decisions
            if unread and possible(hook, answer.point):
                what = f"{hook.event} cannot be blocked: `decision: block` is ignored."
                at = hook.position(program, answer.point.stmt.place)
                yield finding("HK601", at, what, _move(hook))


def _useless_exit(hook: CheckedHook) -> tuple[str, str]:
    if hook.event == "PermissionRequest":
        what = (
            "Claude Code ignores exit 2 on PermissionRequest, and the dialog appears as usual; Hookwright denies (D11)."
        )
        return (
            what,
            'Print {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": '
            '"deny", "message": "…"}}}.',
        )
    return f"{hook.event} cannot be blocked: exit 2 only shows an error notice.", _move(hook)


def _move(hook: CheckedHook) -> str:
    return f"Move the test to {_INSTEAD.get(hook.event, 'an event that can be blocked')}."


def _dropped(hook: CheckedHook) -> Iterator[Finding]:
    """HK602: plain text that is never read."""
    if hook.rules.plain is not Plain.DROPPED or not hook.rules.output.keys() & {"additional_context"}:
        return
    for program in hook.launch.deciding:
        for point in all_points(program):
            stmt = point.stmt
            if not isinstance(stmt, Say) or not _is_plain(stmt) or _then_fails(point.after):
                continue
            if any(isinstance(earlier, Say) and _is_plain(earlier) for earlier in point.near):
                continue  # one finding for a block of messages
            meant = bool(_ADVICE.search(stmt.text.known))
            what = (
                f"Plain stdout of {hook.event} goes to the debug log; the model never reads it. Only SessionStart, "
                "UserPromptSubmit, UserPromptExpansion and PostModelSwitch pass plain text on."
            )
            where = f'Print {{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "additionalContext": "…"}}}}.'
            severity = None if meant else Severity.INFO
            yield finding("HK602", hook.position(program, stmt.place), what, where, severity=severity)


def _is_plain(stmt: Say) -> bool:
    """Return whether a statement prints a sentence as plain text on stdout."""
    words = stmt.text.known.strip()
    if stmt.stream is not Stream.OUT or looks_like_object(stmt.text) or not stmt.text.parts:
        return False
    return bool(re.search(r"[A-Za-z]{3}", words)) and "{" not in words and not isinstance(stmt.text.parts[0], Hole)


def _then_fails(after: tuple[object, ...]) -> bool:
    return any(isinstance(stmt, Leave) and stmt.code not in (0, None) for stmt in after[:2])


def _kind(hook: CheckedHook) -> Iterator[Finding]:
    """HK603: handler types the event does not run."""
    kind = hook.handler.kind
    if kind in (Kind.PROMPT, Kind.AGENT) and kind not in hook.rules.model_kinds:
        what = f"{hook.event} does not run `{kind.value}` handlers: a non-blocking error each time."
        yield finding("HK603", hook.place("type"), what, "Use a command handler.")
    elif kind in hook.rules.skipped_kinds:
        what = f"{hook.event} silently skips `{kind.value}` handlers."
        yield finding("HK603", hook.place("type"), what, "Use a command handler.")


def _failures(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK604: a search for failures on an event that only follows success."""
    if hook.event != "PostToolUse" or any(other.event == "PostToolUseFailure" for other in subject.hooks):
        return
    for program in hook.programs:
        for read in program.fields:
            if read.path[:1] == ("tool_response",) and read.path[-1] in _FAILED:
                what = (
                    f"PostToolUse only fires for calls that succeeded; `{'.'.join(read.path)}` of a failed call never "
                    "arrives here."
                )
                write = "Declare the hook on PostToolUseFailure as well; its field is `error`."
                yield finding("HK604", hook.position(program, read.place), what, write)
                return


# ── background ──────────────────────────────────────────────────────────────


def _background(hook: CheckedHook) -> Iterator[Finding]:
    """HK611, HK612 and HK613: answers that arrive too late."""
    handler = hook.handler
    if not isinstance(handler, CommandHandler):
        for key in ("async", "asyncRewake"):
            if hook.entry.get(key):
                kind = handler.kind.value
                what = f"`{key}` only applies to command handlers; the agent waits for this `{kind}` handler."
                yield finding("HK613", hook.place(key), what, f"Use a command handler, or remove `{key}`.")
        return
    if not handler.is_async or handler.async_rewake:
        return
    if hook.rules.exit_2 in REFUSING and refusals(hook):
        what = (
            "The agent does not wait for an async hook and ignores its exit 2 and decisions: this guard never blocks."
        )
        yield finding("HK611", hook.place("async"), what, "Remove `async` from the guard.")
    elif hook.rules.plain is Plain.CONTEXT and _speaks(hook):
        what = (
            f"{hook.event} does not wait for an async hook: plain text is lost, and `additionalContext` arrives a turn "
            "too late."
        )
        write = "Remove `async` from the hook that adds context; move slow work to a second hook."
        yield finding("HK612", hook.place("async"), what, write)


def _speaks(hook: CheckedHook) -> bool:
    said = [point.stmt for program in hook.launch.deciding for point in all_points(program)]
    return any(isinstance(stmt, Say) and stmt.stream is Stream.OUT and stmt.text.parts for stmt in said)


# ── loops ───────────────────────────────────────────────────────────────────


def _stop(hook: CheckedHook) -> Iterator[Finding]:
    """Check hooks at the end of a turn."""
    if hook.event not in ("Stop", "SubagentStop"):
        return
    yield from _suite(hook)
    for program in hook.launch.deciding:
        yield from _loop(hook, program)
    for program in hook.programs:
        yield from _transcript(hook, program)


def _suite(hook: CheckedHook) -> Iterator[Finding]:
    """HK622: a bare test suite."""
    handler = hook.command
    text = handler.command.strip() if handler is not None and hook.launch.inline is not None else ""
    if hook.launch.scripts or not _SUITES.match(text) or re.search(r"exit|[;|]", text):
        return
    what = (
        "A failing suite usually exits 1, which does not keep the agent working; one that exits 2 would keep it "
        "working forever."
    )
    write = "Write a script that exits 2 with what failed, and checks `stop_hook_active` first."
    yield finding("HK622", hook.place("command"), what, write)


def _loop(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK621: a block without an end."""
    blocking = [refusal for refusal in program_refusals(program) if not _is_stop(refusal)]
    if not blocking or any(other.mentions("stop_hook_active") for other in hook.programs) or _keeps_state(program):
        return
    what = (
        "This hook can block and never checks `stop_hook_active`: as long as its condition holds, the agent keeps "
        "working (Claude Code overrides the ninth block in a row)."
    )
    write = 'Add `[ "$(jq -r .stop_hook_active <<<"$IN")" = true ] && exit 0` before the test.'
    yield finding("HK621", hook.position(program, blocking[0].point.stmt.place), what, write)


def _is_stop(refusal: GuardRefusal) -> bool:
    return refusal.answer is not None and decision(refusal.answer) == "stop"


def _keeps_state(program: Program) -> bool:
    """Return whether a program keeps its own count or state: it checks for a file and writes one."""
    asks = any(atom.kind is Asks.EXISTS for atom, _ in questions(program))
    writes = any(isinstance(point.stmt, Say) and point.stmt.stream is Stream.AWAY for point in all_points(program))
    return asks and (writes or program.mentions("touch ") or program.mentions("write"))


def _transcript(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK624: the transcript read before it is complete."""
    if program.mentions("last_assistant_message"):
        return
    for read in program.fields:
        if read.path and read.path[0] in ("transcript_path", "agent_transcript_path"):
            what = "The transcript is written with a delay: its last message may still be missing."
            write = "Read `last_assistant_message` from the event."
            yield finding("HK624", hook.position(program, read.place), what, write)
            return


def _agents(hook: CheckedHook) -> Iterator[Finding]:
    """HK623: an agent inside a hook."""
    for program in hook.programs:
        if _NO_HOOKS.search(program.text) or _has_depth_guard(program):
            continue
        for _, call in calls_of(program):
            name, arguments = _called(call)
            if name in _AGENTS and set(_AGENTS[name]) & set(arguments):
                what = (
                    f"`{name}` starts an agent that fires the same hooks; each of them starts another agent, endlessly "
                    "and at your cost."
                )
                write = (
                    "Start it with `--settings '{\"disableAllHooks\": true}'`, or exit at once when a variable says a "
                    "hook is already running."
                )
                yield finding("HK623", hook.position(program, call.place), what, write)


def _called(call: Call) -> tuple[str, tuple[str, ...]]:
    if call.shell or len(call.words) == 1:
        words = call.words[0].known.split() if call.words else []
        return (words[0].rsplit("/", 1)[-1], tuple(words[1:])) if words else ("", ())
    return call.name, call.arguments


def _has_depth_guard(program: Program) -> bool:
    """Return whether a program exits at once when a variable is set."""
    for _, arm in arms(program):
        origins = [origin for atom, _ in arm.test.atoms() for origin in atom.origins]
        if lets_through(arm.body) and any(origin.startswith("env.") for origin in origins):
            return True
    return False
