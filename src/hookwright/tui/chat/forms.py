"""Forms of MCP servers: the fields of a schema, and how the user's input is read for each."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from hookwright.mcp.values import ElicitationRequest
from hookwright.protocol.jsontext import Json
from hookwright.text import flat
from hookwright.tui.feed.words import Line


class FieldKind(enum.Enum):
    """The type of a field's value."""

    TEXT = "text"
    INTEGER = "whole number"
    NUMBER = "number"
    YES_NO = "y or n"
    CHOICE = "one of"


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """One field to fill in."""

    name: str
    title: str
    kind: FieldKind = FieldKind.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Json = None

    @property
    def hint(self) -> str:
        """What may be entered here."""
        expected = f"one of {', '.join(self.choices)}" if self.kind is FieldKind.CHOICE else self.kind.value
        if self.default is not None:
            return f"{expected}; leave empty for {self.default}"
        return expected if self.required else f"{expected}, optional"


class Unfit(ValueError):
    """Input that does not fit a field, with what to enter instead."""


_KINDS = {"integer": FieldKind.INTEGER, "number": FieldKind.NUMBER, "boolean": FieldKind.YES_NO}


def fields(schema: Mapping[str, Json] | None) -> list[FormField]:
    """Return the fields of a schema; the protocol only allows flat ones."""
    properties = (schema or {}).get("properties")
    required = (schema or {}).get("required")
    found = []
    for name, value in properties.items() if isinstance(properties, dict) else ():
        shape = value if isinstance(value, dict) else {}
        choices = shape.get("enum")
        found.append(
            FormField(
                name=name,
                title=flat(str(shape.get("title") or shape.get("description") or name)),
                kind=FieldKind.CHOICE
                if isinstance(choices, list)
                else _KINDS.get(str(shape.get("type")), FieldKind.TEXT),
                required=isinstance(required, list) and name in required,
                choices=tuple(str(choice) for choice in choices) if isinstance(choices, list) else (),
                default=shape.get("default"),
            )
        )
    return found


def value_of(field: FormField, entered: str) -> Any:
    """Read the user's input; None for an omitted field. Raise Unfit if the input does not fit the field."""
    text = entered.strip()
    if not text:
        if field.default is None and field.required:
            raise Unfit(f"{field.title} is required: {field.hint}")
        return field.default
    match field.kind:
        case FieldKind.TEXT:
            return text
        case FieldKind.YES_NO if text.lower() in ("y", "yes", "n", "no"):
            return text.lower().startswith("y")
        case FieldKind.CHOICE if text in field.choices:
            return text
        case FieldKind.INTEGER | FieldKind.NUMBER:
            try:
                return int(text) if field.kind is FieldKind.INTEGER else float(text)
            except ValueError:
                pass
    raise Unfit(f"{text!r} is not valid: enter {field.hint}")


def asked_lines(asked: ElicitationRequest) -> list[Line]:
    """Return the lines of a request."""
    lines: list[Line] = [(("bold", flat(line)),) for line in asked.message.splitlines()]
    if asked.url is not None:
        lines += [(), (("accent", flat(asked.url)),), (("dim", "Open it yourself if you trust it."),)]
    return lines
