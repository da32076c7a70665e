"""Conditions of a shell program -> tests: `[ … ]`, `[[ … ]]`, grep and the status of commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import all_tests, checked, points, printed
from hookwright.lint.programs.ir import Asks, Call, CodePlace, Stmt, Test, Text, text
from hookwright.lint.programs.shell.words import read_pattern, substitutions

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.shell.reader import ShellReader

_FILE_TESTS = frozenset(["-e", "-f", "-d", "-x", "-r", "-w", "-s", "-L", "-h"])
_ORDER = frozenset(["-eq", "-ne", "-gt", "-lt", "-ge", "-le", "<", ">"])
_GREPS = frozenset(["grep", "egrep", "fgrep", "rg"])
_GREP_VALUES = frozenset(["-A", "-B", "-C", "-m", "--max-count", "-f"])


def read_conditions(reader: ShellReader, nodes: Sequence[Node]) -> tuple[list[Stmt], Test]:
    """Read a list of condition nodes; the last one decides."""
    named = [node for node in nodes if node.is_named]
    before: list[Stmt] = []
    if not named:
        return before, Test(CodePlace())
    for node in named[:-1]:
        before += reader.statement(node)
    more, test = read_condition(reader, named[-1])
    return before + more, test


def read_condition(reader: ShellReader, node: Node) -> tuple[list[Stmt], Test]:
    """Read one condition: what it does, and what it asks."""
    place = reader.place(node)
    match node.type:
        case "negated_command":
            before, test = read_condition(reader, next(child for child in node.children if child.is_named))
            return before, replace(test, negated=not test.negated)
        case "test_command":
            return substitutions(reader, node), _bracket(reader, node)
        case "list":
            parts = [child for child in node.children if child.is_named]
            both = [read_condition(reader, part) for part in parts]
            kind = Asks.ANY if any(child.type == "||" for child in node.children) else Asks.ALL
            return [stmt for found, _ in both for stmt in found], Test(place, kind, parts=tuple(t for _, t in both))
        case "compound_statement" | "subshell":
            inner = [child for child in node.children if child.is_named]
            return read_conditions(reader, inner) if inner else ([], Test(place))
        case "command":
            return _command(reader, node)
        case "redirected_statement":
            return _redirected(reader, node)
        case "pipeline":
            return _pipeline(reader, node)
    return reader.statement(node), Test(place)


def _command(reader: ShellReader, node: Node, value: Text | None = None) -> tuple[list[Stmt], Test]:
    """Return the test of a command's status; grep, `test`, `command -v` and functions say more."""
    words = _words(reader, node)
    name = (words[0].constant or "").rsplit("/", 1)[-1] if words else ""
    place = reader.place(node)
    found = checked(tuple(reader.statement(node)))
    origins = frozenset(origin for word in words for origin in word.origins)
    herestring = next((child for child in node.children if child.type == "herestring_redirect"), None)
    if herestring is not None:
        value = text(*(reader.word(child) for child in herestring.children if child.is_named))
    given = value if value is not None else reader.input.text
    if name in _GREPS:
        return list(found), _grep(place, words, given)
    if name in ("test", "["):
        return list(found), _classic(place, words[1:])
    if name in ("command", "which", "type", "hash"):
        return list(found), Test(place, Asks.EXISTS, patterns=tuple(word.known for word in words[1:]))
    if name in reader.functions:
        asked = list(all_tests(found))
        both = frozenset(origin for test in asked for origin in test.origins)
        return list(found), Test(place, Asks.ANY, origins | both, parts=tuple(asked))
    if name == "jq":
        origins |= given.origins
    return list(found), Test(place, Asks.STATUS, origins, (name,) if name else ())


def _redirected(reader: ShellReader, node: Node) -> tuple[list[Stmt], Test]:
    body = node.child_by_field_name("body")
    found = checked(tuple(reader.statement(node)))
    if body is None:
        return list(found), Test(reader.place(node))
    here = next((child for child in node.children if child.type == "herestring_redirect"), None)
    value = text(*(reader.word(child) for child in here.children if child.is_named)) if here is not None else None
    if body.type == "command":
        _, test = _command(reader, body, value)
    elif body.type == "pipeline":
        _, test = _pipeline(reader, body)
    else:
        _, test = read_condition(reader, body)
    return list(found), test


def _pipeline(reader: ShellReader, node: Node) -> tuple[list[Stmt], Test]:
    stages = [child for child in node.children if child.is_named]
    found = checked(tuple(reader.statement(node)))
    last = stages[-1].child_by_field_name("body") if stages[-1].type == "redirected_statement" else stages[-1]
    if last is not None and last.type == "command" and len(stages) > 1:
        value = printed(tuple(reader.pipeline(stages[:-1])))
        _, test = _command(reader, last, value)
        return list(found), test
    called = [point.stmt.name for point in points(found) if isinstance(point.stmt, Call)]
    return list(found), Test(reader.place(node), Asks.STATUS, patterns=tuple(called[-1:]))


def _words(reader: ShellReader, node: Node) -> list[Text]:
    skipped = ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect")
    return [reader.word(child) for child in node.children if child.type not in skipped]


def _grep(place: CodePlace, words: Sequence[Text], given: Text) -> Test:
    """Read grep's options as far as they affect what it searches for."""
    patterns: list[str] = []
    fixed = words[0].constant == "fgrep"
    negated = False
    rest = list(words[1:])
    operands: list[Text] = []
    while rest:
        word = rest.pop(0)
        known = word.constant
        if known is None or not known.startswith("-") or known == "-":
            operands.append(word)
        elif known in _GREP_VALUES and rest:
            rest.pop(0)
        elif known in ("-e", "--regexp") and rest:
            patterns.append(rest.pop(0).known)
        elif re.fullmatch(r"-[A-Za-z]*e", known) and rest:
            fixed, negated = fixed or "F" in known, negated or "v" in known
            patterns.append(rest.pop(0).known)
        elif not known.startswith("--"):
            fixed, negated = fixed or "F" in known, negated or "v" in known
        else:
            fixed = fixed or known == "--fixed-strings"
    if not patterns and operands:
        first = operands.pop(0)
        patterns += [choice for hole in first.holes for choice in hole.choices] or [first.known]
    origins = given.origins if not operands else frozenset(o for word in operands for o in word.origins)
    return Test(place, Asks.CONTAINS if fixed else Asks.REGEX, origins, tuple(patterns), negated)


# ── [ … ] and [[ … ]] ───────────────────────────────────────────────────────


def _bracket(reader: ShellReader, node: Node) -> Test:
    inner = [child for child in node.children if child.is_named]
    return _expression(reader, inner[0]) if inner else Test(reader.place(node))


def _expression(reader: ShellReader, node: Node) -> Test:
    place = reader.place(node)
    match node.type:
        case "parenthesized_expression":
            inner = [child for child in node.children if child.is_named]
            return _expression(reader, inner[0]) if inner else Test(place)
        case "unary_expression":
            return _unary(reader, node)
        case "binary_expression":
            return _binary(reader, node)
    return Test(place, Asks.EMPTY, reader.word(node).origins, negated=True)


def _unary(reader: ShellReader, node: Node) -> Test:
    operator = reader.source(node.children[0])
    inner = node.children[-1]
    if operator == "!":
        test = _expression(reader, inner)
        return replace(test, negated=not test.negated)
    value = reader.word(inner)
    place = reader.place(node)
    if operator in ("-z", "-n"):
        return Test(place, Asks.EMPTY, value.origins, negated=operator == "-n")
    if operator in _FILE_TESTS:
        return Test(place, Asks.EXISTS, value.origins, (value.known,))
    return Test(place, Asks.OTHER, value.origins)


def _binary(reader: ShellReader, node: Node) -> Test:
    left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
    right = [child for child in node.children_by_field_name("right") if child.is_named]
    place = reader.place(node)
    sign = reader.source(operator) if operator is not None else ""
    if left is None:
        return Test(place)
    if sign in ("&&", "||", "-a", "-o"):
        parts = (_expression(reader, left), *(_expression(reader, part) for part in right))
        return Test(place, Asks.ALL if sign in ("&&", "-a") else Asks.ANY, parts=parts)
    value = reader.word(left)
    wanted = text(*(reader.word(part) for part in right))
    if sign == "=~":
        return Test(place, Asks.REGEX, value.origins, _patterns(wanted))
    if sign in ("=", "==", "!="):
        origins = value.origins | wanted.origins
        pattern = "".join(read_pattern(reader, part) for part in right)
        globbing = any(
            "*" in reader.source(part) for part in right if part.type in ("extglob_pattern", "concatenation")
        )
        return Test(place, Asks.GLOB if globbing else Asks.EQUALS, origins, (pattern,), negated=sign == "!=")
    return Test(place, Asks.EQUALS if sign in _ORDER else Asks.OTHER, value.origins | wanted.origins)


def _patterns(wanted: Text) -> tuple[str, ...]:
    return tuple(choice for hole in wanted.holes for choice in hole.choices) or (wanted.known,)


def _classic(place: CodePlace, words: Sequence[Text]) -> Test:
    """Read `test a = b`, where the grammar sees a plain command."""
    known = [word.constant for word in words if word.constant != "]"]
    origins = frozenset(origin for word in words for origin in word.origins)
    negated = known[:1] == ["!"]
    rest = words[1:] if negated else words
    if rest and rest[0].constant in ("-z", "-n"):
        return Test(place, Asks.EMPTY, origins, negated=negated is not (rest[0].constant == "-n"))
    if rest and rest[0].constant in _FILE_TESTS:
        return Test(place, Asks.EXISTS, origins, tuple(word.known for word in rest[1:2]), negated)
    if len(rest) == 3 and rest[1].constant in ("=", "==", "!="):
        return Test(place, Asks.EQUALS, origins, (rest[2].known,), negated is not (rest[1].constant == "!="))
    return Test(place, Asks.OTHER, origins, negated=negated)
