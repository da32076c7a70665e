"""The clauses of `HookEngine.select`: which handlers run for an event, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

import msgspec

from hookwright.hookset import Entry, Hold, HookSet
from hookwright.matching.conditions import Answer, NoMatch, Undecided, Where
from hookwright.matching.matchers import MatchAll, MatchNothing
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE, Event, EventRules
from hookwright.protocol.handlers import Handler, Kind, OnFailure
from hookwright.protocol.job import AGENT_PREFIX
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import matched_values
from hookwright.protocol.outcome import Outcome, Skip, SkipReason
from hookwright.protocol.sources import SETTINGS_SCOPES, Scope

#: Asked about project-supplied handlers with the event's working directory: a reason not to run, or None.
TrustCheck = Callable[[Handler, str], Hold | None]

_ASK_A_MODEL = (Kind.PROMPT, Kind.AGENT)


class Circumstances(msgspec.Struct, frozen=True):
    """What a selection depends on, in addition to the hooks and the event."""

    #: What `~` means in a rule.
    home: str
    #: What a leading slash means in rules of sources without their own folder.
    project_dir: str
    gate: TrustCheck | None
    #: The sources of handlers declared `once` that have succeeded.
    spent: Container[str]


class Selection(msgspec.Struct, frozen=True):
    """The handlers an event selects, in configuration order, and the others with their reasons."""

    handlers: tuple[Handler, ...]
    skips: tuple[Skip, ...]
    notes: tuple[Diagnostic, ...] = ()
    #: Those of `handlers` that fail without being asked, with the reason.
    failing: tuple[Skip, ...] = ()
    #: The outcome when nothing runs: built once, since it is the same for every such event.
    nothing: Outcome | None = None
    #: Whether `handlers` includes managed ones, which run as a separate layer.
    managed: bool = False


class HookState(msgspec.Struct, frozen=True, eq=False):
    """One handler before any event: active, or off with the reason."""

    entry: Entry
    off: Hold | None

    @property
    def waits(self) -> bool:
        """Whether the handler runs once its skill or agent is active."""
        return self.off is not None and self.off[0] is SkipReason.INACTIVE


_EMPTY = Selection((), ())

#: Distinct matched values of one event whose plan is kept.
_MOST_PLANS = 4096


def select(hooks: HookSet, event: Event, now: Circumstances) -> Selection:
    """Apply the law of `HookEngine.select` under the given circumstances; the set of hooks keeps the plans."""
    plans = hooks.plans.get(event.event_name)
    if plans is None:
        return _EMPTY
    values = matched_values(event)
    planned = plans.get(values)
    if planned is None:
        if len(plans) >= _MOST_PLANS:
            plans.clear()
        planned = plans[values] = _plan(hooks.tables[event.event_name], values, event.rules)
    return planned.selection if planned.selection is not None else _decide(planned, event, now)


class Plan(msgspec.Struct, frozen=True, eq=False):
    """The part of a selection that depends on the matched values alone."""

    candidates: tuple[Entry, ...]
    skips: tuple[Skip, ...]
    notes: tuple[Diagnostic, ...]
    #: The final selection, when nothing depends on the rest of the event or on circumstances.
    selection: Selection | None


def _plan(entries: tuple[Entry, ...], values: tuple[str, ...] | None, rules: EventRules) -> Plan:
    """Apply the clauses that depend on nothing but the handler and the matched values."""
    candidates: list[Entry] = []
    skips: list[Skip] = []
    for entry in entries:
        held = _static(entry, values, rules)
        if held is None:
            candidates.append(entry)
        else:
            skips.append(Skip(entry.handler, *held))
    notes = tuple(note for entry in candidates if (note := _undecided_matcher(entry, values)) is not None)
    if any(entry.rule is not None or _varies(entry.handler) for entry in candidates):
        return Plan(tuple(candidates), tuple(skips), notes, None)
    kept, duplicates = _without_duplicates(candidates)
    failing = [Skip(entry.handler, *doom) for entry in kept if (doom := _unsupported(entry.handler, rules)) is not None]
    selection = _selection(kept, (*skips, *duplicates), notes, failing)
    if not kept:
        matched = values[0] if values else None
        nothing = Outcome(event=entries[0].event, matched=matched, skips=selection.skips, diagnostics=notes)
        selection = msgspec.structs.replace(selection, nothing=nothing)
    return Plan(tuple(candidates), tuple(skips), notes, selection)


def _decide(planned: Plan, event: Event, now: Circumstances) -> Selection:
    """Apply the clauses that depend on the event and on circumstances, then drop duplicates."""
    running: list[Entry] = []
    skips = list(planned.skips)
    notes = list(planned.notes)
    failing: dict[Entry, Hold] = {}
    guards: set[Entry] = set()
    project = now.project_dir or event.cwd
    where = Where(cwd=event.cwd, home=now.home, anchor=project, start=project)
    for entry in planned.candidates:
        handler = entry.handler
        held = _condition(entry, event, where, notes) or (_momentary(handler, event, now) if _varies(handler) else None)
        if held is not None and held[0] is not SkipReason.GUARD_CHANGED:
            skips.append(Skip(handler, *held))
            continue
        if held is not None:
            guards.add(entry)
        held = held or _unsupported(handler, event.rules)
        if held is not None:
            failing[entry] = held
        running.append(entry)
    kept, duplicates = _without_duplicates(running, guards)
    doomed = [Skip(entry.handler, *failing[entry]) for entry in kept if entry in failing]
    return _selection(kept, (*skips, *duplicates), notes, doomed)


def _selection(
    kept: Sequence[Entry], skips: tuple[Skip, ...], notes: Iterable[Diagnostic], failing: Iterable[Skip]
) -> Selection:
    handlers = tuple(entry.handler for entry in kept)
    managed = any(handler.source.scope is Scope.MANAGED for handler in handlers)
    return Selection(handlers, skips, tuple(notes), tuple(failing), managed=managed)


def states(entries: Iterable[Entry], now: Circumstances) -> Iterator[HookState]:
    """Apply the clauses that need no event.

    Law: a handler that is off runs for no event fired in the project directory. A copy is off as a duplicate only if
    another copy runs whenever it would: one with the same matcher or with none, and with the same `if` or with none.
    """
    found = [HookState(entry, _standing(entry, now)) for entry in entries]
    copies: dict[object, list[Entry]] = {}
    for state in found:
        if state.off is None:
            copies.setdefault((state.entry.event, _equality(state.entry)), []).append(state.entry)
    for state in found:
        entry = state.entry
        others = copies[entry.event, _equality(entry)] if state.off is None else []
        winner = next((other for other in others if _always_replaces(other, entry, others)), None)
        yield state if winner is None else HookState(entry, _duplicate_of(winner.handler))


# ── the clauses, in their order ─────────────────────────────────────────────


def _static(entry: Entry, values: tuple[str, ...] | None, rules: EventRules) -> Hold | None:
    """Clauses 1 to 4; without a value every valid matcher passes."""
    handler, matcher = entry.handler, entry.matcher
    if entry.held is not None:
        return entry.held
    if isinstance(matcher, MatchNothing):
        return SkipReason.INVALID_MATCHER, f"`{matcher.text}`: {matcher.error}"
    if values is not None and not any(map(matcher.matches, values)):
        names = " or ".join(f"`{value}`" for value in values)
        return SkipReason.MATCHER, f"`{matcher.text}` ({matcher.describe()}) does not match {names}"
    if handler.kind in rules.skipped_kinds:
        return SkipReason.KIND, f"{handler.kind.value} handlers do not run on this event"
    if handler.condition is not None and not rules.condition:
        return SkipReason.CONDITION_ON_EVENT, "`if` is evaluated on tool events only"
    if entry.unreadable:
        return SkipReason.CONDITION, f"`if` cannot be read: {entry.unreadable}"
    return None


def _condition(entry: Entry, event: Event, where: Where, notes: list[Diagnostic]) -> Hold | None:
    """Clause 4: the `if` of a handler, on this call."""
    if entry.rule is None:
        return None
    handler = entry.handler
    # A leading slash in a rule starts at the directory the settings file belongs to.
    here = msgspec.structs.replace(where, anchor=handler.source.anchor) if handler.source.anchor else where
    tool_input: dict[str, Json] = getattr(event, "tool_input", {})
    result: Answer
    names = (getattr(event, "tool_name", ""), *event.also)
    try:
        answers = [entry.rule.matches_any(name, tool_input, here) for name in names]
        result = next((answer for answer in answers if not isinstance(answer, NoMatch)), answers[0])
    except Exception as error:  # the call may hold any object of the host; what it raises must not skip a guard
        result = Undecided(f"reading the call raised {type(error).__name__}")
    if isinstance(result, NoMatch):
        return SkipReason.CONDITION, f"`{handler.condition}` does not match this call"
    if isinstance(result, Undecided):
        text = f"`{handler.condition}` cannot be decided ({result.reason}); the hook runs"
        notes.append(Diagnostic("if-undecided", text, handler.source, Severity.INFO))
    return None


def _varies(handler: Handler) -> bool:
    """Whether clauses 5 to 8 can apply to a handler at all."""
    source = handler.source
    return source.gated or handler.once or handler.kind in _ASK_A_MODEL


def _momentary(handler: Handler, event: Event, now: Circumstances) -> Hold | None:
    """Clauses 5 to 8."""
    if handler.kind in _ASK_A_MODEL and isinstance(event.agent_id, str) and event.agent_id.startswith(AGENT_PREFIX):
        return SkipReason.RECURSION, "a hook's own agent asks no model about its calls"
    component = handler.source.component
    if component is not None and component.kind == "agent" and event.agent_type != component.name:
        return inactive(handler)
    return _spent_or_untrusted(handler, event.cwd, now)


def _spent_or_untrusted(handler: Handler, cwd: str, now: Circumstances) -> Hold | None:
    if handler.once and str(handler.source) in now.spent:
        return SkipReason.ONCE, "it already ran successfully"
    return now.gate(handler, cwd) if now.gate is not None and handler.source.gated else None


def _standing(entry: Entry, now: Circumstances) -> Hold | None:
    """Everything but duplicates, before any event."""
    handler, rules = entry.handler, CATALOGUE[entry.event].rules
    held = _static(entry, None, rules) or _unsupported(handler, rules)
    if held is not None:
        return held
    if handler.source.component is not None and handler.source.component.kind == "agent":
        return inactive(handler)
    return _spent_or_untrusted(handler, now.project_dir, now)


def inactive(handler: Handler) -> Hold:
    """Return the reason for a hook whose skill or agent is not active."""
    component = handler.source.component
    owner = f"the {component.kind} `{component.name}`" if component is not None else "its component"
    return SkipReason.INACTIVE, f"only while {owner} is active"


def _unsupported(handler: Handler, rules: EventRules) -> Hold | None:
    if supports(rules, handler.kind):
        return None
    kind = handler.kind.value
    return SkipReason.KIND, f"{kind} handlers are not supported on this event; each firing reports an error"


def supports(rules: EventRules, kind: Kind) -> bool:
    """Return whether a handler of this kind can answer the event (R-030)."""
    if kind in _ASK_A_MODEL:
        return kind in rules.model_kinds
    return kind not in rules.skipped_kinds


def _undecided_matcher(entry: Entry, values: tuple[str, ...] | None) -> Diagnostic | None:
    for value in values or ():
        answer = entry.matcher.decide(value)
        if isinstance(answer, Undecided):
            text = f"`{entry.matcher.text}` cannot be decided for `{value}` ({answer.reason}); the hook runs"
            return Diagnostic("matcher-too-complex", text, entry.handler.source, Severity.WARNING)
    return None


# ── duplicates ──────────────────────────────────────────────────────────────


def _equality(entry: Entry) -> object:
    handler = entry.handler
    if handler.source.scope in SETTINGS_SCOPES:
        return handler.identity, handler.mode
    return (handler.source.plugin, handler.identity, handler.mode) if handler.source.scope is Scope.PLUGIN else entry


def _without_duplicates(entries: Iterable[Entry], guards: Container[Entry] = ()) -> tuple[list[Entry], list[Skip]]:
    """Keep one of several equal handlers.

    Law (R-015): handlers of the settings files are equal by kind, identity and mode, and so are those of one plugin;
    different plugins, components and programs are never compared. One of another scope goes before the project's,
    which never replaces it. Of copies that differ otherwise a synchronous one goes before an asynchronous one, one that
    fails closed before one that does not, a managed one before any other; else the first in configuration order, but of
    http and prompt handlers, whose copies differ in headers and model, the last one, as the reference client does. A
    guard that changed since it was trusted is not compared: it refuses the event in addition to the copy that runs.
    """
    kept: dict[object, Entry] = {}
    losers: list[tuple[Entry, object]] = []
    for entry in entries:
        key = entry if entry in guards else _equality(entry)
        rival = kept.get(key)
        if rival is None:
            kept[key] = entry
        elif _goes_before(entry.handler, rival.handler):
            losers.append((rival, key))
            kept[key] = entry
        else:
            losers.append((entry, key))
    return list(kept.values()), [Skip(entry.handler, *_duplicate_of(kept[key].handler)) for entry, key in losers]


def _duplicate_of(winner: Handler) -> Hold:
    return SkipReason.DUPLICATE, f"the same handler is already declared at {winner.source}"


def _goes_before(handler: Handler, rival: Handler) -> bool:
    """Return whether a handler replaces an equal one declared before it."""
    mine, other = _preference(handler), _preference(rival)
    return mine > other or (mine == other and handler.kind in (Kind.HTTP, Kind.PROMPT))


def _preference(handler: Handler) -> tuple[bool, bool, bool, bool]:
    managed = handler.source.scope is Scope.MANAGED
    return (not handler.source.from_project, not handler.background, handler.on_failure is OnFailure.BLOCK, managed)


def _always_replaces(other: Entry, entry: Entry, order: Sequence[Entry]) -> bool:
    """Return whether `other`, an equal handler, replaces `entry` on every event on which `entry` would run."""
    if other is entry:
        return False
    mine, theirs = entry.handler, other.handler
    later = order.index(other) > order.index(entry)
    wins = _goes_before(theirs, mine) if later else not _goes_before(mine, theirs)
    wide = isinstance(other.matcher, MatchAll) or other.matcher.text == entry.matcher.text
    same_if = theirs.condition == mine.condition and theirs.source.anchor == mine.source.anchor
    return wins and wide and (theirs.condition is None or same_if)
