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
from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import msgspec

_BRACKET = re.compile(r"\[(!|\^)?(\]?[^\]]*)\]")
_RANGE = re.compile(r"(.)(?:-(.))?", re.DOTALL)
_DRIVE = re.compile(r"([A-Za-z]):[\\/]")


class Where(msgspec.Struct, frozen=True):
    """Say where a rule is read: working directory, home, and the directory that a leading `/` stands for."""

    cwd: str
    home: str
    anchor: str


class PathAnchor(Enum):
    """Name the directory that a pattern is relative to."""

    ROOT = "//"
    HOME = "~/"
    SETTINGS = "/"
    CWD = ""

    def directory(self, where: Where) -> str:
        """Give the directory in a given place."""
        places = {
            PathAnchor.ROOT: "/",
            PathAnchor.HOME: where.home,
            PathAnchor.SETTINGS: where.anchor,
            PathAnchor.CWD: where.cwd,
        }
        return places[self]


class Star(Enum):
    """Stand for any number of characters in a segment (`*`), or of segments in a path (`**`)."""

    ANY = "*"


class Token(Protocol):
    """Stand for one item: a character of a segment, or a segment of a path."""

    def accepts(self, item: str) -> bool:
        """Tell whether an item fits."""
        ...


class Same(msgspec.Struct, frozen=True):
    """Stand for one character that means itself."""

    char: str

    def accepts(self, item: str) -> bool:
        """Tell whether a character fits."""
        return item == self.char


class OneOf(msgspec.Struct, frozen=True):
    """Stand for one character inside (or outside) of some ranges: `[…]` and `?`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def accepts(self, item: str) -> bool:
        """Tell whether a character fits."""
        return any(low <= item <= high for low, high in self.ranges) is not self.negated


class Segment(msgspec.Struct, frozen=True):
    """Stand for one name in a path."""

    tokens: tuple[Same | OneOf | Star, ...]

    def accepts(self, item: str) -> bool:
        """Tell whether a name fits."""
        return _fits(self.tokens, item)


class PathPattern(msgspec.Struct, frozen=True):
    """Hold a parsed pattern; `single` marks `dir/**`, which deny and ask rules read at any depth."""

    text: str
    anchor: PathAnchor
    up: int
    segments: tuple[Segment | Star, ...]
    single: bool

    def matches(self, path: str, anchors: Sequence[str]) -> bool:
        """Tell whether an absolute, normalised path fits below one spelling of the anchor."""
        return any(self._fits(self.segments, path, anchor) for anchor in anchors)

    def guards(self, path: str, anchors: Sequence[str]) -> bool:
        """Tell the same for deny and ask rules."""
        segments = (Star.ANY, *self.segments) if self.single else self.segments
        return any(self._fits(segments, path, anchor) for anchor in anchors)

    def _fits(self, segments: Sequence[Segment | Star], path: str, anchor: str) -> bool:
        for _ in range(self.up):
            anchor = posixpath.dirname(anchor)
        prefix = anchor if anchor.endswith("/") else f"{anchor}/"
        if path != anchor and not path.startswith(prefix):
            return False
        names = path[len(prefix) :].split("/") if path != anchor else []
        return _fits(segments, names)


def parse_path(text: str) -> PathPattern:
    """Read a file rule's specifier; every text is a pattern, and a sign that cannot be one means itself."""
    text = "~/" if text == "~" else text
    anchor = next(anchor for anchor in PathAnchor if text.startswith(anchor.value))
    names = [name for name in text.removeprefix(anchor.value).split("/") if name not in ("", ".")]
    up = next((at for at, name in enumerate(names) if name != ".."), len(names))
    names = names[up:]
    loose = anchor is PathAnchor.CWD and not up and not text.startswith("./")
    at_any_depth = loose and len(names) == 1 and "/" not in text.rstrip("/")
    segments = [Star.ANY if name == "**" else _segment(name) for name in names]
    single = loose and len(names) == 2 and names[1] == "**" and names[0] != "**"
    return PathPattern(text, anchor, up, (*([Star.ANY] if at_any_depth else []), *segments, Star.ANY), single)


def _segment(name: str) -> Segment:
    """Read the signs of one path segment."""
    tokens: list[Same | OneOf | Star] = []
    at = 0
    while at < len(name):
        bracket = _BRACKET.match(name, at) if name[at] == "[" else None
        if bracket:
            ranges = _RANGE.findall(bracket[2])
            tokens.append(OneOf(tuple((low, high or low) for low, high in ranges), bracket[1] is not None))
            at = bracket.end()
            continue
        if name[at] == "\\" and at + 1 < len(name):
            at += 1
            tokens.append(Same(name[at]))
        elif name[at] == "*":
            tokens.append(Star.ANY)
        elif name[at] == "?":
            tokens.append(OneOf((), negated=True))
        else:
            tokens.append(Same(name[at]))
        at += 1
    return Segment(tuple(tokens))


def _fits(tokens: Sequence[Token | Star], items: Sequence[str]) -> bool:
    """Tell whether tokens cover all items; after a failure the latest star takes one item more."""
    at = item = 0
    star = resume = -1
    while item < len(items):
        token = tokens[at] if at < len(tokens) else None
        if token is Star.ANY:
            star, resume = at, item
            at += 1
        elif token is not None and token.accepts(items[item]):
            at += 1
            item += 1
        elif star >= 0:
            resume += 1
            at, item = star + 1, resume
        else:
            return False
    return all(token is Star.ANY for token in tokens[at:])


def absolute(path: str, where: Where) -> str:
    """Give a path as POSIX, absolute, with `~`, `.` and `..` resolved by text alone."""
    drive = _DRIVE.match(path)
    if drive:
        path = f"/{drive[1].lower()}/" + path[drive.end() :].replace("\\", "/")
    if path == "~" or path.startswith("~/"):
        path = where.home + path[1:]
    normal = posixpath.normpath(posixpath.join(where.cwd, path))
    return "/" + normal.lstrip("/") if normal.startswith("/") else normal


def spellings(path: str) -> tuple[str, ...]:
    """List a path and, where links lead elsewhere, the path that it really is."""
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return (path,)
    return (path,) if real == path else (path, real)
