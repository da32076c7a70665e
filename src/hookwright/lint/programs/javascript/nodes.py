"""Parts of the syntax tree that calls, values and tests all look up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import Text

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.javascript.reader import JavaScriptReader

#: Nodes that have the value of what they contain.
WRAPPERS = frozenset(["parenthesized_expression", "await_expression", "spread_element"])


def call_parts(node: Node) -> tuple[Node | None, list[Node]]:
    """Split a call into the called expression and its arguments."""
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    arguments = node.child_by_field_name("arguments")
    return function, [child for child in arguments.named_children if child.type != "comment"] if arguments else []


def key_of(reader: JavaScriptReader, node: Node) -> str | None:
    """Return the key of `a.b` or `a["b"]`."""
    if node.type == "member_expression":
        name = node.child_by_field_name("property")
        return reader.source(name) if name is not None else None
    index = node.child_by_field_name("index")
    found = reader.value(index) if index is not None else None
    return found.constant if isinstance(found, Text) else None


def unwrapped(node: Node) -> Node:
    """Return the expression inside parentheses and `await`."""
    while node.type in ("parenthesized_expression", "await_expression") and node.named_children:
        node = node.named_children[0]
    return node
