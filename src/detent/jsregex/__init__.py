"""JavaScript regular expressions: `compile(p).test(s)` answers what `new RegExp(p).test(s)` answers in node.

Matchers are written for JavaScript, and Python's `re` differs in dozens of small ways (`$`, `\\d`, `(?<n>…)`, `[^]`,
`a{,3}`, UTF-16). Only `test` without flags is here. A pattern without back references is followed on sets of
positions (`positions`); one with them by backtracking (`backtrack`). Both stop after `STEPS` steps.
"""

from dataclasses import dataclass, field
from functools import cached_property

from detent.jsregex.backtrack import Program
from detent.jsregex.parse import Parsed, parse
from detent.jsregex.positions import matches
from detent.jsregex.syntax import InvalidPattern, TooComplex, units

__all__ = ["STEPS", "InvalidPattern", "Pattern", "TooComplex", "compile"]

STEPS = 200_000
"""How many steps one test may take; a test that needs more raises TooComplex."""


@dataclass(frozen=True)
class Pattern:
    """Hold a compiled pattern; two with the same text are equal."""

    text: str
    parsed: Parsed = field(compare=False, repr=False)

    @cached_property
    def program(self) -> Program:
        """Give the instructions for backtracking."""
        return Program(self.parsed)

    def test(self, subject: str, *, steps: int = STEPS) -> bool:
        """Tell whether the pattern matches anywhere in the subject; raise TooComplex when that takes too long."""
        if self.parsed.refers:
            return self.program.matches(units(subject), steps)
        return matches(self.parsed.tree, units(subject), steps)


def compile(pattern: str) -> Pattern:  # noqa: A001 - the name that `re` has for it
    """Compile a pattern or raise InvalidPattern with the problem and its offset."""
    return Pattern(pattern, parse(pattern))
