"""Expressions and conditions of a JavaScript program -> values and tests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import all_tests
from hookwright.lint.programs.ir import (
    UNKNOWN,
    Array,
    EnvRead,
    Hole,
    Object,
    Part,
    Test,
    TestKind,
    Text,
    Value,
    origins_of,
    text,
)
from hookwright.lint.programs.javascript import calls as javascript_calls
from hookwright.lint.programs.values import added, as_text, element, field, is_empty, item, one_of, patterns_of, tried

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.javascript.reader import JavaScriptReader

_METHODS = {
    "includes": TestKind.CONTAINS,
    "startsWith": TestKind.PREFIX,
    "endsWith": TestKind.SUFFIX,
    "match": TestKind.REGEX,
}
_EQUAL = frozenset(["==", "===", "!=", "!=="])
_WRAPPERS = frozenset(["parenthesized_expression", "await_expression", "spread_element"])
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}


def value(reader: JavaScriptReader, node: Node) -> Value:
    """Tell what an expression comes to."""
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
            return Array(tuple(value(reader, child) for child in node.named_children if child.type != "spread_element"))
        case "member_expression" | "subscript_expression":
            return _member(reader, node)
        case "call_expression" | "new_expression":
            return javascript_calls.call_value(reader, node)
        case "binary_expression":
            return _binary(reader, node)
        case "ternary_expression":
            sides = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
            return one_of([value(reader, side) for side in sides if side is not None])
        case kind if kind in _WRAPPERS:
            return value(reader, node.named_children[0]) if node.named_children else UNKNOWN
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
            parts.append(as_text(value(reader, child.named_children[0])) if child.named_children else "")
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
            items[reader.source(key).strip("'\"")] = value(reader, inner)
        elif child.type == "spread_element":
            found = value(reader, child)
            opened |= not isinstance(found, Object) or found.open
            items |= found.items if isinstance(found, Object) else {}
    return Object(items, opened)


def key_of(reader: JavaScriptReader, node: Node) -> str | None:
    """Give the key of `a.b` or `a["b"]`."""
    if node.type == "member_expression":
        name = node.child_by_field_name("property")
        return reader.source(name) if name is not None else None
    index = node.child_by_field_name("index")
    found = value(reader, index) if index is not None else None
    return found.constant if isinstance(found, Text) else None


def _member(reader: JavaScriptReader, node: Node) -> Value:
    inner = node.child_by_field_name("object")
    key = key_of(reader, node)
    if inner is None:
        return UNKNOWN
    if reader.source(inner) == "process.env" and key is not None:
        reader.env.append(EnvRead(reader.place(node), key))
        return Hole(frozenset({f"env.{key}"}))
    found = value(reader, inner)
    if key is None:
        index = node.child_by_field_name("index")
        number = value(reader, index) if index is not None else None
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
        outer = value(reader, inner)
        if isinstance(outer, Object):
            store(reader, inner, Object({**outer.items, key: found}, outer.open))


def _binary(reader: JavaScriptReader, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    sign = reader.source(operator) if operator is not None else ""
    if left is None or right is None:
        return UNKNOWN
    before = len(reader.fields)
    first, second = value(reader, left), value(reader, right)
    if sign == "+":
        return added(first, second)
    if sign in ("||", "??", "&&"):
        tried(reader.fields, before)
        real = [found for found in (first, second) if not is_empty(found)]
        return real[0] if len(real) == 1 else Hole(origins_of(first) | origins_of(second))
    return Hole(origins_of(first) | origins_of(second))


# ── tests ───────────────────────────────────────────────────────────────────


def test(reader: JavaScriptReader, node: Node) -> Test:
    """Tell what a condition asks."""
    place = reader.place(node)
    if node.type in _WRAPPERS and node.named_children:
        return test(reader, node.named_children[0])
    if node.type == "unary_expression":
        inner = node.child_by_field_name("argument")
        found = test(reader, inner) if inner is not None else Test(place)
        return replace(found, negated=not found.negated) if reader.source(node).startswith("!") else found
    if node.type == "binary_expression":
        return _binary_test(reader, node)
    if node.type == "call_expression":
        return _call_test(reader, node)
    return Test(place, TestKind.EMPTY, origins_of(value(reader, node)), negated=True)


def _binary_test(reader: JavaScriptReader, node: Node) -> Test:
    place = reader.place(node)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    sign = reader.source(operator) if operator is not None else ""
    if left is None or right is None:
        return Test(place)
    if sign in ("&&", "||"):
        return Test(
            place, TestKind.ALL if sign == "&&" else TestKind.ANY, parts=(test(reader, left), test(reader, right))
        )
    first, second = value(reader, left), value(reader, right)
    origins = origins_of(first) | origins_of(second)
    if sign in _EQUAL:
        found = patterns_of(second) or patterns_of(first)
        return Test(place, TestKind.EQUALS, origins, found, negated=sign.startswith("!"))
    return Test(place, TestKind.OTHER, origins)


def _call_test(reader: JavaScriptReader, node: Node) -> Test:
    """Recognise the methods that ask something, on texts, expressions and lists."""
    place = reader.place(node)
    function, arguments = javascript_calls.parts(node)
    if function is None or function.type != "member_expression":
        return _own_function(reader, node, function, arguments)
    inner = function.child_by_field_name("object")
    name = key_of(reader, function)
    subject = value(reader, inner) if inner is not None else UNKNOWN
    if name == "test" and arguments:
        return Test(place, TestKind.REGEX, origins_of(value(reader, arguments[0])), patterns_of(subject))
    if name in ("some", "every", "find", "filter") and arguments:
        body = reader.inline(arguments[0], [element(subject)]) if arguments[0].type == "arrow_function" else None
        return (
            reader.answers[0]
            if body is not None and reader.answers
            else Test(place, TestKind.OTHER, origins_of(subject))
        )
    kind = _METHODS.get(name or "")
    if kind is None or not arguments:
        found = value(reader, node)
        return Test(place, TestKind.EXISTS if name == "existsSync" else TestKind.OTHER, origins_of(found))
    wanted = value(reader, arguments[0])
    if isinstance(subject, Array | Object):
        return Test(place, TestKind.EQUALS, origins_of(wanted), patterns_of(subject))
    return Test(place, kind, origins_of(subject), patterns_of(wanted))


def _own_function(reader: JavaScriptReader, node: Node, function: Node | None, arguments: list[Node]) -> Test:
    place = reader.place(node)
    given = frozenset(origin for part in arguments for origin in origins_of(value(reader, part)))
    known = reader.functions.get(reader.source(function)) if function is not None else None
    body = reader.inline(known, [value(reader, part) for part in arguments]) if known is not None else None
    if body is None:
        return Test(place, TestKind.OTHER, given)
    asked = (*all_tests(body), *reader.answers)
    return Test(place, TestKind.ANY, given, parts=asked) if asked else Test(place, TestKind.OTHER, given)
