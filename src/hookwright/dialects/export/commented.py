"""JSON with comments and trailing commas: where each value begins and ends, and edits that touch nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import msgspec

from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.text import line_end, line_indent

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class Node(msgspec.Struct, frozen=True):
    """A value with its place: from `start` up to `end`; `inside` are the members of an object or a list."""

    start: int
    end: int
    value: Json
    #: (key, start of the member, node); the key of an item of a list is empty.
    inside: tuple[tuple[str, int, Node], ...] = ()

    def member(self, key: str) -> Node | None:
        """Return the last member with a key, which is the one that readers take."""
        return next((node for name, _, node in reversed(self.inside) if name == key), None)


def scan(text: str) -> Node:
    """Read a whole text; raise ConfigError with the line of the first fault."""
    node = _value(text, _after_space(text, 0))
    rest = _after_space(text, node.end)
    if rest != len(text):
        raise _fault(text, rest)
    return node


def _fault(text: str, at: int) -> ConfigError:
    return ConfigError(
        f"line {text.count(chr(10), 0, at) + 1} is not valid JSON. Correct it first; nothing was changed."
    )


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _value(text: str, at: int) -> Node:
    letter = text[at : at + 1]
    if letter and letter in "{[":
        return _container(text, at)
    found = _STRING.match(text, at) or _PLAIN.match(text, at)
    if found is None:
        raise _fault(text, at)
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError:
        raise _fault(text, at) from None


def _container(text: str, start: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    inside: list[tuple[str, int, Node]] = []
    at = _after_space(text, start + 1)
    while text[at : at + 1] != close:
        key, begin = "", at
        if is_object:
            named = _value(text, at)
            colon = _after_space(text, named.end)
            if not isinstance(named.value, str) or text[colon : colon + 1] != ":":
                raise _fault(text, colon)
            key, at = named.value, _after_space(text, colon + 1)
        node = _value(text, at)
        inside.append((key, begin, node))
        at = _after_space(text, node.end)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
        elif text[at : at + 1] != close:
            raise _fault(text, at)
    value: Json = {key: node.value for key, _, node in inside} if is_object else [node.value for _, _, node in inside]
    return Node(start, at + 1, value, tuple(inside))


def inserted(text: str, into: Node, written: Callable[[str], str]) -> str:
    """Insert one more member at the end of a container; `written` writes it with the indent of its lines.

    Law: `removed` takes the member out again and leaves the text that was there. So a member of an empty container
    begins right after the bracket, and one after a trailing comma has a trailing comma as well.
    """
    if not into.inside:
        return text[: into.start + 1] + written(line_indent(text, into.start)) + text[into.start + 1 :]
    first, last = into.inside[0][1], into.inside[-1][2].end
    line = line_end(text)
    spread = "\n" in text[into.start + 1 : first]
    indent = line_indent(text, first) if spread else line_indent(text, into.start)
    body = (line + indent if spread else " ") + written(indent).replace("\n", line)
    after = _after_space(text, last)
    if text[after] == ",":
        return f"{text[: after + 1]}{body},{text[after + 1 :]}"
    return f"{text[:last]},{body}{text[last:]}"


def removed(text: str, container: Node, at: int) -> str:
    """Remove one member of a container together with the comma that it brought."""
    _, begin, node = container.inside[at]
    after = _after_space(text, node.end)
    followed = text[after] == ","
    if at > 0:
        before = _after_space(text, container.inside[at - 1][2].end)
        return text[: before + 1] + text[after + 1 :] if followed else text[:before] + text[node.end :]
    if not followed:
        return text[:begin] + text[node.end :]
    return text[:begin] + text[_after_space(text, after + 1) :]
