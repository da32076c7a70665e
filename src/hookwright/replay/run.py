"""replay: past events in, changes out. Each event is fired at both configurations; everything else is bookkeeping."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.hookset import Entry
from hookwright.observers.journal import short
from hookwright.protocol.events import CATALOGUE, UserPromptSubmit
from hookwright.protocol.handlers import CommandHandler
from hookwright.replay.choice import Choice
from hookwright.replay.facts import PastFacts
from hookwright.replay.fleet.dask import as_fleet
from hookwright.replay.fleet.fleet import Fleet, fleet_workers
from hookwright.replay.labels import Labels
from hookwright.replay.model import Change, Code, Doubt, compare, mark_after, once, turns, unrun
from hookwright.replay.past import Past
from hookwright.replay.past_files import State, commits_of
from hookwright.replay.play import Survey
from hookwright.replay.pool import Killed, OutOfTime, PoolWorkers, TaskRun, Workers
from hookwright.replay.sides import ReplaySide, side
from hookwright.replay.work import Pair, ReplayPlan, Trial, play_sessions, try_handlers

if TYPE_CHECKING:
    from distributed import Client

#: Events on which a handler is tried before it is believed to be pure.
_TRIED = 2
#: Events of one task where no hook keeps anything between events.
_CHUNK = 64


#: Returns whether an event of a tool is wanted; the tool is empty for events without one.
Wanted = Callable[[str, str], bool]
#: Past events, or a function that reads those that are wanted.
Source = Iterable[Past] | Callable[[Wanted], Iterable[Past]]


class SampleSize(msgspec.Struct, frozen=True):
    """Which events of many are replayed."""

    #: A number of events, or a share of them if it is below 1.
    size: float
    seed: int = 0


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """How a replay runs."""

    places: Places = msgspec.field(default_factory=Places)
    isolation: str = "none"
    #: Further variables that hooks inherit.
    env: tuple[str, ...] = ()
    jobs: int = msgspec.field(default_factory=lambda: os.cpu_count() or 1)
    choice: Choice = msgspec.field(default_factory=Choice)
    sample: SampleSize | None = None
    #: Whether an answer is used again for an equal event.
    reuse: bool = True
    #: Seconds after which no further task begins; None for no limit.
    budget: float | None = None
    state: State = State.OVERLAY
    #: Whether every hook sees whole sessions in order, also those that answer by the event alone.
    in_order: bool = False
    #: The script of the model that prompt and agent hooks ask; empty to ask none.
    script: str = ""
    labels: Labels = msgspec.field(default_factory=Labels)


class HandlerRow(msgspec.Struct, frozen=True):
    """A handler of either configuration, as a report names it."""

    id: str
    event: str
    matcher: str
    kind: str
    label: str
    #: The settings file and line.
    path: str
    line: int
    #: The configurations it belongs to: baseline, candidate.
    sides: tuple[str, ...]
    #: Whether it was seen to answer by the event alone, so that equal events are asked once.
    pure: bool = False


class _Session(msgspec.Struct, frozen=True):
    """The chosen events of one session, with the turn of each."""

    pasts: tuple[Past, ...]
    turns: tuple[str, ...]


def replay(
    source: Source,
    candidate: str = "current",
    baseline: str = "none",
    *,
    conditions: Conditions | None = None,
    executor: Executor | Fleet | Client | None = None,
) -> Iterator[Change]:
    """Replay past events at a candidate and a baseline; yield what changed and what did not, by session and line.

    An executor runs its tasks on this machine; a `Fleet` or a dask `Client` runs them elsewhere.
    """
    with prepared(source, candidate, baseline, conditions=conditions, executor=executor) as ready:
        yield from ready


@contextmanager
def prepared(
    source: Source,
    candidate: str = "current",
    baseline: str = "none",
    *,
    conditions: Conditions | None = None,
    executor: Executor | Fleet | Client | None = None,
) -> Iterator[Replay]:
    """Load both configurations and read the history; iterate over the result to replay it."""
    conditions = conditions if conditions is not None else Conditions()
    with ExitStack() as closing:
        sides = [closing.enter_context(side(name, conditions.places)) for name in (baseline, candidate)]
        workers: Workers
        where = None if executor is None else as_fleet(executor)
        if isinstance(where, Fleet):
            workers = closing.enter_context(fleet_workers(where, sides, _files(conditions)))
        else:
            workers = PoolWorkers(where, conditions.jobs)
        closing.callback(workers.close)
        yield Replay(source, (sides[0], sides[1]), conditions, workers)


def _files(conditions: Conditions) -> list[str]:
    """Return the files that a replay needs besides hooks and settings."""
    return [os.path.abspath(conditions.script)] if conditions.script else []


class Replay:
    """A replay that is ready to run: what will be fired, at which handlers, and how."""

    def __init__(
        self, source: Source, sides: tuple[ReplaySide, ReplaySide], conditions: Conditions, workers: Workers
    ) -> None:
        self.conditions = conditions
        self.sides = sides
        self._workers = workers
        self._surveys = tuple(Survey(one.places.load() if one.places is not None else None) for one in sides)
        read = source(self._wants) if callable(source) else source
        kept, self.repeats = once([self._light(past) for past in read])
        wanted = sampled([past for past in kept if _takes(conditions.choice, past)], conditions.sample)
        chosen = {id(past) for past in wanted}
        self._sessions = [
            one
            for _, group in groupby(kept, lambda past: past.event.session_id)
            if (one := _session(group, chosen)).pasts
        ]
        self.total = len(wanted)
        self.plan = self._plan()

    def _wants(self, event: str, _tool: str) -> bool:
        """Return whether an event is to be read: every call and prompt is, and any other that has a handler."""
        matters = CATALOGUE[event].rules.opens_call or event == UserPromptSubmit.event_name
        return matters or any(survey.has_hooks(event) for survey in self._surveys)

    def _light(self, past: Past) -> Past:
        """Drop the response of a tool, which may be large, from an event that no handler reads."""
        if getattr(past.event, "tool_response", None) is None or self._selected(past):
            return past
        return msgspec.structs.replace(past, event=msgspec.structs.replace(past.event, tool_response=None))

    @property
    def _project(self) -> str:
        places = self.conditions.places
        return os.path.realpath(os.path.join(places.surroundings.cwd, places.project))

    @property
    def files(self) -> frozenset[str]:
        """The settings files and scripts whose change would change the result."""
        handlers = [one for survey in self._surveys for one in survey.handlers]
        settings = {path for entry, _ in handlers if (path := entry.handler.source.path)}
        return frozenset(settings.union(*(facts.files for _, facts in handlers)))

    def _plan(self) -> ReplayPlan:
        places = self.conditions.places
        return ReplayPlan(
            baseline=self.sides[0],
            candidate=self.sides[1],
            level=self.conditions.isolation,
            project=self._project,
            home=places.surroundings.home,
            env=self.conditions.env,
            reuse=self.conditions.reuse,
            sampled=self.conditions.sample is not None,
            state=self.conditions.state.value,
            commits=commits_of(self._project) if self.conditions.state is State.COMMIT else (),
            script=self.conditions.script,
            digests=(self._surveys[0].handlers_digest, self._surveys[1].handlers_digest),
        )

    @property
    def digests(self) -> tuple[str, str]:
        """The hashes of the baseline and of the candidate."""
        return self._surveys[0].digest, self._surveys[1].digest

    @property
    def handlers(self) -> tuple[HandlerRow, ...]:
        """Every handler of both configurations, in configuration order."""
        rows: dict[str, HandlerRow] = {}
        for name, survey in zip(("baseline", "candidate"), self._surveys, strict=True):
            for entry, facts in survey.handlers:
                known = rows.get(facts.id)
                sides = (*known.sides, name) if known is not None and name not in known.sides else (name,)
                rows[facts.id] = _row(entry, facts, known.sides if known and name in known.sides else sides, self.plan)
        return tuple(rows.values())

    def __iter__(self) -> Iterator[Change]:
        """Replay; each session is complete when its first event is yielded."""
        until = None if self.conditions.budget is None else time.monotonic() + self.conditions.budget
        self.plan = msgspec.structs.replace(self.plan, pure=self._pure())
        packed = self._workers.pack(self.plan)
        cut = [self._parts(session) for session in self._sessions]
        tasks = [(part,) for parts in cut for part in parts]
        results = TaskRun[list[Pair]](self._workers).results(play_sessions, packed, tasks, until)
        for session, parts in zip(self._sessions, cut, strict=True):
            played: dict[int, Change] = {}
            for part in parts:
                played |= {id(change.past): change for change in _changes(part, next(results))}
            changes = [played.get(id(past)) or self._unasked(past) for past in session.pasts]
            for change in mark_after(changes, session.turns):
                label = self.conditions.labels.of(change.past.call)
                yield change if label is None else msgspec.structs.replace(change, label=label)

    # ── what has to be asked ────────────────────────────────────────────────

    def _unasked(self, past: Past) -> Change:
        before, now = (survey.unasked(past.event) for survey in self._surveys)
        return Change(past=past, before=before, now=now, bucket=compare(before, now))

    def _selected(self, past: Past) -> list[PastFacts]:
        return [facts for survey in self._surveys for facts in survey.selected(past.event)]

    def _parts(self, session: _Session) -> list[tuple[Past, ...]]:
        """Return the events of a session that select a handler, as tasks.

        Law: a session is one task if any of its handlers may keep something between events; else it is cut.
        """
        asked = [(past, facts) for past in session.pasts if (facts := self._selected(past))]
        pasts = tuple(past for past, _ in asked)
        if not all(one.id in self.plan.pure for _, facts in asked for one in facts):
            return [pasts] if pasts else []
        return [pasts[at : at + _CHUNK] for at in range(0, len(pasts), _CHUNK)]

    def _pure(self) -> frozenset[str]:
        """Try every handler that may be pure by its text on the first events that select it."""
        trials = [trial for number, survey in enumerate(self._surveys) for trial in self._trials(number, survey)]
        conditions = self.conditions
        if not trials or conditions.in_order or not conditions.reuse or conditions.isolation == "none":
            return frozenset()  # without isolation it cannot be seen what a hook writes, and a trial would have effects
        workers = self._workers.trying()
        try:
            tried = TaskRun[frozenset[str]](workers)
            found = list(tried.results(try_handlers, workers.pack(self.plan), [((trial,),) for trial in trials]))
        finally:
            workers.close()
        return frozenset().union(*(one for one in found if isinstance(one, frozenset)))

    def _trials(self, number: int, survey: Survey) -> Iterator[Trial]:
        events: dict[str, list[Past]] = {}
        for session in self._sessions:
            for past in session.pasts:
                for facts in survey.selected(past.event):
                    if len(seen := events.setdefault(facts.id, [])) < _TRIED:
                        seen.append(past)
        for position, (entry, facts) in enumerate(survey.handlers):
            if facts.id in events and _may_be_pure(entry, facts):
                yield Trial(bool(number), position, tuple(events[facts.id]))


def _may_be_pure(entry: Entry, facts: PastFacts) -> bool:
    """Return whether the text of a handler allows that it depends on nothing but the event."""
    handler = entry.handler
    plain = isinstance(handler, CommandHandler) and not handler.background and not handler.once
    return plain and not facts.passing


def _takes(choice: Choice, past: Past) -> bool:
    event = past.event
    tool = getattr(event, "tool_name", "")
    return choice.wants(event.event_name, tool) and choice.holds(event.session_id, past.time)


def _session(group: Iterable[Past], chosen: set[int]) -> _Session:
    pasts = list(group)
    kept = [(past, turn) for past, turn in zip(pasts, turns(pasts), strict=True) if id(past) in chosen]
    return _Session(tuple(past for past, _ in kept), tuple(turn for _, turn in kept))


def _changes(part: Sequence[Past], result: list[Pair] | Killed | OutOfTime) -> list[Change]:
    if isinstance(result, Killed | OutOfTime):
        doubt = Doubt(Code.POISON if isinstance(result, Killed) else Code.BUDGET)
        return [unrun(past, doubt) for past in part]
    return [
        Change(past=past, before=before, now=now, bucket=compare(before, now))
        for past, (before, now) in zip(part, result, strict=True)
    ]


def _row(entry: Entry, facts: PastFacts, sides: tuple[str, ...], plan: ReplayPlan) -> HandlerRow:
    handler = entry.handler
    source = handler.source
    return HandlerRow(
        id=facts.id,
        event=entry.event,
        matcher=entry.matcher.text or "*",
        kind=handler.kind.value,
        label=short(handler.label),
        path=source.path or source.scope.value,
        line=source.line,
        sides=sides,
        pure=facts.id in plan.pure,
    )


def sampled(pasts: Sequence[Past], sample: SampleSize | None) -> list[Past]:
    """Return the events of a sample.

    Law: which events are taken depends on their ids and the seed alone, never on their order; a larger sample with the
    same seed contains every smaller one.
    """
    if sample is None:
        return list(pasts)
    size = round(sample.size * len(pasts)) if sample.size < 1 else int(sample.size)
    if size < 1:
        raise ConfigError(f"a sample of {sample.size:g} of {len(pasts)} events is empty; ask for more")

    def lot(past: Past) -> bytes:
        text = f"{sample.seed}\0{past.event.event_name}\0{past.call}"
        return hashlib.sha256(text.encode("utf-8", "replace")).digest()

    taken = {id(past) for past in sorted(pasts, key=lot)[:size]}
    return [past for past in pasts if id(past) in taken]
