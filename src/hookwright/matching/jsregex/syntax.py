"""The tree of a parsed JavaScript regular expression, and the errors of this package.

All offsets are UTF-16 code units, as in JavaScript without the `u` flag.
"""

from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

import msgspec

INFINITY = 2**31 - 1
"""No upper bound; larger numbers in `{n,m}` are reduced to it, as in V8."""

HEIGHT_LIMIT = 100
"""The deepest nesting of quantified groups, alternatives and lookarounds; plain groups are not counted."""

_SHOWN = 120


class InvalidPattern(ValueError):
    """A pattern that is not a JavaScript regular expression, with the problem and its offset in UTF-16 units."""

    def __init__(self, pattern: str, problem: str, offset: int) -> None:
        shown = pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + "…"
        super().__init__(f"invalid regular expression /{shown}/: {problem} (at {offset})")
        self.problem = problem
        self.offset = offset


class TooComplex(Exception):
    """A test that was stopped because it needed more steps than its budget."""


class Anchor(Enum):
    """A zero-width assertion about a place in the subject."""

    START = "^"
    END = "$"
    WORD = r"\b"
    NOT_WORD = r"\B"


class Side(Enum):
    """The direction of a lookaround."""

    AHEAD = "?="
    BEHIND = "?<="


class Chars(msgspec.Struct, frozen=True):
    """One unit that is (or, negated, is not) in the ranges; `only` is set where the pattern names a single one."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False
    only: int | None = None

    def __contains__(self, unit: int) -> bool:
        return any(low <= unit <= high for low, high in self.ranges) is not self.negated


class At(msgspec.Struct, frozen=True):
    """An anchor."""

    anchor: Anchor


class BackReference(msgspec.Struct, frozen=True):
    """A back reference: by number, or by name until the whole pattern is parsed."""

    group: int | str


class Chain(msgspec.Struct, frozen=True):
    """All items one after the other."""

    items: tuple["Node", ...]
    height: int


class Either(msgspec.Struct, frozen=True):
    """Alternatives; the first that leads to a match is taken."""

    items: tuple["Node", ...]
    height: int


class Repeat(msgspec.Struct, frozen=True):
    """The body between `least` and `most` times; the groups in `groups` are reset at each iteration."""

    body: "Node"
    least: int
    most: int
    greedy: bool
    groups: range
    height: int


class GroupNode(msgspec.Struct, frozen=True):
    """A capture group."""

    body: "Node"
    number: int
    height: int


class Look(msgspec.Struct, frozen=True):
    """A lookaround: the body matches (or, negated, does not) on one side, without consuming anything."""

    body: "Node"
    side: Side
    negated: bool
    height: int


Node: TypeAlias = Chars | At | BackReference | Chain | Either | Repeat | GroupNode | Look


def height(node: Node) -> int:
    """Return the number of levels of a tree."""
    match node:
        case Chars() | At() | BackReference():
            return 1
        case Chain() | Either() | Repeat() | GroupNode() | Look():
            return node.height


def sequence(items: Sequence[Node]) -> Node:
    """Return a sequence of items, without a level for a single one."""
    if len(items) == 1:
        return items[0]
    return Chain(tuple(items), 1 + max(map(height, items), default=0))


def either(items: Sequence[Node]) -> Node:
    """Return alternatives, without a level for a single one."""
    if len(items) == 1:
        return items[0]
    return Either(tuple(items), 1 + max(map(height, items)))


_WORD = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
LINE_ENDS = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
DOT = Chars(LINE_ENDS, negated=True)
WORD = Chars(_WORD)


def _others(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the units outside sorted ranges, so that classes can be joined in one bracket."""
    edges = [-1, *(edge for pair in ranges for edge in pair), 0x10000]
    return tuple((low + 1, high - 1) for low, high in zip(edges[::2], edges[1::2], strict=True) if low + 1 < high)


CLASSES = {
    "d": ((0x30, 0x39),),
    "D": _others(((0x30, 0x39),)),
    "w": _WORD,
    "W": _others(_WORD),
    "s": _SPACE,
    "S": _others(_SPACE),
}
"""The ranges of `\\d \\D \\w \\W \\s \\S`: ASCII digits and word characters, JavaScript's white space."""


def units(text: str) -> str:
    """Return the UTF-16 units of a text, with two surrogates for a character outside the basic plane."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[i] | data[i + 1] << 8) for i in range(0, len(data), 2))
