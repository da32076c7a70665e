"""The part of a replay that runs in a worker: load both configurations once, then play sessions."""

from __future__ import annotations

import asyncio
import atexit
import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import msgspec

from hookwright.config import Loaded
from hookwright.engine import HookEngine, Options
from hookwright.errors import ConfigError
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import Entry, HookSet
from hookwright.protocol.handlers import Kind
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.levels import LEVELS
from hookwright.replay.isolation.views import enter
from hookwright.replay.model import Replayed
from hookwright.replay.past import Past
from hookwright.replay.past_files import Commit, State
from hookwright.replay.play import Player, Setting, host_of
from hookwright.replay.sides import ALLOWED, ReplaySide
from hookwright.replay.watching import Inside, KeptAnswers, without_passing

#: A pair of outcomes: of the baseline and of the candidate.
Pair = tuple[Replayed, Replayed]


class ReplayPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker needs to know, the same for every task of a replay."""

    baseline: ReplaySide
    candidate: ReplaySide
    #: The level of isolation.
    level: str
    #: The project and the home directory whose files are kept from change.
    project: str
    home: str
    #: Further variables that hooks inherit.
    env: tuple[str, ...] = ()
    pure: frozenset[str] = frozenset()
    #: Whether an answer is used again for an equal event.
    reuse: bool = True
    sampled: bool = False
    #: What hooks see as the project, and the commits to choose from.
    state: str = State.OVERLAY.value
    commits: tuple[Commit, ...] = ()
    #: The script of the model that prompt and agent hooks ask; empty to ask none.
    script: str = ""
    #: The hashes of the handlers of both configurations where the replay was started; None to load any.
    digests: tuple[str, str] | None = None
    #: A folder whose files hooks see as if it were `/`; empty for none.
    shown: str = ""
    #: Of handlers by id: a file of another machine that they name, and that is not below that folder.
    unsent: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: The process that started the replay; hooks are never isolated in it.
    started_by: int = msgspec.field(default_factory=os.getpid)

    def packed(self) -> bytes:
        """Return the plan as bytes, which are sent with every task and are its name in a worker."""
        return pickle.dumps(self)

    def environment(self) -> dict[str, str]:
        """Return the variables hooks inherit: an allow-list; the view adds the mark of a replay."""
        places = self.candidate.places or self.baseline.places
        outer = places.env if places is not None else {}
        return {name: outer[name] for name in (*ALLOWED, *self.env) if name in outer}


class Trial(msgspec.Struct, frozen=True):
    """A handler, by its configuration and its position there, and events to try it on."""

    of_candidate: bool
    position: int
    pasts: tuple[Past, ...]


def play_sessions(packed: bytes, pasts: Sequence[Past]) -> list[Pair]:
    """Play the events of one session, or a part of one whose hooks keep nothing between events."""
    return _worker(packed).play(pasts)


def try_handlers(packed: bytes, trials: Sequence[Trial]) -> frozenset[str]:
    """Return the ids of the handlers that answer by nothing but the event."""
    return _worker(packed).pure(trials)


#: The worker of this process and the plan it was set up for; a process has one at a time.
_HELD: list[tuple[bytes, ReplayWorker]] = []


def _worker(packed: bytes) -> ReplayWorker:
    """Set a worker up at the first task of a plan; it lasts until the process ends or gets another plan."""
    if _HELD and _HELD[0][0] == packed:
        return _HELD[0][1]
    _close()
    plan: ReplayPlan = pickle.loads(packed)
    if not _HELD:
        atexit.register(_close)
    _HELD.append((packed, ReplayWorker(plan)))
    return _HELD[0][1]


def _close() -> None:
    while _HELD:
        _HELD.pop()[1].close()


class ReplayWorker:
    """Both configurations in one view of the machine."""

    def __init__(self, plan: ReplayPlan) -> None:
        self._closing = ExitStack()
        level = next(one for one in LEVELS if one.name.value == plan.level)
        if level.isolated and os.getpid() == plan.started_by:
            raise ConfigError("hooks are isolated in processes of their own; pass an executor of processes, or none")
        self._view = enter(level, Bounds(plan.project, plan.home), plan.shown)
        self._scratch = self._view.scratch
        self._loop = self._closing.enter_context(asyncio.Runner())
        self._env = plan.environment()
        self._loaded = [side.places.load() if side.places else None for side in (plan.baseline, plan.candidate)]
        shared: dict[str, KeptAnswers] = {}  # equal handlers of both configurations are asked once
        self._settings = []
        for number, loaded in enumerate(self._loaded):
            answers = (
                shared.setdefault(loaded.project_dir, KeptAnswers()) if loaded is not None and plan.reuse else None
            )
            self._settings.append(self._setting(plan, str(number), answers))
        self._players = [Player(*pair) for pair in zip(self._loaded, self._settings, strict=True)]
        self._check(plan)

    def _check(self, plan: ReplayPlan) -> None:
        """Raise ConfigError if other hooks were loaded here than where the replay was started."""
        found = tuple(player.survey.handlers_digest for player in self._players)
        if plan.digests is not None and found != plan.digests:
            which = "baseline" if found[0] != plan.digests[0] else "candidate"
            raise ConfigError(
                f"the {which} has other hooks on this worker than on your machine, though it has the same files. Check "
                "the worker's managed settings and its environment."
            )

    def _setting(self, plan: ReplayPlan, name: str, answers: KeptAnswers | None) -> Setting:
        return Setting(
            view=self._view,
            project=os.path.realpath(plan.project),
            env=self._env,
            scratch=os.path.join(self._scratch, name),
            pure=plan.pure,
            answers=answers,
            sampled=plan.sampled,
            unsent=plan.unsent,
            state=State(plan.state),
            commits=plan.commits,
            script=plan.script,
        )

    def close(self) -> None:
        """Close the event loop; the view ends with the process."""
        self._closing.close()

    def play(self, pasts: Sequence[Past]) -> list[Pair]:
        """Play a session for the baseline, then in a fresh view for the candidate."""
        outcomes = []
        for player in self._players:
            self._view.renew()
            player.begin_session()
            outcomes.append(self._loop.run(_played(player, pasts)))
        return list(zip(*outcomes, strict=True))

    def pure(self, trials: Sequence[Trial]) -> frozenset[str]:
        """Try handlers; each must pass on every event of its trial.

        Law: a handler is pure if, asked twice in fresh views about the same event, it gives the same reply both times
        and writes nothing either time. Where it cannot be seen what is written, no handler is pure.
        """
        found = set()
        for trial in trials:
            loaded, setting = self._loaded[trial.of_candidate], self._settings[trial.of_candidate]
            entry, facts = self._players[trial.of_candidate].survey.handlers[trial.position]
            if loaded is not None and all(self._same(_alone(entry, loaded, setting), past) for past in trial.pasts):
                found.add(facts.id)
        return frozenset(found)

    def _same(self, engine: HookEngine, past: Past) -> bool:
        replies = []
        for _ in range(2):
            self._view.renew()
            outcome = self._loop.run(engine.fire(without_passing(past.event)))
            replies.append([run.reply for run in outcome.runs])
            if (written := self._view.written()) is None or written:
                self._view.renew()
                return False
        return bool(replies[0]) and replies[0] == replies[1]


def _alone(entry: Entry, loaded: Loaded, setting: Setting) -> HookEngine:
    """Return an engine with one handler."""
    host = host_of(loaded, setting)
    commands = {Kind.COMMAND: Inside(CommandExecutor(host), setting.place)}
    options = Options(await_rewake=True)
    return HookEngine(HookSet([entry]), host=host, executors=commands, gate=loaded.gate, options=options)


async def _played(player: Player, pasts: Sequence[Past]) -> list[Replayed]:
    try:
        return [await player.play(past) for past in pasts]
    finally:
        await player.end_session()
