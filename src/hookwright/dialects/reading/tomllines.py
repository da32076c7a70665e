"""The lines of a TOML file, which the standard library's parser does not report."""

from __future__ import annotations

import re
from collections import Counter

from hookwright.config.jsonfile import Path

_PIECE = r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PIECE}(?:\s*\.\s*{_PIECE})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_FENCE = re.compile(r"'''|\"\"\"")


def toml_lines(text: str) -> dict[Path, int]:
    """Return the line of every table and key of a valid TOML text.

    Law: elements of an array of tables are numbered in the order of the text; a value in an inline table or array has
    the line of its key; text inside a multi-line string declares nothing.
    """
    lines: dict[Path, int] = {}
    numbers: Counter[Path] = Counter()
    table: Path = ()
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            fence = "" if fence in line else fence
            continue
        header = _HEADER.match(line)
        if header is not None:
            table = _table(_pieces(header[2]), header[1] == "[[", numbers)
            lines.setdefault(table, number)
            continue
        key = _KEY.match(line)
        if key is not None:
            lines.setdefault((*table, *_pieces(key[1])), number)
        fence = _opened(line)
    return lines


def _pieces(dotted: str) -> tuple[str, ...]:
    return tuple(piece[1:-1] if piece[0] in "\"'" else piece for piece in re.findall(_PIECE, dotted))


def _table(pieces: tuple[str, ...], element: bool, numbers: Counter[Path]) -> Path:
    """Return the path of a table; a step into an array of tables means its last element."""
    path: Path = ()
    for index, piece in enumerate(pieces):
        path = (*path, piece)
        last = index == len(pieces) - 1
        if last and element:
            numbers[path] += 1
        if numbers[path]:
            path = (*path, numbers[path] - 1)
    return path


def _opened(line: str) -> str:
    """Return the mark of the multi-line string that begins on a line and does not end on it; else nothing."""
    marks = [found[0] for found in _FENCE.finditer(line)]
    return marks[-1] if len(marks) % 2 else ""
