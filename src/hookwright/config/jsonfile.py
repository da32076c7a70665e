"""Strict JSON with positions: the line of every value, every duplicate key, and a name for what is not JSON."""

from __future__ import annotations

import re
from bisect import bisect_right
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

import msgspec

from hookwright.config.files import Unreadable, read_bytes
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Source

#: The path to a value: keys and indexes from the top.
Path = tuple[str | int, ...]

#: Deeper nesting is refused, so that no walk over the value runs out of stack.
MAX_DEPTH = 200
#: A file with more faults than this has one problem, many times.
_MAX_FAULTS = 20
#: With one of these the text is not JSON; a strict reader would stop.
_BREAKING = frozenset({"invalid-json", "json-extras"})

# Where a value begins: an offset, or for a container its offset and the spots of its members.
_Spot = int | tuple[int, dict[str | int, Any]]

_SPACE = re.compile(r"[ \t\n\r]*")
# The two most frequent steps, each in one match; anything unusual takes the slow path.
_PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*(?=[^/#\s])')
_PLAIN_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*(?=[^]}/#\s])")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9A-Za-z.+])")
_WORD = re.compile(r"-?[A-Za-z_$][A-Za-z0-9_$]*")
_LITERALS = {"true": True, "false": False, "null": None}
_NOT_JSON = frozenset({"NaN", "Infinity", "-Infinity", "undefined", "True", "False", "None"})
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMENT_STARTS = ("/", "#")
_SINGLE_QUOTED = re.compile(r"'(?:[^'\\\n]|\\.)*'")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonFault(msgspec.Struct, frozen=True):
    """One problem of a text, and its position."""

    code: str
    message: str
    line: int
    column: int


class Broken(msgspec.Struct, frozen=True):
    """A text that is not JSON."""

    faults: tuple[JsonFault, ...]


class Tree(msgspec.Struct, frozen=True, eq=False):
    """A value with the line of each of its parts."""

    value: Json
    starts: tuple[int, ...]
    spots: _Spot
    faults: tuple[JsonFault, ...] = ()

    def line(self, path: Path) -> int:
        """Return the line of a key or an element, or of its nearest ancestor in the text."""
        spot = self.spots
        offset = spot if isinstance(spot, int) else spot[0]
        for step in path:
            if isinstance(spot, int) or step not in spot[1]:
                break
            offset, spot = spot[1][step]
        return bisect_right(self.starts, offset)


def shown_pointer(path: Path) -> str:
    """Return a path as in `hooks.PreToolUse[0].hooks[1].timeout`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[\w$@-]+", step):
            text += f".{step}" if text else step
        else:
            text += f"[{msgspec.json.encode(step).decode()}]"
    return text


def parse_json(data: bytes | str) -> Tree | Broken:
    """Parse JSON; report every comment and trailing comma, or the first syntax error."""
    if isinstance(data, bytes):
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return Broken((JsonFault("invalid-json", "the file is UTF-16. Save it as UTF-8.", 1, 1),))
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            good = data[: error.start].decode("utf-8-sig", errors="replace")
            place = (good.count("\n") + 1, len(good) - good.rfind("\n"))
            return Broken((JsonFault("invalid-json", f"byte 0x{data[error.start]:02x} is not UTF-8.", *place),))
    else:
        # Command-line arguments may contain bytes that are not UTF-8.
        text = data.encode("utf-8", "replace").decode().removeprefix("\ufeff")
    return _Scanner(text).run()


#: A longer file takes seconds to read with line numbers, and a project must not delay a session.
MAX_SETTINGS = 1024 * 1024


def read_tree(path: str, source: Source) -> tuple[Tree | None, list[Diagnostic]]:
    """Read a file; no tree if it is absent, which is fine, or if it cannot be read, which is reported."""
    try:
        parsed = parse_json(read_bytes(path, MAX_SETTINGS))
    except FileNotFoundError:
        return None, []
    except Unreadable as error:
        return None, [Diagnostic("unreadable-file", f"cannot be read: {error}. The file is ignored.", source)]
    return (None if isinstance(parsed, Broken) else parsed), fault_reports(parsed, source)


def fault_reports(parsed: Tree | Broken, source: Source) -> list[Diagnostic]:
    """Return faults as diagnostics; after a syntax error the whole file is ignored."""
    return [
        Diagnostic(
            fault.code,
            f"column {fault.column}: {fault.message}",
            msgspec.structs.replace(source, line=fault.line),
            Severity.ERROR if fault.code in _BREAKING else Severity.WARNING,
        )
        for fault in parsed.faults
    ]


class _Stop(Exception):
    """A syntax error; nothing after it can be read."""


class _Scanner:
    """One pass over one text, with its own stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts = (0, *(match.end() for match in re.finditer("\n", text)))
        self.faults: list[JsonFault] = []

    def run(self) -> Tree | Broken:
        """Read one value and the end of the text."""
        try:
            value, spots = self._document()
        except _Stop:
            return Broken(tuple(self.faults))
        if any(fault.code in _BREAKING for fault in self.faults):
            return Broken(tuple(self.faults))
        return Tree(value, self.starts, spots, tuple(self.faults))

    def _document(self) -> tuple[Json, _Spot]:
        # `open_` are the containers around the current place, innermost last, each with the step to its next member.
        open_: list[tuple[Json, dict[str | int, Any]]] = []
        self._skip()
        if self.at == len(self.text):
            self._break("the file is empty. Write {} for no settings.")
        step: tuple[Json, int] = (None, self.at)
        while True:
            start = self.at
            value = self._value()
            spot: _Spot = (start, {}) if isinstance(value, (dict, list)) else start
            if open_:
                self._put(open_[-1], step, value, spot)
            else:
                top = (value, spot)
            if not isinstance(spot, int):
                if len(open_) == MAX_DEPTH:
                    self._break(f"nested more than {MAX_DEPTH} levels deep.", start)
                open_.append((value, spot[1]))
            found = self._next(open_, fresh=not isinstance(spot, int))
            if found is None:
                break
            step = found
        self._skip()
        if self.at < len(self.text):
            self._break(f"{self._here()} after the end of the JSON value. Remove it.")
        return top

    def _put(self, into: tuple[Json, dict[str | int, Any]], step: tuple[Json, int], value: Json, spot: _Spot) -> None:
        container, spots = into
        key, offset = step
        if isinstance(container, list):
            spots[len(container)] = (offset, spot)
            container.append(value)
            return
        if key in container:
            first = bisect_right(self.starts, spots[key][0])
            message = f"the key {_quoted(key)} appears again; the value on line {first} is ignored. Keep one."
            self._fault("duplicate-key", message, offset)
        container[key] = value
        spots[key] = (offset, spot)

    def _next(self, open_: list[tuple[Json, dict[str | int, Any]]], *, fresh: bool) -> tuple[Json, int] | None:
        """Move to the next member and close what ends on the way; None after the top value."""
        while open_:
            container = open_[-1][0]
            closing = "]" if isinstance(container, list) else "}"
            if not fresh and (comma := _PLAIN_COMMA.match(self.text, self.at)):
                self.at = comma.end()
                return (None, self.at) if closing == "]" else self._key()
            self._skip()
            mark = self.at
            here = self.text[mark : mark + 1]
            if here == closing:
                self.at += 1
                open_.pop()
                fresh = False
                continue
            if not fresh:
                if here != ",":
                    self._break(f"{self._here()} where `,` or `{closing}` belongs.")
                self.at += 1
                self._skip()
                if self.text[self.at : self.at + 1] == closing:
                    message = f"a comma before `{closing}`. JSON has no trailing commas; remove it."
                    self._fault("json-extras", message, mark)
                    continue
            return (None, self.at) if closing == "]" else self._key()
        return None

    def _key(self) -> tuple[str, int]:
        start = self.at
        if plain := _PLAIN_KEY.match(self.text, start):
            self.at = plain.end()
            return plain[1], start
        here = self.text[start : start + 1]
        if here == '"':
            key = self._string()
        elif here == "'":
            key = self._single_quoted()
        elif word := _WORD.match(self.text, start):
            self._fault("json-extras", f'the key {word[0]} is not quoted. Write "{word[0]}".', start)
            key, self.at = word[0], word.end()
        else:
            self._break(f"{self._here()} where a quoted key belongs.")
        self._skip()
        if self.text[self.at : self.at + 1] != ":":
            self._break(f"{self._here()} where `:` belongs after the key {_quoted(key)}.")
        self.at += 1
        self._skip()
        return key, start

    def _value(self) -> Json:
        here = self.text[self.at : self.at + 1]
        if here == '"':
            return self._string()
        if here == "{" or here == "[":
            self.at += 1
            return {} if here == "{" else []
        if number := _NUMBER.match(self.text, self.at):
            return self._number(number)
        if word := _WORD.match(self.text, self.at):
            return self._word(word)
        if here != "'":
            self._break(f"{self._here()} where a value belongs.")
        return self._single_quoted()

    def _number(self, match: re.Match[str]) -> int | float:
        try:
            value = float(match[0]) if match[1] or match[2] else int(match[0])
        except ValueError:  # int() refuses thousands of digits
            self._break(f"a number of {len(match[0])} digits is too long.")
        self.at = match.end()
        return value

    def _word(self, match: re.Match[str]) -> Json:
        word = match[0]
        if word in _LITERALS:
            self.at = match.end()
            return _LITERALS[word]
        if word not in _NOT_JSON:
            self._break(f"{word} is not a JSON value. Quote it if it is a string.")
        self._fault("json-extras", f"{word} is not JSON. Write a number, a string, true, false or null.", self.at)
        self.at = match.end()
        return None

    def _string(self) -> str:
        start = self.at
        try:
            text, self.at = scanstring(self.text, start + 1, True)
        except JSONDecodeError as error:
            self._break(_STRING_FAULTS.get(error.msg.split(":")[0].split(" at")[0], error.msg + "."), error.pos)
        if not text.isascii() and _LONE_SURROGATE.search(text):
            self._fault("lone-surrogate", f"{_quoted(text)} has half of a surrogate pair; it is read as U+FFFD.", start)
            text = _LONE_SURROGATE.sub("\ufffd", text)
        return str(text)

    def _single_quoted(self) -> str:
        match = _SINGLE_QUOTED.match(self.text, self.at)
        if match is None:
            self._break('a single quote where a value belongs. JSON quotes with ".')
        self._fault("json-extras", f'{_short(match[0])} has single quotes. JSON quotes with ".', self.at)
        self.at = match.end()
        return match[0][1:-1]

    def _skip(self) -> None:
        """Skip white space, and comments with a fault for each."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.text[self.at : self.at + 1] not in _COMMENT_STARTS:
                return
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            self._fault("json-extras", f"the comment {_short(comment[0])}. JSON has no comments; remove it.", self.at)
            self.at = comment.end()

    def _here(self) -> str:
        rest = self.text[self.at : self.at + 40]
        if not rest:
            return "the file ends"
        word = re.match(r"[\w$.+-]+|.", rest, re.DOTALL)
        return f"`{word[0]}` found" if word is not None else "something found"

    def _fault(self, code: str, message: str, offset: int) -> None:
        line = bisect_right(self.starts, offset)
        self.faults.append(JsonFault(code, message, line, offset - self.starts[line - 1] + 1))
        if code in _BREAKING and len(self.faults) >= _MAX_FAULTS:
            raise _Stop

    def _break(self, message: str, offset: int | None = None) -> NoReturn:
        self._fault("invalid-json", message, self.at if offset is None else offset)
        raise _Stop


_STRING_FAULTS = {
    "Unterminated string starting": 'the string that begins here has no closing ".',
    "Invalid control character": "a line break or control character inside a string. Write \\n or \\t.",
    "Invalid \\escape": "not an escape in JSON. Write a backslash as \\\\.",
    "Invalid \\uXXXX escape": "\\u needs four hexadecimal digits.",
}


def _quoted(text: str) -> str:
    return '"' + _short(_LONE_SURROGATE.sub("\ufffd", text)) + '"'


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"
