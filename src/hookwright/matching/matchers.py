"""Matcher text -> predicate over the event's value (a tool name, a source, a reason …), compiled once at load.

Law:
1. No matcher, `""` and `"*"` match everything.
2. A text of only letters, digits, `_`, `-`, space, `,` and `|` is a list of exact names, separated by `|` and `,`;
   white space around a name and empty pieces are ignored. So `Edi` does not match `Edit`, and `mcp__memory` matches
   no tool. (Narrow, for FileChanged and StopFailure: only letters, digits, `_` and `|`, and only `|` separates.)
3. Any other text is a JavaScript regular expression that may match anywhere in the value, case-sensitively.
4. The name `Task` also means the tool that is now called `Agent`.
5. A text that is not a valid regular expression matches nothing; the caller reports it.
6. A match that cannot be decided is treated as a match: when in doubt, a guard runs.
"""

import functools
import re
from typing import TypeAlias

import msgspec

from hookwright.matching import jsregex

SUBJECT_LIMIT = 512
"""The length values are cut to before a regular expression is tried."""

STEP_LIMIT = 50_000
"""The most steps a regular expression may take, because an event waits for the answer."""

_WIDE = re.compile(r"[A-Za-z0-9_\- ,|]+")
_WIDE_SEPARATOR = re.compile(r"[|,]")
_NARROW = re.compile(r"[A-Za-z0-9_|]+")
_NARROW_SEPARATOR = re.compile(r"\|")
_ALIASES = {"Agent": "Task"}


class Match(msgspec.Struct, frozen=True):
    """Yes."""


class NoMatch(msgspec.Struct, frozen=True):
    """No."""


class Undecided(msgspec.Struct, frozen=True):
    """No answer, and why."""

    reason: str


Answer: TypeAlias = Match | NoMatch | Undecided

MATCH = Match()
NO_MATCH = NoMatch()


class MatchAll(msgspec.Struct, frozen=True):
    """A matcher for every value."""

    text: str

    def decide(self, value: str) -> Answer:  # noqa: ARG002 - one of four answers to the same question
        """Return the answer for one value."""
        return MATCH

    def matches(self, value: str) -> bool:
        """Return whether handlers run for this value."""
        return self.decide(value) != NO_MATCH

    def describe(self) -> str:
        """Return the clause of the law this text falls under."""
        return "all"


class MatchNames(msgspec.Struct, frozen=True):
    """A matcher for a few exact names."""

    names: frozenset[str]
    text: str

    def decide(self, value: str) -> Answer:
        """Return the answer for one value."""
        return MATCH if value in self.names or _ALIASES.get(value) in self.names else NO_MATCH

    def matches(self, value: str) -> bool:
        """Return whether handlers run for this value."""
        return value in self.names or _ALIASES.get(value) in self.names

    def describe(self) -> str:
        """Return the clause of the law this text falls under."""
        return "exact names"


class MatchPattern(msgspec.Struct, frozen=True):
    """A matcher with a regular expression."""

    text: str
    pattern: jsregex.Pattern

    def decide(self, value: str) -> Answer:
        """Return the answer for one value."""
        candidates = [value[:SUBJECT_LIMIT], *filter(None, [_ALIASES.get(value)])]
        try:
            found = any(self.pattern.test(candidate, steps=STEP_LIMIT) for candidate in candidates)
            return MATCH if found else NO_MATCH
        except jsregex.TooComplex as error:
            return Undecided(f"the regular expression /{self.text}/ gave up: {error}")

    def matches(self, value: str) -> bool:
        """Return whether handlers run for this value."""
        return self.decide(value) != NO_MATCH

    def describe(self) -> str:
        """Return the clause of the law this text falls under."""
        return "regular expression"


class MatchNothing(msgspec.Struct, frozen=True):
    """A matcher for no value, because its text is not a valid regular expression."""

    text: str
    error: str
    offset: int

    def decide(self, value: str) -> Answer:  # noqa: ARG002 - one of four answers to the same question
        """Return the answer for one value."""
        return NO_MATCH

    def matches(self, value: str) -> bool:
        """Return whether handlers run for this value."""
        return self.decide(value) != NO_MATCH

    def describe(self) -> str:
        """Return the clause of the law this text falls under."""
        return "invalid"


Matcher: TypeAlias = MatchAll | MatchNames | MatchPattern | MatchNothing


@functools.lru_cache(maxsize=4096)
def compile_matcher(text: str | None, *, narrow: bool = False) -> Matcher:
    """Compile the text of a matcher by the law above, once; never fail."""
    if text is None or text in ("", "*"):
        return MatchAll(text or "")
    alphabet, separator = (_NARROW, _NARROW_SEPARATOR) if narrow else (_WIDE, _WIDE_SEPARATOR)
    if alphabet.fullmatch(text):
        pieces = (piece.strip() for piece in separator.split(text))
        return MatchNames(frozenset(piece for piece in pieces if piece), text)
    try:
        return MatchPattern(text, jsregex.compile(text))
    except jsregex.InvalidPattern as error:
        return MatchNothing(text, error.problem, error.offset)
