"""Matchers that no tool can match, by the characters they need.

Law: the name of a tool has only letters, digits, `_` and `-`, because model APIs accept nothing else. A regular
expression that needs another character on every path therefore matches no tool, whatever tools there are.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

from hookwright.matching.jsregex import InvalidPattern
from hookwright.matching.jsregex.parse import parse
from hookwright.matching.jsregex.syntax import Chain, Chars, Either, GroupNode, Look, Node, Repeat

_ALPHABET = tuple(map(ord, string.ascii_letters + string.digits + "_-"))


def impossible(pattern: str) -> str | None:
    """Return a character that every match needs and no tool's name has; None when there is none."""
    try:
        return _needs(parse(pattern).tree)
    except (InvalidPattern, RecursionError):
        return None


def impossible_parts(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the alternatives that can never match, each with the character it needs."""
    for part in alternatives(pattern):
        needed = impossible(part)
        if needed is not None:
            yield part, needed


def alternatives(pattern: str) -> list[str]:
    """Split a pattern at the `|` outside parentheses and brackets."""
    parts, depth, bracket, escaped = [""], 0, False, False
    for char in pattern:
        plain = not escaped and not bracket
        if char == "|" and plain and depth == 0:
            parts.append("")
            continue
        parts[-1] += char
        depth += (char == "(") - (char == ")") if plain else 0
        if not escaped and char in "[]":
            bracket = char == "["
        escaped = char == "\\" and not escaped
    return parts


def _needs(node: Node) -> str | None:
    match node:
        case Chars(only=only):
            possible = any(unit in node for unit in _ALPHABET)
            return None if possible else chr(only) if only is not None else "a special character"
        case Chain(items=items):
            return next((found for item in items if (found := _needs(item)) is not None), None)
        case Either(items=items):
            sides = [_needs(item) for item in items]
            return sides[0] if sides and None not in sides else None
        case Repeat(body=body, least=least):
            return _needs(body) if least else None
        case GroupNode(body=body):
            return _needs(body)
        case Look(body=body, negated=negated):
            return None if negated else _needs(body)
    return None
