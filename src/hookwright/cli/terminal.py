"""Colours for terminals, and lines that fit them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from hookwright.text import say

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PIECE = re.compile(r"\s*\S+")
#: Further lines of a folded one are indented by this much more than its first.
_HANG = 2


def columns(stream: TextIO) -> int | None:
    """Return how many columns a stream has: COLUMNS, or those of its terminal; None for a pipe or a file."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def folded(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """Fold lines that are too long.

    Law: a line that fits is unchanged. Any other is broken at white space, or after a `/` inside a word that is longer
    than a line; every further line is indented a little more than the first. Nothing else is added or lost.
    """
    for line in lines:
        for part in line.split("\n"):
            yield from [part] if width is None or visible(part) <= width else _fold(part, width)


def remark(lines: Iterable[str]) -> None:
    """Print lines to stderr, folded only where it is a terminal: a log keeps each on one line."""
    say(folded(lines, columns(sys.stderr) if sys.stderr.isatty() else None), sys.stderr)


def visible(text: str) -> int:
    """Return the number of characters without colours."""
    return len(_COLOUR.sub("", text))


def _fold(line: str, width: int) -> Iterator[str]:
    indent = len(line) - len(line.lstrip(" "))
    hang = " " * min(indent + _HANG, width // 2)
    current = ""
    for piece in _PIECE.findall(line):
        if current.strip() and visible(current + piece) > width:
            yield current
            current, piece = "", hang + piece.lstrip()
        current += piece
        while visible(current) > width and (cut := _slash(current, width, len(hang))) > 0:
            yield current[:cut]
            current = hang + current[cut:]
    if current:
        yield current


def _slash(text: str, width: int, indent: int) -> int:
    """Return where to break a long word: after its last `/` that still fits; 0 when there is none."""
    if "\x1b" in text:
        return 0
    found = text.rfind("/", indent + 1, width)
    return found + 1 if found > indent else 0


class Style:
    """Colours for text, or none."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    @classmethod
    def of(cls, stream: TextIO) -> Style:
        """Use colours on a terminal unless NO_COLOR or TERM=dumb is set; FORCE_COLOR always wins."""
        if os.environ.get("FORCE_COLOR"):
            return cls(True)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(stream.isatty() and not plain)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def bold(self, text: str) -> str:
        """Mark a text as important."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """Mark a text as secondary."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """Mark a text as a success."""
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        """Mark a text as a refusal or a failure."""
        return self._wrap("31", text)

    def warn(self, text: str) -> str:
        """Mark a text as a warning."""
        return self._wrap("33", text)
