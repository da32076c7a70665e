"""What the hooks of a session need: the host's model, servers and tools, and their executors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec

from hookwright.background import Background
from hookwright.config import Loaded, Places
from hookwright.config.settings import Settings
from hookwright.executors.callback import FunctionExecutor, run_callback
from hookwright.executors.command import CommandExecutor, env_file_path
from hookwright.observers import Notice, RunStarted
from hookwright.processes.watchdog import Watchdog
from hookwright.projects.lookup import Search
from hookwright.protocol.handlers import Kind
from hookwright.protocol.host import Host
from hookwright.protocol.job import Executor, Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.replies import Reply

if TYPE_CHECKING:
    from hookwright.executors.agent import ToolBox
    from hookwright.executors.prompt import Judge
    from hookwright.mcp.servers import McpServers
    from hookwright.models.types import Model
    from hookwright.warm.workers import Workers

Messages = Callable[[], Sequence[Mapping[str, Json]]]


class Powers(msgspec.Struct, frozen=True, kw_only=True):
    """What the host provides to handlers that need more than a process."""

    model: Model | None = None
    servers: McpServers | None = None
    #: The conversation so far, for prompt hooks at the end of a turn and for function hooks.
    messages: Messages | None = None
    #: Answers prompt hooks instead of the model; None from it asks the model.
    judge: Judge | None = None
    #: Tools for agent hooks beyond reading, under the host's own permission rules.
    tools: ToolBox | None = None
    #: Whether a user can answer; hooks read it as `CLAUDE_CODE_SESSION_ATTENDED`.
    attended: bool = False
    #: Workers that outlive the session, of its project alone; None for workers that end with it.
    workers: Workers | None = None
    #: A watchdog that outlives the session; None for one of its own, if any.
    watchdog: Watchdog | None = None


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """With what a session runs its handlers, beyond what the host lends them."""

    #: The host's own executors, by kind.
    replaced: Mapping[Kind, Executor] = msgspec.field(default_factory=dict)
    #: Ends running hooks if this process is killed.
    watchdog: Watchdog | None = None
    #: Whether plain Python hooks run in warm interpreters without asking for it.
    warm: bool = False


class Wiring:
    """Connects an engine to what its handlers need, lazily, and closes everything with the session."""

    def __init__(self, places: Places, powers: Powers, closing: AsyncExitStack, means: Means) -> None:
        self.background = Background()
        self.watchdog = powers.watchdog if powers.watchdog is not None else means.watchdog
        self._workers: Workers | None = None
        self.env_files: dict[str, str] = {}
        self.places = places
        self._powers = powers
        self._closing = closing
        self._means = means
        self._made_model: Model | None = None

    def host(self, loaded: Loaded) -> Host:
        """Return the surroundings of the hooks."""
        return msgspec.structs.replace(loaded.host, attended=self._powers.attended)

    def executors(self, loaded: Loaded) -> dict[Kind, Executor]:
        """Build an executor for every kind; one that needs an extra or a model is built at its first use."""
        powers, env, settings = self._powers, self.places.env, loaded.settings
        return {
            Kind.COMMAND: self._commands(self.host(loaded)),
            Kind.CALLBACK: run_callback,
            Kind.FUNCTION: FunctionExecutor(powers.messages),
            Kind.HTTP: _Lazy(self._closing, lambda: _http(env, settings)),
            Kind.PROMPT: _Lazy(self._closing, lambda: _prompt(self._model(), env, powers)),
            Kind.AGENT: _Lazy(self._closing, lambda: _agent(self._model(), Search(env, self.watchdog), powers)),
            Kind.MCP_TOOL: _Lazy(self._closing, lambda: _mcp_tool(powers.servers)),
            **self._means.replaced,
        }

    def _commands(self, host: Host) -> CommandExecutor:
        """Build the command executor; its workers survive a reload of the settings."""
        workers = _Lazy(self._closing, lambda: self._worker_executor(host))
        warm = workers if self._means.warm else None
        return CommandExecutor(host, self.background, workers, self.watchdog, warm)

    def _worker_executor(self, host: Host) -> Executor:
        from hookwright.warm.executor import WorkerExecutor
        from hookwright.warm.workers import Workers

        workers = self._powers.workers
        if workers is None:
            workers = self._workers = Workers() if self._workers is None else self._workers
        return WorkerExecutor(CommandExecutor(host, self.background, watchdog=self.watchdog), workers)

    async def close_workers(self) -> None:
        """Stop the workers of this session, if there are any."""
        if self._workers is not None:
            await self._workers.aclose()

    def _model(self) -> Model:
        """Return the host's model, else build one that is closed with the session."""
        if self._made_model is None:
            self._made_model = self._powers.model
        if self._made_model is None:
            from hookwright.models import from_environment

            self._made_model = from_environment(self.places.env)
            self._closing.push_async_callback(self._made_model.close)
        return self._made_model

    def note_env_file(self, notice: Notice) -> None:
        """Remember, as an observer, which env files hooks were given; hooks start in order and end in any."""
        if isinstance(notice, RunStarted) and notice.job.event.rules.env_file and not notice.job.handler.shadow:
            job = notice.job
            config_dir = self.places.surroundings.config_dir
            self.env_files[env_file_path(config_dir, job.event, job.index)] = job.handler.label


class _Lazy:
    """An executor that is built when it is first called."""

    def __init__(self, closing: AsyncExitStack, make: Callable[[], Executor]) -> None:
        self._closing = closing
        self._make = make
        self._made: Executor | None = None

    async def __call__(self, job: Job) -> Reply:
        """Build the executor once, then pass the job on."""
        if self._made is None:
            self._made = self._make()
            close = getattr(self._made, "aclose", None)
            if close is not None:
                self._closing.push_async_callback(close)
        return await self._made(job)


def _http(env: Mapping[str, str], settings: Settings) -> Executor:
    from hookwright.executors.http import HttpExecutor

    return HttpExecutor(env, settings.allowed_http_hook_urls, settings.http_hook_allowed_env_vars)


def _prompt(model: Model, env: Mapping[str, str], powers: Powers) -> Executor:
    from hookwright.executors.prompt import PromptExecutor

    default = env.get("ANTHROPIC_SMALL_FAST_MODEL")
    return PromptExecutor(model, default_model=default, messages=powers.messages, judge=powers.judge)


def _agent(model: Model, search: Search, powers: Powers) -> Executor:
    from hookwright.executors.agent import AgentExecutor

    default = search.env.get("ANTHROPIC_SMALL_FAST_MODEL")
    return AgentExecutor(model, default_model=default, messages=powers.messages, tools=powers.tools, search=search)


def _mcp_tool(servers: McpServers | None) -> Executor:
    from hookwright.executors.mcp_tool import McpToolExecutor
    from hookwright.mcp.servers import McpServers

    return McpToolExecutor(servers if servers is not None else McpServers({}))
