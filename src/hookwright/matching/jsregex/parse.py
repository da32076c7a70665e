"""Parse a JavaScript pattern (the web grammar, Annex B of ECMA-262, without flags) into a tree.

Open groups are kept in a list, not on Python's stack, so that no pattern is too deep to parse.
"""

import re
from collections.abc import Callable

import msgspec

from hookwright.matching.jsregex.syntax import (
    CLASSES,
    DOT,
    HEIGHT_LIMIT,
    INFINITY,
    Anchor,
    At,
    BackReference,
    Chars,
    GroupNode,
    InvalidPattern,
    Look,
    Node,
    Repeat,
    Side,
    either,
    height,
    sequence,
    units,
)

_MOST_GROUPS = 2**16 - 1
_LOOKS = {"?=": (Side.AHEAD, False), "?!": (Side.AHEAD, True), "?<=": (Side.BEHIND, False), "?<!": (Side.BEHIND, True)}
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_INTERVAL = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_OPENING = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
_REFERS = re.compile(r"\\[1-9k]")
_DIGITS = re.compile(r"[0-9]+")
_HEX2 = re.compile(r"[0-9A-Fa-f]{2}")
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_HEX_BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
_OCTAL = re.compile(r"[0-3]?[0-7]{1,2}")


class Parsed(msgspec.Struct, frozen=True):
    """A tree, the number of its groups, and whether it has back references."""

    tree: Node
    groups: int
    names: dict[str, int]
    refers: bool


class _Open(msgspec.Struct):
    """The parts between a parenthesis and its end."""

    opener: str
    at: int
    groups_before: int
    number: int = 0
    done: list[Node] = msgspec.field(default_factory=list)
    items: list[Node] = msgspec.field(default_factory=list)

    def body(self) -> Node:
        return either([*self.done, sequence(self.items)])


def parse(pattern: str) -> Parsed:
    """Parse a whole pattern or raise InvalidPattern."""
    return _Parser(pattern).read()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.text = units(pattern)
        self.at = 0
        openings = [m[0] for m in _OPENING.finditer(self.text) if m[0].startswith("(")]
        self.total = len(openings)
        self.named = any(opening != "(" for opening in openings)
        self.keeps_groups = _REFERS.search(self.text) is not None
        self.groups = 0
        self.names: dict[str, int] = {}
        self.references: list[tuple[str, int]] = []
        self.refers = False
        self.open = [_Open("", 0, 0)]

    def read(self) -> Parsed:
        """Parse the pattern in one pass."""
        if self.total > _MOST_GROUPS:
            raise self.error("too many capture groups", 0)
        while self.at < len(self.text):
            self.term()
        if len(self.open) > 1:
            raise self.error("unterminated group", self.open[-1].at)
        for name, at in self.references:
            if name not in self.names:
                raise self.error(f"no group is named {name!r}", at)
        return Parsed(self.open[0].body(), self.total, self.names, self.refers)

    def error(self, problem: str, at: int | None = None) -> InvalidPattern:
        return InvalidPattern(self.pattern, problem, self.at if at is None else at)

    def took(self, text: str) -> bool:
        """Skip a text if it is next."""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def term(self) -> None:
        """Parse one alternative bar, parenthesis, anchor or quantified atom."""
        char = self.text[self.at]
        match char:
            case "|":
                self.at += 1
                top = self.open[-1]
                top.done.append(sequence(top.items))
                top.items = []
            case "(":
                self.open_group()
            case ")":
                self.close_group()
            case "^" | "$":
                self.at += 1
                self.open[-1].items.append(At(Anchor(char)))
            case "*" | "+" | "?":
                raise self.error("nothing to repeat")
            case "{" if _INTERVAL.match(self.text, self.at):
                raise self.error("nothing to repeat")
            case "\\" if self.text[self.at + 1 : self.at + 2] in ("b", "B"):
                self.open[-1].items.append(At(Anchor(self.text[self.at : self.at + 2])))
                self.at += 2
            case _:
                self.quantified(self.atom(char), self.groups)

    def open_group(self) -> None:
        """Parse the opening of a group or lookaround."""
        start, before = self.at, self.groups
        self.at += 1
        for opener in ("?:", *_LOOKS):
            if self.took(opener):
                self.open.append(_Open(opener, start, before))
                return
        if self.took("?<"):
            name = self.group_name("invalid capture group name")
            if name in self.names:
                raise self.error(f"duplicate capture group name {name!r}", start)
            self.names[name] = self.groups + 1
        elif self.took("?"):
            raise self.error("invalid group", start)
        self.groups += 1
        self.open.append(_Open("(", start, before, self.groups))

    def close_group(self) -> None:
        """Parse `)` and the quantifier of the group."""
        if len(self.open) == 1:
            raise self.error("unmatched )")
        self.at += 1
        group = self.open.pop()
        body = group.body()
        if group.opener in _LOOKS:
            side, negated = _LOOKS[group.opener]
            look = Look(body, side, negated, 1 + height(body))
            if side is Side.BEHIND:
                self.add(look)
                return
            body = look
        elif group.opener == "(" and self.keeps_groups:
            body = GroupNode(body, group.number, 1 + height(body))
        self.quantified(body, group.groups_before)

    def add(self, node: Node) -> None:
        if height(node) > HEIGHT_LIMIT:
            raise self.error(f"nested more than {HEIGHT_LIMIT} deep")
        self.open[-1].items.append(node)

    def quantified(self, atom: Node, groups_before: int) -> None:
        """Add an atom with the quantifier that follows it, if any."""
        start = self.at
        interval = _INTERVAL.match(self.text, start)
        if interval:
            self.at = interval.end()
            least = min(int(interval[1]), INFINITY)
            most = least if interval[2] is None else min(int(interval[3] or INFINITY), INFINITY)
            if most < least:
                raise self.error("numbers out of order in {} quantifier", start)
        elif self.text[start : start + 1] in ("*", "+", "?") and start < len(self.text):
            self.at += 1
            least, most = {"*": (0, INFINITY), "+": (1, INFINITY), "?": (0, 1)}[self.text[start]]
        else:
            self.add(atom)
            return
        greedy = not self.took("?")
        groups = range(groups_before + 1, self.groups + 1)
        self.add(Repeat(atom, least, most, greedy, groups, 1 + height(atom)))

    def atom(self, char: str) -> Node:
        """Parse one atom."""
        if char == ".":
            self.at += 1
            return DOT
        if char == "[":
            return self.bracket()
        if char == "\\":
            return self.escape()
        self.at += 1
        return _unit(ord(char))

    def escape(self) -> Node:
        """Parse a backslash and what follows it, outside brackets."""
        char = self.text[self.at + 1 : self.at + 2]
        if char in CLASSES:
            self.at += 2
            return Chars(CLASSES[char])
        if char and char in "123456789":
            digits = _DIGITS.findall(self.text, self.at + 1)[0]
            if len(digits) <= 5 and int(digits) <= self.total:
                self.at += 1 + len(digits)
                self.refers = True
                return BackReference(int(digits))
        if char == "k" and self.named:
            start = self.at
            self.at += 2
            if not self.took("<"):
                raise self.error("invalid named reference", start)
            name = self.group_name("invalid named reference")
            self.references.append((name, start))
            self.refers = True
            return BackReference(name)
        return _unit(self.character(_is_ascii_letter))

    def character(self, controls: Callable[[str], bool]) -> int:
        """Parse a backslash escape of one unit; `controls` are the characters allowed after `\\c`."""
        start = self.at
        self.at += 2
        char = self.text[start + 1 : self.at]
        if not char:
            raise self.error("\\ at end of pattern", start)
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "c":
            letter = self.text[self.at : self.at + 1]
            if controls(letter):
                self.at += 1
                return ord(letter) & 0x1F
            self.at = start + 1
            return ord("\\")
        digits = {"x": _HEX2, "u": _HEX4}.get(char)
        found = digits.match(self.text, self.at) if digits else None
        if found:
            self.at = found.end()
            return int(found[0], 16)
        octal = _OCTAL.match(self.text, start + 1)
        if octal:
            self.at = octal.end()
            return int(octal[0], 8)
        return ord(char)

    def bracket(self) -> Chars:
        """Parse a character class."""
        start = self.at
        self.at += 1
        negated = self.took("^")
        ranges: list[tuple[int, int]] = []
        while not self.took("]"):
            low = self.class_atom(start)
            if not (self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in ("]", "")):
                ranges.extend(low)
                continue
            dash = self.at
            self.at += 1
            high = self.class_atom(start)
            if len(low) == 1 == len(high) and low[0][0] == low[0][1] and high[0][0] == high[0][1]:
                if low[0][0] > high[0][0]:
                    raise self.error("range out of order in character class", dash)
                ranges.append((low[0][0], high[0][0]))
            else:
                ranges.extend((*low, (0x2D, 0x2D), *high))
        return Chars(tuple(ranges), negated)

    def class_atom(self, start: int) -> tuple[tuple[int, int], ...]:
        """Parse one unit or class inside brackets."""
        if self.at >= len(self.text):
            raise self.error("unterminated character class", start)
        char, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
        if char != "\\":
            self.at += 1
            return ((ord(char), ord(char)),)
        if following in CLASSES:
            self.at += 2
            return CLASSES[following]
        if following == "b":
            self.at += 2
            return ((0x08, 0x08),)
        if following == "k" and self.named:
            raise self.error("invalid escape \\k in a character class")
        unit = self.character(_is_ascii_word)
        return ((unit, unit),)

    def group_name(self, problem: str) -> str:
        """Parse an identifier up to `>`."""
        start, name = self.at, ""
        while not self.took(">"):
            if self.at >= len(self.text):
                raise self.error(problem, start)
            name += self.name_unit(problem)
        name = name.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        plain = name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_")
        if not plain.isidentifier() or name[0] in "\u200c\u200d":
            raise self.error(problem, start)
        return name

    def name_unit(self, problem: str) -> str:
        """Parse one character of a group name, which may be a Unicode escape."""
        if not self.took("\\"):
            self.at += 1
            return self.text[self.at - 1]
        found = None
        if self.took("u"):
            found = _HEX4.match(self.text, self.at) or _HEX_BRACED.match(self.text, self.at)
        if found is None:
            raise self.error(problem)
        self.at = found.end()
        code = int(found[found.lastindex or 0], 16)
        if code > 0x10FFFF:
            raise self.error(problem)
        return units(chr(code))


def _unit(code: int) -> Chars:
    return Chars(((code, code),), only=code)


def _is_ascii_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_ascii_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())
