"""JSON Schemas of the settings and of every event's input and output, from the tables the engine uses."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from hookwright.config import fields
from hookwright.config.fields import SPECS, Field, Spec
from hookwright.protocol.events import CATALOGUE, EventRules, Shape
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import _ENUMS, _UNIVERSAL, camel
from hookwright.selection import supports

Schema = dict[str, Json]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# ── input ───────────────────────────────────────────────────────────────────


def input_schema(event: str) -> Schema:
    """Return the schema of what a hook of this event reads on stdin."""
    cls = CATALOGUE[event]
    made = msgspec.json.schema(cls)
    found: Schema = dict(made["$defs"][cls.__name__])
    properties = {name: spec for name, spec in found["properties"].items() if name != "extra"}
    properties["hook_event_name"] = {"const": event}
    _offer_values(properties, cls.rules)
    required = [name for name in found.get("required", []) if name != "extra"]
    return {
        "$schema": DIALECT,
        "title": f"{event} input",
        "description": f"What a hook reads on stdin when {cls.rules.when}.",
        "type": "object",
        "properties": {name: _plain(spec) for name, spec in properties.items()},
        "required": sorted({*required, "hook_event_name"}),
    }


def _offer_values(properties: Schema, rules: EventRules) -> None:
    """Return the known values of the target as examples, not as a limit: there may be others."""
    if rules.target is not None and rules.values and rules.target in properties:
        properties[rules.target] = {**properties[rules.target], "examples": list(rules.values)}


def _plain(spec: Any) -> Any:
    return {key: value for key, value in spec.items() if key != "default"} if isinstance(spec, Mapping) else spec


# ── output ──────────────────────────────────────────────────────────────────

_SHAPES: dict[Shape, Schema] = {
    Shape.STRING: {"type": "string"},
    Shape.BOOLEAN: {"type": "boolean"},
    Shape.NUMBER: {"type": "number"},
    Shape.OBJECT: {"type": "object"},
    Shape.STRINGS: {"type": "array", "items": {"type": "string"}},
    Shape.ANY: {"not": {"type": "null"}},
    **{shape: {"enum": list(words)} for shape, words in _ENUMS.items()},
    Shape.REQUEST_DECISION: {
        "type": "object",
        "oneOf": [
            {
                "properties": {
                    "behavior": {"const": "allow"},
                    "updatedInput": {"type": "object"},
                    "updatedPermissions": {"type": "array"},
                },
                "required": ["behavior"],
            },
            {
                "properties": {
                    "behavior": {"const": "deny"},
                    "message": {"type": "string"},
                    "interrupt": {"type": "boolean"},
                },
                "required": ["behavior"],
            },
        ],
    },
}
_OUTPUT_WORDS = {
    "continue": "false ends the turn, where the event allows it",
    "stopReason": "why the turn ends; the user reads it",
    "suppressOutput": "keep stdout out of the transcript",
    "systemMessage": "a message to the user; the model does not see it",
    "terminalSequence": "an escape sequence for the user's terminal",
    "decision": "block refuses, and deny is read as block; approve is an older word for allow",
    "reason": "why; who reads it depends on the event",
    "async": "continue in the background from here",
    "asyncTimeout": "the most milliseconds in the background",
}


def output_schema(event: str) -> Schema:
    """Return the schema of a hook's output for this event; unknown keys are ignored, so they are allowed."""
    rules = CATALOGUE[event].rules
    properties: Schema = {
        name: {**_SHAPES[shape], "description": _OUTPUT_WORDS[name]} for name, (_, shape) in _UNIVERSAL.items()
    }
    properties["decision"] = {"enum": ["approve", "block", "deny"], "description": _OUTPUT_WORDS["decision"]}
    properties["hookSpecificOutput"] = {
        "type": "object",
        "properties": {
            "hookEventName": {"const": event},
            **{camel(name): _SHAPES[shape] for name, shape in rules.output.items()},
        },
        "required": ["hookEventName", *(camel(name) for name in sorted(rules.required))],
    }
    for name in (camel(name) for name in rules.output):
        # A decision next to hookSpecificOutput is reported as misplaced and has no effect.
        properties.setdefault(name, {"not": {}, "description": "belongs inside hookSpecificOutput"})
    return {
        "$schema": DIALECT,
        "title": f"{event} output",
        "description": f"What a hook may print when {rules.when}. Exit 2 {rules.exit_2.value}.",
        "type": "object",
        "properties": properties,
        **({} if rules.output else _only_beside_a_refusal(rules)),
    }


def _only_beside_a_refusal(rules: EventRules) -> Schema:
    """Forbid `hookSpecificOutput` on an event that has no fields for it, unless the answer refuses."""
    refusals: list[Schema] = []
    if "block" in rules.decisions:
        refusals.append({"properties": {"decision": {"enum": ["block", "deny"]}}, "required": ["decision"]})
    if rules.stops:
        refusals.append({"properties": {"continue": {"const": False}}, "required": ["continue"]})
    allowed: Schema = {"anyOf": refusals} if refusals else {"not": {}}
    return {"if": {"required": ["hookSpecificOutput"]}, "then": allowed}


# ── settings ────────────────────────────────────────────────────────────────

_VALUES: dict[Any, Schema] = {
    fields.text: {"type": "string"},
    fields.rule_text: {"type": "string"},
    fields.filled_text: {"type": "string", "minLength": 1},
    fields.seconds: {"type": "number", "exclusiveMinimum": 0},
    fields.flag: {"type": "boolean"},
    fields.texts: {"type": "array", "items": {"type": "string"}},
    fields.text_map: {"type": "object", "additionalProperties": {"type": "string"}},
    fields.mapping: {"type": "object"},
    fields.failure_mode: {"enum": ["continue", "block"]},
    fields.closed_flag: {"type": "boolean"},
    fields.mode: {"enum": ["enforce", "shadow"]},
}
_KEY_WORDS = {
    "command": "a shell line, or a program when `args` is given",
    "args": "arguments; with them no shell is used",
    "shell": "the shell that reads `command`",
    "async": "do not wait for this hook; its decisions have no effect",
    "asyncRewake": "like async, and exit 2 wakes the model with stderr",
    "worker": "keep a Python hook warm or resident (Hookwright only)",
    "url": "gets the event as a POST",
    "headers": "headers; `$NAME` is filled in when `allowedEnvVars` has it",
    "allowedEnvVars": "variables that headers may use",
    "server": "the name of a connected MCP server",
    "tool": "the tool to call",
    "input": "its arguments; `${tool_input.file_path}` takes a field of the event",
    "prompt": "the question; `$ARGUMENTS` is replaced by the event",
    "model": "the model to ask",
    "continueOnBlock": "an answer of no returns its reason instead of ending the turn",
    "if": "a permission rule such as Bash(git *): the hook only runs for such calls",
    "timeout": "seconds",
    "statusMessage": "shown while the hook runs",
    "once": "run once, in the frontmatter of a skill",
    "mode": "shadow: run and record what the hook would decide, without any effect (Hookwright only)",
    "onFailure": "block: a hook that crashes, times out or gives an invalid answer refuses",
    "failClosed": "true is the same as onFailure: block",
    "fail_closed": "true is the same as onFailure: block",
}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}


def settings_schema() -> Schema:
    """Return the schema of a settings file: its hooks exactly, the other known keys, and any unknown ones."""
    events = {name: _event_schema(name) for name in CATALOGUE}
    rules = dict.fromkeys(("allow", "ask", "deny", "additionalDirectories"), _TEXTS)
    return {
        "$schema": DIALECT,
        "title": "settings",
        "description": "A settings file with hooks, as Claude Code and Hookwright read it.",
        "type": "object",
        "properties": {
            "hooks": {"type": "object", "properties": events, "additionalProperties": False},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "permissions": {"type": "object", "properties": {**rules, "defaultMode": {"type": "string"}}},
            "model": {"type": "string"},
            "disableAllHooks": {"type": "boolean"},
            "allowManagedHooksOnly": {"type": "boolean"},
            "allowedHttpHookUrls": _TEXTS,
            "httpHookAllowedEnvVars": _TEXTS,
            "enabledPlugins": {"type": "object", "additionalProperties": {"type": ["boolean", "array"]}},
            "pluginConfigs": {"type": "object"},
        },
        "$defs": {kind: _handler_schema(kind, spec) for kind, spec in SPECS.items()},
    }


def _event_schema(event: str) -> Schema:
    rules = CATALOGUE[event].rules
    kinds = [kind for kind, spec in SPECS.items() if supports(rules, spec.make.kind)]
    matcher: Schema = {"type": "string"}
    if rules.target is None:
        matcher["description"] = "this event has no matcher; the hook runs every time"
    elif rules.values:
        matcher |= {"description": f"compared with `{rules.target}`", "examples": list(rules.values)}
    else:
        matcher["description"] = f"exact names joined by |, or a regular expression, compared with `{rules.target}`"
    group = {
        "type": "object",
        "properties": {
            "matcher": matcher,
            "hooks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"type": {"enum": kinds}},
                    "required": ["type"],
                    "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds],
                },
            },
        },
        "required": ["hooks"],
    }
    return {"type": "array", "description": f"When {rules.when}. Exit 2 {rules.exit_2.value}.", "items": group}


def _handler_schema(kind: str, spec: Spec) -> Schema:
    keys = {key: _value_schema(key, field) for key, field in spec.fields.items()}
    notes: Schema = {key: {} for key in sorted(fields.NOTES)}
    return {
        "type": "object",
        "properties": {"type": {"const": kind}, **keys, **notes},
        "required": ["type", *(key for key, field in spec.fields.items() if field.required)],
        "additionalProperties": False,
    }


def _value_schema(key: str, field: Field) -> Schema:
    found = _VALUES.get(field.shape)
    if found is None:
        # The function of a choice holds its values.
        found = {"enum": list(inspect.getclosurevars(field.shape).nonlocals["names"])}
    return {**found, "description": _KEY_WORDS[key]}


def all_schemas() -> dict[str, Schema]:
    """Return every schema by the path of its file."""
    found = {"settings.schema.json": settings_schema()}
    for event in CATALOGUE:
        found[f"input/{event}.schema.json"] = input_schema(event)
        found[f"output/{event}.schema.json"] = output_schema(event)
    return found
