"""The specifier of a file rule: a gitignore-style pattern under an anchor.

Law of anchors: `//p` starts at the root of the file system, `~/p` at the home directory, `/p` at the directory of the
settings source, `p` and `./p` at the directory the session started in. A pattern matches nothing outside its anchor;
`..` at its start moves the anchor up. The working directory moves with every `cd`, so no rule may depend on it alone:
deny and ask rules and `if` conditions apply from there as well, allow rules do not.

Law of patterns: `*` and `?` match within one path segment, `**` as a segment matches any number of segments,
`[…]` one character, and `\\` makes the next character literal. A pattern that matches a directory matches
everything below it. A name without a slash (`.env`, `*.ts`) matches at any depth. `dir/**` means `<anchor>/dir` and
everything below it; only deny and ask rules apply it at any depth.
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
    """Where a rule is read: working directory, home, the directory that a leading `/` means, and the start."""

    cwd: str
    home: str
    anchor: str
    #: The directory the session started in; empty for the working directory.
    start: str = ""


class PathAnchor(Enum):
    """The directory a pattern is relative to."""

    ROOT = "//"
    HOME = "~/"
    SETTINGS = "/"
    CWD = ""

    def directory(self, where: Where) -> str:
        """Return the directory for a place."""
        places = {
            PathAnchor.ROOT: "/",
            PathAnchor.HOME: where.home,
            PathAnchor.SETTINGS: where.anchor,
            PathAnchor.CWD: where.start or where.cwd,
        }
        return places[self]

    def directories(self, where: Where) -> tuple[str, ...]:
        """Return the directories for a guard, which also applies from the working directory."""
        return (self.directory(where), *([where.cwd] if self is PathAnchor.CWD else []))


class Star(Enum):
    """Any number of characters in a segment (`*`), or of segments in a path (`**`)."""

    ANY = "*"


class Token(Protocol):
    """One item: a character of a segment, or a segment of a path."""

    def accepts(self, item: str) -> bool:
        """Return whether an item matches."""
        ...


class Same(msgspec.Struct, frozen=True):
    """One literal character."""

    char: str

    def accepts(self, item: str) -> bool:
        """Return whether a character matches."""
        return item == self.char


class OneOf(msgspec.Struct, frozen=True):
    """One character inside (or outside) some ranges: `[…]` and `?`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def accepts(self, item: str) -> bool:
        """Return whether a character matches."""
        return any(low <= item <= high for low, high in self.ranges) is not self.negated


class Segment(msgspec.Struct, frozen=True):
    """One name in a path."""

    tokens: tuple[Same | OneOf | Star, ...]

    def accepts(self, item: str) -> bool:
        """Return whether a name matches."""
        return _fits(self.tokens, item)


class PathPattern(msgspec.Struct, frozen=True):
    """A parsed pattern; `single` marks `dir/**`, which deny and ask rules apply at any depth."""

    text: str
    anchor: PathAnchor
    up: int
    segments: tuple[Segment | Star, ...]
    single: bool

    def matches(self, path: str, anchors: Sequence[str]) -> bool:
        """Return whether an absolute, normalised path matches below one spelling of the anchor."""
        return any(self._fits(self.segments, path, anchor) for anchor in anchors)

    def guards(self, path: str, anchors: Sequence[str]) -> bool:
        """Return whether a deny or ask rule with this pattern applies to the path."""
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
    """Parse the specifier of a file rule; every text is a pattern, and an invalid special character is literal."""
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
    """Parse one path segment."""
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
    """Return whether tokens match all items; after a failure the latest star takes one more item."""
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
    """Return a path as POSIX, absolute, with `~`, `.` and `..` resolved lexically."""
    normal = posixpath.normpath(_joined(path, where))
    return "/" + normal.lstrip("/") if normal.startswith("/") else normal


def _joined(path: str, where: Where) -> str:
    drive = _DRIVE.match(path)
    if drive:
        path = f"/{drive[1].lower()}/" + path[drive.end() :].replace("\\", "/")
    if path == "~" or path.startswith("~/"):
        path = where.home + path[1:]
    return posixpath.join(where.cwd, path)


def located(path: str, where: Where) -> tuple[str, ...]:
    """Return where a path is: as written, and with links resolved before and after `..`.

    Law: a path is judged by where it really is. `link/../x` is beside the link for a program that tidies names, and
    beside the link's target for the system; a rule has to hold for both.
    """
    joined = _joined(path, where)
    return tuple(dict.fromkeys((*spellings(absolute(path, where)), *spellings(joined)[1:])))


def spellings(path: str) -> tuple[str, ...]:
    """Return a path and, where symbolic links lead elsewhere, its real path."""
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return (path,)
    return (path,) if real == path else (path, real)
