"""Run cases: one load of the configuration, one process, real hooks, several at once."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from string import Template

import msgspec
from msgspec import UNSET

from hookwright.background import Background
from hookwright.cases.case import Case, CaseResult, Problem
from hookwright.cases.compare import check, compare, names, placed, read_files
from hookwright.cases.files import put_files
from hookwright.cases.firing import fill, make_event
from hookwright.cases.inject import Injector
from hookwright.config import Loaded, Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.engine import HookEngine, Options
from hookwright.errors import HookwrightError, InvalidCase
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import HookSet
from hookwright.projects.scratch import Mirror
from hookwright.protocol.handlers import Kind
from hookwright.protocol.job import Executor
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.wire import encode
from hookwright.session import HookSession, open_session
from hookwright.text import plural
from hookwright.wiring import Powers

#: The sources of a project's own settings.
OWN = ("project", "local")
#: The sources of a session, and its additional settings as JSON.
_Key = tuple[tuple[str, ...], bytes]

NOTHING_EXPECTED = Problem("expect", "nothing expected; write an expectation, or record the result with --update")


class Runner:
    """Runs cases in the configuration of one project; close it with `async with`."""

    def __init__(self, places: Places, *, powers: Powers | None = None, always_scratch: bool = False) -> None:
        self._places = places
        self._powers = powers
        self._always_scratch = always_scratch
        self._closing = AsyncExitStack()
        self._sessions: dict[_Key, HookSession] = {}
        self._temporary = ""
        self._numbers = itertools.count(1)
        self._mirror: Mirror | None = None

    async def __aenter__(self) -> Runner:
        folder = tempfile.TemporaryDirectory(prefix="hookwright-test-", ignore_cleanup_errors=True)
        self._temporary = os.path.realpath(self._closing.enter_context(folder))
        try:
            await self._session(self._base)
        except BaseException:  # a cancellation as well
            await self._closing.aclose()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._closing.aclose()

    @property
    def loaded(self) -> Loaded:
        """The configuration without any overlay."""
        return self._sessions[self._base].loaded

    async def run_all(
        self, cases: Sequence[Case], jobs: int, report: Callable[[CaseResult], None] | None = None
    ) -> list[CaseResult]:
        """Run cases, at most `jobs` at once; return the results in the order of the cases."""
        slots = asyncio.Semaphore(jobs)
        for case in cases:
            await self._session(self._key(case))

        async def one(case: Case) -> CaseResult:
            async with slots:
                result = await self._attempt(case)
            if report is not None:
                report(result)
            return result

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(case)) for case in cases]
        except BaseExceptionGroup as group_error:
            first = group_error.exceptions[0]
            raise first if isinstance(first, HookwrightError) else group_error from None
        return [task.result() for task in tasks]

    async def _attempt(self, case: Case) -> CaseResult:
        """Run one case; one that cannot be fired is a failure of its own and does not end the others."""
        try:
            return await self.run(case)
        except InvalidCase as error:
            problem = Problem("case", str(error).removeprefix(f"{case.path}:{case.line}: "))
            nothing = Outcome(event=case.event)
            return CaseResult(case=case, outcome=nothing, seconds=0.0, problems=(problem,), fired=False)

    async def run(self, case: Case) -> CaseResult:
        """Run one case to its end, background hooks included."""
        loaded = (await self._session(self._key(case))).loaded
        # Only created when needed; a folder per case would cost as much as its process.
        folder = os.path.join(self._temporary, str(next(self._numbers)))
        try:
            base, cwd = await self._place(case, loaded, folder)
            event = make_event(case, cwd, folder)
            engine, background = self._engine(case, loaded, base, folder)
            began = time.perf_counter()
            outcome = await engine.fire(event)
            seconds = time.perf_counter() - began
            await background.wait()
            wrote = _env_files(folder) if event.rules.env_file else ""
            files = read_files(case.expect, cwd)
        finally:
            if case.needs_scratch or self._always_scratch:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        result = CaseResult(case=case, outcome=outcome, seconds=seconds, files=files, env_file=wrote, cwd=cwd)
        return msgspec.structs.replace(result, problems=tuple(_problems(result)))

    # ── surroundings ────────────────────────────────────────────────────────

    @property
    def _base(self) -> _Key:
        return self._places.sources if self._places.sources is not None else OWN, b""

    def _key(self, case: Case) -> _Key:
        return sources_of(case, self._places), b"" if case.settings is None else encode(case.settings)

    async def _session(self, key: _Key) -> HookSession:
        """Open the session of some sources and one overlay; cases with the same share one session."""
        if key not in self._sessions:
            sources, overlay = key
            places = msgspec.structs.replace(self._places, sources=sources)
            if overlay:
                places = msgspec.structs.replace(places, settings=(*places.settings, overlay.decode()))
            opened = open_session(places, powers=self._powers, frozen=True)
            self._sessions[key] = await self._closing.enter_async_context(opened)
        return self._sessions[key]

    async def _place(self, case: Case, loaded: Loaded, folder: str) -> tuple[str, str]:
        """Return the project directory and the working directory, in a scratch copy where the case needs one."""
        start = loaded.locations.start_dir
        if not (case.needs_scratch or self._always_scratch):
            return loaded.project_dir, start
        if self._mirror is None:
            self._mirror = Mirror(loaded.project_dir)
        base = os.path.join(folder, "project")
        os.makedirs(base)
        await asyncio.to_thread(self._mirror.copy_to, base)
        cwd = os.path.normpath(os.path.join(base, os.path.relpath(start, loaded.project_dir)))
        os.makedirs(cwd, exist_ok=True)
        put_files(cwd, fill(dict(case.files), cwd))
        return base, cwd

    def _surroundings(self, case: Case, env: Mapping[str, str]) -> Surroundings:
        home = None if "HOME" in case.env else self._places.home
        return Surroundings.here(env, home, self._places.cwd)

    def _engine(self, case: Case, loaded: Loaded, base: str, folder: str) -> tuple[HookEngine, Background]:
        outer = self._places.env
        env = {**outer, **{name: Template(text).safe_substitute(outer) for name, text in fill(case.env, base).items()}}
        host = msgspec.structs.replace(self._surroundings(case, env).host(base, loaded.settings.env), config_dir=folder)
        background = Background()
        shared = self._sessions[self._key(case)].engine.executors
        executors: dict[Kind, Executor] = {**shared, Kind.COMMAND: CommandExecutor(host, background)}
        if case.model:
            executors |= _with_script(case.model)
        if case.faults:
            executors = Injector(case.faults).wrap(executors)
        engine = HookEngine(
            _chosen(case, loaded.hooks, sources_of(case, self._places)),
            host=host,
            executors=executors,
            background=background,
            gate=loaded.gate,
            options=Options(await_rewake=True),
        )
        return engine, background


def sources_of(case: Case, places: Places) -> tuple[str, ...]:
    """Return the settings a case loads.

    Law: those the caller chose; else those the case names; else, for a file in the user's configuration directory, the
    user's; else the project's and local ones. So the hooks of the user who runs them have no part in a project's cases.
    """
    if places.sources is not None:
        return places.sources
    if case.sources is not None:
        return case.sources
    around = places.surroundings
    path = os.path.realpath(os.path.join(around.cwd, case.path))
    return ("user",) if path.startswith(os.path.realpath(around.config_dir) + os.sep) else OWN


def _chosen(case: Case, hooks: HookSet, sources: Sequence[str]) -> HookSet:
    """Return the hooks a case is about; raise InvalidCase when it names none of them."""
    if not case.only:
        return hooks
    chosen = [entry for entry in hooks if any(names(pattern, entry.handler.label) for pattern in case.only)]
    if not chosen:
        known = ", ".join(dict.fromkeys(entry.handler.label for entry in hooks)) or "none"
        wanted = " or ".join(case.only)
        raise InvalidCase(
            f"{case.path}:{case.line}: `only: {wanted}` names no hook. The hooks loaded from "
            f"{', '.join(sources)} settings are: {known}"
        )
    return HookSet(chosen)


def held_back(loaded: Loaded) -> list[str]:
    """List the untrusted hooks: a run without them would prove nothing."""
    held = [entry.handler for entry in loaded.hooks if loaded.gate.check(entry.handler) is not None]
    return [f"{handler.label} ({handler.source})" for handler in held]


def need_trust(cases: Sequence[Case], loaded: Loaded) -> str | None:
    """Return why these cases may not run: untrusted hooks of the project, or code supplied by the cases."""
    if loaded.gate.policy is TrustPolicy.EVERYTHING:
        return None
    held = held_back(loaded)
    if held:
        what = f"{plural(len(held), 'hook')} of this project {'is' if len(held) == 1 else 'are'} not trusted"
        return (
            f"{what}, so the cases would prove nothing: {held[0]}. Review them with `hookwright trust`, or add --trust."
        )
    bringing = [case for case in cases if case.brings_code]
    if bringing:
        first = bringing[0]
        return f"{first.path}:{first.line}: `{first.name}` brings its own hooks. Review it, then add --trust."
    return None


def _problems(result: CaseResult) -> Iterator[Problem]:
    expect, cwd = result.case.expect, result.cwd
    if expect is None:
        yield NOTHING_EXPECTED
        return
    yield from compare(expect, result.outcome, cwd, result.files)
    yield from check("env_file", placed(expect.env_file, cwd), result.env_file or None)
    took = result.seconds * 1000
    if expect.max_ms is not UNSET and took > expect.max_ms:
        yield Problem("max_ms", f"expected at most {expect.max_ms:g} ms, took {took:.0f} ms")


def _env_files(folder: str) -> str:
    """Read the env files written by hooks."""
    texts = []
    for place, _, written in os.walk(os.path.join(folder, "session-env")):
        for name in sorted(written):
            with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
    return "".join(texts)


def _with_script(answer: str) -> dict[Kind, Executor]:
    """Replace the model with a script, so that the case gives the same result every time."""
    from hookwright.executors.agent import AgentExecutor
    from hookwright.executors.prompt import PromptExecutor
    from hookwright.models.script import Route, Script, ScriptedText, ScriptedTurn
    from hookwright.models.scripted import ScriptedModel

    route = Route("case", (ScriptedTurn((ScriptedText(answer),)),), match=re.compile(""), repeat=True)
    model = ScriptedModel(Script(route, (route,)))
    return {Kind.PROMPT: PromptExecutor(model), Kind.AGENT: AgentExecutor(model)}
