"""JSON text with unknown parts: `{"reason": "no $X"}` -> an object whose reason is a text with a hole."""

from __future__ import annotations

import json
import re

import msgspec

from hookwright.lint.programs.ir import Array, Encoded, Hole, Object, Part, Text, Value, text

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_SPACE = " \t\n\r"


class NotJson(msgspec.Struct, frozen=True):
    """A text that looks like a JSON object and is none, and where it breaks."""

    offset: int


class Several(msgspec.Struct, frozen=True):
    """More than one JSON document, and where the second begins."""

    first: Value
    offset: int


def read_template(said: Text) -> Value | NotJson | Several:
    """Read text that begins with `{`, unknown parts included."""
    reader = _TemplateReader(said.parts)
    try:
        value = reader.value()
        reader.skip()
        if reader.done:
            return value
        second = reader.offset
        return Several(value, second) if reader.peek == "{" else NotJson(second)
    except _Broken:
        return NotJson(reader.offset)


def looks_like_object(said: Text) -> bool:
    """Return whether text would be read as a JSON object: from `{` to `}`, or an encoded object."""
    parts = [part for part in said.parts if not (isinstance(part, str) and not part.strip())]
    if not parts:
        return False
    first, last = parts[0], parts[-1]
    starts = first.lstrip().startswith("{") if isinstance(first, str) else _is_object(first)
    ends = last.rstrip().endswith("}") if isinstance(last, str) else _is_object(last)
    return starts and ends


def plain(value: Value) -> object:
    """Turn a template into plain JSON for showing; unknown parts become an ellipsis."""
    match value:
        case Object(items=items):
            return {key: plain(item) for key, item in items.items()}
        case Array(items=elements):
            return [plain(item) for item in elements]
        case Text():
            return "".join(part if isinstance(part, str) else "…" for part in value.parts)
        case Hole():
            return "…"
    return value


def _is_object(part: Part) -> bool:
    return isinstance(part, Encoded) and isinstance(part.value, Object)


class _Broken(Exception):
    """No JSON from here on."""


class _TemplateReader:
    """Reads one value from characters and unknown parts."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.items: list[str | Hole | Encoded] = []
        for part in parts:
            self.items.extend(part if isinstance(part, str) else (part,))
        self.offset = 0

    @property
    def done(self) -> bool:
        return self.offset >= len(self.items)

    @property
    def peek(self) -> str | Hole | Encoded | None:
        return None if self.done else self.items[self.offset]

    def skip(self) -> None:
        while isinstance(self.peek, str) and self.peek in _SPACE:
            self.offset += 1

    def take(self, wanted: str) -> None:
        self.skip()
        if self.peek != wanted:
            raise _Broken
        self.offset += 1

    def value(self) -> Value:
        self.skip()
        match self.peek:
            case None:
                raise _Broken
            case Hole() as hole:
                self.offset += 1
                return hole
            case Encoded(value=value):
                self.offset += 1
                return value
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"':
                return self._string()
        return self._scalar()

    def _object(self) -> Object:
        self.take("{")
        items: dict[str, Value] = {}
        opened = False
        self.skip()
        while self.peek != "}":
            self.skip()
            if isinstance(self.peek, Hole):
                # One unknown part may contain whole members.
                self.offset += 1
                opened = True
            else:
                key = self._string().constant
                self.take(":")
                value = self.value()
                if key is None:
                    opened = True
                else:
                    items[key] = value
            self.skip()
            if self.peek == ",":
                self.offset += 1
                self.skip()
                if self.peek == "}":
                    raise _Broken
            elif self.peek != "}":
                raise _Broken
        self.offset += 1
        return Object(items, opened)

    def _array(self) -> Array:
        self.take("[")
        items: list[Value] = []
        self.skip()
        while self.peek != "]":
            items.append(self.value())
            self.skip()
            if self.peek == ",":
                self.offset += 1
                self.skip()
                if self.peek == "]":
                    raise _Broken
            elif self.peek != "]":
                raise _Broken
        self.offset += 1
        return Array(tuple(items))

    def _string(self) -> Text:
        self.skip()
        self.take('"')
        parts: list[Part] = []
        while True:
            here = self.peek
            if here is None:
                raise _Broken
            self.offset += 1
            if here == '"':
                return text(*parts)
            if here == "\\":
                parts.append(self._escape())
            elif isinstance(here, str) and here < " ":
                raise _Broken
            else:
                parts.append(here)

    def _escape(self) -> str:
        letter = self.peek
        size = 5 if letter == "u" else 1
        letters = self.items[self.offset : self.offset + size]
        self.offset += size
        try:
            return str(json.loads('"\\' + "".join(map(str, letters)) + '"'))
        except ValueError:
            raise _Broken from None

    def _scalar(self) -> Value:
        rest = ""
        for item in self.items[self.offset : self.offset + 40]:
            if not isinstance(item, str):
                break
            rest += item
        for word, meaning in _WORDS.items():
            if rest.startswith(word):
                self.offset += len(word)
                return meaning
        number = _NUMBER.match(rest)
        if number is None:
            raise _Broken
        self.offset += number.end()
        return float(number[0]) if set(number[0]) & set(".eE") else int(number[0])
