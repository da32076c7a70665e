"""Untrusted JSON: read strictly, never raising, and reporting what parsers usually hide."""

from __future__ import annotations

import array
import functools
import itertools
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import msgspec

from hookwright.protocol.plain import DEEPEST, TOO_DEEP, plain

#: Any JSON value. An alias instead of a recursive union: readers check the shape of what they read.
Json: TypeAlias = Any

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]+")
#: One level down for an opening bracket, one up for a closing one.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def json_type(value: Json) -> str:
    """Return JSON's name for the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
        case _:
            return type(value).__name__


def parse_json(text: str) -> tuple[Json, str | None]:
    """Parse strict JSON: return (value, None), or (None, the problem and its position). Never raise.

    A lone surrogate becomes U+FFFD: it cannot be written, and must not cost an answer.
    """
    if _too_deep(text):
        return None, TOO_DEEP
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass")), None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_whole_number)
        return plain(value, DEEPEST + 1), None
    except json.JSONDecodeError as error:
        return None, f"{error.msg} at offset {error.pos} (line {error.lineno}, column {error.colno})"
    except RecursionError:
        return None, TOO_DEEP
    except ValueError as error:
        return None, str(error)


def is_object(data: bytes) -> bool:
    """Return whether bytes are one JSON object."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    return text.startswith("{") and text.endswith("}") and parse_json(text)[1] is None


def _too_deep(text: str) -> bool:
    """Return whether brackets outside strings nest too deeply; most texts have too few to check."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text)).encode("ascii").translate(_STEPS)
    depths = itertools.accumulate(array.array("b", brackets))
    return next(filter(DEEPEST.__lt__, depths), None) is not None


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _whole_number(digits: str) -> int | float:
    """Read a number of any length; one with more digits than Python converts is infinite, as in JavaScript."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


@functools.cache
def _quoted(keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((key, f'"{key}"') for key in keys)


def repeated_keys(text: str, keys: Collection[str]) -> tuple[str, ...]:
    """Return those of the keys that an object of a valid JSON text has twice; parsers silently keep the last."""
    suspects = [key for key, quoted in _quoted(tuple(keys)) if text.count(quoted) > 1]
    if not suspects:
        return ()
    found: dict[str, None] = {}

    def look(pairs: list[tuple[str, Json]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen and key in suspects:
                found[key] = None
            seen.add(key)

    json.loads(text, object_pairs_hook=look, parse_int=_whole_number)
    return tuple(found)
