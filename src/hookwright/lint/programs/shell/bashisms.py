"""Syntax of bash that `sh` does not have, each with its effect in dash (measured with dash 0.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import CodePlace

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = "a syntax error, exit status 2"
_BAD_SUBSTITUTION = "`Bad substitution`, exit status 2"
_NOT_FOUND = "`not found`, exit status 127"
_NODES = {
    "herestring_redirect": ("<<<", _BLOCKS),
    "process_substitution": ("<( )", _BLOCKS),
    "array": ("an array", _BLOCKS),
    "c_style_for_statement": ("for (( ))", _BLOCKS),
}
_COMMANDS = {name: (name, _NOT_FOUND) for name in ("source", "declare", "let", "shopt", "mapfile", "readarray")}
_SUBSTITUTIONS = re.compile(r"\$\{(?:!\w|\w+(?:\[|//?|:\d|: -?\d|\^|,))")


def find_bashisms(root: Node) -> Iterator[tuple[CodePlace, str, str]]:
    """List the bash-only syntax of a program."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        found = _bashism(node)
        if found is not None:
            yield CodePlace(node.start_point[0] + 1, node.start_point[1] + 1), *found
        waiting.extend(reversed(node.children))


def _bashism(node: Node) -> tuple[str, str] | None:
    if node.type in _NODES:
        return _NODES[node.type]
    if node.type == "test_command" and node.children and node.children[0].type == "[[":
        return "[[ ]]", _NOT_FOUND
    if node.type == "test_command" and node.children and node.children[0].type == "((":
        return "(( ))", _NOT_FOUND
    if node.type == "function_definition" and node.children[0].type == "function":
        return "function", _BLOCKS
    if (
        node.type == "expansion"
        and node.text is not None
        and _SUBSTITUTIONS.match(node.text.decode("utf-8", "replace"))
    ):
        return node.text.decode("utf-8", "replace"), _BAD_SUBSTITUTION
    if node.type == "declaration_command" and node.children[0].type in ("declare", "typeset"):
        return node.children[0].type, _NOT_FOUND
    if node.type == "command_name" and node.text is not None:
        return _COMMANDS.get(node.text.decode("utf-8", "replace"))
    if node.type == "pipeline" and any(child.type == "|&" for child in node.children):
        return "|&", _BLOCKS
    if node.type == "file_redirect" and any(child.type in ("&>", "&>>") for child in node.children):
        return "&>", "`&`, so the command runs in the background and its output is lost"
    return _pipefail(node)


def _pipefail(node: Node) -> tuple[str, str] | None:
    """Return `set -o pipefail`, which ends dash before 0.5.13 with status 2."""
    if node.type != "command" or node.text is None:
        return None
    words = node.text.decode("utf-8", "replace").split()
    if words[:1] == ["set"] and "pipefail" in words:
        return "set -o pipefail", "`Illegal option`, exit status 2 (dash before 0.5.13)"
    return None
