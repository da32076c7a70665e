"""JavaScript regular expressions: `compile(p).test(s)` returns what `new RegExp(p).test(s)` returns in Node.js.

Matchers are written for JavaScript, and Python's `re` differs in dozens of small ways (`$`, `\\d`, `(?<n>…)`, `[^]`,
`a{,3}`, UTF-16). Only `test` without flags is supported. A pattern without back references is matched with sets
of positions (`positions`), one with them by backtracking (`backtrack`). Both stop after `STEPS` steps.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hookwright.matching.jsregex.parse import parse
from hookwright.matching.jsregex.positions import matches
from hookwright.matching.jsregex.syntax import InvalidPattern, TooComplex, units

if TYPE_CHECKING:
    from hookwright.matching.jsregex.backtrack import RegexProgram

__all__ = ["STEPS", "InvalidPattern", "Pattern", "TooComplex", "compile"]

STEPS = 200_000
"""The most steps of one test; a test that needs more raises TooComplex."""


class Pattern:
    """A compiled pattern; two with the same text are equal."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parsed = parse(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"/{self.text}/"

    @cached_property
    def _program(self) -> RegexProgram:
        from hookwright.matching.jsregex.backtrack import RegexProgram

        return RegexProgram(self._parsed)

    def test(self, subject: str, *, steps: int = STEPS) -> bool:
        """Return whether the pattern matches anywhere in the subject; raise TooComplex if that takes too long."""
        if self._parsed.refers:
            return self._program.matches(units(subject), steps)
        return matches(self._parsed.tree, units(subject), steps)


def compile(pattern: str) -> Pattern:  # noqa: A001 - the name that `re` has for it
    """Compile a pattern or raise InvalidPattern with the problem and its offset."""
    return Pattern(pattern)
