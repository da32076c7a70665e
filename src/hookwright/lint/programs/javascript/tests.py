"""Conditions of a JavaScript program -> tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import all_tests
from hookwright.lint.programs.ir import UNKNOWN, Array, Asks, Object, Test, origins_of
from hookwright.lint.programs.javascript.nodes import WRAPPERS, call_parts, key_of
from hookwright.lint.programs.values import element, patterns_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.javascript.reader import JavaScriptReader

_METHODS = {
    "includes": Asks.CONTAINS,
    "startsWith": Asks.PREFIX,
    "endsWith": Asks.SUFFIX,
    "match": Asks.REGEX,
}
_EQUAL = frozenset(["==", "===", "!=", "!=="])


def read_test(reader: JavaScriptReader, node: Node) -> Test:
    """Return the test of a condition."""
    place = reader.place(node)
    if node.type in WRAPPERS and node.named_children:
        return read_test(reader, node.named_children[0])
    if node.type == "unary_expression":
        inner = node.child_by_field_name("argument")
        found = read_test(reader, inner) if inner is not None else Test(place)
        return replace(found, negated=not found.negated) if reader.source(node).startswith("!") else found
    if node.type == "binary_expression":
        return _binary_test(reader, node)
    if node.type == "call_expression":
        return _call_test(reader, node)
    return Test(place, Asks.EMPTY, origins_of(reader.value(node)), negated=True)


def _binary_test(reader: JavaScriptReader, node: Node) -> Test:
    place = reader.place(node)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    sign = reader.source(operator) if operator is not None else ""
    if left is None or right is None:
        return Test(place)
    if sign in ("&&", "||"):
        return Test(
            place,
            Asks.ALL if sign == "&&" else Asks.ANY,
            parts=(read_test(reader, left), read_test(reader, right)),
        )
    first, second = reader.value(left), reader.value(right)
    origins = origins_of(first) | origins_of(second)
    if sign in _EQUAL:
        found = patterns_of(second) or patterns_of(first)
        return Test(place, Asks.EQUALS, origins, found, negated=sign.startswith("!"))
    return Test(place, Asks.OTHER, origins)


def _call_test(reader: JavaScriptReader, node: Node) -> Test:
    """Recognise the testing methods of strings, expressions and lists."""
    place = reader.place(node)
    function, arguments = call_parts(node)
    if function is None or function.type != "member_expression":
        return _own_function(reader, node, function, arguments)
    inner = function.child_by_field_name("object")
    name = key_of(reader, function)
    subject = reader.value(inner) if inner is not None else UNKNOWN
    if name == "test" and arguments:
        return Test(place, Asks.REGEX, origins_of(reader.value(arguments[0])), patterns_of(subject))
    if name in ("some", "every", "find", "filter") and arguments:
        body = reader.inline(arguments[0], [element(subject)]) if arguments[0].type == "arrow_function" else None
        return (
            reader.answers[0] if body is not None and reader.answers else Test(place, Asks.OTHER, origins_of(subject))
        )
    kind = _METHODS.get(name or "")
    if kind is None or not arguments:
        found = reader.value(node)
        return Test(place, Asks.EXISTS if name == "existsSync" else Asks.OTHER, origins_of(found))
    wanted = reader.value(arguments[0])
    if isinstance(subject, Array | Object):
        return Test(place, Asks.EQUALS, origins_of(wanted), patterns_of(subject))
    return Test(place, kind, origins_of(subject), patterns_of(wanted))


def _own_function(reader: JavaScriptReader, node: Node, function: Node | None, arguments: list[Node]) -> Test:
    place = reader.place(node)
    given = frozenset(origin for part in arguments for origin in origins_of(reader.value(part)))
    known = reader.functions.get(reader.source(function)) if function is not None else None
    body = reader.inline(known, [reader.value(part) for part in arguments]) if known is not None else None
    if body is None:
        return Test(place, Asks.OTHER, given)
    asked = (*all_tests(body), *reader.answers)
    return Test(place, Asks.ANY, given, parts=asked) if asked else Test(place, Asks.OTHER, given)
