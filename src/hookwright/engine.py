"""HookEngine.fire: what happens to an event, in order."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from hookwright.aggregate import aggregate, guards, has_word_on, in_shadow, on_final_input, second_word
from hookwright.background import Background
from hookwright.deadline import within
from hookwright.hookset import HookSet
from hookwright.interpret import interpret
from hookwright.observers import EventEnded, LateEnded, Notice, Observer, RunEnded, RunStarted
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event, EventRules
from hookwright.protocol.handlers import CommandHandler, Handler, Kind
from hookwright.protocol.host import Host
from hookwright.protocol.job import Executor, Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import matched_value
from hookwright.protocol.outcome import Block, Defer, Deny, Ending, Late, Outcome, Run, Skip, SkipReason, Timing
from hookwright.protocol.replies import Failed, Failure, Reply
from hookwright.protocol.sources import Scope
from hookwright.protocol.wire import encode_event
from hookwright.selection import Circumstances, HookState, Selection, TrustCheck, select, states, supports
from hookwright.spill import fit

#: Kinds that receive the event itself, not its bytes.
_IN_PROCESS = frozenset({Kind.CALLBACK, Kind.FUNCTION})

PROMPT_TIMEOUT = 30.0
AGENT_TIMEOUT = 60.0
CALLBACK_TIMEOUT = 60.0
_TIMEOUTS = {
    Kind.PROMPT: PROMPT_TIMEOUT,
    Kind.AGENT: AGENT_TIMEOUT,
    Kind.CALLBACK: CALLBACK_TIMEOUT,
    Kind.FUNCTION: CALLBACK_TIMEOUT,
}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How an engine runs its hooks."""

    #: One after the other in configuration order; a stop ends the rest.
    sequential: bool = False
    #: Without time limits a hook runs until it ends or is interrupted.
    timeouts: bool = True
    #: Await `asyncRewake` hooks like ordinary ones, as a one-shot run does.
    await_rewake: bool = False
    #: Run plain Python hooks without a `worker` key as if they had `worker: "warm"`, where the session can.
    warm: bool = False


class _Firing(msgspec.Struct, frozen=True):
    """One firing: its id, which is unique among all sessions, and when it started."""

    id: str
    started: float


_UNOBSERVED = _Firing("", 0.0)


class HookEngine:
    """Fires events at the hooks of one session."""

    def __init__(
        self,
        hooks: HookSet,
        *,
        host: Host,
        executors: Mapping[Kind, Executor],
        background: Background | None = None,
        gate: TrustCheck | None = None,
        observers: Sequence[Observer] = (),
        options: Options | None = None,
    ) -> None:
        self.hooks = hooks
        self.host = host
        self.background = background
        self.options = options if options is not None else Options()
        self.executors = executors
        self.gate = gate
        self._observers = tuple(observers)
        self._spent: set[str] = set()
        self._numbers = itertools.count(1)
        self._firings = itertools.count(1)
        self._name = os.urandom(5).hex()
        #: Failures of observers that no outcome has reported yet, each once.
        self._troubles: dict[Diagnostic, None] = {}

    def replace_hooks(self, hooks: HookSet) -> None:
        """Use other hooks from the next event on; what they have spent of `once` stays spent."""
        self.hooks = hooks

    def reconnect(self, host: Host, executors: Mapping[Kind, Executor], gate: TrustCheck | None) -> None:
        """Use other surroundings, executors and trust from the next event on, all three at once."""
        self.host, self.executors, self.gate = host, executors, gate

    async def fire(self, event: Event) -> Outcome:
        """Select the handlers of an event, run them in layers, interpret and spill each reply, aggregate."""
        firing = self._firing()
        selection = self.select(event)
        if not selection.handlers:
            return self._told(event, selection.nothing or _nothing(event, selection), firing)
        if selection.managed:
            return self._told(event, await self._in_layers(event, selection, firing), firing)
        skips: list[Skip] = []
        runs = await self._run_layer(selection.handlers, event, skips, firing)
        # Thousands of handlers may be for other tools: their skips are passed on as they are.
        every = (*selection.skips, *skips) if skips else selection.skips
        outcome = aggregate(event, runs, every, selection.notes)
        if _may_be_rewritten(event) and outcome.updated_input is not None:
            outcome = await self._last_word(event, outcome, [(run, event) for run in runs], firing)
        return self._told(event, outcome, firing)

    async def recheck(self, event: Event, before: Sequence[Run] = ()) -> Outcome:
        """Fire an event whose input the host, the user or another event's hook rewrote at the guards that run for it.

        `before` are the runs on the input as it was. Only refusals, questions and stops of this firing have an effect.
        """
        firing = self._firing()
        outcome = Outcome(event=event.event_name, matched=matched_value(event), updated_input=_input(event))
        rewriters = [run for run in before if run.verdict.updated_input is not None]
        checked = await self._last_word(event, outcome, [], firing, rewriters)
        return self._told(event, msgspec.structs.replace(checked, updated_input=None), firing)

    def _firing(self) -> _Firing:
        """Begin a firing; one without observers needs no id and no time."""
        if not self._observers:
            return _UNOBSERVED
        return _Firing(f"{self._name}.{next(self._firings)}", time.perf_counter())

    def select(self, event: Event) -> Selection:
        """Return the handlers that run for an event, in configuration order, and why each other one is skipped.

        Law: a handler declared for the event runs if
        1. no switch holds it: hooks are enabled, for its scope too, and its skill or agent is active;
        2. its matcher is valid, and matches the event's value, or another name of it in `also`, if the event has one;
        3. the event runs its kind;
        4. it has no `if`, or the event evaluates `if` and this one matches the call, by one of the tool's names, or
           cannot be decided;
        5. it asks no model about a call that a hook's own agent makes;
        6. the event happens inside its agent, if an agent declares it;
        7. it has not succeeded yet, if it is declared `once`;
        8. it is trusted, if the project supplies it or the files it runs;
        9. no equal handler of the settings files runs instead (R-015).
        Any other handler is skipped for the first of these that fails, and a skipped handler replaces no equal one:
        an untrusted copy never switches a guard off. Two kinds of handlers are selected only to fail, loudly: a guard
        that was trusted to fail closed and has changed, whatever else is equal to it, and a handler that asks a model
        on an event that supports none.
        """
        host = self.host
        return select(self.hooks, event, Circumstances(host.home, host.project_dir, self.gate, self._spent))

    def states(self, hooks: HookSet | None = None) -> tuple[HookState, ...]:
        """Return what `select` says of each handler before any event; of another set of hooks, if one is given."""
        now = Circumstances(self.host.home, self.host.project_dir, self.gate, self._spent)
        return tuple(states(self.hooks if hooks is None else hooks, now))

    async def _in_layers(self, event: Event, selection: Selection, firing: _Firing) -> Outcome:
        """Run the managed layer and the other one; what the first rewrites, the second is selected for."""
        runs: list[Run] = []
        heard: list[tuple[Run, Event]] = []
        skips: list[Skip] = []
        notes: dict[Diagnostic, None] = dict.fromkeys(selection.notes)
        for managed in (False, True) if event.rules.managed_last else (True, False):
            seen = _rewritten(event, runs)
            current = selection if seen is event else self.select(seen)
            notes.update(dict.fromkeys(current.notes))
            skips += [skip for skip in current.skips if _is_managed(skip.handler) is managed]
            handlers = [handler for handler in current.handlers if _is_managed(handler) is managed]
            if not managed and _closed(runs, event.rules):
                skips += [Skip(handler, SkipReason.OUTER_BLOCK) for handler in handlers]
            else:
                layer = await self._run_layer(handlers, seen, skips, firing)
                runs += layer
                heard += [(run, seen) for run in layer]
        outcome = aggregate(event, runs, skips, tuple(notes))
        if _may_be_rewritten(event) and outcome.updated_input is not None:
            return await self._last_word(event, outcome, heard, firing)
        return outcome

    async def _last_word(
        self,
        event: Event,
        outcome: Outcome,
        heard: Sequence[tuple[Run, Event]],
        firing: _Firing,
        rewriters: Sequence[Run] = (),
    ) -> Outcome:
        """Let guards judge the final input of a call, each once.

        Law (D20): after a rewrite, every guard that runs for the final input and has not seen or written it is asked
        about it, managed ones last, and may refuse. An allow for the input before the rewrite is no allow.
        """
        final = outcome.updated_input
        if final is None or outcome.stop is not None or isinstance(outcome.decision, Deny | Block | Defer):
            return outcome
        event = msgspec.structs.replace(event, tool_input=dict(final))
        settled = [run for run, saw in heard if has_word_on(run, _input(saw), final)]
        rewrote = {id(run.handler) for run, _ in heard if run.verdict.updated_input is not None}
        rewrote |= {id(run.handler) for run in rewriters}
        done = {id(run.handler) for run in settled}
        selection = self.select(event)
        waiting = [handler for handler in selection.handlers if guards(handler) and id(handler) not in done]
        skips: list[Skip] = []
        again: list[Run] = []
        for managed in (False, True):
            layer = [handler for handler in waiting if _is_managed(handler) is managed]
            ignored = rewrote if not managed else set()
            runs = await self._run_layer(layer, event, skips, firing)
            again += [second_word(run, final, id(run.handler) in ignored) for run in runs]
        if again:
            new = tuple(note for note in selection.notes if note not in outcome.diagnostics)
            every = aggregate(event, [*outcome.runs, *again], (*outcome.skips, *skips), new)
            kept = [note for note in outcome.diagnostics if note not in every.diagnostics]
            outcome = msgspec.structs.replace(every, updated_input=final, diagnostics=(*kept, *every.diagnostics))
        return on_final_input(outcome, [*settled, *again])

    def _told(self, event: Event, outcome: Outcome, firing: _Firing) -> Outcome:
        """Tell observers the outcome; the host reads in it which of them failed."""
        if not self._observers:
            return outcome
        self._tell(EventEnded(event, outcome, time.perf_counter() - firing.started, firing.id))
        if not self._troubles:
            return outcome
        troubles, self._troubles = tuple(self._troubles), {}
        return msgspec.structs.replace(outcome, diagnostics=(*outcome.diagnostics, *troubles))

    # ── run ─────────────────────────────────────────────────────────────────

    async def _run_layer(
        self, handlers: Sequence[Handler], event: Event, skips: list[Skip], firing: _Firing
    ) -> list[Run]:
        payload = b""
        jobs = []
        for index, handler in enumerate(handlers):
            if not payload and handler.kind not in _IN_PROCESS:
                payload = encode_event(event)
            jobs.append(self._job(handler, event, payload, index, firing.id))
        if self.options.sequential:
            return await self._run_in_order(jobs, skips)
        if len(jobs) == 1:
            return [await self._run(jobs[0])]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run(job)) for job in jobs]
        return [task.result() for task in tasks]

    async def _run_in_order(self, jobs: Sequence[Job], skips: list[Skip]) -> list[Run]:
        runs: list[Run] = []
        for job in jobs:
            if any(run.verdict.stop is not None for run in runs):
                skips.append(Skip(job.handler, SkipReason.STOPPED))
            else:
                runs.append(await self._run(job))
        return runs

    def _job(self, handler: Handler, event: Event, payload: bytes, index: int, firing: str) -> Job:
        limit = time_limit(handler, event.rules, self.host.env) if self.options.timeouts else None
        return Job(handler, event, payload, index, f"hook-{next(self._numbers)}", limit, firing)

    async def _run(self, job: Job) -> Run:
        wall, started = time.time(), time.perf_counter()
        if self._observers:
            job = self._heard(job, wall, started)
            self._tell(RunStarted(job))
        try:
            reply = await self._execute(job)
        except asyncio.CancelledError:
            self._ended(job, Failed(Failure.INTERRUPTED, "interrupted"), wall, started)
            raise
        return self._ended(job, reply, wall, started)

    def _heard(self, job: Job, wall: float, started: float) -> Job:
        """Let observers hear the real end of a command, should it go to the background."""
        if job.handler.kind is not Kind.COMMAND:
            return job

        def ended(late: Late) -> None:
            self._tell(LateEnded(late.job, late, Timing(wall, time.perf_counter() - started)))

        return msgspec.structs.replace(job, on_late_end=ended)

    def _ended(self, job: Job, reply: Reply, wall: float, started: float) -> Run:
        verdict, timing = interpret(reply, job.handler, job.event), Timing(wall, time.perf_counter() - started)
        if job.handler.shadow:
            run = in_shadow(Run(job.handler, reply, verdict, timing, job.run_id))
        else:
            run = Run(job.handler, reply, fit(verdict, job.handler, job.event), timing, job.run_id)
        if job.handler.once and run.label == "success" and run.verdict.ending is Ending.SUCCESS:
            self._spent.add(str(job.handler.source))
        if self._observers:
            self._tell(RunEnded(job, run))
        return run

    async def _execute(self, job: Job) -> Reply:
        """Ask the handler's executor, within its time limit; any failure comes back as a reply."""
        handler, rules = job.handler, job.event.rules
        held = self.gate(handler, job.event.cwd) if self.gate is not None and handler.source.gated else None
        if held is not None:  # a guard that changed is selected to fail here; others may have changed since selection
            why = Failure.GUARD if held[0] is SkipReason.GUARD_CHANGED else Failure.CHANGED
            return Failed(why, f"it does not run: {held[1]}")
        executor = self.executors.get(handler.kind)
        if not supports(rules, handler.kind):
            return Failed(Failure.UNSUPPORTED, f"{handler.kind.value} handlers are not supported on this event")
        if executor is None:
            return Failed(Failure.UNSUPPORTED, f"this host runs no {handler.kind.value} handlers")
        if handler.kind is Kind.COMMAND and self.background is not None and self._goes_to_background(handler):
            return self.background.start(job, lambda: executor(job))
        # A process keeps its own time: it is judged when it exits, however long a child holds its pipes.
        limit = None if handler.kind is Kind.COMMAND else job.timeout
        try:
            return await (executor(job) if limit is None else within(executor(job), limit))
        except Exception as error:  # executors run other people's code and servers: one failure is one reply
            return Failed(Failure.EXCEPTION, f"{type(error).__name__}: {error}")

    def _goes_to_background(self, handler: Handler) -> bool:
        if not isinstance(handler, CommandHandler):
            return False
        return handler.is_async or (handler.async_rewake and not self.options.await_rewake)

    def _tell(self, notice: Notice) -> None:
        for observer in self._observers:
            try:
                observer(notice)
            except Exception as error:  # an observer is the host's code, and its failure must not end the firing
                self._troubles[_observer_failed(observer, notice, error)] = None


def _nothing(event: Event, selection: Selection) -> Outcome:
    """Return the outcome when nothing runs: `aggregate` of no runs, without its work."""
    return Outcome(
        event=event.event_name, matched=matched_value(event), skips=selection.skips, diagnostics=selection.notes
    )


def _may_be_rewritten(event: Event) -> bool:
    """Return whether hooks of an event may rewrite a tool's input before the tool runs."""
    return "updated_input" in event.rules.output


def _input(event: Event) -> Mapping[str, Json]:
    found: Mapping[str, Json] = getattr(event, "tool_input", {})
    return found


def _observer_failed(observer: Observer, notice: Notice, error: Exception) -> Diagnostic:
    name = getattr(observer, "__qualname__", type(observer).__qualname__)
    text = f"the observer `{name}` raised {type(error).__name__} on {type(notice).__name__}: {error}; hooks still run"
    return Diagnostic("observer-failed", text, None, Severity.WARNING)


def time_limit(handler: Handler, rules: EventRules, env: Mapping[str, str] = MappingProxyType({})) -> float:
    """Return the limit in seconds: the handler's own, else the default of its kind and event (R-179 … R-182).

    An event's variable in the environment, in milliseconds, replaces the default of the event.
    """
    if handler.timeout is not None:
        return handler.timeout
    given = env.get(rules.timeout_variable, "") if rules.timeout_variable else ""
    if given.isascii() and given.isdigit() and int(given):
        return int(given) / 1000
    return _TIMEOUTS.get(handler.kind, rules.timeout)


def _is_managed(handler: Handler) -> bool:
    """Return whether a handler is in the outer layer: it runs first, or last on events after the tool (R-014)."""
    return handler.source.scope is Scope.MANAGED


def _closed(runs: Sequence[Run], rules: EventRules) -> bool:
    """Return whether a managed deny, block or stop keeps the inner hooks from starting; ask and allow do not."""
    return (
        bool(runs)
        and not rules.managed_last
        and any(isinstance(run.verdict.decision, Deny | Block) or run.verdict.stop is not None for run in runs)
    )


def _rewritten(event: Event, runs: Sequence[Run]) -> Event:
    """Return the event as the layers so far rewrote it (R-101)."""
    changes: dict[str, object] = {}
    for run in runs:
        if run.verdict.updated_input is not None and hasattr(event, "tool_input"):
            changes["tool_input"] = dict(run.verdict.updated_input)
        if run.verdict.updated_output is not None and hasattr(event, "tool_response"):
            changes["tool_response"] = run.verdict.updated_output
    return msgspec.structs.replace(event, **changes) if changes else event
