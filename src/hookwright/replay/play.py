"""Fire past events at the hooks of one configuration, on the live engine."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from hookwright.background import Background
from hookwright.cases.case import decision_word
from hookwright.config import Loaded
from hookwright.engine import HookEngine, Options
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import Entry
from hookwright.observers.journal import decision_of, short
from hookwright.projects.lookup import Search
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler, Kind
from hookwright.protocol.host import Host
from hookwright.protocol.job import Executor
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ending, Outcome, Run, Skip, SkipReason
from hookwright.protocol.wire import encode
from hookwright.replay.facts import PastFacts, facts_of
from hookwright.replay.isolation.views import View
from hookwright.replay.model import Code, Doubt, Ran, Replayed
from hookwright.replay.past import Past
from hookwright.replay.past_files import Commit, PastFiles, State
from hookwright.replay.transcript_copy import TranscriptCopy
from hookwright.replay.watching import Inside, KeptAnswers, Watched, Witness, moved
from hookwright.warm.executor import WorkerExecutor
from hookwright.warm.workers import Workers

#: The random name of a file with a long text.
_SPILLED = re.compile(r"hook-[0-9a-f]{16}\.txt")
_UNTRUSTED = (SkipReason.UNTRUSTED, SkipReason.CHANGED)


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """How the hooks of a replay run."""

    view: View
    #: The project outside the view, which may be another folder than the one hooks work in.
    project: str
    #: The environment hooks inherit.
    env: Mapping[str, str]
    #: A folder for files that the engine itself writes.
    scratch: str
    #: Ids of handlers that were seen to depend on nothing but the event.
    pure: frozenset[str] = frozenset()
    #: Answers to equal events; None to ask about every event.
    answers: KeptAnswers | None = None
    #: Whether events are missing, so that what a hook keeps between events is incomplete.
    sampled: bool = False
    #: Of handlers by id: a file that they name, and that this machine does not have, though another had it.
    unsent: Mapping[str, str] = msgspec.field(default_factory=dict)

    state: State = State.OVERLAY
    #: The commits whose files hooks see; empty for the files of today.
    commits: tuple[Commit, ...] = ()
    #: The script of the model that prompt and agent hooks ask; empty to ask none.
    script: str = ""

    def place(self, cwd: str) -> str:
        """Return the directory in which a hook starts, by the one in which the event happened."""
        if self.state is not State.NONE:
            return moved(cwd, self.project, self.view.project)
        empty = os.path.join(self.scratch, "empty")
        os.makedirs(empty, exist_ok=True)
        return empty


class Survey:
    """The handlers of one configuration, to be questioned and not played."""

    def __init__(self, loaded: Loaded | None) -> None:
        self._engine: HookEngine | None = None
        self._facts: dict[int, tuple[Entry, PastFacts]] = {}
        self.digest = ""
        if loaded is not None:
            self._engine = HookEngine(loaded.hooks, host=loaded.host, executors={}, gate=loaded.gate)
            self._facts = {id(entry.handler): (entry, facts_of(entry, loaded)) for entry in loaded.hooks}
            self.digest = loaded.hooks.digest

    def facts(self, handler: Handler) -> PastFacts:
        """Return what is known of a handler of this configuration."""
        return self._facts[id(handler)][1]

    @property
    def handlers(self) -> tuple[tuple[Entry, PastFacts], ...]:
        """Every configured handler with what is known of it, in configuration order."""
        return tuple(self._facts.values())

    @property
    def handlers_digest(self) -> str:
        """A hash of all handlers with the content of the files they run: equal where equal hooks were loaded."""
        return hashlib.sha256(" ".join(facts.id for _, facts in self.handlers).encode()).hexdigest()

    def has_hooks(self, event: str) -> bool:
        """Return whether any handler is configured for an event."""
        return self._engine is not None and bool(self._engine.hooks.of_event(event))

    def selected(self, event: Event) -> tuple[PastFacts, ...]:
        """Return the handlers that run for an event, in order."""
        if self._engine is None:
            return ()
        return tuple(self.facts(handler) for handler in self._engine.select(event).handlers)

    def unasked(self, event: Event) -> Replayed:
        """Return the outcome of an event that selects no handler, as a player would, without firing it."""
        if self._engine is None:
            return Replayed()
        skips = self._engine.select(event).skips
        return Replayed(skipped=len(skips), doubts=in_order(self.untrusted(skips)))

    def untrusted(self, skips: Iterable[Skip]) -> Iterator[Doubt]:
        """Yield a doubt for every handler that would have run and is not trusted."""
        for skip in skips:
            facts = self.facts(skip.handler)
            if skip.reason in _UNTRUSTED and not facts.idle:
                yield Doubt(Code.UNTRUSTED, facts.id)


class Player:
    """The hooks of one configuration, ready for the events of one session at a time."""

    def __init__(self, loaded: Loaded | None, setting: Setting) -> None:
        self.survey = Survey(loaded)
        self._loaded = loaded
        self._setting = setting
        self._copy = TranscriptCopy(setting.scratch)
        self._background = Background()
        self._engine: HookEngine | None = None
        self._held = Workers()
        self._files = PastFiles(setting.commits, setting.view.project)
        if loaded is not None:
            self._host = host_of(loaded, setting)

    def begin_session(self) -> None:
        """Forget the session before: hooks declared `once` may run again.

        Plain Python hooks run in forks of interpreters that are held for the session, as in a session that is live.
        """
        if self._loaded is not None:
            self._held = Workers()
            warm = WorkerExecutor(CommandExecutor(self._host, self._background), self._held)
            commands = CommandExecutor(self._host, self._background, workers=warm, warm=warm)
            inside = Inside(commands, self._setting.place)
            asked: dict[Kind, Executor] = {Kind.COMMAND: inside}
            asked |= scripted_executors(self._setting.script, self._host)
            self._watched = Watched(asked, self.survey.facts, self._setting.view, self._setting.answers)
            self._files.forget()
            self._engine = HookEngine(
                self._loaded.hooks,
                host=self._host,
                executors=self._watched.executors(self._setting.pure),
                background=self._background,
                gate=self._loaded.gate,
                options=Options(await_rewake=True),
            )

    async def end_session(self) -> None:
        """End the interpreters of the session, before its view is renewed."""
        await self._held.aclose()

    async def play(self, past: Past) -> Replayed:
        """Fire one event and wait for every hook, background hooks included."""
        if self._engine is None:
            return Replayed()
        state = self._files.put(past.time) if self._setting.state is State.COMMIT else self._setting.state.value
        witness = self._watched.begin(past, state)
        if not state and self.survey.selected(past.event):
            witness.doubts.append(Doubt(Code.FILES))
        event, cut = self._with_transcript(past)
        outcome = await self._engine.fire(event)
        await self._background.wait()
        self._background.collect()
        return self._replayed(outcome, witness, cut)

    def _with_transcript(self, past: Past) -> tuple[Event, bool]:
        """Return the event with a transcript of its own, which ends where the event happened if that is known."""
        path, cut = self._copy.path_of(past), True
        if any(facts.transcript for facts in self.survey.selected(past.event)):
            cut = self._copy.cut(past)
        return msgspec.structs.replace(past.event, transcript_path=path), cut

    def _replayed(self, outcome: Outcome, witness: Witness, cut: bool) -> Replayed:
        doubts = [*witness.doubts, *self.survey.untrusted(outcome.skips)]
        doubts += [doubt for run in outcome.runs for doubt in self._of_run(run, cut)]
        changed = (outcome.updated_input, outcome.updated_output)
        return Replayed(
            decision=decision_word(outcome),
            reasons=tuple(short(reason) for reason in outcome.reasons),
            rewritten="" if changed == (None, None) else _digest(changed),
            said=_said(outcome, self._setting.scratch),
            context=sum(map(len, (*outcome.context, *outcome.plain))),
            runs=tuple(self._ran(run, witness) for run in outcome.runs),
            skipped=len(outcome.skips),
            doubts=in_order(doubts),
        )

    def _of_run(self, run: Run, cut: bool) -> list[Doubt]:
        facts = self.survey.facts(run.handler)
        found: list[Doubt] = []
        if facts.idle:
            return found
        if run.verdict.ending is Ending.ERROR:
            found.append(Doubt(Code.FAILED, facts.id, short(run.verdict.error or "")))
        if facts.transcript and not cut:
            found.append(Doubt(Code.TRANSCRIPT, facts.id))
        if facts.id in self._setting.unsent:
            found.append(Doubt(Code.ELSEWHERE, facts.id, self._setting.unsent[facts.id]))
        if self._setting.sampled and facts.id not in self._setting.pure:
            found.append(Doubt(Code.STATE, facts.id, "only a sample of the events is replayed"))
        return found

    def _ran(self, run: Run, witness: Witness) -> Ran:
        facts = self.survey.facts(run.handler)
        verdict = run.would if run.would is not None else run.verdict
        word, _ = decision_of(verdict.decision)
        stopped = "stop" if verdict.stop is not None else "none"
        ms = witness.took.get(facts.id, run.timing.seconds * 1000)
        return Ran(
            handler=facts.id,
            decision=word or stopped,
            ending=verdict.ending.value,
            ms=round(ms, 3),
            reused=facts.id in witness.reused,
            shadow=run.would is not None,
        )


def scripted_executors(script: str, host: Host) -> dict[Kind, Executor]:
    """Return executors that ask a script instead of a model; every session plays it from its start."""
    if not script:
        return {}
    from hookwright.executors.agent import AgentExecutor
    from hookwright.executors.prompt import PromptExecutor
    from hookwright.models import from_environment

    model = from_environment({}, script=script)
    return {Kind.PROMPT: PromptExecutor(model), Kind.AGENT: AgentExecutor(model, search=Search(host.env))}


def host_of(loaded: Loaded, setting: Setting) -> Host:
    """Return the surroundings of replayed hooks: an environment of their own, and a folder for the engine's files."""
    env = {**setting.env, **setting.view.env}
    project = moved(loaded.project_dir, setting.project, setting.view.project)
    return msgspec.structs.replace(
        loaded.host, project_dir=project, env=env, config_dir=setting.scratch, attended=False
    )


def in_order(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Return doubts without repeats, in an order that depends on them alone."""
    return tuple(sorted(set(doubts), key=lambda one: (one.handler, one.code.value, one.detail)))


def _said(outcome: Outcome, scratch: str) -> str:
    """Return a digest of what hooks told people and the model; empty if they told nothing."""
    stop = None if outcome.stop is None else [outcome.stop.reason]
    said = (outcome.context, outcome.plain, outcome.system_messages, dict(outcome.fields), stop)
    return (
        "" if said == ((), (), (), {}, None) else _digest(_SPILLED.sub("", encode(said).decode().replace(scratch, "")))
    )


def _digest(value: Json) -> str:
    return hashlib.sha256(encode(value)).hexdigest()[:16]
