"""Run command hooks: what is started, where, with which environment, and how it ended."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from hookwright.background import Background
from hookwright.executors._moved import with_lost_file
from hookwright.processes import process as _process
from hookwright.processes.guard import RUN_VARIABLE, Launch, Started, mark_prefix, start_guarded
from hookwright.processes.watchdog import Watchdog
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler, OnFailure
from hookwright.protocol.host import Host
from hookwright.protocol.job import Executor, Job
from hookwright.protocol.jsontext import is_object
from hookwright.protocol.replies import Exited, Failed, Failure, Reply, TimedOut
from hookwright.protocol.secrets import scrubbed
from hookwright.protocol.wire import async_request
from hookwright.storage import make_folder

#: Placeholders of the exec form; the shell form reads the same names from its environment.
_OPTION = "CLAUDE_PLUGIN_OPTION_"
_USER_CONFIG = re.compile(r"\$\{user_config\.(\w+)\}")
_PLACEHOLDERS = ("CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA")
_POWERSHELL = ("pwsh", "-NoProfile", "-NonInteractive", "-Command")
#: Variables of an outer session that would be wrong in this one.
_NOT_INHERITED = ("CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_EFFORT", "CLAUDE_CODE_REMOTE")

#: Entries in the cache of environments, by handler and session.
_MOST_PREPARED = 1024


class _Prepared(msgspec.Struct, frozen=True):
    """What all events of one handler and session share; holding the handler keeps its id from being reused."""

    handler: CommandHandler
    env: Mapping[str, str]
    argv: tuple[str, ...]


class CommandExecutor:
    """Starts a process for each event and enforces its time limit."""

    def __init__(
        self,
        host: Host,
        background: Background | None = None,
        workers: Executor | None = None,
        watchdog: Watchdog | None = None,
        warm: Executor | None = None,
    ) -> None:
        self._host = host
        self._background = background
        #: Used instead for handlers with the key `worker` (`workers`) and for those without it (`warm`).
        self._workers = workers
        self._warm = warm
        #: Ends the processes if the host is killed.
        self._watchdog = watchdog
        self._base = base_environment(host)
        self._run_prefix = f"{RUN_VARIABLE}={mark_prefix(self._base)}"
        self._base.pop(RUN_VARIABLE, None)
        #: Environments and argument lists by handler and session; most events of a session share them.
        self._prepared: dict[tuple[int, str, str], _Prepared] = {}

    async def __call__(self, job: Job) -> Reply:
        """Run the hook to its end, or until it asks for the background."""
        reply = await self._replied(job)
        if job.event.cwd in ("", self._host.project_dir):
            return reply
        return with_lost_file(reply, job, self._host.project_dir)

    async def _replied(self, job: Job) -> Reply:
        handler = job.handler
        assert isinstance(handler, CommandHandler)
        if not handler.command.strip():
            return Failed(Failure.LAUNCH, "the command is empty; write the command to run")
        option = _option_in_shell(handler)
        if option is not None:
            # The shell would end with status 2, "bad substitution", and that would refuse every call.
            way = f"write ${_OPTION}{option.upper()}"
            return Failed(Failure.LAUNCH, f"${{user_config.{option}}} is not replaced in a shell command; {way}")
        instead = self._warm if handler.worker is None else self._workers
        if instead is not None:
            return await instead(job)
        try:
            process = self._start(job)
        except OSError as error:
            return Failed(Failure.LAUNCH, f"cannot create its env file: {error}")
        return await self.follow(job, process)

    def _start(self, job: Job) -> Started:
        """Start the command of a job; check its directory only if the start there fails."""
        if job.event.cwd:
            process = self.start(self._command(job, job.event.cwd), job.timeout)
            if isinstance(process, _process.Process) or process.blame != "cwd":
                return process
        return self.start(self.command(job), job.timeout)

    def start(self, command: _process.Command, limit: float | None, launch: Launch = _process.start) -> Started:
        """Start a command under the watchdog."""
        return start_guarded(command, limit, self._watchdog, launch)

    async def follow(self, job: Job, process: Started) -> Reply:
        """Wait for the process of a job, or move it to the background when it asks for that."""
        if isinstance(process, _process.NotStarted):
            return Failed(Failure.LAUNCH, process.message)
        if self._background is None or job.handler.background:
            return await _ended(process)
        first = await process.first_line()
        request = async_request(first) if first is not None else None
        if request is None or first is None or not may_leave(job):
            return _reply(process.result or await process.wait())
        if request.limit is not None:
            process.expire_after(request.limit)
        return self._background.adopt(job, _ended(process), first, process.pid)

    def command(self, job: Job) -> _process.Command:
        """Return the command of a job, without starting it."""
        return self._command(job, self._directory(job.event))

    def _command(self, job: Job, cwd: str) -> _process.Command:
        handler = job.handler
        assert isinstance(handler, CommandHandler)
        prepared = self._prepare(handler, job.event)
        env = prepared.env
        if job.event.rules.env_file:
            env = {**env, "CLAUDE_ENV_FILE": env_file(self._host.config_dir, job.event, job.index)}
        return _process.Command(
            argv=prepared.argv,
            cwd=cwd,
            env=env,
            stdin=job.payload,
            mark=self._run_prefix + job.run_id,
        )

    def _prepare(self, handler: CommandHandler, event: Event) -> _Prepared:
        effort = event.effort
        level = effort.get("level", "") if isinstance(effort, dict) else ""
        key = (id(handler), event.session_id, level)
        found = self._prepared.get(key)
        if found is None or found.handler is not handler:
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()
            env = MappingProxyType(self._environment(handler, event.session_id, level))
            found = self._prepared[key] = _Prepared(handler, env, arguments(handler, env))
        return found

    def _environment(self, handler: CommandHandler, session_id: str, level: str) -> dict[str, str]:
        env = {**self._base, "CLAUDE_CODE_SESSION_ID": session_id}
        if level:
            env["CLAUDE_EFFORT"] = level
        plugin, root = handler.source.plugin, handler.source.root
        if root is not None:
            env["CLAUDE_PLUGIN_ROOT"] = root
        if plugin is not None:
            env["CLAUDE_PLUGIN_DATA"] = plugin.data
            env.update((f"{_OPTION}{key.upper()}", value) for key, value in plugin.options)
        if self._host.hook_env is not None:
            env.update(self._host.hook_env(handler, env))
        return env

    def _directory(self, event: Event) -> str:
        """Return the first that exists of: the session's directory, the project, the home, the temporary folder."""
        for folder in (event.cwd, self._host.project_dir, self._host.home):
            if folder and os.path.isdir(folder):
                return folder
        import tempfile  # two milliseconds that most firings do not need

        return tempfile.gettempdir()


def may_leave(job: Job) -> bool:
    """Return whether a hook may leave for the background by its first line, `{"async": true}`.

    Law: it may, where that cannot undo a guard. A hook that fails closed is awaited. On an event that can be refused,
    so is a hook whose event holds the same words: then they may be the model's, printed by a hook that shows its input.
    """
    rules = job.event.rules
    if not rules.on_failure:
        return True
    return job.handler.on_failure is not OnFailure.BLOCK and _ASYNC not in _NO_SPACE.sub(b"", job.payload)


#: A request for the background, as it is found in any event that quotes it, without spaces and escapes.
_ASYNC = b'"async":true'
_NO_SPACE = re.compile(rb"\\u[0-9a-fA-F]{4}|\\[nrtfb]|[\s\\]")


def _option_in_shell(handler: CommandHandler) -> str | None:
    """Return the option of a plugin that its shell command names by placeholder, which no shell can read."""
    if handler.source.plugin is None or handler.args is not None:
        return None
    found = _USER_CONFIG.search(handler.command)
    return found[1] if found is not None else None


async def _ended(process: _process.Process) -> Reply:
    """Wait for the end; cancelling the wait ends the process with its group."""
    return _reply(await process.wait())


def _reply(ended: _process.Exit | _process.Expired) -> Reply:
    if isinstance(ended, _process.Expired):
        return TimedOut(ended.limit)
    output = ended.output
    signal: int | None = None
    match ended.status:
        case _process.ExitCode(code=code):
            status = code
        case _process.Signalled(number=number):
            status, signal = 128 + number, number
        case _process.Unknown():
            return Failed(Failure.LAUNCH, "exit status unknown: another part of this process reaped the child")
    stdout, stderr = output.stdout, output.stderr
    interleaved = output.merged() if stderr.total else stdout.data
    if ended.own < stdout.total and is_object(own := stdout.data[: ended.own]):
        return Exited(status, own, stderr.data, signal, 0, interleaved)  # what a child adds is not part of the answer
    return Exited(status, stdout.data, stderr.data, signal, stdout.total - len(stdout.data), interleaved)


def arguments(handler: CommandHandler, env: Mapping[str, str]) -> tuple[str, ...]:
    """Build the argument list: `sh -c` with the command as written, or the program with its arguments.

    No field of an event ever becomes part of a command (R-369); the shell form reads the placeholders from its
    environment, so a path is never inserted into shell text either.
    """
    if handler.args is not None:
        return tuple(_expand(word, env) for word in (handler.command, *handler.args))
    if handler.shell == "powershell":
        return (*_POWERSHELL, _for_powershell(handler.command))
    prefix = env.get("CLAUDE_CODE_SHELL_PREFIX")
    text = f"{prefix} {shlex.quote(handler.command)}" if prefix else handler.command
    return ("/bin/sh", "-c", text)


def _expand(word: str, env: Mapping[str, str]) -> str:
    for name in _PLACEHOLDERS:
        word = word.replace(f"${{{name}}}", env.get(name, f"${{{name}}}"))
    return word


def _for_powershell(text: str) -> str:
    for name in _PLACEHOLDERS:
        text = text.replace(f"${{{name}}}", f"${{env:{name}}}")
    return text


def base_environment(host: Host) -> dict[str, str]:
    """Build the environment of a session's hooks: inherited, settings' `env`, the session's own variables."""
    env = {name: value for name, value in host.env.items() if not name.startswith("OTEL_")}
    env = scrubbed({**env, **host.settings_env})
    for name in _NOT_INHERITED:
        env.pop(name, None)
    env.update(
        CLAUDECODE="1",
        CLAUDE_PROJECT_DIR=host.project_dir,
        CLAUDE_CODE_ENTRYPOINT=host.entrypoint,
        CLAUDE_CODE_CHILD_SESSION="1",
        CLAUDE_CODE_SESSION_ATTENDED="1" if host.attended else "0",
        CLAUDE_PID=str(os.getpid()),
        AI_AGENT="hookwright",
    )
    if host.remote:
        env["CLAUDE_CODE_REMOTE"] = "true"
    return env


def env_file_path(config_dir: str, event: Event, index: int) -> str:
    """Return the path of one hook's env file (R-309)."""
    session = event.session_id if re.fullmatch(r"[A-Za-z0-9_-]{1,128}", event.session_id) else "unnamed"
    return os.path.join(config_dir, "session-env", session, f"{event.event_name.lower()}-hook-{index}.sh")


def env_file(config_dir: str, event: Event, index: int) -> str:
    """Create the private, empty env file of one hook; each firing truncates it."""
    path = env_file_path(config_dir, event, index)
    make_folder(os.path.dirname(path))
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    return path
