"""The event reference: one section per event, all of it read from the catalogue."""

from __future__ import annotations

import types
import typing
from typing import Any

from msgspec import UnsetType
from pages.fields import COMMON, INPUT, OUTPUT
from pages.markdown import PLAIN, bullets, code, page, table, ticked
from pages.probes import stderr_of_exit_2

from hookwright.engine import AGENT_TIMEOUT, CALLBACK_TIMEOUT, PROMPT_TIMEOUT
from hookwright.protocol.events import CATALOGUE, UNSENT, Event, EventRules, TargetForm
from hookwright.protocol.handlers import Kind
from hookwright.protocol.samples import sample
from hookwright.protocol.wire import COMMON as COMMON_ORDER
from hookwright.protocol.wire import camel, encode_event
from hookwright.selection import supports

CWD = "/home/me/project"


def events() -> str:
    """Write the page."""
    return page(
        "Events",
        "Every event, with what a hook gets on stdin and what it may answer. "
        "The rules for exit codes and JSON are in [exit-codes.md](exit-codes.md), "
        "who reads what is in [visibility.md](visibility.md), the keys of a handler are in [settings.md](settings.md).",
        table(("event", "fires when", "matcher", "exit 2"), [_overview(name) for name in CATALOGUE]),
        _common(),
        *(_section(name) for name in CATALOGUE),
    )


def _overview(name: str) -> tuple[str, ...]:
    rules = CATALOGUE[name].rules
    target = f"`{rules.target}`" if rules.target else ""
    return (f"[{name}](#{name.lower()})", rules.when, target, rules.exit_2.value)


def _common() -> str:
    rows = [
        (f"`{name}`", json_type(Event, name) if name != "permission_mode" else "string, optional", COMMON[name])
        for name in COMMON_ORDER
    ]
    return "\n\n".join(
        (
            "## Fields of every event",
            "One line of JSON on stdin, UTF-8, with a final newline, then end of file. "
            "These fields come first, in this order, then `hook_event_name`, then the event's own fields. "
            "`permission_mode` is there on the events that say so below.",
            table(("field", "type", "meaning"), rows),
        )
    )


def _section(name: str) -> str:
    cls = CATALOGUE[name]
    rules = cls.rules
    parts = [
        f"## {name}",
        f"Fires when {rules.when}.",
        bullets(_facts(name, rules)),
        _input(name, cls),
        _output(name, rules),
        "On stdin, for example:",
        code(encode_event(sample(name, cwd=CWD)).decode(), "json"),
    ]
    return "\n\n".join(parts)


def _facts(name: str, rules: EventRules) -> list[str]:
    return [
        f"Matcher: {_matcher(rules)}",
        f"Exit 2: {_exit_2(name, rules)}",
        f"Plain stdout at exit 0: {PLAIN[rules.plain]}.",
        f"Handlers: {_kinds(rules)}",
        f"Default timeout: {_timeouts(rules)}",
        f"`if`: {'yes' if rules.condition else 'no; a handler with `if` never runs on this event'}.",
        f"`onFailure`: {'applies' if rules.on_failure else 'no effect'}.",
        *_more_facts(rules),
    ]


def _more_facts(rules: EventRules) -> list[str]:
    facts = []
    if rules.refusal.value != "changes nothing" and Kind.PROMPT in rules.model_kinds:
        facts.append(f"A prompt hook's `ok: false`: {rules.refusal.value}.")
    if rules.impossible_lifts:
        facts.append("A prompt hook's `impossible: true` lets the agent stop.")
    if rules.timeout_blocks:
        facts.append("A timeout blocks.")
    if rules.callback_timeout_blocks:
        facts.append("A callback that times out blocks; other kinds do not.")
    if rules.missing_file_is_error:
        facts.append(
            'Exit 2 with empty stdout and "No such file or directory" on stderr is an error and does not block.'
        )
    if rules.env_file:
        facts.append("`CLAUDE_ENV_FILE` is set: what a hook writes there holds for later shell commands.")
    if rules.managed_last:
        facts.append("Managed hooks run after the others.")
    if rules.fire_and_forget:
        facts.append("The agent does not wait for these hooks.")
    return facts


def _matcher(rules: EventRules) -> str:
    if rules.target is None:
        return "none; a matcher is ignored and the hooks run every time."
    form = "" if rules.target_form is TargetForm.PLAIN else f", as {rules.target_form.value}"
    known = f" Known values: {ticked(rules.values)}." if rules.values else ""
    narrow = " Only letters, digits, `_` and `|` make a list of exact names here." if rules.narrow else ""
    return f"`{rules.target}`{form}.{known}{narrow}"


def _exit_2(name: str, rules: EventRules) -> str:
    unblockable = f" Without effect for {ticked(sorted(rules.unblockable))}." if rules.unblockable else ""
    return f"{rules.exit_2.value}. Readers of stderr: {stderr_of_exit_2(name)}.{unblockable}"


def _kinds(rules: EventRules) -> str:
    kinds: list[Kind] = [kind for kind in Kind if kind is not Kind.FUNCTION and supports(rules, kind)]
    if rules.impossible_lifts:
        kinds.append(Kind.FUNCTION)
    left = [kind for kind in Kind if kind is not Kind.FUNCTION and kind not in kinds]
    skipped = [kind for kind in left if kind in rules.skipped_kinds]
    refused = [kind for kind in left if kind not in rules.skipped_kinds]
    text = ticked(kind.value for kind in kinds) + "."
    if skipped:
        text += f" Skipped: {ticked(kind.value for kind in skipped)}."
    if refused:
        text += f" A non-blocking error: {ticked(kind.value for kind in refused)}."
    return text


def _timeouts(rules: EventRules) -> str:
    limits = [f"{rules.timeout:g} s"]
    for kind, limit in ((Kind.PROMPT, PROMPT_TIMEOUT), (Kind.AGENT, AGENT_TIMEOUT), (Kind.CALLBACK, CALLBACK_TIMEOUT)):
        if supports(rules, kind):
            limits.append(f"{kind.value} {limit:g} s")
    return "; ".join(limits) + "."


def own_fields(name: str) -> list[str]:
    """List the fields that the event adds to the common ones, in payload order."""
    cls = CATALOGUE[name]
    mine = [field for field in cls.__struct_fields__ if field not in COMMON_ORDER and field not in UNSENT]
    # A subagent's events must have what is optional elsewhere.
    needed = [field for field in ("agent_id", "agent_type") if not _optional(cls, field)]
    return [*needed, *mine]


def _input(name: str, cls: type[Event]) -> str:
    mode = ", `permission_mode`" if "permission_mode" in cls.__struct_fields__ else ""
    rows = [
        (f"`{field}`", json_type(cls, field), INPUT.get(f"{name}.{field}") or INPUT[field])
        for field in own_fields(name)
    ]
    head = f"### {name} input\n\nThe fields of every event{mode}, and:\n\n"
    return head + table(("field", "type", "meaning"), rows)


def _output(name: str, rules: EventRules) -> str:
    rows = [*_universal(rules)]
    for field, shape in rules.output.items():
        key = camel(field)
        meaning = OUTPUT.get(f"{name}.{key}") or OUTPUT[key]
        if field in rules.discarded:
            meaning = "Accepted and dropped."
        need = " Required in `hookSpecificOutput`." if field in rules.required else ""
        late = " Only at exit 0." if rules.fields_at_exit_0 else ""
        rows.append((f"`hookSpecificOutput.{key}`", shape.value, meaning + need + late))
    return f"### {name} output\n\n" + table(("field", "type", "effect"), rows)


def _universal(rules: EventRules) -> list[tuple[str, str, str]]:
    rows = []
    if rules.decisions:
        words = " | ".join(f'"{word}"' for word in sorted(rules.decisions))
        meanings = {"block": f"`block`: {rules.exit_2.value}", "approve": "`approve`: allow"}
        rows.append(("`decision`, `reason`", words, "; ".join(meanings[w] for w in sorted(rules.decisions)) + "."))
    rows.append(("`continue: false`, `stopReason`", "boolean, string", _stop(rules)))
    shown = "A message to the user." if rules.system_message else "No effect."
    rows.append(("`systemMessage`", "string", shown))
    return rows


def _stop(rules: EventRules) -> str:
    if not rules.stops:
        return "No effect."
    text = "Ends the turn"
    if rules.stop_needs:
        text += f", if the event has `{rules.stop_needs}`"
    if rules.stop_beats_block:
        text += "; lifts a block of the same firing"
    return text + "."


# ── types ───────────────────────────────────────────────────────────────────


def json_type(cls: type[Event], field: str) -> str:
    """Name the JSON type of a field, and whether it may be absent."""
    hint = typing.get_type_hints(cls)[field]
    optional = ", optional" if _optional(cls, field) else ""
    return " or ".join(_names(hint)) + optional


def _optional(cls: type[Event], field: str) -> bool:
    return UnsetType in _options(typing.get_type_hints(cls)[field])


def _options(hint: Any) -> tuple[Any, ...]:
    return (
        typing.get_args(hint)
        if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
        else (hint,)
    )


def _names(hint: Any) -> list[str]:
    names = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null", Any: "any value"}
    found = []
    for option in _options(hint):
        if option is UnsetType:
            continue
        origin = typing.get_origin(option)
        if origin is list:
            item = _names(typing.get_args(option)[0])[0]
            found.append("array" if item == "any value" else f"array of {item}s")
        elif origin is dict:
            found.append("object")
        else:
            found.append(names[option])
    return found
