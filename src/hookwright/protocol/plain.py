"""Any Python value as a value that JSON can write."""

from __future__ import annotations

import base64
import enum
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Deeper nesting is neither an answer nor an event; this depth fits on the stack of every later walk.
DEEPEST = 256
TOO_DEEP = f"nested more than {DEEPEST} levels deep"
#: Values in one text. Objects that share parts can stand for more values than fit in memory.
MOST_VALUES = 200_000
TOO_MANY = f"more than {MOST_VALUES} values"
INSIDE_ITSELF = "contains itself"


def plain(value: Any, levels: int = DEEPEST) -> Any:
    """Return a value made of dict, list, str, int, float, bool and None alone. Never raise.

    Law: subclasses of these types become the type itself, with the content they were made with. U+FFFD replaces a lone
    surrogate, and a note in brackets a container that is nested too deeply, contains itself or comes after too many
    values. Bytes become base64. Any other object becomes its fields if it has
    some, else its text.
    """
    return _Walk().of(value, levels)


class _Walk:
    """One value on its way to JSON."""

    def __init__(self) -> None:
        self._left = MOST_VALUES
        #: The containers around the current value.
        self._around: set[int] = set()

    def of(self, value: Any, levels: int) -> Any:
        self._left -= 1
        if value is None or value is True or value is False:
            return value
        if isinstance(value, enum.Enum):
            return self.of(value.value, levels)
        for kind, written in _SCALARS:
            if isinstance(value, kind):
                return written(value)
        return self._container(value, levels)

    def _container(self, value: Any, levels: int) -> Any:
        if self._left < 0:
            return f"[{TOO_MANY}]"
        if id(value) in self._around:
            return f"[{INSIDE_ITSELF}]"
        try:
            inside = _inside(value)
        except Exception as error:  # the object's own code: that it raises must not hide the rest of the event
            return f"[{type(value).__name__} that cannot be read: {type(error).__name__}]"
        if isinstance(inside, str):
            return _text(inside)
        if not levels:
            return f"[{TOO_DEEP}]"
        self._around.add(id(value))
        try:
            if isinstance(inside, dict):
                return {_key(key): self.of(item, levels - 1) for key, item in inside.items()}
            return [self.of(item, levels - 1) for item in inside]
        finally:
            self._around.discard(id(value))


def _inside(value: Any) -> dict[Any, Any] | list[Any] | str:
    """Return what an object holds; its own code runs only where nothing else can tell."""
    if isinstance(value, dict):
        return dict(dict.items(value))
    if isinstance(value, list):
        return list(list.__iter__(value))
    if isinstance(value, tuple):
        return list(tuple.__iter__(value))
    if isinstance(value, Mapping):
        return dict(value.items())
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, type | BaseException) or callable(value):
        return str(value)
    if isinstance(value, Iterable) and hasattr(value, "__len__"):
        return list(value)
    return _fields(value) or str(value)


def _fields(value: Any) -> dict[str, Any]:
    """Return the public fields of an object: a dataclass, a model, a struct or any object with attributes."""
    names: Iterable[Any] = getattr(type(value), "__struct_fields__", ()) or getattr(value, "__dict__", ())
    return {name: getattr(value, name) for name in names if isinstance(name, str) and not name.startswith("_")}


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _text(key)
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    try:
        return _text(str(key.value if isinstance(key, enum.Enum) else key))
    except Exception:  # the key's own code
        return f"[{type(key).__name__}]"


def _text(value: str) -> str:
    return str.__str__(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole(value: int) -> int | str:
    number = int.__index__(value)
    try:
        str(number)
    except ValueError:  # more digits than Python converts
        return hex(number)
    return number


def _bytes(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode("ascii")


_SCALARS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, _text),
    (int, _whole),
    (float, float.__float__),
    ((bytes, bytearray, memoryview), _bytes),
)
