"""The commands of one session: in the foreground, in the background, and what they leave running."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import secrets
import shlex
import shutil
import signal
from collections.abc import Callable, Mapping

import msgspec

from hookwright.processes.group import Group
from hookwright.processes.guard import RUN_VARIABLE, mark_prefix, start_guarded
from hookwright.processes.process import (
    CapturedOutput,
    Command,
    Exit,
    ExitCode,
    Expired,
    NotStarted,
    Process,
    Signalled,
    Status,
)
from hookwright.processes.watchdog import Watchdog
from hookwright.storage import make_folder

#: Bytes of output after which a background command is ended.
OUTPUT_LIMIT = 1024 * 1024 * 1024
#: Seconds after which a command that moved to the background is ended.
MOVED_LIMIT = 1800.0
_EXPIRED = 143
_LOOK = 5.0
#: Seconds between SIGTERM and SIGKILL for processes left by commands.
_GRACE = 1.5


class BackgroundShell(msgspec.Struct, frozen=True):
    """A command that runs in the background."""

    id: str
    command: str
    description: str
    #: Where its stdout and stderr go.
    output: str


class MovedShell(msgspec.Struct, frozen=True):
    """A command that reached its time limit and now runs in the background."""

    task: BackgroundShell
    #: What it had printed until then.
    printed: CapturedOutput


class ShellEnded(msgspec.Struct, frozen=True):
    """The end of a background command."""

    task: BackgroundShell
    #: Exit code, 128+n after signal n.
    status: int
    #: It was ended: by its session, on request, or because it printed too much.
    killed: bool


def exit_code(status: Status) -> int:
    """Return the exit code a shell would show; 1 where it is unknown."""
    match status:
        case ExitCode(code=code):
            return code
        case Signalled(number=number):
            return 128 + number
        case _:
            return 1


def find_shell(env: Mapping[str, str]) -> str:
    """Return the path of bash, or the system's own shell."""
    return shutil.which("bash", path=env.get("PATH", os.defpath)) or "/bin/sh"


class Shells:
    """Owns every process started by Bash calls, until `aclose`."""

    def __init__(
        self,
        folder: str,
        on_end: Callable[[ShellEnded], None] | None = None,
        watchdog: Watchdog | None = None,
        on_start: Callable[[BackgroundShell], None] | None = None,
    ) -> None:
        self._folder = folder
        #: Called for each background command that ended, so that the model can be informed.
        self.on_end = on_end
        #: Called for each background command that starts.
        self.on_start = on_start
        self._running: dict[str, tuple[BackgroundShell, Process]] = {}
        self._watchers: set[asyncio.Task[None]] = set()
        self._killed: set[str] = set()
        self._left: set[int] = set()
        #: Informed of every process, to end it if the session is killed.
        self.watchdog = watchdog
        self._marks = ""
        self._numbers = itertools.count(1)

    async def run(self, command: Command, timeout: float) -> Exit | Expired | NotStarted:
        """Run a command to its end or its time limit; cancelling ends it with everything it started."""
        process = self._begin(command, timeout)
        if isinstance(process, NotStarted):
            return process
        try:
            return await process.wait()
        finally:
            self._note_left(process)

    async def run_or_move(
        self, command: Command, timeout: float, text: str, description: str
    ) -> Exit | MovedShell | NotStarted:
        """Run a command to its end; one that reaches its time limit runs on in the background, within `MOVED_LIMIT`."""
        process = self._begin(command)
        if isinstance(process, NotStarted):
            return process
        waiting = asyncio.ensure_future(process.wait())
        moved = False
        try:
            moved = not (await asyncio.wait({waiting}, timeout=timeout))[0]
            if not moved:
                return _by_itself(waiting.result())
        finally:
            if not moved:
                waiting.cancel()
                await asyncio.wait({waiting})
                self._note_left(process)
        task = self._task(text, description)
        process.expire_after(MOVED_LIMIT)
        fd = os.open(task.output, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        printed = process.pour_into(lambda chunk: _write(fd, chunk))
        waiting.add_done_callback(lambda _: os.close(fd))
        self._accompany(task, process, waiting)
        return MovedShell(task, printed)

    def _note_left(self, process: Process) -> None:
        self._left = {group for group in (*self._left, process.pid) if _exists(group)}

    def _begin(self, command: Command, timeout: float | None = None) -> Process | NotStarted:
        """Start a command under its own mark; the watchdog forgets it once nothing of it is left."""
        if not self._marks:
            self._marks = mark_prefix(command.env)
        mark = f"{self._marks}bash-{next(self._numbers)}"
        env = {**command.env, RUN_VARIABLE: mark}
        command = msgspec.structs.replace(command, env=env, mark=f"{RUN_VARIABLE}={mark}")
        watchdog = self.watchdog
        process = start_guarded(command, timeout, watchdog)
        if isinstance(process, Process) and watchdog is not None:
            process.on_end = lambda: None if _exists(process.pid) else watchdog.release(command.mark)
        return process

    def start(self, command: Command, text: str, description: str) -> BackgroundShell | NotStarted:
        """Start a command in the background; its output goes to a file."""
        task = self._task(text, description)
        argv = (*command.argv[:-1], f"exec >{shlex.quote(task.output)} 2>&1; {command.argv[-1]}")
        process = self._begin(msgspec.structs.replace(command, argv=argv))
        if isinstance(process, NotStarted):
            os.unlink(task.output)
            return process
        self._accompany(task, process, asyncio.ensure_future(process.wait()))
        return task

    def _task(self, text: str, description: str) -> BackgroundShell:
        """Name a background command and create the empty file for its output."""
        name = f"b{secrets.token_hex(4)}"
        folder = os.path.join(self._folder, "tasks")
        make_folder(folder)
        output = os.path.join(folder, f"{name}.output")
        os.close(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        return BackgroundShell(name, text, description, output)

    def _accompany(self, task: BackgroundShell, process: Process, waiting: asyncio.Future[Exit | Expired]) -> None:
        self._running[task.id] = (task, process)
        if self.on_start is not None:
            self.on_start(task)
        watcher = asyncio.ensure_future(self._watch(task, process, waiting))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)

    async def _watch(self, task: BackgroundShell, process: Process, waiting: asyncio.Future[Exit | Expired]) -> None:
        try:
            while not (await asyncio.wait({waiting}, timeout=_LOOK))[0]:
                if _size(task.output) > OUTPUT_LIMIT:
                    await self.kill(task.id)
            ended = await waiting
        finally:
            waiting.cancel()
            self._running.pop(task.id, None)
            self._note_left(process)
        expired = isinstance(ended, Expired)
        if self.on_end is not None:
            status = _EXPIRED if isinstance(ended, Expired) else exit_code(ended.status)
            self.on_end(ShellEnded(task, status, expired or task.id in self._killed))

    def running(self) -> tuple[BackgroundShell, ...]:
        """Return the background commands that have not ended."""
        return tuple(task for task, _ in self._running.values())

    async def kill(self, name: str) -> bool:
        """End a background command; return False when there is none of that name."""
        if name not in self._running:
            return False
        self._killed.add(name)
        await self._running[name][1].kill()
        return True

    async def aclose(self) -> None:
        """End everything the commands of this session started, except what moved to its own session."""
        await asyncio.gather(*(self.kill(name) for name in list(self._running)))
        if self._watchers:
            await asyncio.wait(self._watchers)
        await _end_groups(self._left)
        self._left = set()


def _by_itself(ended: Exit | Expired) -> Exit:
    assert isinstance(ended, Exit)  # it had no limit of its own
    return ended


def _write(fd: int, data: bytes) -> None:
    """Append to a file; a full disk loses output, not the command."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(fd, data) :]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _exists(group: int) -> bool:
    """Return whether a process group has members, zombies included."""
    return Group(group).signal(0)


def _runs(group: int) -> bool:
    """Return whether a member of a process group runs."""
    return Group(group).alive()


async def _end_groups(groups: set[int]) -> None:
    for number, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 0.0)):
        for group in filter(_runs, groups):
            with contextlib.suppress(OSError):
                os.killpg(group, number)
        until = asyncio.get_running_loop().time() + patience
        while any(map(_runs, groups)) and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # nothing announces the end of a group
