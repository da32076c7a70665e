"""All handlers, compiled and immutable; `select` says which of them an event concerns, and why not the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from hookwright.matching.conditions import BadRule, NoMatch, Rule, Undecided, Where, compile_rule
from hookwright.matching.matchers import Matcher, MatchNothing, compile_matcher
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE, Event, EventRules
from hookwright.protocol.handlers import Handler, Kind, MatcherGroup, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import matched_value
from hookwright.protocol.outcome import Outcome, Skip, SkipReason
from hookwright.protocol.sources import SETTINGS_SCOPES, Scope

#: A static reason why a handler may not run, with its detail.
Hold = tuple[SkipReason, str]

#: A look at a handler right before it would run: a reason why it may not, or None. Asked of handlers that the project
#: or a component supplies, that run once only, or that ask a model.
LastLook = Callable[[Handler, Event], Hold | None]


class Entry(msgspec.Struct, frozen=True, eq=False):
    """One handler in its place: event, compiled matcher and condition."""

    event: str
    matcher: Matcher
    handler: Handler
    rule: Rule | None = None
    held: Hold | None = None


class Selection(msgspec.Struct, frozen=True):
    """What `select` found: the handlers to run in configuration order, the others with their reasons."""

    handlers: tuple[Handler, ...]
    skips: tuple[Skip, ...]
    notes: tuple[Diagnostic, ...] = ()
    #: What an event comes to when nothing runs: made once, since it is the same for every such event.
    nothing: Outcome | None = None
    #: Whether handlers of the managed scope are among them, which run as a layer of their own.
    managed: bool = False


EMPTY = Selection((), ())

#: Distinct matched values of one event whose selection is remembered.
_REMEMBERED = 4096


class _Plan(msgspec.Struct, frozen=True, eq=False):
    """The part of a selection that depends on the matched value alone."""

    candidates: tuple[Entry, ...]
    skips: tuple[Skip, ...]
    notes: tuple[Diagnostic, ...]
    #: The final selection, where no candidate has a condition.
    selection: Selection | None
    #: Some candidate must be looked at again for each event.
    looked_at: bool


class HookSet:
    """All handlers of all scopes, in configuration order."""

    __slots__ = ("_entries", "_plans", "_tables")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = tuple(sorted(entries, key=lambda entry: entry.handler.source.scope.rank))
        tables: dict[str, list[Entry]] = {}
        for entry in self._entries:
            tables.setdefault(entry.event, []).append(entry)
        self._tables = {name: tuple(found) for name, found in tables.items()}
        self._plans: dict[str, dict[str | None, _Plan]] = {name: {} for name in self._tables}

    @classmethod
    def build(cls, groups: Iterable[MatcherGroup], hold: Callable[[Handler], Hold | None] | None = None) -> HookSet:
        """Compile groups; `hold` gives a static reason why a handler may not run."""
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

    def of_event(self, name: str) -> tuple[Entry, ...]:
        """List the entries of one event."""
        return self._tables.get(name, ())

    def plus(self, groups: Iterable[MatcherGroup], hold: Callable[[Handler], Hold | None] | None = None) -> HookSet:
        """Make a new set with further groups."""
        return HookSet((*self._entries, *HookSet.build(groups, hold)))

    def without(self, drop: Callable[[Handler], bool]) -> HookSet:
        """Make a new set without the handlers that `drop` names."""
        return HookSet(entry for entry in self._entries if not drop(entry.handler))

    def select(self, event: Event, home: str = "", anchor: str = "", last_look: LastLook | None = None) -> Selection:
        """Choose the handlers for an event.

        Law: a handler runs if nothing holds it, its matcher matches the event's value, its condition holds or cannot
        be decided, the event supports its kind, a last look at it finds nothing, and no equal handler of the settings
        files stands in for it. Every other handler of this event is a Skip with the first reason in that order. What
        does not run stands in for nothing: an untrusted copy never switches a guard off.
        `home` and `anchor` are what `~` and a leading slash mean in rules of sources without a folder of their own.
        """
        plans = self._plans.get(event.event_name)
        if plans is None:
            return EMPTY
        value = matched_value(event)
        plan = plans.get(value)
        if plan is None:
            if len(plans) >= _REMEMBERED:
                plans.clear()
            plan = plans[value] = _plan(self._tables[event.event_name], value, event.rules)
        if plan.selection is not None and (last_look is None or not plan.looked_at):
            return plan.selection
        return _decide(plan, event, Where(cwd=event.cwd, home=home, anchor=anchor or event.cwd), last_look)


def _compile(group: MatcherGroup, handler: Handler, hold: Callable[[Handler], Hold | None] | None) -> Entry:
    rules = CATALOGUE[group.event].rules
    matcher = compile_matcher(group.matcher if rules.target is not None else None, narrow=rules.narrow)
    held = hold(handler) if hold is not None else None
    rule = None
    if handler.condition is not None:
        compiled = compile_rule(handler.condition)
        if isinstance(compiled, BadRule):
            held = held or (SkipReason.CONDITION, f"`if` cannot be read: {compiled.problem}")
        else:
            rule = compiled
    return Entry(group.event, matcher, handler, rule, held)


def _plan(entries: tuple[Entry, ...], value: str | None, rules: EventRules) -> _Plan:
    candidates: list[Entry] = []
    skips: list[Skip] = []
    for entry in entries:
        skip = _static_skip(entry, value, rules)
        if skip is None:
            candidates.append(entry)
        else:
            skips.append(skip)
    notes = tuple(note for entry in candidates if (note := _undecided_matcher(entry, value)) is not None)
    looked_at = any(_looked_at(entry.handler) for entry in candidates)
    if any(entry.rule is not None for entry in candidates):
        return _Plan(tuple(candidates), tuple(skips), notes, None, looked_at)
    kept, duplicates = _without_duplicates(candidates)
    handlers, skipped = tuple(entry.handler for entry in kept), (*skips, *duplicates)
    nothing = None
    if not handlers:
        nothing = Outcome(event=entries[0].event, matched=value, skips=skipped, diagnostics=notes)
    selection = Selection(handlers, skipped, notes, nothing, _any_managed(handlers))
    return _Plan(tuple(candidates), tuple(skips), notes, selection, looked_at)


def _looked_at(handler: Handler) -> bool:
    source = handler.source
    special = handler.once or handler.kind in (Kind.PROMPT, Kind.AGENT)
    return source.from_project or source.component is not None or special


def _undecided_matcher(entry: Entry, value: str | None) -> Diagnostic | None:
    answer = entry.matcher.decide(value) if value is not None else None
    if not isinstance(answer, Undecided):
        return None
    text = f"`{entry.matcher.text}` cannot be decided for `{value}` ({answer.reason}); the hook runs"
    return Diagnostic("matcher-too-complex", text, entry.handler.source, Severity.WARNING)


def _static_skip(entry: Entry, value: str | None, rules: EventRules) -> Skip | None:
    handler = entry.handler
    if entry.held is not None:
        return Skip(handler, *entry.held)
    if isinstance(entry.matcher, MatchNothing):
        return Skip(handler, SkipReason.INVALID_MATCHER, f"`{entry.matcher.text}`: {entry.matcher.error}")
    if value is not None and not entry.matcher.matches(value):
        detail = f"`{entry.matcher.text}` ({entry.matcher.describe()}) does not match `{value}`"
        return Skip(handler, SkipReason.MATCHER, detail)
    if handler.condition is not None and not rules.condition:
        return Skip(handler, SkipReason.CONDITION_ON_EVENT, "`if` is evaluated on tool events only")
    if handler.kind in rules.skipped_kinds:
        return Skip(handler, SkipReason.KIND, f"{handler.kind.value} handlers are not run on this event")
    return None


def _decide(plan: _Plan, event: Event, place: Where, last_look: LastLook | None) -> Selection:
    holding: list[Entry] = []
    skips = list(plan.skips)
    notes = list(plan.notes)
    tool_name: str = getattr(event, "tool_name", "")
    tool_input: dict[str, Json] = getattr(event, "tool_input", {})
    for entry in plan.candidates:
        if entry.rule is not None:
            result = entry.rule.matches_any(tool_name, tool_input, _anchored(place, entry.handler))
            if isinstance(result, NoMatch):
                detail = f"`{entry.handler.condition}` does not match this call"
                skips.append(Skip(entry.handler, SkipReason.CONDITION, detail))
                continue
            if isinstance(result, Undecided):
                text = f"`{entry.handler.condition}` cannot be decided ({result.reason}); the hook runs"
                notes.append(Diagnostic("if-undecided", text, entry.handler.source, Severity.INFO))
        refused = last_look(entry.handler, event) if last_look is not None and _looked_at(entry.handler) else None
        if refused is not None:
            skips.append(Skip(entry.handler, *refused))
            continue
        holding.append(entry)
    kept, duplicates = _without_duplicates(holding)
    handlers = tuple(entry.handler for entry in kept)
    return Selection(handlers, (*skips, *duplicates), tuple(notes), managed=_any_managed(handlers))


def _any_managed(handlers: tuple[Handler, ...]) -> bool:
    return any(handler.source.scope is Scope.MANAGED for handler in handlers)


def _anchored(where: Where, handler: Handler) -> Where:
    """A leading slash in a rule starts at the directory that the settings file belongs to."""
    anchor = handler.source.anchor
    return msgspec.structs.replace(where, anchor=anchor) if anchor else where


def _without_duplicates(entries: Iterable[Entry]) -> tuple[list[Entry], list[Skip]]:
    """Let one of several equal handlers run.

    Law (R-015): handlers of the settings files are equal by kind and identity; plugins, components and programs are
    never compared. Of copies that differ a synchronous one goes before an asynchronous one, one that fails closed
    before one that does not, a managed one before any other; else the first in configuration order, but of http and
    prompt handlers, whose copies differ in headers and model, the last one, as the reference client does.
    """
    kept: dict[object, Entry] = {}
    order: list[object] = []
    losers: list[tuple[Entry, object]] = []
    for entry in entries:
        handler = entry.handler
        key: object = handler.identity if handler.source.scope in SETTINGS_SCOPES else entry
        rival = kept.get(key)
        if rival is None:
            kept[key] = entry
            order.append(key)
        elif _goes_before(handler, rival.handler):
            losers.append((rival, key))
            kept[key] = entry
        else:
            losers.append((entry, key))
    skips = [
        Skip(entry.handler, SkipReason.DUPLICATE, f"the same handler stands in {kept[key].handler.source}")
        for entry, key in losers
    ]
    return [kept[key] for key in order], skips


def _goes_before(handler: Handler, rival: Handler) -> bool:
    mine, other = _preference(handler), _preference(rival)
    return mine > other or (mine == other and handler.kind in (Kind.HTTP, Kind.PROMPT))


def _preference(handler: Handler) -> tuple[bool, bool, bool]:
    managed = handler.source.scope is Scope.MANAGED
    return (not handler.background, handler.on_failure is OnFailure.BLOCK, managed)


def supports(rules: EventRules, kind: Kind) -> bool:
    """Tell whether an event can be answered by this kind of handler (R-030)."""
    if kind in (Kind.PROMPT, Kind.AGENT):
        return kind in rules.model_kinds
    return kind not in rules.skipped_kinds
