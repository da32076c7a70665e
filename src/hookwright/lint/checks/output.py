"""HK5xx: does the answer mean what its author intended? Rules that need a run are in `running`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import PrintedAnswer, all_points, answers, constant, decision, possible
from hookwright.lint.model import Finding, Position
from hookwright.lint.programs.ir import Encoded, Hole, Leave, Object, Program, Say, Stream, Text, Value
from hookwright.lint.programs.template import NotJson, Several, looks_like_object
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import INPUTS, TOOLS, matched
from hookwright.matching.matchers import MatchNames
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import Exit2
from hookwright.protocol.wire import TOP_LEVEL, camel

_PERMISSIONS = ("allow", "deny", "ask", "defer")
_INJECTION = re.compile(
    r"(?:never|do not|don'?t|without) (?:ever "
    r")?(?:tell|mention|reveal|inform|show|telling|mentioning|informing)[^.\n]{0,40}\buser\b"
    r"|ignore (?:all )?(?:the |your )?previous|disregard (?:all )?(?:the |your "
    r")?(?:previous|system)|override (?:the |your )?system prompt",
    re.IGNORECASE,
)
#: Keys that an author expects to decide something.
_DECIDING = re.compile(
    r"allow|block|deny|permission|result|action|approve|status|message|feedback|error", re.IGNORECASE
)
_GUIDANCE = re.compile(
    r"\b(?:you (?:must|should|need to)|please|remember to|make sure|do not|don'?t|instead of|use \w+ instead)\b",
    re.IGNORECASE,
)


def check_output(subject: Subject) -> Iterator[Finding]:
    """Check every answer a program prints."""
    for hook in subject.commands:
        for program in hook.launch.deciding:
            shared = len(subject.events_of.get(program.path, frozenset())) > 1 and program.mentions("hook_event_name")
            for answer in answers(program):
                if possible(hook, answer.point):
                    yield from _answer(hook, program, answer, shared)
            yield from _mixed(hook, program)
            yield from _with_exit(hook, program)
            yield from _wording(hook, program)


def _at(hook: CheckedHook, program: Program, answer: PrintedAnswer) -> Position:
    return hook.position(program, answer.point.stmt.place)


def _answer(hook: CheckedHook, program: Program, answer: PrintedAnswer, shared: bool) -> Iterator[Finding]:
    at = _at(hook, program, answer)
    if isinstance(answer.value, NotJson):
        yield from _broken(answer, at)
    elif isinstance(answer.value, Several):
        what = f"A second JSON document begins at character {answer.value.offset}; the whole output is void."
        yield two_documents(at, what)
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


# ── findings that a run makes as well ───────────────────────────────────────


def not_json(at: Position, what: str, severity: Severity | None = None) -> Finding:
    """HK501: text that was meant to be JSON."""
    write = "Build it with `jq -n --arg reason \"$reason\" '{…}'` or json.dumps; both quote correctly."
    return finding("HK501", at, what, write, severity=severity)


def two_documents(at: Position, what: str) -> Finding:
    """HK502: more than one JSON document."""
    return finding("HK502", at, what, "Print one object with all fields.")


def text_before_json(at: Position, what: str) -> Finding:
    """HK503: plain text before the JSON."""
    return finding("HK503", at, what, "Print only the JSON on stdout, and everything else with `>&2`.")


def wrong_output_shape(at: Position, what: str) -> Finding:
    """HK515: a rewritten output that is not an object."""
    write = 'Return the object from `tool_response` with some fields changed: {"stdout": …, "stderr": …, …}.'
    return finding("HK515", at, what, write)


# ── the text ────────────────────────────────────────────────────────────────


def _broken(answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    assert isinstance(answer.value, NotJson)
    assert isinstance(answer.point.stmt, Say)
    if any(not isinstance(part, str) for part in answer.point.stmt.text.parts):
        return
    what = (
        f"This looks like JSON but breaks at character {answer.value.offset}: a non-blocking error, and no "
        "decision is read."
    )
    yield not_json(at, what)


def _interpolated(answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """Find parts of the event pasted into JSON text, where a quote or a line break would break it."""
    stmt = answer.point.stmt
    assert isinstance(stmt, Say)
    for part in stmt.text.parts:
        if isinstance(part, Hole) and not part.quoted and any(o.startswith("event.") for o in part.origins):
            origin = max(part.origins, key=len).removeprefix("event.")
            what = (
                f"`{origin}` is pasted into JSON text unquoted: a quote or a line break in it makes the answer void, "
                "and the event proceeds."
            )
            yield not_json(at, what, Severity.WARNING)
            return


# ── the object ──────────────────────────────────────────────────────────────


def _misplaced(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK504: fields at the wrong level."""
    assert answer.object is not None
    inner = {camel(name) for name in hook.rules.output}
    for key in answer.object.items:
        if key in inner and key != "decision":
            what = f"`{key}` at the top level is ignored: {hook.event} reads it inside `hookSpecificOutput`."
            write = f'Print {{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "{key}": …}}}}.'
            yield finding("HK504", at, what, write)
    for key in answer.specific.items if answer.specific is not None else ():
        if key in ("decision", "reason", "continue", "stopReason", "systemMessage") and key not in inner:
            what = f"`{key}` inside `hookSpecificOutput` is ignored on {hook.event}: it belongs at the top level."
            yield finding("HK504", at, what, f'Move it to the top level: {{"{key}": …}}.')
        elif key == "permissionDecision" and hook.event == "PermissionRequest":
            what = "PermissionRequest reads `decision.behavior`, not `permissionDecision`: the answer has no effect."
            yield finding("HK504", at, what, 'Print "decision": {"behavior": "deny", "message": "…"}.')


def _values(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK505 and HK516: unknown values, and one that only headless runs read."""
    assert answer.object is not None
    legacy = constant(answer.object.items.get("decision"))
    refused = any(isinstance(stmt, Leave) and stmt.code == 2 for stmt in answer.point.after)
    if legacy is not None and legacy not in ("approve", "block") and not refused:
        right = {"deny": "block", "allow": "approve"}.get(legacy, "block")
        what = (
            f'`"decision": "{legacy}"` is not `approve` or `block`: the whole answer is void, and {hook.event} '
            "proceeds."
        )
        yield finding("HK505", at, what, _legacy_way_out(hook, right))
    elif legacy == "approve" and "approve" not in hook.rules.decisions:
        what = f"`approve` has no effect on {hook.event}; only `block` is read there."
        yield finding(
            "HK505", at, what, "Print nothing: without an answer the event proceeds.", severity=Severity.WARNING
        )
    specific = answer.specific.items if answer.specific is not None else {}
    said = constant(specific.get("permissionDecision"))
    if said is not None and said not in _PERMISSIONS:
        right = {"block": "deny", "approve": "allow"}.get(said, "deny")
        what = (
            f'`"permissionDecision": "{said}"` is not one of {", ".join(_PERMISSIONS)}: the whole answer is '
            "void, and the call proceeds."
        )
        yield finding("HK505", at, what, f'Print "permissionDecision": "{right}".')
    request = specific.get("decision")
    behavior = constant(request.items.get("behavior")) if isinstance(request, Object) else None
    if behavior is not None and behavior not in ("allow", "deny"):
        what = f'`"behavior": "{behavior}"` is not `allow` or `deny`: the whole answer is void.'
        yield finding("HK505", at, what, 'Print "behavior": "deny".')
    if said == "defer":
        what = "`defer` only applies in headless runs (`-p`); an interactive session ignores it."
        yield finding("HK516", at, what, 'Print "ask" in sessions where a person can answer.')


def _legacy_way_out(hook: CheckedHook, right: str) -> str:
    if "permission_decision" in hook.rules.output:
        name = {"block": "deny", "approve": "allow"}[right]
        return (
            f'Print {{"hookSpecificOutput": {{"hookEventName": "{hook.event}", "permissionDecision": "{name}", …}}}}.'
        )
    return f'Print "decision": "{right}".'


def _event_name(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK506: `hookSpecificOutput` without the name of its event, or with another name."""
    specific = answer.specific
    if specific is None or specific.open:
        return
    name = specific.items.get("hookEventName")
    known = constant(name)
    effect = f"the whole answer is rejected, and {hook.event} proceeds"
    if "hookEventName" not in specific.items:
        what = f"`hookSpecificOutput` without `hookEventName`: {effect}."
        yield finding("HK506", at, what, f'Add "hookEventName": "{hook.event}".')
    elif known is not None and known != hook.event and not _maps_to(hook, known):
        what = f'`"hookEventName": "{known}"` in a hook of {hook.event}: {effect}.'
        yield finding("HK506", at, what, f'Add "hookEventName": "{hook.event}".')


def _maps_to(hook: CheckedHook, name: str) -> bool:
    """Return whether the name is right after all: an agent's own `Stop` runs as SubagentStop."""
    return hook.event == "SubagentStop" and name == "Stop" and hook.document.origin.component is not None


def _fields(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK509 and HK513: fields that do not do what their author expects."""
    assert answer.object is not None
    items = answer.object.items
    specific = answer.specific.items if answer.specific is not None else {}
    made = decision(answer)
    if made == "block" and hook.event in ("Stop", "SubagentStop") and "reason" not in items and not answer.object.open:
        what = f"`block` without `reason` on {hook.event}: the model has to continue and reads only `Blocked by hook`."
        yield finding("HK513", at, what, 'Add "reason" with what is left to do.')
    message = items.get("systemMessage")
    if isinstance(message, Text) and _only_for_user(hook, items, specific) and _GUIDANCE.search(message.known):
        what = "`systemMessage` is shown to the user; the model never reads this advice."
        where = f'Print "hookSpecificOutput": {{"hookEventName": "{hook.event}", "additionalContext": …}}.'
        yield finding("HK509", at, what, where)
    yield from _no_effect(answer, at)
    yield from _inert(hook, answer, at)
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
    """HK512: an answer that changes nothing."""
    assert answer.object is not None
    items = answer.object.items
    idle = [key for key, value in (("continue", True), ("suppressOutput", True)) if items.get(key) is value]
    if idle and set(items) <= {"continue", "suppressOutput"}:
        what = (
            "`continue: true` is the default, and Claude Code accepts `suppressOutput` without any effect; "
            "Hookwright hides this stdout from the transcript and verbose views (D10)."
        )
        yield finding("HK512", at, what, "Print nothing.")


#: Keys that only explain or accompany another one.
_ALONE = frozenset(["reason", "stopReason", "suppressOutput"])


def _inert(hook: CheckedHook, answer: PrintedAnswer, at: Position) -> Iterator[Finding]:
    """HK518: keys that are not read."""
    assert answer.object is not None
    if answer.object.open:
        return
    inner = {camel(name) for name in hook.rules.output}
    unknown = [key for key in answer.object.items if key not in TOP_LEVEL and (key not in inner or key == "decision")]
    known = [key for key in answer.object.items if (key in TOP_LEVEL or key in inner) and key not in _ALONE]
    if not unknown:
        return
    keys = ", ".join(f"`{key}`" for key in unknown)
    if known:
        severity = Severity.WARNING if any(map(_DECIDING.search, unknown)) else Severity.INFO
        what = f"{keys} {'is' if len(unknown) == 1 else 'are'} not read on {hook.event}."
    else:
        severity, what = None, f"This answer has only keys that are not read ({keys}): {hook.event} proceeds."
    yield inert_answer(at, hook, what, severity)


def inert_answer(at: Position, hook: CheckedHook, what: str, severity: Severity | None = None) -> Finding:
    """Make the finding about an answer of which nothing is read."""
    return finding("HK518", at, what, _answer_way_out(hook), severity=severity)


def _answer_way_out(hook: CheckedHook) -> str:
    if "permission_decision" in hook.rules.output:
        return _legacy_way_out(hook, "block")
    if hook.event == "PermissionRequest":
        return (
            'Print {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", …}}}.'
        )
    if "block" in hook.rules.decisions:
        return 'Print {"decision": "block", "reason": "…"}.'
    return 'Print {"systemMessage": "…"}, or "additionalContext" inside "hookSpecificOutput".'


def _rewrites(hook: CheckedHook, specific: object, at: Position) -> Iterator[Finding]:
    """HK514: rewrites that lose something."""
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
            write = "Return the whole input with one field changed: `.tool_input + {command: …}`."
            yield finding("HK514", at, what, write)
    output = items.get("updatedToolOutput")
    if isinstance(output, Text) and tools and tools <= TOOLS:
        what = (
            f"The output of {', '.join(sorted(tools))} is an object, not text: the rewrite is ignored and the "
            "original is shown."
        )
        yield wrong_output_shape(at, what)


# ── the path ────────────────────────────────────────────────────────────────


def _mixed(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """Find text on stdout before the answer."""
    for answer in answers(program):
        if answer.object is None:
            continue
        here = answer.point.stmt.place
        earlier = [
            say for say in answer.point.said if say.stream is Stream.OUT and say.text.parts and say.place != here
        ]
        if not earlier:
            continue
        at = _at(hook, program, answer)
        if looks_like_object(earlier[-1].text):
            what = (
                f"Line {earlier[-1].place.line} already printed a JSON object; two documents are not valid JSON, and "
                "both are void."
            )
            yield two_documents(at, what)
        elif earlier[-1].text.known.strip():
            what = (
                f"Line {earlier[-1].place.line} already printed text: the whole output is plain text, and this "
                "decision is not read."
            )
            yield text_before_json(at, what)


def _with_exit(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK508: an answer and exit 2 on the same path."""
    if hook.rules.exit_2 in (Exit2.NOTHING, Exit2.FAIL):
        return
    for point in all_points(program):
        if not isinstance(point.stmt, Leave) or point.stmt.code != 2 or point.within:
            continue
        said = [say for say in point.said if say.stream is Stream.OUT and looks_like_object(say.text)]
        if said:
            what = (
                "Exit 2 refuses no matter what the JSON says; an `allow` in it is ignored, and before 2.1.214 invalid "
                "JSON meant *not blocked*."
            )
            write = "Use one channel: exit 0 with the JSON decision, or exit 2 with the reason on stderr."
            yield finding("HK508", hook.position(program, point.stmt.place), what, write)


def _wording(hook: CheckedHook, program: Program) -> Iterator[Finding]:
    """HK511: context that reads like an attack."""
    for point in all_points(program):
        stmt = point.stmt
        if isinstance(stmt, Say) and stmt.stream is Stream.OUT:
            words = " ".join(_texts(stmt.text))
            match = _INJECTION.search(words)
            if match is not None:
                what = f'"{match[0]}" reads like a prompt injection; models refuse it or warn the user about it.'
                write = "State facts and where they come from; do not give orders to hide something."
                yield finding("HK511", hook.position(program, stmt.place), what, write)


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
