"""Assignments that `set -e` turns into an end of the program: `X=$(… | grep …)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import CodePlace, Program
from hookwright.lint.programs.shell.reader import parse_shell

if TYPE_CHECKING:
    from tree_sitter import Node

_GREPS = (b"grep", b"egrep", b"fgrep", b"rg")


def unguarded_greps(program: Program) -> Iterator[tuple[CodePlace, str]]:
    """List greps whose status becomes that of an unchecked assignment."""
    waiting = [parse_shell(program.text)]
    while waiting:
        node = waiting.pop()
        waiting.extend(reversed(node.children))
        if node.type != "variable_assignment" or not _stands_alone(node):
            continue
        value = node.child_by_field_name("value")
        inner = _substitution(value)
        grep = _failing_grep(inner, program.pipefail) if inner is not None else None
        if grep is not None:
            yield CodePlace(node.start_point[0] + 1, node.start_point[1] + 1), grep


def _stands_alone(node: Node) -> bool:
    """Return whether a failure of the assignment ends the program: not in a condition, a list or a declaration."""
    parent = node.parent
    if parent is None or parent.type not in (
        "program",
        "compound_statement",
        "if_statement",
        "do_group",
        "case_item",
        "else_clause",
    ):
        return False
    following = node.next_sibling
    condition = parent.children_by_field_name("condition") if parent.type == "if_statement" else []
    return not (following is not None and following.type in ("||", "&&")) and node not in condition


def _substitution(value: Node | None) -> Node | None:
    """Return the one statement inside `$( … )`, quoted or not."""
    if value is not None and value.type == "string" and len(value.named_children) == 1:
        value = value.named_children[0]
    if value is None or value.type != "command_substitution" or len(value.named_children) != 1:
        return None
    return value.named_children[0]


def _failing_grep(node: Node, pipefail: bool) -> str | None:
    stages = node.named_children if node.type == "pipeline" else [node]
    asked = stages if pipefail else stages[-1:]
    for stage in asked:
        command = stage.child_by_field_name("body") if stage.type == "redirected_statement" else stage
        name = command.child_by_field_name("name") if command is not None and command.type == "command" else None
        if name is not None and name.text in _GREPS and name.text is not None:
            return name.text.decode()
    return None
