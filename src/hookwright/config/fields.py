"""The keys of a handler: their shapes, and the message for a value of the wrong shape."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec

from hookwright.protocol.handlers import (
    AgentHandler,
    CommandHandler,
    Handler,
    HandlerMode,
    HttpHandler,
    Kind,
    McpToolHandler,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.jsontext import Json, json_type
from hookwright.text import closest


class Wrong(msgspec.Struct, frozen=True):
    """A value that does not match its key, with the way out."""

    code: str
    message: str


#: Turns a JSON value into the handler's value, or returns what is wrong with it.
Shape = Callable[[str, Any], Any]


def shown(value: object) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def kind_of(value: Json) -> str:
    """Return the JSON type of a value with its article."""
    kind = json_type(value)
    return kind if kind == "null" else f"an {kind}" if kind in ("array", "object") else f"a {kind}"


def wrong_type(name: str, value: object, wanted: str, way_out: str) -> Wrong:
    """Return the problem that a value has the wrong type."""
    is_ = "" if value is None else f" is {kind_of(value)}"
    return Wrong("wrong-type", f"{shown(value)}{is_}; {name} is {wanted}. {way_out}")


def text(name: str, value: object) -> str | Wrong:
    """Accept a string."""
    if isinstance(value, str):
        return value
    way_out = f"Write {json.dumps(json.dumps(value))}." if isinstance(value, int | float) else "Write it in quotes."
    return wrong_type(name, value, "a string", way_out)


def rule_text(name: str, value: object) -> str | Wrong | None:
    """Accept a string; an empty one is no condition."""
    return None if value == "" else text(name, value)


def filled_text(name: str, value: object) -> str | Wrong:
    """Accept a string that is not empty."""
    if value == "":
        return Wrong("bad-value", f'"" is empty; {name} is required. Write it, or remove the handler.')
    return text(name, value)


def seconds(name: str, value: object) -> float | Wrong:
    """Accept a finite number above zero; a boolean is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        way_out = "Write 30, or remove the key."
        if isinstance(value, str) and (number := _number(value)) is not None and 0 < number < math.inf:
            way_out = f"Write {number:g}."
        return wrong_type(name, value, "a number of seconds", way_out)
    number = _number(value)
    if number is None or not 0 < number < math.inf:
        return Wrong("bad-value", f"{shown(value)} is not a time; {name} is a number of seconds above 0. Write 30.")
    return number


def _number(value: str | float) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def flag(name: str, value: object) -> bool | Wrong:
    """Accept true or false."""
    if isinstance(value, bool):
        return value
    way_out = f"Write {value}." if value in ("true", "false") else "Write true or false."
    return wrong_type(name, value, "a boolean", way_out)


def texts(name: str, value: object) -> tuple[str, ...] | Wrong:
    """Accept a list of strings."""
    if not isinstance(value, list):
        way_out = f"Write [{shown(value)}]." if isinstance(value, str) else 'Write ["…"].'
        return wrong_type(name, value, "a list of strings", way_out)
    for position, item in enumerate(value):
        if not isinstance(item, str):
            return wrong_type(f"each element of {name}", item, "a string", f"Correct element {position}.")
    return tuple(value)


def text_map(name: str, value: object) -> tuple[tuple[str, str], ...] | Wrong:
    """Accept an object whose values are strings."""
    if not isinstance(value, dict):
        return wrong_type(name, value, "an object of strings", 'Write {"Name": "value"}.')
    for key, item in value.items():
        if not isinstance(item, str):
            return wrong_type(f"{name}.{key}", item, "a string", "Write it in quotes.")
    return tuple(value.items())


def mapping(name: str, value: object) -> dict[str, Json] | Wrong:
    """Accept an object."""
    return value if isinstance(value, dict) else wrong_type(name, value, "an object", "Write {}.")


def one_of(*names: str) -> Shape:
    """Accept one of a few strings."""

    def shape(name: str, value: object) -> str | Wrong:
        choices = " or ".join(f'"{choice}"' for choice in names)
        if not isinstance(value, str):
            return wrong_type(name, value, choices, f"Write {choices}.")
        if value not in names:
            meant = closest(value, names)
            return Wrong("bad-value", f'{shown(value)} is not {choices}. Write "{meant or names[0]}".')
        return value

    return shape


def failure_mode(name: str, value: object) -> OnFailure | Wrong:
    """Accept `"continue"` or `"block"`."""
    choice = one_of("continue", "block")(name, value)
    return choice if isinstance(choice, Wrong) else OnFailure(choice)


def mode(name: str, value: object) -> HandlerMode | Wrong:
    """Accept `"enforce"` or `"shadow"`."""
    choice = one_of("enforce", "shadow")(name, value)
    return choice if isinstance(choice, Wrong) else HandlerMode(choice)


def closed_flag(name: str, value: object) -> OnFailure | Wrong:
    """Accept the alias of `onFailure` that is a boolean."""
    choice = flag(name, value)
    if isinstance(choice, Wrong):
        return choice
    return OnFailure.BLOCK if choice else OnFailure.CONTINUE


class Field(msgspec.Struct, frozen=True):
    """One key of a handler: the attribute it sets and its shape."""

    attribute: str
    shape: Shape
    required: bool = False


class Spec(msgspec.Struct, frozen=True):
    """One kind of handler: its class and its keys."""

    make: type[Handler]
    fields: dict[str, Field]


_COMMON = {
    "if": Field("condition", rule_text),
    "timeout": Field("timeout", seconds),
    "statusMessage": Field("status_message", text),
    "once": Field("once", flag),
    "mode": Field("mode", mode),
    "onFailure": Field("on_failure", failure_mode),
    "failClosed": Field("on_failure", closed_flag),
    "fail_closed": Field("on_failure", closed_flag),
}

#: Every kind a settings file may declare.
SPECS: dict[str, Spec] = {
    Kind.COMMAND.value: Spec(
        CommandHandler,
        {
            "command": Field("command", text, required=True),
            "args": Field("args", texts),
            "shell": Field("shell", one_of("bash", "powershell")),
            "async": Field("is_async", flag),
            "asyncRewake": Field("async_rewake", flag),
            "worker": Field("worker", one_of("warm", "resident")),
            **_COMMON,
        },
    ),
    Kind.HTTP.value: Spec(
        HttpHandler,
        {
            "url": Field("url", filled_text, required=True),
            "headers": Field("headers", text_map),
            "allowedEnvVars": Field("allowed_env_vars", texts),
            **_COMMON,
        },
    ),
    Kind.MCP_TOOL.value: Spec(
        McpToolHandler,
        {
            "server": Field("server", filled_text, required=True),
            "tool": Field("tool", filled_text, required=True),
            "input": Field("input", mapping),
            **_COMMON,
        },
    ),
    Kind.PROMPT.value: Spec(
        PromptHandler,
        {
            "prompt": Field("prompt", filled_text, required=True),
            "model": Field("model", text),
            "continueOnBlock": Field("continue_on_block", flag),
            **_COMMON,
        },
    ),
    Kind.AGENT.value: Spec(
        AgentHandler,
        {"prompt": Field("prompt", filled_text, required=True), "model": Field("model", text), **_COMMON},
    ),
}

#: Keys people add as notes.
NOTES = frozenset({"description", "name", "id", "comment", "$comment"})
#: Keys of command handlers that only Claude Code itself uses; they have no effect here.
INTERNAL = frozenset({"rewakeMessage", "rewakeSummary"})


def is_note(key: str) -> bool:
    """Return whether a key is a comment: a known one, or one marked by its first characters."""
    return key in NOTES or key.startswith(("_", "//", "#"))


def read_fields(spec: Spec, entry: dict[str, Json]) -> tuple[dict[str, Json], list[tuple[str, Wrong]]]:
    """Return the attributes of an entry, and its problems, key by key.

    One `block` among `onFailure` and its aliases is enough.
    """
    attributes: dict[str, Json] = {}
    problems: list[tuple[str, Wrong]] = []
    for key, field in spec.fields.items():
        if key not in entry:
            if field.required:
                problems.append(("", Wrong("missing-field", f"`{key}` is missing. Write it, or remove the handler.")))
            continue
        value = field.shape(key, entry[key])
        if isinstance(value, Wrong):
            problems.append((key, value))
        elif attributes.get(field.attribute) is not OnFailure.BLOCK:
            attributes[field.attribute] = value
    return attributes, problems
