"""Expressions of a JavaScript program -> values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import (
    UNKNOWN,
    Array,
    EnvRead,
    Hole,
    Object,
    Part,
    Text,
    Value,
    origins_of,
    text,
)
from hookwright.lint.programs.javascript.calls import call_value
from hookwright.lint.programs.javascript.nodes import WRAPPERS, key_of
from hookwright.lint.programs.values import added, as_text, elsewhere, field, is_empty, item, one_of, tried

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.javascript.reader import JavaScriptReader

_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}


def read_value(reader: JavaScriptReader, node: Node) -> Value:
    """Return the value of an expression."""
    match node.type:
        case "string":
            return text(_unquoted(reader.source(node)))
        case "template_string":
            return _template(reader, node)
        case "number":
            return _number(reader.source(node))
        case "regex":
            pattern = node.child_by_field_name("pattern")
            return text(reader.source(pattern)) if pattern is not None else UNKNOWN
        case "identifier":
            return reader.variables.get(reader.source(node), UNKNOWN)
        case "object":
            return _object(reader, node)
        case "array":
            return Array(
                tuple(read_value(reader, child) for child in node.named_children if child.type != "spread_element")
            )
        case "member_expression" | "subscript_expression":
            return _member(reader, node)
        case "call_expression" | "new_expression":
            return call_value(reader, node)
        case "binary_expression":
            return _binary(reader, node)
        case "ternary_expression":
            sides = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
            return one_of([read_value(reader, side) for side in sides if side is not None])
        case kind if kind in WRAPPERS:
            return read_value(reader, node.named_children[0]) if node.named_children else UNKNOWN
    return _WORDS.get(reader.source(node), UNKNOWN) if node.type in _WORDS else UNKNOWN


def _unquoted(source: str) -> str:
    inner = source[1:-1]
    try:
        return str(json.loads('"' + inner.replace("\\'", "'").replace('"', '\\"').replace('\\\\"', '\\"') + '"'))
    except ValueError:
        return re.sub(r"\\(.)", r"\1", inner)


def _number(source: str) -> Value:
    try:
        return int(source, 0)
    except ValueError:
        try:
            return float(source)
        except ValueError:
            return UNKNOWN


def _template(reader: JavaScriptReader, node: Node) -> Text:
    parts: list[Part | Text] = []
    for child in node.named_children:
        if child.type == "template_substitution":
            parts.append(as_text(read_value(reader, child.named_children[0])) if child.named_children else "")
        else:
            parts.append(reader.source(child).replace("\\n", "\n").replace('\\"', '"').replace("\\`", "`"))
    return text(*parts)


def _object(reader: JavaScriptReader, node: Node) -> Object:
    items: dict[str, Value] = {}
    opened = False
    for child in node.named_children:
        if child.type == "shorthand_property_identifier":
            name = reader.source(child)
            items[name] = reader.variables.get(name, UNKNOWN)
        elif child.type == "pair":
            key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is None or inner is None or key.type == "computed_property_name":
                opened = True
                continue
            items[reader.source(key).strip("'\"")] = read_value(reader, inner)
        elif child.type == "spread_element":
            found = read_value(reader, child)
            opened |= not isinstance(found, Object) or found.open
            items |= found.items if isinstance(found, Object) else {}
    return Object(items, opened)


def _member(reader: JavaScriptReader, node: Node) -> Value:
    inner = node.child_by_field_name("object")
    key = key_of(reader, node)
    if inner is None:
        return UNKNOWN
    if reader.source(inner) == "process.env" and key is not None:
        reader.env.append(EnvRead(reader.place(node), key))
        return Hole(frozenset({f"env.{key}"}))
    found = read_value(reader, inner)
    if key is None:
        index = node.child_by_field_name("index")
        number = read_value(reader, index) if index is not None else None
        return item(found, number) if isinstance(number, int) else Hole(origins_of(found))
    if key == "length":
        return Hole(origins_of(found))
    return field(reader.fields, reader.place(node), found, key)


def store(reader: JavaScriptReader, target: Node, found: Value) -> None:
    """Follow `output.key = value` and `output.a.b = value`."""
    inner, key = target.child_by_field_name("object"), key_of(reader, target)
    if inner is None or key is None:
        return
    if inner.type == "identifier":
        known = reader.known_object(reader.source(inner))
        if known is not None:
            reader.variables[reader.source(inner)] = Object({**known.items, key: found}, known.open)
    elif inner.type == "member_expression":
        outer = read_value(reader, inner)
        if isinstance(outer, Object):
            store(reader, inner, Object({**outer.items, key: found}, outer.open))


def _binary(reader: JavaScriptReader, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    sign = reader.source(operator) if operator is not None else ""
    if left is None or right is None:
        return UNKNOWN
    before, variables = len(reader.fields), len(reader.env)
    first = read_value(reader, left)
    read = len(reader.env)
    second = read_value(reader, right)
    if sign in ("||", "??") and variables < read == len(reader.env):
        elsewhere(reader.env, variables, [second])
    if sign == "+":
        return added(first, second)
    if sign in ("||", "??", "&&"):
        tried(reader.fields, before)
        real = [found for found in (first, second) if not is_empty(found)]
        return real[0] if len(real) == 1 else Hole(origins_of(first) | origins_of(second))
    return Hole(origins_of(first) | origins_of(second))
