"""Which of its hooks an agent runs for an event, and why not the others."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from hookwright.dialects.model import Dialect, MatcherRule, Moment
from hookwright.dialects.portability import habits
from hookwright.dialects.reading.model import AgentHooks, ForeignHook
from hookwright.dialects.reading.selecting import selects
from hookwright.matching.matchers import compile_matcher
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json


class Link(enum.Enum):
    """A link of the chain from a file to a process."""

    KIND = "kind"
    MATCHER = "matcher"
    PAYLOAD = "payload"


class Chosen(msgspec.Struct, frozen=True, eq=False):
    """One hook at one event: whether the agent runs it, or at which link the chain ends and why."""

    hook: ForeignHook
    fails: Link | None
    why: str


def chosen_hooks(read: AgentHooks, moment: Moment, payload: Mapping[str, Json]) -> list[Chosen]:
    """Return every hook that an agent has at a moment, in its order, with what it does with it."""
    return [_chosen(hook, moment, payload) for hook in read.hooks if hook.moment == moment]


def _chosen(hook: ForeignHook, moment: Moment, payload: Mapping[str, Json]) -> Chosen:
    title = hook.dialect.title
    if hook.kind not in habits(hook.dialect).kinds or not hook.command:
        return Chosen(hook, Link.KIND, f"{title} does not run this `{hook.kind}` handler as a command")
    if hook.event in habits(hook.dialect).other_names and hook.event not in (moment.name, moment.claude):
        why = f"under `{hook.event}` {title} sends another payload, which is not reproduced here"
        return Chosen(hook, Link.PAYLOAD, why)
    target = CATALOGUE[moment.claude].rules.target if moment.claude in CATALOGUE else None
    value = payload.get(target) if target is not None else None
    if not isinstance(value, str):
        return Chosen(hook, None, "this event has no matcher")
    if not _selects(hook.dialect, hook.matcher, target or "", value):
        rule = hook.dialect.matching.rule.value
        return Chosen(hook, Link.MATCHER, f"`{hook.matcher}` does not select `{value}` ({rule})")
    ignored = hook.dialect.matching.rule is MatcherRule.IGNORED and hook.matcher not in (None, "", "*")
    why = f"{title} ignores the matcher `{hook.matcher}`" if ignored else f"`{hook.matcher or '*'}` selects `{value}`"
    return Chosen(hook, None, why)


def _selects(dialect: Dialect, matcher: str | None, target: str, value: str) -> bool:
    if target == "tool_name" or matcher in (None, "", "*"):
        return selects(dialect, matcher, value)
    if dialect.matching.rule in (MatcherRule.IGNORED, MatcherRule.NONE):
        return True
    # Gemini CLI compares the whole value where it is not a tool.
    return matcher == value if dialect.name == "gemini" else compile_matcher(matcher, narrow=True).matches(value)
