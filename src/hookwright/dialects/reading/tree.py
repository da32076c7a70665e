"""One configuration file as a value with lines: strict JSON, JSON with comments, TOML."""

from __future__ import annotations

import re
import tomllib

import msgspec

from hookwright.config.files import Unreadable, read_bytes
from hookwright.config.jsonfile import MAX_SETTINGS, Broken, Path, parse_json
from hookwright.dialects.reading.tomllines import toml_lines
from hookwright.protocol.jsontext import Json

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


class Absent(msgspec.Struct, frozen=True):
    """There is no such file."""


class Unread(msgspec.Struct, frozen=True):
    """A file that exists and cannot be read, and why."""

    why: str
    line: int = 1
    column: int = 1


class Content(msgspec.Struct, frozen=True, eq=False):
    """The value of a file, with the line and column of its parts."""

    value: Json
    text: str
    _spots: dict[Path, tuple[int, int]]

    def spot(self, path: Path) -> tuple[int, int]:
        """Return the line and column of a value, or of its nearest ancestor in the text."""
        while path and path not in self._spots:
            path = path[:-1]
        return self._spots.get(path, (1, 1))


def read_content(path: str, *, comments: bool) -> Content | Unread | Absent:
    """Read a file by its ending: `.toml` is TOML, anything else JSON.

    Law: a file that exists is either a value or the reason why it is not; it is never taken for absent.
    """
    try:
        data = read_bytes(path, MAX_SETTINGS)
    except FileNotFoundError:
        return Absent()
    except Unreadable as error:
        return Unread(f"it cannot be read: {error}")
    return _toml(data) if path.endswith(".toml") else _json(data, comments=comments)


def _json(data: bytes, *, comments: bool) -> Content | Unread:
    text: bytes | str = data
    if comments and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = _without_comments(data.decode("utf-8-sig", "replace"))
    parsed = parse_json(text)
    if isinstance(parsed, Broken):
        fault = parsed.faults[0]
        return Unread(f"it is not JSON: {fault.message}", fault.line, fault.column)
    shown = data.decode("utf-8-sig", "replace")
    spots: dict[Path, tuple[int, int]] = {}
    for path in _paths(parsed.value, ()):
        offset = _offset(parsed.spots, path)
        line = parsed.line(path)
        spots[path] = (line, offset - parsed.starts[line - 1] + 1)
    return Content(parsed.value, shown, spots)


def _without_comments(text: str) -> str:
    """Replace comments by white space, so that every other character keeps its place."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return _COMMENT.sub(blank, text)


def _paths(value: Json, at: Path) -> list[Path]:
    found = [at]
    if isinstance(value, dict):
        found += [path for key, item in value.items() for path in _paths(item, (*at, key))]
    elif isinstance(value, list):
        found += [path for index, item in enumerate(value) for path in _paths(item, (*at, index))]
    return found


def _offset(spots: object, path: Path) -> int:
    """Return where a key or an element begins, in characters; the shape of `spots` is that of `Tree`."""
    spot = spots
    offset = spot if isinstance(spot, int) else spot[0]  # type: ignore[index]
    for step in path:
        if isinstance(spot, int) or step not in spot[1]:  # type: ignore[index]
            break
        offset, spot = spot[1][step]  # type: ignore[index]
    return int(offset)


def _toml(data: bytes) -> Content | Unread:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unread(f"byte 0x{data[error.start]:02x} is not UTF-8", data[: error.start].count(b"\n") + 1)
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        return Unread(f"it is not TOML: {error}", line, column)
    return Content(_plain(value), text, {path: (line, 1) for path, line in toml_lines(text).items()})


def _plain(value: object) -> Json:
    """Turn dates and times, which JSON does not have, into text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
