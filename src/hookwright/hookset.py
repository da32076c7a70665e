"""All handlers of a session, compiled and immutable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from hookwright.matching.conditions import BadRule, Rule, compile_rule
from hookwright.matching.matchers import Matcher, compile_matcher
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import Handler, MatcherGroup
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import SkipReason

if TYPE_CHECKING:
    from hookwright.selection import Plan

#: A reason why a handler may not run, with its detail.
Hold = tuple[SkipReason, str]


class Entry(msgspec.Struct, frozen=True, eq=False):
    """One handler in its place: event, compiled matcher and condition."""

    event: str
    matcher: Matcher
    handler: Handler
    rule: Rule | None = None
    #: A switch that keeps the handler from running on every event.
    held: Hold | None = None
    #: Why the `if` of the handler cannot be read; empty when it can, or when there is none.
    unreadable: str = ""


class HookSet:
    """All handlers of all scopes, in configuration order."""

    __slots__ = ("_digest", "_entries", "plans", "tables")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = tuple(sorted(entries, key=lambda entry: entry.handler.source.scope.rank))
        self._digest = ""
        tables: dict[str, list[Entry]] = {}
        for entry in self._entries:
            tables.setdefault(entry.event, []).append(entry)
        self.tables = {name: tuple(found) for name, found in tables.items()}
        #: What `selection` worked out so far, per event and matched values; only selection reads and fills it.
        self.plans: dict[str, dict[tuple[str, ...] | None, Plan]] = {name: {} for name in self.tables}

    @classmethod
    def build(cls, groups: Iterable[MatcherGroup], hold: Callable[[Handler], Hold | None] | None = None) -> HookSet:
        """Compile groups; `hold` returns the switch that keeps a handler from running, or None."""
        return cls(_compile(group, handler, hold) for group in groups for handler in group.handlers)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HookSet) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(tuple((entry.event, entry.matcher.text, entry.handler.label) for entry in self._entries))

    def _key(self) -> list[tuple[Json, ...]]:
        return [(e.event, e.matcher.text, e.handler, e.held) for e in self._entries]

    @property
    def digest(self) -> str:
        """A hash of what is configured: it differs if a hook, its matcher, its condition or its place does."""
        if not self._digest:
            whole = hashlib.sha256()
            for entry in self._entries:
                handler = entry.handler
                facts = (entry.event, entry.matcher.text, handler.condition, handler.kind.value, handler.label)
                whole.update(repr((*facts, str(handler.source), entry.held)).encode("utf-8", "surrogatepass"))
            self._digest = whole.hexdigest()[:12]
        return self._digest

    def of_event(self, name: str) -> tuple[Entry, ...]:
        """Return the entries of one event."""
        return self.tables.get(name, ())

    def plus(self, groups: Iterable[MatcherGroup], hold: Callable[[Handler], Hold | None] | None = None) -> HookSet:
        """Return a new set with further groups."""
        return HookSet((*self._entries, *HookSet.build(groups, hold)))

    def without(self, drop: Callable[[Handler], bool]) -> HookSet:
        """Return a new set without the handlers `drop` accepts."""
        return HookSet(entry for entry in self._entries if not drop(entry.handler))


def _compile(group: MatcherGroup, handler: Handler, hold: Callable[[Handler], Hold | None] | None) -> Entry:
    rules = CATALOGUE[group.event].rules
    matcher = compile_matcher(group.matcher if rules.target is not None else None, narrow=rules.narrow)
    held = hold(handler) if hold is not None else None
    rule, unreadable = None, ""
    if handler.condition is not None:
        compiled = compile_rule(handler.condition)
        if isinstance(compiled, BadRule):
            unreadable = compiled.problem
        else:
            rule = compiled
    return Entry(group.event, matcher, handler, rule, held, unreadable)
