"""The wire: events out, answers in. This is where the camelCase keys of an answer become Python names."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET

from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE, UNSENT, Event, EventRules, Shape
from hookwright.protocol.jsontext import Json, json_type, parse_json, repeated_keys
from hookwright.protocol.plain import plain
from hookwright.text import LONGEST_WORD, did_you_mean, escaped

# ── events ──────────────────────────────────────────────────────────────────

#: The fields before `hook_event_name`, in this order.
COMMON = ("session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "agent_id", "agent_type", "effort")


def _layout(cls: type[Event]) -> tuple[tuple[str, ...], Callable[[Event], tuple[Json, ...]]]:
    """Return the keys of a payload in order, and a function that reads all their values."""
    fields = cls.__struct_fields__
    common = tuple(name for name in COMMON if name in fields)
    own = tuple(name for name in fields if name not in COMMON and name not in UNSENT)
    return (*common, "hook_event_name", *own), attrgetter(*common, "event_name", *own)


_LAYOUTS = {name: _layout(cls) for name, cls in CATALOGUE.items()}


def payload(event: Event) -> dict[str, Json]:
    """Return an event as hooks read it: common fields, name, own fields, then fields the catalogue does not know."""
    keys, values = _LAYOUTS[event.event_name]
    out = {key: value for key, value in zip(keys, values(event), strict=True) if value is not UNSET}
    out.update(event.extra)
    return out


def encode_event(event: Event) -> bytes:
    """Return an event as one line of compact JSON with its final newline."""
    return encode(payload(event)) + b"\n"


def encode(value: Json) -> bytes:
    """Return compact UTF-8 JSON of any Python value. Never raise: an input that raises would switch off every guard.

    Law: a lone surrogate becomes U+FFFD, a value nested too deeply or inside itself a note about it, and an object that
    is not JSON what `plain` makes of it.
    """
    try:
        data = msgspec.json.encode(value)
    except Exception:  # the value may hold any object of the host, and what it raises while it is read
        data = msgspec.json.encode(plain(value))
    # Escapes also keep line ends of some readers, as of `str.splitlines`, from forging a record.
    return data if data.isascii() else escaped(data.decode()).encode()


def decode_event(data: bytes | str | Mapping[str, Json]) -> Event:
    """Read an event from JSON or a mapping; raise InvalidEvent with the name of the field."""
    raw: Json = data if isinstance(data, Mapping) else _load_event(data)
    if not isinstance(raw, Mapping):
        raise InvalidEvent(f"an event is a JSON object, not {json_type(raw)}")
    name = raw.get("hook_event_name")
    if not isinstance(name, str):
        raise InvalidEvent("`hook_event_name` is missing: it names the event, for example PreToolUse")
    cls = CATALOGUE.get(name)
    if cls is None:
        raise InvalidEvent(f"`{name}` is not an event{did_you_mean(name, CATALOGUE)}")
    known = {field: raw[field] for field in cls.__struct_fields__ if field in raw and field not in UNSENT}
    extra = {key: value for key, value in raw.items() if key not in known and key != "hook_event_name"}
    try:
        return msgspec.convert({**known, "extra": extra}, cls)
    except msgspec.ValidationError as error:
        raise InvalidEvent(f"{name}: {str(error).replace('$.', '')}") from None


def _load_event(data: bytes | str) -> Any:
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    value, problem = parse_json(text)
    if problem is not None:
        raise InvalidEvent(f"the event is not valid JSON: {problem}")
    return value


# ── values in messages ──────────────────────────────────────────────────────

#: The number of unknown keys of an answer that are named one by one.
_MOST_NAMED = 20


def _shown(value: Json) -> str:
    """Return a value as JSON, short enough for a message."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 200 else text[:200] + "…"


# ── answers ─────────────────────────────────────────────────────────────────


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """A valid answer, in Python names."""

    continue_: bool = True
    stop_reason: str | None = None
    suppress_output: bool = False
    system_message: str | None = None
    terminal_sequence: str | None = None
    decision: str | None = None
    reason: str | None = None
    is_async: bool = False
    #: The fields of `hookSpecificOutput`, by their catalogue names.
    specific: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: Deciding keys at a level where they have no effect.
    misplaced: tuple[str, ...] = ()
    #: Unknown keys, each with what to do about it.
    unknown: tuple[str, ...] = ()
    #: Keys that appear twice in one object; the last one applies.
    repeated: tuple[str, ...] = ()


class PlainText(msgspec.Struct, frozen=True):
    """stdout that is not a JSON object."""

    text: str


class UnusableOutput(msgspec.Struct, frozen=True):
    """An answer that is ignored, and why."""

    code: str
    message: str


_UNIVERSAL: dict[str, tuple[str, Shape]] = {
    "continue": ("continue_", Shape.BOOLEAN),
    "stopReason": ("stop_reason", Shape.STRING),
    "suppressOutput": ("suppress_output", Shape.BOOLEAN),
    "systemMessage": ("system_message", Shape.STRING),
    "terminalSequence": ("terminal_sequence", Shape.STRING),
    "decision": ("decision", Shape.STRING),
    "reason": ("reason", Shape.STRING),
}
TOP_LEVEL = frozenset(_UNIVERSAL) | {"async", "asyncTimeout", "hookSpecificOutput"}
#: Keys that are reported if an answer has them twice.
_ONCE = (*sorted(TOP_LEVEL), "permissionDecision", "behavior")
_LEGACY_DECISIONS = ("approve", "block")
_ENUMS = {
    Shape.PERMISSION: ("allow", "deny", "ask", "defer"),
    Shape.MODEL_PERMISSION: ("allow", "deny", "ask"),
    Shape.ACTION: ("accept", "decline", "cancel"),
}
_IRREGULAR = {"updated_mcp_tool_output": "updatedMCPToolOutput"}


@functools.cache
def camel(name: str) -> str:
    """Return the wire name of a catalogue name."""
    return _IRREGULAR.get(name) or re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def read_stdout(text: str, event: str, rules: EventRules) -> PlainText | Output | UnusableOutput:
    """Classify what a hook printed.

    Law, for the text without BOM and surrounding white space (R-219 … R-222):
    a text that does not start with `{` or does not end with `}` is plain. Any other text must be one valid JSON object
    that matches the schema. One that does not parse is ignored, unless it is several lines of JSON and none of them
    is an answer: then it is plain.
    """
    text = text.removeprefix("\ufeff").strip()
    if not (text.startswith("{") and text.endswith("}")):
        return PlainText(text)
    value, problem = parse_json(text)
    if problem is None:
        answer = read_answer(value, event, rules)
        repeated = repeated_keys(text, _ONCE)
        return msgspec.structs.replace(answer, repeated=repeated) if repeated and isinstance(answer, Output) else answer
    if _foreign_lines(text):
        return PlainText(text)
    return UnusableOutput("broken-json", f"Hook output looks like a JSON object but is not valid JSON — {problem}")


def _foreign_lines(text: str) -> bool:
    """Return whether the text is two or more JSON lines and none of them sets a known field."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return False
    for line in lines:
        value, problem = parse_json(line)
        if problem is not None or (isinstance(value, Mapping) and TOP_LEVEL & set(value)):
            return False
    return True


def read_answer(value: Json, event: str, rules: EventRules) -> Output | UnusableOutput:
    """Validate an output object; one wrong field invalidates all of it, and the message names every problem.

    Only `"async": true` asks for the background; with any other value, it and `asyncTimeout` are as good as absent.
    """
    if not isinstance(value, Mapping):
        return UnusableOutput("invalid-answer", f"{INVALID} — expected an object, got {json_type(value)}")
    problems: list[str] = []
    found: dict[str, Json] = {}
    for key, item in value.items():
        universal = _UNIVERSAL.get(key)
        if universal is not None:
            name, shape = universal
            found[name] = item
            problems += _problems(key, item, shape)
    decision = value.get("decision")
    if decision == "deny":  # D19: a refusal in the wrong words is still a refusal
        found["decision"] = "block"
    elif isinstance(decision, str) and decision not in _LEGACY_DECISIONS:
        problems.append(_bad_decision(decision, rules))
    if "hookSpecificOutput" in value:
        wrong_event = _check_specific(value["hookSpecificOutput"], event, rules, problems)
        if wrong_event is not None:
            return wrong_event
        if not rules.output and not _refuses(value, rules):
            problems.append(f"hookSpecificOutput: {event} has no fields of its own. Remove hookSpecificOutput")
        found["specific"] = _specific(value["hookSpecificOutput"], rules)
    if problems:
        return UnusableOutput("invalid-answer", f"{INVALID} — " + "; ".join(problems))
    is_async = value.get("async") is True
    return Output(**found, is_async=is_async, misplaced=_misplaced(value, rules), unknown=_unknown_keys(value, rules))


INVALID = "Hook JSON output validation failed"


def _refuses(value: Mapping[str, Json], rules: EventRules) -> bool:
    """Return whether an answer refuses at top level what the event can refuse."""
    blocks = value.get("decision") in ("block", "deny") and "block" in rules.decisions
    return blocks or (value.get("continue") is False and rules.stops)


def _bad_decision(decision: str, rules: EventRules) -> str:
    if "permission_decision" in rules.output and decision in _ENUMS[Shape.PERMISSION]:
        return (
            f'decision: "{decision}" is not "approve" or "block"; '
            f'write {{"hookSpecificOutput": {{"permissionDecision": "{decision}"}}}} with its hookEventName'
        )
    hint = {"allow": "approve"}.get(decision)
    return f'decision: "{decision}" is not "approve" or "block"' + (f". Did you mean `{hint}`?" if hint else "")


def _check_specific(specific: Any, event: str, rules: EventRules, problems: list[str]) -> UnusableOutput | None:
    if not isinstance(specific, Mapping):
        problems.append(f"hookSpecificOutput: expected an object, got {json_type(specific)}")
        return None
    name = specific.get("hookEventName")
    if name is None:
        problems.append(f'hookSpecificOutput is missing required field "hookEventName". Write "{event}"')
    elif not isinstance(name, str) or name not in CATALOGUE:
        shown = _shown(name)
        hint = did_you_mean(name, CATALOGUE) if isinstance(name, str) else ""
        problems.append(f"hookSpecificOutput.hookEventName: {shown} is not an event{hint}")
    elif name != event:
        return UnusableOutput(
            "wrong-event-name", f"Hook returned incorrect event name: expected '{event}' but got '{name}'"
        )
    for field, shape in rules.output.items():
        key = camel(field)
        if key in specific:
            problems += _problems(f"hookSpecificOutput.{key}", specific[key], shape)
        elif field in rules.required:
            problems.append(f'hookSpecificOutput is missing required field "{key}" ({shape.value})')
    return None


def _specific(specific: Any, rules: EventRules) -> dict[str, Json]:
    if not isinstance(specific, Mapping):
        return {}
    return {field: specific[camel(field)] for field in rules.output if camel(field) in specific}


def _unknown_keys(value: Mapping[str, Json], rules: EventRules) -> tuple[str, ...]:
    inner = {camel(field): field for field in rules.output}
    specific = value.get("hookSpecificOutput")
    outside = [key for key in value if key not in TOP_LEVEL]
    inside = [key for key in specific if key not in inner and key != "hookEventName"] if specific else []
    notes = [_unknown_outside(key, inner) for key in outside[:_MOST_NAMED]]
    notes += [_unknown_inside(key, inner) for key in inside[:_MOST_NAMED]]
    more = len(outside) + len(inside) - len(notes)
    return (*notes, f"{more} more keys are ignored") if more else tuple(notes)


def _misplaced(value: Mapping[str, Json], rules: EventRules) -> tuple[str, ...]:
    """Return the keys that would decide the event at another level."""
    outside = [key for key in value if key in _DECIDING and key not in TOP_LEVEL]
    specific = value.get("hookSpecificOutput")
    inner = {camel(field) for field in rules.output}
    inside = [key for key in specific or () if key in _DECIDING and key not in inner]
    return (*outside, *inside)


#: Keys by which an answer refuses or asks, at whichever level.
_DECIDING = frozenset({"permissionDecision", "decision", "behavior", "continue"})
_SPOKEN = re.compile(
    r"""\\?["'](?:hookSpecificOutput|permissionDecision)\\?["']\s*:"""
    r"""|\\?["'](?:decision|behavior)\\?["']\s*:\s*(?:\{|\\?["'](?:block|deny|ask|defer)\\?["'])"""
    r"""|\\?["']continue\\?["']\s*:\s*[Ff]alse"""
)


def looks_like_answer(text: str) -> bool:
    """Return whether plain text holds the words of an answer that refuses, asks or sets an event's own fields.

    Text around an answer, a list, a code fence, an invisible character or a missing brace make it plain text, which
    decides nothing.
    """
    return _SPOKEN.search(text) is not None


def _unknown_outside(key: str, inner: Mapping[str, str]) -> str:
    if key in inner:
        return f"`{key}` found at top level, must be under `hookSpecificOutput`"
    return f"`{key[:LONGEST_WORD]}` is ignored{did_you_mean(key, [*TOP_LEVEL, *inner])}"


def _unknown_inside(key: str, inner: Mapping[str, str]) -> str:
    if key in TOP_LEVEL:
        return f"`{key}` found under `hookSpecificOutput`, must be at top level"
    return f"`hookSpecificOutput.{key[:LONGEST_WORD]}` is ignored{did_you_mean(key, inner)}"


def _problems(path: str, value: Json, shape: Shape) -> list[str]:
    """Return the problems of one field, as a compiler would."""
    if shape is Shape.REQUEST_DECISION:
        return _request_decision_problems(path, value)
    allowed = _ENUMS.get(shape)
    if allowed is not None:
        if value in allowed:
            return []
        hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
        if value == "block":
            hint = ". Did you mean `deny`?"
        return [f"{path}: {_shown(value)} is not one of {', '.join(allowed)}{hint}"]
    if _fits(value, shape):
        return []
    return [f"{path}: expected {shape.value}, got {json_type(value)}"]


def _fits(value: Json, shape: Shape) -> bool:
    if shape is Shape.STRING:
        return isinstance(value, str)
    if shape is Shape.BOOLEAN:
        return isinstance(value, bool)
    if shape is Shape.NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if shape is Shape.OBJECT:
        return isinstance(value, Mapping)
    if shape is Shape.STRINGS:
        return _strings(value)
    return True


def _strings(value: Json) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _request_decision_problems(path: str, value: Json) -> list[str]:
    if not isinstance(value, Mapping):
        return [f"{path}: expected an object with `behavior`, got {json_type(value)}"]
    behavior = value.get("behavior")
    if behavior not in ("allow", "deny"):
        hint = did_you_mean(behavior, ("allow", "deny")) if isinstance(behavior, str) else ""
        return [f"{path}.behavior: {_shown(behavior)} is not one of allow, deny{hint}"]
    fields: dict[str, Shape] = (
        {"updatedInput": Shape.OBJECT} if behavior == "allow" else {"message": Shape.STRING, "interrupt": Shape.BOOLEAN}
    )
    problems: list[str] = []
    for key, shape in fields.items():
        if key in value:
            problems += _problems(f"{path}.{key}", value[key], shape)
    if behavior == "allow" and "updatedPermissions" in value:
        problems += _updates_problems(f"{path}.updatedPermissions", value["updatedPermissions"])
    return problems


#: The fields of each permission update beside `destination`.
_UPDATES = {
    **dict.fromkeys(("addRules", "replaceRules", "removeRules"), ("rules", "behavior")),
    "setMode": ("mode",),
    **dict.fromkeys(("addDirectories", "removeDirectories"), ("directories",)),
}
_UPDATE_WORDS = {
    "behavior": ("allow", "deny", "ask"),
    "mode": ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "manual", "plan"),
    "destination": ("userSettings", "projectSettings", "localSettings", "session", "cliArg"),
}


def _updates_problems(path: str, updates: Json) -> list[str]:
    """Return the problems of permission updates; one that cannot be applied invalidates the answer."""
    if not isinstance(updates, list):
        return [f"{path}: expected array, got {json_type(updates)}"]
    found: list[str] = []
    for place, update in enumerate(updates):
        kind = update.get("type") if isinstance(update, Mapping) else None
        here = f"{path}[{place}]"
        if kind not in _UPDATES:
            found.append(f"{here}.type: {_shown(kind)} is not one of {', '.join(_UPDATES)}")
            continue
        for key in (*_UPDATES[kind], "destination"):
            words = _UPDATE_WORDS.get(key)
            if words is not None and update.get(key) not in words:
                found.append(f"{here}.{key}: {_shown(update.get(key))} is not one of {', '.join(words)}")
            elif key == "directories" and not _strings(update.get(key)):
                found.append(f"{here}.{key}: expected array of strings, got {json_type(update.get(key))}")
            elif key == "rules" and not _are_rules(update.get(key)):
                found.append(f'{here}.{key}: expected array of {{"toolName": …, "ruleContent"?: …}}')
    return found


def _are_rules(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(rule, Mapping)
        and isinstance(rule.get("toolName"), str)
        and isinstance(rule.get("ruleContent", ""), str)
        for rule in value
    )


class RequestDecision(msgspec.Struct, frozen=True):
    """The decision of a PermissionRequest hook, in Python names."""

    allow: bool
    updated_input: Mapping[str, Json] | None = None
    updated_permissions: tuple[Mapping[str, Json], ...] = ()
    message: str | None = None
    interrupt: bool = False


def request_decision(value: Mapping[str, Json]) -> RequestDecision:
    """Read a validated `decision` object; an empty `updatedInput` changes nothing."""
    if value["behavior"] == "allow":
        return RequestDecision(True, value.get("updatedInput") or None, tuple(value.get("updatedPermissions", ())))
    return RequestDecision(False, message=value.get("message"), interrupt=value.get("interrupt", False))


def callback_answer(value: Mapping[str, Json]) -> dict[str, Json]:
    """Rename the keys that Python cannot spell: `continue_` and `async_` (R-153)."""
    renamed = {"continue_": "continue", "async_": "async"}
    return {renamed.get(key, key): item for key, item in value.items()}


# ── the background ──────────────────────────────────────────────────────────


class AsyncRequest(msgspec.Struct, frozen=True):
    """A request for the background, made by a hook's first line of output."""

    #: Seconds, from `asyncTimeout`; None where it set none.
    limit: float | None


def async_request(line: bytes) -> AsyncRequest | None:
    """Read a first complete line as the request `{"async": true, "asyncTimeout": ms}`; None for any other line."""
    value, problem = parse_json(line.decode("utf-8", "replace"))
    if problem is not None or not isinstance(value, dict) or value.get("async") is not True:
        return None
    limit = value.get("asyncTimeout")
    if isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0:
        return AsyncRequest(limit / 1000)
    return AsyncRequest(None)


class LateOutput(msgspec.Struct, frozen=True):
    """The fields of a background hook's output that take effect, in Python names."""

    context: str | None = None
    system_message: str | None = None


def read_late(stdout: str, event: str) -> LateOutput:
    """Read the first JSON object a background hook printed; each field is taken if it alone is valid."""
    for text in (stdout.strip(), *stdout.strip().splitlines()):
        value, problem = parse_json(text) if text.strip().startswith("{") else (None, None)
        if problem is None and isinstance(value, dict) and "async" not in value:
            specific = value.get("hookSpecificOutput")
            if not isinstance(specific, dict) or specific.get("hookEventName", event) != event:
                specific = {}
            return LateOutput(_string(specific.get("additionalContext")), _string(value.get("systemMessage")))
    return LateOutput()


def _string(value: Json) -> str | None:
    return value if isinstance(value, str) else None
