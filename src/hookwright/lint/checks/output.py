"""HK5xx: does the answer say what it was meant to say? What only a run can show is in `running`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import PrintedAnswer, all_points, answers, constant, decision
from hookwright.lint.model import Finding, Position
from hookwright.lint.programs.ir import Encoded, Hole, Leave, Object, Program, Say, Stream, Text, Value
from hookwright.lint.programs.template import NotJson, Several, looks_like_object
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import INPUTS, TOOLS, matched
from hookwright.matching.matchers import MatchNames
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import Exit2
from hookwright.protocol.wire import camel

_PERMISSIONS = ("allow", "deny", "ask", "defer")
_INJECTION = re.compile(
    r"(?:never|do not|don'?t|without) (?:ever "
    r")?(?:tell|mention|reveal|inform|show|telling|mentioning|informing)[^.\n]{0,40}\buser\b"
    r"|ignore (?:all )?(?:the |your )?previous|disregard (?:all )?(?:the |your "
    r")?(?:previous|system)|override (?:the |your )?system prompt",
    re.IGNORECASE,
)
_GUIDANCE = re.compile(
    r"\b(?:you (?:must|should|need to)|please|remember to|make sure|do not|don'?t|instead of|use \w+ instead|claude)\b",
    re.IGNORECASE,
)


def check_output(subject: Subject) -> Iterator[Finding]:
    """Look at every answer that a program prints."""
    for hook in subject.commands:
        for program in hook.launch.deciding:
            shared = len(subject.events_of.get(program.path, frozenset())) > 1 and program.mentions("hook_event_name")
            for answer in answers(program):
                yield from _answer(hook, program, answer, shared)
            yield from _mixed(hook, program)
            yield from _with_exit(hook, program)
            yield from _wording(hook, program)


def _at(hook: CheckedHook, program: Program, answer: PrintedAnswer) -> Position:
    return hook.position(program, answer.point.stmt.place)


def _answer(hook: CheckedHook, program: Program, answer: PrintedAnswer, shared: bool) -> Iterator[Finding]:
    at = _at(hook, program, answer)
    if isinstance(answer.value, NotJson):
        yield from _not_json(answer, at)
    elif isinstance(answer.value, Several):
        what = f"A second JSON document begins at character {answer.value.offset}; the whole output is void."
        yield finding("HK502", at, what, "One object with all fields.")
    if answer.object is None:
        return
    yield from _interpolated(answer, at)
    if hook.rules.fire_and_forget and not hook.rules.output:
        return
    yield from _misplaced(hook, answer, at)
    yield from _values(hook, answer, at)
    if not shared:
        yield from _event_name(hook, answer, at)
    yield from _fields(hook, answer, at)


def _not_json(answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    assert isinstance(answer.value, NotJson)
    assert isinstance(answer.point.stmt, Say)
    if any(not isinstance(part, str) for part in answer.point.stmt.text.parts):
        return
    what = (
        f"This looks like JSON and breaks at character {answer.value.offset}: a non-blocking error, and no "
        "decision is read."
    )
    yield finding("HK501", at, what, "`jq -n --arg reason \"$reason\" '{…}'` or json.dumps, which quote by themselves.")


def _interpolated(answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK501: parts of the event pasted into JSON text, where a quote or a line break of theirs breaks it."""
    stmt = answer.point.stmt
    assert isinstance(stmt, Say)
    for part in stmt.text.parts:
        if isinstance(part, Hole) and not part.quoted and any(o.startswith("event.") for o in part.origins):
            origin = max(part.origins, key=len).removeprefix("event.")
            what = (
                f"`{origin}` is pasted into JSON text as it is: a quote or a line break in it makes the "
                "answer void, and the event goes on."
            )
            write = "`jq -n --arg reason \"$reason\" '{…}'` or json.dumps, which quote by themselves."
            yield finding("HK501", at, what, write, severity=Severity.WARNING)
            return


# ── the object ──────────────────────────────────────────────────────────────


def _misplaced(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK504: fields on the wrong level."""
    assert answer.object is not None
    inner = {camel(name) for name in hook.rules.output}
    for key in answer.object.items:
        if key in inner and key != "decision":
            what = f"`{key}` at the top level is ignored: {hook.event} reads it inside of `hookSpecificOutput`."
            yield finding(
                "HK504", at, what, f'{{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "{key}": …}}}}'
            )
    for key in answer.specific.items if answer.specific is not None else ():
        if key in ("decision", "reason", "continue", "stopReason", "systemMessage") and key not in inner:
            what = f"`{key}` inside of `hookSpecificOutput` is ignored on {hook.event}: it belongs to the top level."
            yield finding("HK504", at, what, f'{{"{key}": …}} beside `hookSpecificOutput`.')
        elif key == "permissionDecision" and key not in inner:
            yield from _no_permission(hook, at)


def _no_permission(hook: CheckedHook, at: Position) -> Iterator[Finding]:
    if hook.event == "PermissionRequest":
        what = "PermissionRequest reads `decision.behavior`, not `permissionDecision`: the answer has no effect."
        yield finding("HK504", at, what, '"decision": {"behavior": "deny", "message": "…"}')
    else:
        what = f"{hook.event} has no permission to decide: `permissionDecision` is ignored."
        yield finding("HK601", at, what, "The same decision on PreToolUse, before the call runs.")


def _values(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK505: words that are not in the list."""
    assert answer.object is not None
    legacy = constant(answer.object.items.get("decision"))
    if legacy is not None and legacy not in ("approve", "block"):
        right = {"deny": "block", "allow": "approve"}.get(legacy, "block")
        what = (
            f'`"decision": "{legacy}"` is not `approve` or `block`: the whole answer is void, and {hook.event} goes on.'
        )
        yield finding("HK505", at, what, _legacy_way_out(hook, right))
    elif legacy == "approve" and "approve" not in hook.rules.decisions:
        what = f"`approve` has no effect on {hook.event}; only `block` is read there."
        yield finding("HK505", at, what, "Nothing: without an answer the event goes on.", severity=Severity.WARNING)
    specific = answer.specific.items if answer.specific is not None else {}
    said = constant(specific.get("permissionDecision"))
    if said is not None and said not in _PERMISSIONS:
        right = {"block": "deny", "approve": "allow"}.get(said, "deny")
        what = (
            f'`"permissionDecision": "{said}"` is not one of {", ".join(_PERMISSIONS)}: the whole answer is '
            "void, and the call proceeds."
        )
        yield finding("HK505", at, what, f'"permissionDecision": "{right}"')
    request = specific.get("decision")
    behavior = constant(request.items.get("behavior")) if isinstance(request, Object) else None
    if behavior is not None and behavior not in ("allow", "deny"):
        what = f'`"behavior": "{behavior}"` is not `allow` or `deny`: the whole answer is void.'
        yield finding("HK505", at, what, '"behavior": "deny"')
    if said == "defer":
        what = "`defer` is honoured in headless runs (`-p`) only; in an interactive session it is ignored."
        yield finding("HK516", at, what, '"ask" where a person sits in front of the agent.')


def _legacy_way_out(hook: CheckedHook, right: str) -> str:
    if "permission_decision" in hook.rules.output:
        name = {"block": "deny", "approve": "allow"}[right]
        return f'{{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "permissionDecision": "{name}", …}}}}'
    return f'"decision": "{right}"'


def _event_name(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK506: `hookSpecificOutput` without the name of its event, or with another one."""
    specific = answer.specific
    if specific is None or specific.open:
        return
    name = specific.items.get("hookEventName")
    known = constant(name)
    effect = f"the whole answer is rejected, and {hook.event} goes on"
    if "hookEventName" not in specific.items:
        what = f"`hookSpecificOutput` without `hookEventName`: {effect}."
        yield finding("HK506", at, what, f'"hookEventName": "{hook.event}"')
    elif known is not None and known != hook.event and not _maps_to(hook, known):
        what = f'`"hookEventName": "{known}"` in a hook of {hook.event}: {effect}.'
        yield finding("HK506", at, what, f'"hookEventName": "{hook.event}"')


def _maps_to(hook: CheckedHook, name: str) -> bool:
    """An agent's own `Stop` runs as SubagentStop."""
    return hook.event == "SubagentStop" and name == "Stop" and hook.document.origin.component is not None


def _fields(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK509, HK512 to HK515: fields that do not do what their author hopes for."""
    assert answer.object is not None
    items = answer.object.items
    specific = answer.specific.items if answer.specific is not None else {}
    made = decision(answer)
    if made == "block" and hook.event in ("Stop", "SubagentStop") and "reason" not in items and not answer.object.open:
        what = (
            f"`block` without `reason` on {hook.event}: the model is told to go on with nothing but `Blocked by hook`."
        )
        yield finding("HK513", at, what, '"reason": what is left to do.')
    message = items.get("systemMessage")
    if isinstance(message, Text) and _only_for_user(hook, items, specific) and _GUIDANCE.search(message.known):
        what = "`systemMessage` is shown to the user; the model never reads this advice."
        where = f'"hookSpecificOutput": {{"hookEventName": "{hook.event}", "additionalContext": …}}'
        yield finding("HK509", at, what, where)
    yield from _no_effect(answer, at)
    yield from _rewrites(hook, specific, at)


def _only_for_user(hook: CheckedHook, items: object, specific: object) -> bool:
    keys = {*(items if isinstance(items, dict) else ()), *(specific if isinstance(specific, dict) else ())}
    return "additional_context" in hook.rules.output and not keys & {
        "additionalContext",
        "reason",
        "permissionDecisionReason",
        "decision",
        "permissionDecision",
    }


def _no_effect(answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    assert answer.object is not None
    items = answer.object.items
    idle = [key for key, value in (("continue", True), ("suppressOutput", True)) if items.get(key) is value]
    if idle and set(items) <= {"continue", "suppressOutput"}:
        what = (
            "`continue: true` is the default, and Claude Code accepts `suppressOutput` without any "
            "effect; Hookwright then hides "
            "this stdout from the transcript and verbose views (D10)."
        )
        yield finding("HK512", at, what, "Nothing at all.")


def _rewrites(hook: CheckedHook, specific: object, at: Position) -> Iterator[Finding]:
    items = specific if isinstance(specific, dict) else {}
    rewritten = items.get("updatedInput")
    tools = matched(hook.matcher) if isinstance(hook.matcher, MatchNames) else frozenset[str]()
    if isinstance(rewritten, Object) and not rewritten.open and tools and tools <= INPUTS.keys():
        lost = [field for tool in sorted(tools) for field in INPUTS[tool] if field not in rewritten.items]
        if lost and set(rewritten.items) <= {field for tool in tools for field in INPUTS[tool]}:
            what = (
                "`updatedInput` replaces the whole input: "
                f"{', '.join(f'`{name}`' for name in dict.fromkeys(lost))} of the call are dropped."
            )
            yield finding("HK514", at, what, "The whole input with one field changed: `.tool_input + {command: …}`.")
    output = items.get("updatedToolOutput")
    if isinstance(output, Text) and tools and tools <= TOOLS:
        what = (
            f"{', '.join(sorted(tools))} answer with an object; a text does not fit, so the rewrite is "
            "ignored and the original is shown."
        )
        yield finding(
            "HK515", at, what, 'The object of `tool_response` with its fields changed: {"stdout": …, "stderr": …, …}.'
        )


# ── the path ────────────────────────────────────────────────────────────────


def _mixed(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK502 and HK503: something on stdout before the answer."""
    for answer in answers(program):
        if answer.object is None:
            continue
        earlier = [say for say in answer.point.said if say.stream is Stream.OUT and say.text.parts]
        if not earlier:
            continue
        at = _at(hook, program, answer)
        if looks_like_object(earlier[-1].text):
            what = (
                f"Line {earlier[-1].place.line} already printed a JSON object; two documents are no JSON, and "
                "both are void."
            )
            yield finding("HK502", at, what, "One object with all fields.")
        elif earlier[-1].text.known.strip():
            what = (
                f"Line {earlier[-1].place.line} already printed text: with it the whole output is plain text, "
                "and this decision is not read."
            )
            yield finding("HK503", at, what, "JSON alone on stdout; everything else with `>&2`.")


def _with_exit(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK508: an answer and exit 2 on one path."""
    if hook.rules.exit_2 in (Exit2.NOTHING, Exit2.FAIL):
        return
    for point in all_points(program):
        if not isinstance(point.stmt, Leave) or point.stmt.code != 2 or point.within:
            continue
        said = [say for say in point.said if say.stream is Stream.OUT and looks_like_object(say.text)]
        if said:
            what = (
                "Exit 2 refuses whatever the JSON says; an `allow` in it does not count, and before 2.1.214 "
                "JSON that was not valid meant *not blocked*."
            )
            write = "One channel: exit 0 with the JSON decision, or exit 2 with the reason on stderr."
            yield finding("HK508", hook.position(program, point.stmt.place), what, write)


def _wording(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK511: context that reads like an attack."""
    for point in all_points(program):
        stmt = point.stmt
        if isinstance(stmt, Say) and stmt.stream is Stream.OUT:
            words = " ".join(_texts(stmt.text))
            match = _INJECTION.search(words)
            if match is not None:
                what = f'"{match[0]}" reads like a prompt injection; models refuse such context or warn the user of it.'
                yield finding(
                    "HK511",
                    hook.position(program, stmt.place),
                    what,
                    "Facts with their origin, not orders to hide something.",
                )


def _texts(said: Text) -> Iterator[str]:
    for part in said.parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Encoded):
            yield from _inner(part.value)


def _inner(value: Value) -> Iterator[str]:
    match value:
        case Text():
            yield value.known
        case Object(items=items):
            for item in items.values():
                yield from _inner(item)
