"""The specifier of a file rule: a gitignore-style pattern under an anchor.

Law of anchors: `//p` starts at the root of the file system, `~/p` at the home directory, `/p` at the directory of the
settings source, `p` and `./p` at the working directory. A pattern matches nothing outside of its anchor; `..` at its
start moves the anchor up.

Law of patterns: `*` and `?` stay inside of one path segment, `**` as a segment stands for any number of them,
`[…]` for one character, `\\` takes the meaning off the next character. A pattern that matches a directory matches
everything below it. A name without a slash (`.env`, `*.ts`) matches at any depth. `dir/**` means `<anchor>/dir` and
all below; only deny and ask rules read it at any depth.
"""

import os
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

_ITEM = TypeVar("_ITEM")
_TOKEN = TypeVar("_TOKEN")


@dataclass(frozen=True, slots=True)
class Where:
    """Say where a rule is read: working directory, home, and the directory that a leading `/` stands for."""

    cwd: str
    home: str
    anchor: str


class Anchor(Enum):
    """Name the directory that a pattern is relative to."""

    ROOT = "//"
    HOME = "~/"
    SETTINGS = "/"
    CWD = "./"

    def directory(self, where: Where) -> str:
        """Give the directory in a given place."""
        return {Anchor.ROOT: "/", Anchor.HOME: where.home, Anchor.SETTINGS: where.anchor, Anchor.CWD: where.cwd}[self]


class Any(Enum):
    """Stand for any number of characters of a segment, or of segments of a path."""

    NUMBER = "*"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Stand for one character of a `[…]`, or any with `?`."""

    expression: re.Pattern[str]


Glyph = Any | OneOf | str
Segment = tuple[Glyph, ...]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Hold a parsed pattern; `single` marks `dir/**`, which deny and ask rules read at any depth."""

    text: str
    anchor: Anchor
    up: int
    segments: tuple[Segment | Any, ...]
    single: bool

    def matches(self, path: str, anchors: Sequence[str]) -> bool:
        """Tell whether an absolute, normalised path fits below one of the anchor's spellings."""
        return any(self._fits(self.segments, path, anchor) for anchor in anchors)

    def matches_at_any_depth(self, path: str, anchors: Sequence[str]) -> bool:
        """Tell the same, with `dir/**` at any depth."""
        segments = (Any.NUMBER, *self.segments) if self.single else self.segments
        return any(self._fits(segments, path, anchor) for anchor in anchors)

    def _fits(self, segments: Sequence[Segment | Any], path: str, anchor: str) -> bool:
        for _ in range(self.up):
            anchor = posixpath.dirname(anchor)
        prefix = anchor if anchor.endswith("/") else anchor + "/"
        if path != anchor and not path.startswith(prefix):
            return False
        names = [name for name in path[len(prefix) :].split("/") if name]
        return _fits(segments, names, _name_fits)


def parse_path(text: str) -> PathPattern:
    """Read a file rule's specifier; every text is a pattern."""
    anchor, rest = _anchored(text)
    names = [name for name in rest.split("/") if name not in ("", ".")]
    up = 0
    while up < len(names) and names[up] == "..":
        up += 1
    names = names[up:]
    free = anchor is Anchor.CWD and not up and not text.startswith("./") and "/" not in text.rstrip("/")
    segments: list[Segment | Any] = [Any.NUMBER] if free and names else []
    segments += [Any.NUMBER if name == "**" else _segment(name) for name in names]
    single = (
        anchor is Anchor.CWD and not text.startswith("./") and not up and len(names) == 2 and names[1] == "**" != names[0]
    )
    return PathPattern(text, anchor, up, (*segments, Any.NUMBER), single)
