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
from typing import Any

import msgspec
from msgspec import UNSET

from hookwright.background import Background
from hookwright.cases.case import Case, CaseResult, Problem
from hookwright.cases.compare import check, compare, placed, read_files
from hookwright.cases.files import put_files
from hookwright.cases.firing import fill, make_event
from hookwright.cases.inject import Injector
from hookwright.config import Loaded, Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.engine import HookEngine, Options
from hookwright.errors import HookwrightError
from hookwright.executors.command import CommandExecutor
from hookwright.projects.scratch import Mirror
from hookwright.protocol.handlers import Kind
from hookwright.protocol.job import Executor
from hookwright.protocol.wire import encode
from hookwright.session import HookSession, open_session
from hookwright.wiring import Powers

NOTHING_EXPECTED = Problem("expect", "nothing expected; write an expectation, or record the result with --update")


class Runner:
    """Runs cases in the configuration of one project; close it with `async with`."""

    def __init__(self, places: Places, *, powers: Powers | None = None, always_scratch: bool = False) -> None:
        self._places = places
        self._powers = powers
        self._always_scratch = always_scratch
        self._closing = AsyncExitStack()
        self._sessions: dict[bytes, HookSession] = {}
        self._temporary = ""
        self._numbers = itertools.count(1)
        self._mirror: Mirror | None = None

    async def __aenter__(self) -> Runner:
        folder = tempfile.TemporaryDirectory(prefix="hookwright-test-", ignore_cleanup_errors=True)
        self._temporary = os.path.realpath(self._closing.enter_context(folder))
        try:
            await self._session(None)
        except BaseException:  # a cancellation as well
            await self._closing.aclose()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._closing.aclose()

    @property
    def loaded(self) -> Loaded:
        """The configuration without any overlay."""
        return self._sessions[b""].loaded

    async def run_all(
        self, cases: Sequence[Case], jobs: int, report: Callable[[CaseResult], None] | None = None
    ) -> list[CaseResult]:
        """Run cases, at most `jobs` at once; return the results in the order of the cases."""
        slots = asyncio.Semaphore(jobs)
        for case in cases:
            await self._session(case.settings)

        async def one(case: Case) -> CaseResult:
            async with slots:
                result = await self.run(case)
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

    async def run(self, case: Case) -> CaseResult:
        """Run one case to its end, background hooks included."""
        loaded = (await self._session(case.settings)).loaded
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

    async def _session(self, overlay: Any) -> HookSession:
        """Open the session of one overlay; cases without an overlay share one session."""
        key = b"" if overlay is None else encode(overlay)
        if key not in self._sessions:
            places = self._places
            if overlay is not None:
                places = msgspec.structs.replace(places, settings=(*places.settings, key.decode()))
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
        shared = self._sessions[b"" if case.settings is None else encode(case.settings)].engine.executors
        executors: dict[Kind, Executor] = {**shared, Kind.COMMAND: CommandExecutor(host, background)}
        if case.model:
            executors |= _with_script(case.model)
        if case.faults:
            executors = Injector(case.faults).wrap(executors)
        engine = HookEngine(
            loaded.hooks,
            host=host,
            executors=executors,
            background=background,
            gate=loaded.gate,
            options=Options(await_rewake=True),
        )
        return engine, background


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
        return (
            f"{len(held)} hook(s) of this project are not trusted, so the cases would prove nothing: {held[0]}. "
            "Review them with `hookwright trust`, or add --trust."
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
    for place, _, names in os.walk(os.path.join(folder, "session-env")):
        for name in sorted(names):
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
