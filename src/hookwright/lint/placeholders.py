"""Placeholders in a shell command: which are split at spaces, which are never replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from hookwright.lint.programs.shell.reader import parse_shell

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"\$\{?(CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA))\}?")
_SAFE_PARENTS = frozenset(["variable_assignment", "string", "heredoc_body", "herestring_redirect", "case_statement"])
_INTERPRETERS = re.compile(rb"(?:.*/)?(?:(?:ba|da|z|k)?sh|python[\d.]*|node|bun|ruby|perl)")


class Misquoted(msgspec.Struct, frozen=True):
    """The placeholders of one command that will not do."""

    #: Split at spaces.
    unquoted: tuple[str, ...] = ()
    #: Left as they are written.
    single: tuple[str, ...] = ()


def misquoted(command: str) -> Misquoted:
    """Find placeholders outside quotes, and paths of programs inside single quotes."""
    root = parse_shell(command)
    unquoted = [text for text, _, _ in _bare(root)]
    single = [_text(node) for node in _walk(root) if node.type == "raw_string" and _is_run(node)]
    return Misquoted(tuple(unquoted), tuple(single))


def quoted(command: str) -> str:
    """Put double quotes around every word that has a bare placeholder."""
    data = command.encode("utf-8", "surrogatepass")
    for text, start, end in sorted(_bare(parse_shell(command)), key=lambda item: item[1], reverse=True):
        data = data[:start] + b'"' + data[start:end] + b'"' + data[end:]
        del text
    return data.decode("utf-8", "surrogatepass")


def _bare(root: Node) -> Iterator[tuple[str, int, int]]:
    """List bare placeholders with the bytes of the expansion, or of the plain word around it."""
    for node in _walk(root):
        if node.type not in ("simple_expansion", "expansion") or not _NAME.fullmatch(_text(node)):
            continue
        parent = node.parent
        if parent is None or parent.type in _SAFE_PARENTS or _in_brackets(node):
            continue
        word = parent if parent.type == "concatenation" and all(c.type in _PLAIN for c in parent.children) else node
        if parent.type == "concatenation" and parent.parent is not None and parent.parent.type in _SAFE_PARENTS:
            continue
        yield _text(node), word.start_byte, word.end_byte


_PLAIN = frozenset(["simple_expansion", "expansion", "word", "number"])


def _in_brackets(node: Node) -> bool:
    """Inside of `[[ … ]]` nothing is split."""
    current: Node | None = node
    while current is not None:
        if current.type == "test_command" and current.children and current.children[0].type == "[[":
            return True
        current = current.parent
    return False


def _is_run(node: Node) -> bool:
    """Return whether a single-quoted word with a placeholder is the program or an interpreter's script."""
    text = _text(node)[1:-1]
    if not _NAME.match(text) or re.search(r"\s", text):
        return False
    outer = node.parent
    while outer is not None and outer.type in ("command_name", "concatenation"):
        outer = outer.parent
    if outer is None or outer.type != "command":
        return False
    name = outer.child_by_field_name("name")
    if name is None or name.text is None or node.start_byte < name.end_byte:
        return True
    return bool(_INTERPRETERS.fullmatch(name.text))


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _text(node: Node) -> str:
    return node.text.decode("utf-8", "replace") if node.text is not None else ""
