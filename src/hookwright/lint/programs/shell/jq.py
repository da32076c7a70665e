"""As much of jq as hooks use: which fields a filter reads, and the object that a `jq -n` template builds."""

from __future__ import annotations

import re

import msgspec

from hookwright.lint.programs.ir import UNKNOWN, Array, Hole, Object, Part, Text, Value, text

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<string>"(?:[^"\\]|\\(?:.|\((?:[^()]|\([^()]*\))*\)))*")|(?P<number>\d+(?:\.\d+)?)
      |(?P<format>@\w+)|(?P<field>\.\w+)|(?P<variable>\$\w+(?:\.\w+)?)|(?P<word>\w+)|(?P<op>//|\.\.|==|!=|<=|>=|\|=|\+=|[^\w\s])""",
    re.VERBOSE | re.DOTALL,
)
_INTERPOLATION = re.compile(r"\\\(((?:[^()]|\([^()]*\))*)\)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/"}
_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None}


class FieldPath(msgspec.Struct, frozen=True):
    """A path such as `.tool_input.command`, and whether it is one of several that are tried."""

    path: tuple[str, ...]
    fallback: bool = False


Token = tuple[str, str]


def tokens(source: str) -> list[Token]:
    """Split a filter into tokens, without white space and comments."""
    return [(match.lastgroup or "", match[0]) for match in _TOKEN.finditer(source) if match.lastgroup != "space"]


def field_paths(source: str) -> list[FieldPath]:
    """List the plain paths a filter reads from its input."""
    found = tokens(source)
    tried = any(token == ("op", "//") for token in found)
    paths: list[tuple[str, ...]] = []
    piped = False
    at = 0
    while at < len(found):
        path, after = _path(found, at)
        if path and not piped:
            paths.append(path)
        elif path and paths and found[at - 1] == ("op", "|"):
            # Behind a pipe the dot is what came before it; anything else there is not followed.
            paths.append((*paths[-1], *path))
        piped = piped or found[at] == ("op", "|")
        at = max(after, at + 1)
    several = tried and len(paths) > 1
    return [FieldPath(path, several) for path in paths]


def single_path(source: str) -> tuple[str, ...] | None:
    """Return the one field a filter such as `.tool_input.file_path // empty` prints, or None."""
    found = tokens(source)
    path, after = _path(found, 0)
    rest = found[after:]
    while rest[:1] == [("op", "|")] and len(rest) > 1 and (rest[1][0] == "field" or rest[1] == ("op", ".")):
        more, end = _path(rest, 1)
        path, rest = (*path, *more), rest[end:]
    if not path:
        return None
    if not rest or (rest[0] == ("op", "//") and all(kind in ("word", "string") for kind, _ in rest[1:])):
        return path
    return None


def _path(found: list[Token], at: int) -> tuple[tuple[str, ...], int]:
    """Read `.a.b["c"]?[0]` from a place; an empty path when there is none."""
    path: list[str] = []
    start = at
    if at < len(found) and found[at] == ("op", "."):
        at += 1
    while at < len(found):
        kind, word = found[at]
        if kind == "field" and (at == start or path or found[start] == ("op", ".")):
            path.append(word[1:])
            at += 1
        elif word == "?" and path:
            at += 1
        elif word == "[" and (path or found[start] == ("op", ".")):
            end = next((i for i in range(at, len(found)) if found[i][1] == "]"), len(found))
            if end == at + 2 and found[at + 1][0] == "string":
                path.append(found[at + 1][1][1:-1])
            at = end + 1
        else:
            break
    return tuple(path), at


# ── templates ───────────────────────────────────────────────────────────────


def build(source: str, variables: dict[str, Value], origin: Hole = UNKNOWN) -> Value:
    """Read the value a filter builds; anything but a literal becomes a hole."""
    found = tokens(source)
    try:
        reader = _Template(found, variables, origin)
        value = reader.value()
    except _Unread:
        return origin
    return value if reader.at == len(found) else origin


class _Unread(Exception):
    """Not a literal."""


class _Template:
    """Reads literals, objects and arrays; the rest up to the next comma is a hole."""

    def __init__(self, found: list[Token], variables: dict[str, Value], origin: Hole) -> None:
        self.found = found
        self.variables = variables
        self.origin = origin
        self.at = 0

    def peek(self) -> str:
        return self.found[self.at][1] if self.at < len(self.found) else ""

    def value(self) -> Value:
        """Read one value; operators after it make the whole of it unknown."""
        value = self._single()
        if self.peek() in ("", ",", "}", "]", ")"):
            return value
        self._skip_expression()
        return self._hole()

    def _single(self) -> Value:
        if self.at >= len(self.found):
            raise _Unread
        kind, word = self.found[self.at]
        self.at += 1
        if kind == "string":
            return self._string(word)
        if kind == "number":
            return float(word) if "." in word else int(word)
        if word in _LITERALS:
            return _LITERALS[word]
        if kind == "variable":
            name = word[1:].partition(".")[0]
            return self.variables.get(word[1:], self.variables.get(name, UNKNOWN))
        if word == "{":
            return self._object()
        if word == "[":
            return self._array()
        path, after = _path(self.found, self.at - 1)
        if path and after >= self.at:
            self.at = after
            return self._hole(path)
        if word == "(":
            value = self.value()
            if self.peek() == ")":
                self.at += 1
            return value
        self.at -= 1
        self._skip_expression()
        return self._hole()

    def _hole(self, path: tuple[str, ...] = ()) -> Hole:
        named = frozenset(".".join((origin, *path)) for origin in self.origin.origins)
        return msgspec.structs.replace(self.origin, origins=named)

    def _object(self) -> Object:
        items: dict[str, Value] = {}
        opened = False
        while self.peek() not in ("}", ""):
            key, value = self._member()
            if key is None:
                opened = True
            else:
                items[key] = value
            if self.peek() == ",":
                self.at += 1
        self.at += 1
        return Object(items, opened)

    def _member(self) -> tuple[str | None, Value]:
        kind, word = self.found[self.at]
        self.at += 1
        key: str | None = None
        if kind == "string":
            key = self._string(word).constant
        elif kind in ("word", "number"):
            key = word
        elif kind == "variable":
            key = word[1:]
        elif word == "(":
            self._skip_expression()
            self.at += 1
        if self.peek() != ":":
            value = self.variables.get(key or "", UNKNOWN) if kind == "variable" else self._hole((key,) if key else ())
            return key, value
        self.at += 1
        return key, self.value()

    def _array(self) -> Array:
        items: list[Value] = []
        while self.peek() not in ("]", ""):
            items.append(self.value())
            if self.peek() == ",":
                self.at += 1
        self.at += 1
        return Array(tuple(items))

    def _string(self, quoted: str) -> Text:
        inner = quoted[1:-1]
        parts: list[Part] = []
        start = 0
        for match in _INTERPOLATION.finditer(inner):
            parts.append(_unescaped(inner[start : match.start()]))
            parts.append(self._interpolated(match[1].strip()))
            start = match.end()
        parts.append(_unescaped(inner[start:]))
        return text(*parts)

    def _interpolated(self, source: str) -> Part:
        value = self.variables.get(source[1:], UNKNOWN) if source.startswith("$") else self._hole()
        if isinstance(value, Text):
            constant = value.constant
            return constant if constant is not None else Hole(value.origins)
        return value if isinstance(value, Hole) else UNKNOWN

    def _skip_expression(self) -> None:
        """Go to the end of an expression: the next comma or closing bracket of this level."""
        depth = 0
        while self.at < len(self.found):
            word = self.peek()
            if word in ("(", "[", "{"):
                depth += 1
            elif word in (")", "]", "}"):
                if depth == 0:
                    return
                depth -= 1
            elif word == "," and depth == 0:
                return
            self.at += 1


def _unescaped(source: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), source)
