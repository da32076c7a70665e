"""Hooks that an agent runs twice for one event, because it reads them from two places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hookwright.dialects.model import Dialect, FileScope, MatcherRule
from hookwright.dialects.portability import habits
from hookwright.dialects.reading.model import ForeignHook
from hookwright.dialects.reading.selecting import selected

_BRIDGE = re.compile(r"\bhook\s+--from\b")


def is_bridge(command: str) -> bool:
    """Return whether a command hands the event to Hookwright, which runs Claude Code's hooks itself."""
    return bool(_BRIDGE.search(command)) and "hookwright" in command


def other_run(hook: ForeignHook, hooks: Sequence[ForeignHook]) -> ForeignHook | None:
    """Return another declaration through which an agent runs a hook for the same event; None if there is none.

    Law: two hooks of an agent double each other if they belong to the same moment, at least one tool selects both,
    and either their commands are equal, unless the agent runs equal commands once, or both are the bridge, however it
    is written, or one of them is the bridge and the other one comes from Claude Code's file, which the bridge runs as
    well.
    """
    return next((other for other in hooks if other is not hook and _double(hook, other)), None)


def _double(one: ForeignHook, two: ForeignHook) -> bool:
    if one.moment is None or one.moment != two.moment or not one.command or not two.command:
        return False
    bridged = is_bridge(one.command) != is_bridge(two.command)
    if bridged:
        plain = two if is_bridge(one.command) else one
        return plain.declared.scope is FileScope.CLAUDE
    equal = one.command.strip() == two.command.strip()
    same = is_bridge(one.command) or equal
    return (
        same
        and not (equal and habits(one.dialect).same_command_once)
        and overlap(one.dialect, one.matcher, two.matcher)
    )


def overlap(dialect: Dialect, one: str | None, two: str | None) -> bool:
    """Return whether two matchers may select the same tool."""
    if one == two or dialect.matching.rule in (MatcherRule.IGNORED, MatcherRule.NONE):
        return True
    everything = ("", "*", None)
    if one in everything or two in everything:
        return True
    return bool(set(selected(dialect, one)) & set(selected(dialect, two)))
