"""Match patterns without back references, from all start positions at once.

Without back references a match has no memory: how it continues only depends on where it is. So a set of positions
(one bit each) passes through the tree, and each part returns the set of positions after it. The number of steps is the
number of parts times the iterations of their loops, so the classic exponential patterns do not explode. Greediness
cannot change whether there is a match. A lookaround does not depend on the path to it, so it is one set for the whole
subject.
"""

from typing import Literal, TypeAlias, assert_never

from hookwright.matching.jsregex.syntax import (
    WORD,
    Anchor,
    At,
    BackReference,
    Chain,
    Chars,
    Either,
    GroupNode,
    Look,
    Node,
    Repeat,
    Side,
    TooComplex,
)

Direction: TypeAlias = Literal[1, -1]
"""The direction: from starts of matches to their ends, or from ends to starts."""


def matches(tree: Node, subject: str, budget: int) -> bool:
    """Return whether the pattern matches anywhere in the subject, given in UTF-16 units."""
    run = _PositionsRun(subject, budget)
    return run.follow(tree, run.everywhere, 1) != 0


class _PositionsRun:
    def __init__(self, subject: str, budget: int) -> None:
        self.length = len(subject)
        self.everywhere = (1 << len(subject) + 1) - 1
        self.places: dict[int, int] = {}
        for at, char in enumerate(subject):
            self.places[ord(char)] = self.places.get(ord(char), 0) | 1 << at
        self.budget = self.left = budget
        self.masks: dict[Chars, int] = {}
        self.looks: dict[int, int] = {}

    def follow(self, node: Node, at: int, way: Direction) -> int:
        """Return the positions a part leads to from a set of positions."""
        if self.left <= 0:
            raise TooComplex(f"no answer within {self.budget} steps")
        self.left -= 1
        match node:
            case Chars():
                return (at & self.mask(node)) << 1 if way == 1 else at >> 1 & self.mask(node)
            case Chain():
                for item in node.items[::way]:
                    at = self.follow(item, at, way) if at else 0
                return at
            case Either():
                reached = 0
                for item in node.items:
                    reached |= self.follow(item, at, way)
                return reached
            case Repeat():
                return self.repeat(node, at, way)
            case GroupNode():
                return self.follow(node.body, at, way)
            case At():
                return at & self.anchors(node.anchor)
            case Look():
                return at & self.look(node)
            case BackReference():
                raise AssertionError("a back reference needs captured text")
            case _:
                assert_never(node)

    def repeat(self, node: Repeat, at: int, way: Direction) -> int:
        """Run the required iterations, then optional ones until they reach no new position."""
        for _ in range(node.least):
            after = self.follow(node.body, at, way)
            if after == at:
                break
            at = after
        reached = newest = at
        for _ in range(node.most - node.least):
            newest = self.follow(node.body, newest, way) & ~reached if newest else 0
            if not newest:
                break
            reached |= newest
        return reached

    def mask(self, chars: Chars) -> int:
        """Return the positions whose unit is in a class."""
        if chars.only is not None:
            return self.places.get(chars.only, 0)
        if chars not in self.masks:
            self.masks[chars] = sum(places for code, places in self.places.items() if code in chars)
        return self.masks[chars]

    def anchors(self, anchor: Anchor) -> int:
        """Return the positions where an anchor matches."""
        match anchor:
            case Anchor.START:
                return 1
            case Anchor.END:
                return 1 << self.length
            case Anchor.WORD:
                return self.mask(WORD) ^ self.mask(WORD) << 1
            case Anchor.NOT_WORD:
                return self.everywhere & ~(self.mask(WORD) ^ self.mask(WORD) << 1)
            case _:
                assert_never(anchor)

    def look(self, node: Look) -> int:
        """Return the positions where a lookaround matches: the starts, or the ends, of all matches of its body."""
        if id(node) not in self.looks:
            inside = self.follow(node.body, self.everywhere, -1 if node.side is Side.AHEAD else 1)
            self.looks[id(node)] = self.everywhere & ~inside if node.negated else inside
        return self.looks[id(node)]
