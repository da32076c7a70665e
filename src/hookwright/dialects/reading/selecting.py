"""Which of its tools an agent selects for a matcher."""

from __future__ import annotations

import re

from hookwright.dialects.model import Dialect, MatcherRule
from hookwright.matching.matchers import compile_matcher

_PLAIN = re.compile(r"[A-Za-z0-9_|]+")


def selects(dialect: Dialect, matcher: str | None, tool: str) -> bool:
    """Return whether an agent runs a hook with this matcher for one of its tools.

    Law:
    1. No matcher, an empty one and `*` select every tool.
    2. An alias in the matcher selects the tool it belongs to; the payload keeps the agent's name.
    3. An agent that ignores matchers selects every tool.
    4. A text that is not a regular expression selects nothing, except for its exact names.
    """
    rule = dialect.matching.rule
    if rule in (MatcherRule.IGNORED, MatcherRule.NONE) or matcher is None or matcher in ("", "*"):
        return True
    names = [tool, *(alias for alias, of in dialect.matching.aliases if of == tool)]
    return any(_one(rule, matcher, name) for name in names)


def _one(rule: MatcherRule, matcher: str, name: str) -> bool:
    if rule is MatcherRule.SEARCH:
        # A group makes every text a regular expression: `Edit` is then found in `MultiEdit`.
        return compile_matcher(f"(?:{matcher})").matches(name)
    if rule is MatcherRule.ANCHORED and not _PLAIN.fullmatch(matcher):
        return compile_matcher(f"^(?:{matcher})$").matches(name)
    return compile_matcher(matcher, narrow=True).matches(name)


def selected(dialect: Dialect, matcher: str | None) -> tuple[str, ...]:
    """Return the tools of an agent that a matcher selects, of those its table names."""
    return tuple(tool.name for tool in dialect.tools if selects(dialect, matcher, tool.name))
