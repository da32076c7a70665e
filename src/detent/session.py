"""The hooks of one session: loaded, wired to their executors, reloaded when their files change, ended together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from detent.background import Background
from detent.config import FileStatus, Loaded, load_hooks
from detent.config.settings import Settings
from detent.config.trust import TrustPolicy
from detent.diagnostics import Diagnostic, Severity
from detent.engine import HookEngine, Options
from detent.events import ConfigChange, Event
from detent.executors.callback import FunctionExecutor, run_callback
from detent.executors.command import CommandExecutor, env_file_path
from detent.executors.job import Executor, Job
from detent.handlers import Kind, MatcherGroup
from detent.host import Host
from detent.journal import Journal, state_dir
from detent.observers import Notice, Observer, RunStarted
from detent.outcome import Outcome
from detent.program import Hooks
from detent.recorder import RECORD_VARIABLE, Recorder
from detent.replies import Reply
from detent.sources import Component, Scope
from detent.watchdog import Watchdog

if TYPE_CHECKING:
    from detent.executors.agent import ToolBox
    from detent.mcp_servers import McpServers
    from detent.model import Model
    from detent.warm.workers import Workers

Messages = Callable[[], Sequence[Mapping[str, Any]]]


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where hooks are looked for, and whose word counts."""

    project: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(os.environ))
    home: str | None = None
    settings: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None
    plugin_dirs: tuple[str, ...] = ()
    trust: TrustPolicy | None = None
    state_dir: str | None = None
    #: Only managed hooks, as with `--safe-mode`.
    managed_only: bool = False

    def load(self) -> Loaded:
        """Read all configuration anew."""
        return load_hooks(
            self.project,
            env=self.env,
            home=self.home,
            settings=self.settings,
            sources=() if self.managed_only else self.sources,
            plugin_dirs=() if self.managed_only else self.plugin_dirs,
            trust=self.trust,
            state_dir=self.state_dir,
        )


class Powers(msgspec.Struct, frozen=True, kw_only=True):
    """What the host lends to handlers that need more than a process."""

    model: Model | None = None
    servers: McpServers | None = None
    #: The conversation so far, for prompt hooks at the end of a turn and for function hooks.
    messages: Messages | None = None
    #: Tools for agent hooks beyond reading, under the host's own permission rules.
    tools: ToolBox | None = None


class HookSession:
    """Fires events at hooks that may change while the session runs."""

    def __init__(self, places: Places, loaded: Loaded, engine: HookEngine, wiring: Wiring, frozen: bool) -> None:
        self.places = places
        self.loaded = loaded
        self.engine = engine
        #: What a user should hear: reloads, kept and refused changes. Whoever shows them empties the list.
        self.notices: list[Diagnostic] = []
        self._wiring = wiring
        self._frozen = frozen
        self._stamps = _stamps(loaded)
        self._added: list[MatcherGroup] = []

    @property
    def background(self) -> Background:
        """The hooks that outlive their events."""
        return self._wiring.background

    async def fire(self, event: Event) -> Outcome:
        """Take up changed settings, then fire the event."""
        await self.refresh(event)
        return await self.engine.fire(event)

    def env_files(self) -> list[tuple[str, str]]:
        """List what hooks persisted through CLAUDE_ENV_FILE: (hook, path), in hook order."""
        return [(label, path) for path, label in self._wiring.env_files.items() if _has_content(path)]

    # ── changes while the session runs ──────────────────────────────────────

    def activate(self, groups: Sequence[MatcherGroup]) -> None:
        """Add the hooks of a skill, an agent or a plugin from now on."""
        fresh = [group for group in groups if group not in self._added]
        self._added += fresh
        self.loaded.gate.admit(fresh)
        self._apply()

    def deactivate(self, component: Component) -> None:
        """Remove the hooks of a component."""
        self._added = [
            group for group in self._added if any(handler.source.component != component for handler in group.handlers)
        ]
        self._apply()

    def _apply(self) -> None:
        self.engine.hooks = self.loaded.hooks.plus(self._added, self.loaded.hold)

    async def refresh(self, event: Event) -> None:
        """Look at the settings files; fire ConfigChange with the old hooks, then take the new ones unless blocked.

        Law (D12, R-361 … R-363): a change counts from the next event on; a file that broke keeps the last good hooks
        and is reported; a blocked change is not taken up until the file changes again; a frozen session never looks.
        """
        changed = () if self._frozen else [path for path, stamp in self._stamps.items() if _stamp(path) != stamp]
        if not changed:
            return
        self._stamps = {path: _stamp(path) for path in self._stamps}
        new = self.places.load()
        broken = _newly_broken(self.loaded, new)
        if broken:
            self.notices += broken
            return
        for path in changed:
            outcome = await self.engine.fire(_config_change(event, _scope_of(path, new), path))
            if outcome.blocked:
                text = f"{path} changed; a ConfigChange hook keeps the change from being applied"
                self.notices.append(Diagnostic("reload-kept", text, None, Severity.INFO))
                return
        self.notices.append(
            Diagnostic("reloaded", f"{', '.join(changed)} changed; hooks reloaded", None, Severity.INFO)
        )
        self.notices += [diagnostic for diagnostic in new.diagnostics if diagnostic not in self.loaded.diagnostics]
        self._take(new)

    def reload(self) -> None:
        """Read all configuration anew without asking anybody: a person just trusted what it says."""
        self._take(self.places.load())

    def _take(self, new: Loaded) -> None:
        self.loaded, self._stamps = new, _stamps(new)
        new.gate.admit(self._added)
        self._wiring.rewire(self.engine, new)
        self._apply()


class Wiring:
    """Connects an engine to what its handlers need, lazily, and closes all of it with the session."""

    def __init__(self, places: Places, powers: Powers, closing: AsyncExitStack) -> None:
        self.background = Background()
        self.watchdog: Watchdog | None = None
        #: Whether plain Python hooks run in held interpreters without asking for it.
        self.warm = False
        self._workers: Workers | None = None
        self.env_files: dict[str, str] = {}
        self._places = places
        self._powers = powers
        self._closing = closing
        self._made_model: Model | None = None

    def host(self, loaded: Loaded) -> Host:
        """Describe the surroundings of the hooks."""
        return Host.here(loaded.project_dir, loaded.settings.env, self._places.env)

    def rewire(self, engine: HookEngine, loaded: Loaded) -> None:
        """Give an engine the executors and the gate of newly loaded settings."""
        engine.host = self.host(loaded)
        engine.executors = self.executors(loaded)
        engine.gate = loaded.gate.check

    def executors(self, loaded: Loaded) -> dict[Kind, Executor]:
        """Make an executor for every kind; what needs an extra or a model is made at its first use."""
        powers, env, settings = self._powers, self._places.env, loaded.settings
        return {
            Kind.COMMAND: self._commands(self.host(loaded)),
            Kind.CALLBACK: run_callback,
            Kind.FUNCTION: FunctionExecutor(powers.messages),
            Kind.HTTP: _Lazy(self._closing, lambda: _http(env, settings)),
            Kind.PROMPT: _Lazy(self._closing, lambda: _prompt(self._model(), env, powers)),
            Kind.AGENT: _Lazy(self._closing, lambda: _agent(self._model(), env, powers)),
            Kind.MCP_TOOL: _Lazy(self._closing, lambda: _mcp_tool(powers.servers)),
        }

    def _commands(self, host: Host) -> CommandExecutor:
        """Ask workers for the handlers that want one; those that run outlive a reload of the settings."""
        workers = _Lazy(self._closing, lambda: self._worker_executor(host))
        warm = workers if self.warm else None
        return CommandExecutor(host, self.background, workers, self.watchdog, warm)

    def _worker_executor(self, host: Host) -> Executor:
        from detent.warm.executor import WorkerExecutor
        from detent.warm.workers import Workers

        if self._workers is None:
            self._workers = Workers()
        return WorkerExecutor(CommandExecutor(host, self.background, watchdog=self.watchdog), self._workers)

    async def close_workers(self) -> None:
        """End the workers, if there are any."""
        if self._workers is not None:
            await self._workers.aclose()

    def _model(self) -> Model:
        """Take the host's model, else make one that is closed with the session."""
        if self._made_model is None:
            self._made_model = self._powers.model
        if self._made_model is None:
            from detent.models import from_environment

            self._made_model = from_environment(self._places.env)
            self._closing.push_async_callback(self._made_model.close)
        return self._made_model

    def note_env_file(self, notice: Notice) -> None:
        """Remember, as an observer, which env files were handed out; hooks start in their order and end in any."""
        if isinstance(notice, RunStarted) and notice.job.event.rules.env_file:
            job = notice.job
            config_dir = Host.here(".", env=self._places.env).config_dir
            self.env_files[env_file_path(config_dir, job.event, job.index)] = job.handler.label


class _Lazy:
    """An executor that is made when it is first asked."""

    def __init__(self, closing: AsyncExitStack, make: Callable[[], Executor]) -> None:
        self._closing = closing
        self._make = make
        self._made: Executor | None = None

    async def __call__(self, job: Job) -> Reply:
        """Make the executor once, then pass the job on."""
        if self._made is None:
            self._made = self._make()
            close = getattr(self._made, "aclose", None)
            if close is not None:
                self._closing.push_async_callback(close)
        return await self._made(job)


def _http(env: Mapping[str, str], settings: Settings) -> Executor:
    from detent.executors.http import HttpExecutor

    return HttpExecutor(env, settings.allowed_http_hook_urls, settings.http_hook_allowed_env_vars)


def _prompt(model: Model, env: Mapping[str, str], powers: Powers) -> Executor:
    from detent.executors.prompt import PromptExecutor

    return PromptExecutor(model, default_model=env.get("ANTHROPIC_SMALL_FAST_MODEL"), messages=powers.messages)


def _agent(model: Model, env: Mapping[str, str], powers: Powers) -> Executor:
    from detent.executors.agent import AgentExecutor

    return AgentExecutor(
        model, default_model=env.get("ANTHROPIC_SMALL_FAST_MODEL"), messages=powers.messages, tools=powers.tools
    )


def _mcp_tool(servers: McpServers | None) -> Executor:
    from detent.executors.mcp_tool import McpToolExecutor
    from detent.mcp_servers import McpServers

    return McpToolExecutor(servers if servers is not None else McpServers({}))


@asynccontextmanager
async def open_session(
    places: Places | str = ".",
    *,
    hooks: Hooks | None = None,
    powers: Powers | None = None,
    observers: Sequence[Observer] = (),
    options: Options | None = None,
    journal: bool = False,
    frozen: bool = False,
    watchdog: bool = False,
) -> AsyncIterator[HookSession]:
    """Load the hooks of a project and keep them, their executors and their background work for a session.

    With `watchdog` a process beside this one ends running hooks if this one is killed.
    """
    where = Places(project=places) if isinstance(places, str) else places
    loaded = where.load()
    async with AsyncExitStack() as closing:
        wiring = Wiring(where, powers if powers is not None else Powers(), closing)
        if watchdog:
            wiring.watchdog = Watchdog()
            closing.push_async_callback(wiring.watchdog.aclose)
        wiring.warm = options is not None and options.warm
        closing.push_async_callback(wiring.close_workers)  # after the background, whose hooks may be theirs
        closing.push_async_callback(wiring.background.aclose)
        listeners = [*observers, wiring.note_env_file]
        if journal:
            folder = where.state_dir or state_dir(where.env)
            listeners.append(Journal(folder, lambda note: session.notices.append(note)))
        if record := where.env.get(RECORD_VARIABLE):
            listeners.append(Recorder(record))
        engine = HookEngine(
            loaded.hooks,
            host=wiring.host(loaded),
            executors=wiring.executors(loaded),
            background=wiring.background,
            gate=loaded.gate.check,
            observers=listeners,
            options=options,
        )
        session = HookSession(where, loaded, engine, wiring, frozen)
        if hooks is not None:
            session.activate(hooks.groups)
        yield session


def fire_sync(event: Event, places: Places | str = ".", *, hooks: Hooks | None = None) -> Outcome:
    """Fire one event from a plain script, where no event loop runs; background hooks run to their end."""

    async def fire() -> Outcome:
        async with open_session(places, hooks=hooks, options=Options(await_rewake=True), frozen=True) as session:
            outcome = await session.engine.fire(event)
            await session.background.wait()
            return outcome

    return asyncio.run(fire())


# ── files that may change ───────────────────────────────────────────────────

Stamp = tuple[int, int, int] | None


def _stamp(path: str) -> Stamp:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _stamps(loaded: Loaded) -> dict[str, Stamp]:
    return {file.path: _stamp(file.path) for file in loaded.files if file.path}


def _newly_broken(old: Loaded, new: Loaded) -> list[Diagnostic]:
    """Report a file that was good and cannot be read now, with what is wrong in it."""
    before = {file.path for file in old.files if file.status is FileStatus.BROKEN}
    broken = [file.path for file in new.files if file.status is FileStatus.BROKEN and file.path not in before]
    if not broken:
        return []
    text = f"{', '.join(broken)} cannot be read as it is now; the last good hooks stay in force"
    return [
        Diagnostic("reload-kept", text),
        *(diagnostic for diagnostic in new.diagnostics if diagnostic not in old.diagnostics),
    ]


_CHANGE_SOURCES = {
    Scope.MANAGED: "policy_settings",
    Scope.USER: "user_settings",
    Scope.PROJECT: "project_settings",
    Scope.LOCAL: "local_settings",
}


def _scope_of(path: str, loaded: Loaded) -> str:
    scopes = {file.path: file.scope for file in loaded.files}
    return _CHANGE_SOURCES.get(scopes.get(path, Scope.USER), "user_settings")


def _config_change(event: Event, source: str, path: str) -> ConfigChange:
    return ConfigChange(
        session_id=event.session_id,
        transcript_path=event.transcript_path,
        cwd=event.cwd,
        prompt_id=event.prompt_id,
        source=source,
        file_path=path,
    )


def _has_content(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
