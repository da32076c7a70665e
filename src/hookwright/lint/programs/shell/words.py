"""Words of a shell text -> values: quotes, variables, substitutions, and where an unknown part comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import EnvRead, Hole, Part, Stmt, Text, text
from hookwright.lint.programs.values import elsewhere

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.shell.reader import ShellReader

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "e": "\x1b", "a": "\a"}
_HOLES = frozenset(["arithmetic_expansion", "process_substitution", "brace_expression"])
_DEFAULTS = frozenset([":-", "-", ":=", "="])
_OWN = re.compile(r"[0-9@*#?$!_-]|BASH_SOURCE|PWD|OLDPWD|IFS|RANDOM|SECONDS|LINENO|FUNCNAME|PIPESTATUS|REPLY")


def read_word(reader: ShellReader, node: Node) -> Text:
    """Return the value of a node of a word."""
    match node.type:
        case "raw_string":
            return text(reader.source(node)[1:-1])
        case "ansi_c_string":
            return text(re.sub(r"\\(.)", lambda found: _ANSI.get(found[1], found[1]), reader.source(node)[2:-1]))
        case "simple_expansion":
            return variable(reader, node)
        case "expansion":
            return expansion(reader, node)
        case "command_substitution":
            return reader.substitution(node)[0]
        case "string" | "heredoc_body":
            return _pieces(reader, node)
        case "word" if reader.source(node).startswith("~") and _begins(node):
            return _tilde(reader, node)
        case "concatenation" | "command_name" | "word" | "number" | "extglob_pattern" | "regex" | "test_operator":
            return _pieces(reader, node)
        case kind if kind in _HOLES:
            return text(Hole())
    return text(Hole()) if node.children else _pieces(reader, node)


def _begins(node: Node) -> bool:
    """Return whether a piece begins its word; a tilde in the middle of a word is only a character."""
    outer = node.parent
    return outer is None or outer.type != "concatenation" or outer.children[0] == node


def _tilde(reader: ShellReader, node: Node) -> Text:
    """Replace a leading `~` by the home directory, where that is known."""
    home, value = reader.variables.get("HOME"), _pieces(reader, node)
    first = value.parts[0] if value.parts else ""
    if home is None or not isinstance(first, str) or not (first == "~" or first.startswith("~/")):
        return value
    return text(home, first[1:], *value.parts[1:])


def _pieces(reader: ShellReader, node: Node) -> Text:
    """Join the known text between the parts of a word with the values of the parts."""
    quoted = node.type == "string"
    escape = _ESCAPE_IN_QUOTES if quoted or node.type == "heredoc_body" else _ESCAPE
    start, end = (node.start_byte + 1, node.end_byte - 1) if quoted else (node.start_byte, node.end_byte)
    parts: list[Part | Text] = []
    for child in node.children:
        if child.type in ("string_content", "heredoc_content", "string_start", "string_end") or (
            quoted and not child.is_named
        ):
            continue
        # The grammar includes white space before some expansions.
        raw = reader.source(child)
        blank = raw[: len(raw) - len(raw.lstrip())] if child.type == "simple_expansion" else ""
        parts += [_unescaped(reader, escape, start, child.start_byte) + blank, read_word(reader, child)]
        start = child.end_byte
    parts.append(_unescaped(reader, escape, start, end))
    return text(*parts)


def _unescaped(reader: ShellReader, escape: re.Pattern[str], start: int, end: int) -> str:
    raw = reader.data[start:end].decode("utf-8", "surrogatepass")
    return escape.sub(lambda found: "" if found[1] == "\n" else found[1], raw)


def variable(reader: ShellReader, node: Node) -> Text:
    """Look up `$NAME`."""
    name = reader.source(node).strip().removeprefix("$").strip("{}")
    return lookup(reader, name, node)


def lookup(reader: ShellReader, name: str, node: Node, *, fallback: bool = False) -> Text:
    """Return the value of a variable, or a hole that names the environment."""
    known = reader.variables.get(name)
    if known is not None:
        return known
    if _OWN.fullmatch(name) or name in reader.assigned:
        return text(Hole())
    reader.env.append(EnvRead(reader.place(node), name, fallback))
    return text(Hole(frozenset({f"env.{name}"})))


def expansion(reader: ShellReader, node: Node) -> Text:
    """Read `${NAME}` and its forms with operators."""
    name_node = next(
        (child for child in node.children if child.type in ("variable_name", "special_variable_name")), None
    )
    subscript = next((child for child in node.children if child.type == "subscript"), None)
    if subscript is not None:
        name_node = subscript.child_by_field_name("name")
    if name_node is None:
        return text(Hole())
    name = reader.source(name_node)
    operator = node.child_by_field_name("operator")
    if operator is None:
        return lookup(reader, name, node)
    sign = reader.source(operator)
    if sign in _DEFAULTS:
        rest = [child for child in node.children if child.start_byte >= operator.end_byte and child.is_named]
        default = text(*(read_word(reader, child) for child in rest))
        before = len(reader.env)
        value = lookup(reader, name, node, fallback=bool(rest))
        elsewhere(reader.env, before, [default] if rest else [])
        if value.constant is not None:
            return value
        return text(Hole(value.origins | default.origins)) if rest else value
    value = lookup(reader, name, node)
    return value if not value.parts else text(Hole(value.origins))


def read_pattern(reader: ShellReader, node: Node) -> str:
    """Return a glob pattern as text; unknown parts become a star."""
    value = read_word(reader, node)
    return "".join(part if isinstance(part, str) else "*" for part in value.parts)


def assign(reader: ShellReader, node: Node) -> list[Stmt]:
    """Read `NAME=value`, after the effects of the value."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return []
    key = reader.source(name)
    reader.assigned.add(key)
    reader.version += 1
    if value is None:
        reader.variables[key] = text("")
        return []
    if value.type == "command_substitution":
        found, inner = reader.substitution(value)
        reader.variables[key] = found
        return inner
    inner = substitutions(reader, value)
    added = any(child.type == "+=" for child in node.children)
    known = reader.variables.get(key, text("")) if added else text("")
    reader.variables[key] = (
        text(known, read_word(reader, value)) if value.type != "array" else text(_array(reader, value))
    )
    return inner


def _array(reader: ShellReader, node: Node) -> Hole:
    items = [read_word(reader, child) for child in node.children if child.is_named]
    constants = [item.constant for item in items]
    choices = tuple(item for item in constants if item is not None) if None not in constants else ()
    return Hole(frozenset(origin for item in items for origin in item.origins), choices)


def substitutions(reader: ShellReader, node: Node) -> list[Stmt]:
    """Read what happens in the substitutions of a word."""
    found: list[Stmt] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type == "command_substitution":
            found += reader.substitution(current)[1]
        else:
            waiting.extend(current.children)
    return found


def after(node: Node, keyword: str) -> list[Node]:
    """List the statements between `then` and the next clause."""
    found: list[Node] = []
    on = False
    for child in node.children:
        if child.type == keyword:
            on = True
        elif on and child.is_named and child.type not in ("elif_clause", "else_clause"):
            found.append(child)
    return found


def spaced(words: Sequence[Text]) -> list[Text]:
    """Put a space between words."""
    return [part for index, word in enumerate(words) for part in ((text(" "), word) if index else (word,))]


def joined(ends: Sequence[dict[str, Text]]) -> dict[str, Text]:
    """Keep what all sides agree on; the rest may be any of them."""
    names = dict.fromkeys(name for end in ends for name in end)
    joined: dict[str, Text] = {}
    for name in names:
        values = [end.get(name, text("")) for end in ends]
        if all(value == values[0] for value in values):
            joined[name] = values[0]
            continue
        constants = [value.constant for value in values]
        choices = tuple(item for item in constants if item is not None) if None not in constants else ()
        joined[name] = text(Hole(frozenset(origin for value in values for origin in value.origins), choices))
    return joined


def without_last_newline(value: Text) -> Text:
    """Take off the line breaks at the end, as `$( … )` does."""
    if value.parts and isinstance(value.parts[-1], str):
        return text(*value.parts[:-1], value.parts[-1].rstrip("\n"))
    return value
