"""Run one process: bytes in, bounded bytes out, exit detected at once, its whole group ended when time is up.

Laws
* The result is complete when the process exits. If a child of the process still holds a pipe, it is read for
  `Limits.drain` more seconds and then left alone.
* A process that reached its limit, was killed, or whose waiter was cancelled is ended with its group: SIGTERM (and
  SIGCONT, so that a stopped process sees it), then SIGKILL after `Limits.kill_after` to what is left. A process
  that made its own session or group gets SIGKILL at the end, if it still carries the command's mark.
* Afterwards nothing remains: no process of the group, descriptor, reader, timer, task or zombie. A process without
  a waiter is killed when it is garbage-collected, after its loop.

Out of reach: a process that left the group and took off the mark, or did so where the system has no /proc, and one
that we may not signal; after SIGKILL we wait a second for it, no longer, and reap it whenever it ends.

No process has its own task or thread: callbacks of the loop's selector drive it, with or without a waiter.
"""

from __future__ import annotations

import asyncio
import os
import signal
import warnings
from collections.abc import Callable

import msgspec

from hookwright.processes.capture import Capture, Captured, CapturedOutput
from hookwright.processes.exits import ExitCode, ExitWatch, Signalled, Status, Unknown, reap_within, watch_exit
from hookwright.processes.group import Group
from hookwright.processes.pipes import STDERR, STDIN, STDOUT, Pipes
from hookwright.processes.spawn import Command, NotStarted, explain, spawn

__all__ = [
    "Captured",
    "CapturedOutput",
    "Command",
    "Exit",
    "ExitCode",
    "Expired",
    "Limits",
    "NotStarted",
    "Process",
    "Signalled",
    "Status",
    "Unknown",
    "run",
    "start",
]

#: The size of a pipe.
_READ = 65536
#: Seconds before the selector watches the pipes: many processes end earlier, a pipe holds what they print until then,
#: and registering two descriptors for nothing costs 25 µs, 4 % of `sh -c true`.
_QUIET = 0.005
#: Longer first lines are not waited for.
_FIRST_LINE = 65536
#: Seconds in which a process must be gone after SIGKILL; one that is not cannot be killed by us.
_UNKILLABLE = 1.0
#: Seconds between checks of a group whose leader has gone; nothing announces the end of a group.
_CHECK_FIRST, _CHECK_LAST = 0.002, 0.05


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is kept of each stream in bytes, and how long the ends of a process may take in seconds."""

    stdout: int = 8 * 1024 * 1024
    stderr: int = 1024 * 1024
    drain: float = 0.5
    kill_after: float = 1.5


class Exit(msgspec.Struct, frozen=True):
    """The process ended by itself, or by a signal other than that of its time limit."""

    status: Status
    output: CapturedOutput
    seconds: float
    #: Bytes of stdout at the moment of the exit; more than that came from a child that holds the pipe.
    own: int = 0


class Expired(msgspec.Struct, frozen=True):
    """The process reached its time limit and was ended."""

    limit: float
    output: CapturedOutput


_DEFAULT = Limits()


async def run(command: Command, timeout: float | None = None, limits: Limits = _DEFAULT) -> Exit | Expired | NotStarted:
    """Run a command to its end; everything it does comes back as a value."""
    process = start(command, timeout, limits)
    return process if isinstance(process, NotStarted) else await process.wait()


def start(command: Command, timeout: float | None = None, limits: Limits = _DEFAULT) -> Process | NotStarted:
    """Start a command on the running loop; the caller must `wait` for the process or `kill` it."""
    loop = asyncio.get_running_loop()
    pipes = Pipes()
    try:
        pipes.open(command.stdin)
        pid = spawn(command, pipes.childs[STDIN], pipes.childs[STDOUT], pipes.childs[STDERR])
    except BaseException as problem:  # an interrupt must not leave a pipe open either
        pipes.close()
        if isinstance(problem, OSError | ValueError):
            return explain(command, problem)
        raise
    process = Process(loop, pid, pipes, limits, command.mark)
    try:
        process.begin(timeout)
    except OSError as problem:
        return explain(command, problem)
    return process


class Process:
    """A running process that reads its output and notices its end by itself."""

    # Class attributes, since most processes never change these: that saves an assignment per process.
    _seconds = 0.0
    _own = 0
    _exit_watch: ExitWatch | None = None
    _status: Status | None = None
    _ended: Exit | None = None
    _limit: float | None = None
    #: When the limit is reached; while the process is being ended, when SIGKILL is due.
    _deadline = 0.0
    _expired: float | None = None
    #: Whether the selector watches the pipes.
    _listening = False
    _ending = False
    _timer: asyncio.TimerHandle | None = None
    _pause = _CHECK_FIRST
    _line_waiters = 0
    #: Gets every chunk of stdout as it is read.
    _sink: Callable[[bytes], None] | None = None
    #: Called once, when the process and what must end with it have ended.
    on_end: Callable[[], None] | None = None

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, pipes: Pipes, limits: Limits, mark: str = "") -> None:
        self.pid = pid
        self._loop = loop
        self._pipes = pipes
        self._limits = limits
        self._group = Group(pid, mark)
        self._capture = Capture(limits.stdout, limits.stderr)
        self._started = loop.time()
        self._waiters: list[asyncio.Future[None]] = []

    def __del__(self) -> None:
        if self._ended is None:  # its loop is gone: a live loop's callbacks would hold the process
            self._abandon()
            message = f"process {self.pid} was neither waited for nor killed"
            warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    def begin(self, timeout: float | None) -> None:
        """Watch the process; `start` does this. When the loop refuses, end the process and raise."""
        try:
            self._pipes.leave_to_child()
            self._exit_watch = self._watch()
            if self._pipes.unsent:
                self._loop.add_writer(self._pipes.ours[STDIN], self._feed)
        except BaseException:  # nothing else would end it
            self._abandon()
            raise
        self._limit = timeout
        if timeout is not None:
            self._deadline = self._started + timeout
        self._arm(self._started)

    def _watch(self) -> ExitWatch:
        """Watch for the exit; a subclass whose process is not our child watches in another way."""
        return watch_exit(self._loop, self.pid, self._on_exit)

    def expire_after(self, seconds: float | None) -> None:
        """Set a new time limit, from now on; None removes it. It applies with or without a waiter."""
        if self._status is not None or self._ending:
            return
        self._limit = seconds
        now = self._loop.time()
        if seconds is not None:
            self._deadline = now + seconds
        self._arm(now)

    async def wait(self) -> Exit | Expired:
        """Wait until the process has ended; a waiter that is cancelled ends it."""
        while (result := self.result) is None:
            await self._change()
        return result

    @property
    def result(self) -> Exit | Expired | None:
        """How the process ended; None while it runs."""
        if self._ended is None or self._expired is None:
            return self._ended
        return Expired(self._expired, self._ended.output)

    def pour_into(self, sink: Callable[[bytes], None]) -> CapturedOutput:
        """Give a function what was kept of stdout so far and every later chunk; return what both streams had so far."""
        output = self._capture.output()
        sink(output.stdout.data)
        self._sink = sink
        return output

    async def first_line(self) -> bytes | None:
        """Wait for the first line on stdout that is not blank; None if none comes. If cancelled, end the process."""
        self._line_waiters += 1
        try:
            while True:
                stdout = self._capture.captured(STDOUT)
                line, newline, _ = stdout.data.lstrip().partition(b"\n")
                if self._expired is not None or stdout.total > _FIRST_LINE:
                    return None
                if newline or self._ended is not None:
                    return line or None
                await self._change()
        finally:
            self._line_waiters -= 1

    async def kill(self) -> Exit:
        """End the process and its group, and wait until they are gone; cancelled meanwhile, use SIGKILL at once."""
        self._terminate()
        cancelled = None
        while self._ended is None:
            try:
                await self._waiter()
            except asyncio.CancelledError as again:
                cancelled = again
                self._force()
            except GeneratorExit:
                self._abandon()
                raise
        if cancelled is not None:
            raise cancelled
        return self._ended

    async def _change(self) -> None:
        try:
            await self._waiter()
        except asyncio.CancelledError:
            await self.kill()
            raise
        except GeneratorExit:  # the loop is gone, and with it every later chance
            self._abandon()
            raise

    def _waiter(self) -> asyncio.Future[None]:
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def _notify(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _after(self, seconds: float, callback: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, callback)

    def _arm(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        when = self._deadline if self._limit is not None else None
        if not self._listening and (when is None or when > now + _QUIET):
            when = now + _QUIET
        if when is not None:
            self._timer = self._loop.call_at(when, self._tick)

    def _tick(self) -> None:
        if self._limit is not None and self._loop.time() >= self._deadline:
            self._expired = self._limit
            self._terminate()
            return
        listening, self._listening = self._listening, True
        self._arm(self._loop.time())
        if not listening:
            self._listen()

    def _listen(self) -> None:
        self._listening = True
        for stream in (STDOUT, STDERR):
            if stream in self._pipes.ours:
                self._loop.add_reader(self._pipes.ours[stream], self._read, stream)

    def _feed(self) -> None:
        self._pipes.feed()
        if not self._pipes.unsent:
            self._close_stdin()

    def _read(self, stream: int) -> None:
        self._take(stream)
        if self._status is not None and not self._ending and not self._pipes.ours:
            self._finish()

    def _take(self, stream: int) -> bool:
        """Read once; return whether there was anything."""
        try:
            chunk = os.read(self._pipes.ours[stream], _READ)
        except BlockingIOError:
            return False
        if not chunk:
            self._close_output(stream)
            return False
        self._capture.add(stream, chunk)
        if self._sink is not None and stream == STDOUT:
            self._sink(chunk)
        if self._line_waiters and stream == STDOUT:
            self._notify()
        return True

    def _on_exit(self, status: Status) -> None:
        self._status = status
        self._exit_watch = None
        if self._ended is not None:  # it was given up as unkillable
            return
        self._seconds = self._loop.time() - self._started
        if STDIN in self._pipes.ours:
            self._close_stdin()
        for stream in (STDOUT, STDERR):
            # A pipe's worth; the next read finds its end, unless a child holds it.
            if stream in self._pipes.ours and self._take(stream):
                self._take(stream)
        self._own = self._capture.captured(STDOUT).total
        if self._ending:
            self._check_group()
        elif not self._pipes.ours:
            self._finish()
        else:
            if not self._listening:
                self._listen()
            self._after(self._limits.drain, self._finish)

    def _terminate(self) -> None:
        if self._ended is not None or self._ending:
            return
        self._ending = True
        if not self._listening:
            self._listen()
        self._group.signal(signal.SIGTERM)
        self._group.signal(signal.SIGCONT)
        self._deadline = self._loop.time() + self._limits.kill_after
        self._after(self._limits.kill_after, self._force)
        if self._status is not None:
            self._check_group()

    def _check_group(self) -> None:
        """Finish when the group has ended; its leader is reaped."""
        if not self._group.alive():
            self._finish()
        elif self._loop.time() >= self._deadline:
            self._force()
        else:
            self._after(self._pause, self._check_group)
            self._pause = min(self._pause * 2, _CHECK_LAST)

    def _force(self) -> None:
        if self._ended is not None:
            return
        self._group.signal(signal.SIGKILL)
        if self._status is None:
            self._after(_UNKILLABLE, self._finish)
        else:
            self._finish()

    def _abandon(self) -> None:
        """End everything at once, without the loop's help."""
        if self._ended is not None:
            return
        self._ending = True
        self._group.signal(signal.SIGKILL)
        if self._status is None:
            self._status = reap_within(self.pid, _UNKILLABLE)
        if self._exit_watch is not None:
            self._exit_watch.close()
            self._exit_watch = None
        if self._loop.is_closed():
            self._waiters.clear()  # a closed loop wakes no waiter
        self._finish()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._ending:
            self._group.end_strays()
        if self._pipes.ours or self._pipes.childs:
            self._close_stdin()
            self._close_output(STDOUT)
            self._close_output(STDERR)
        status = Unknown() if self._status is None else self._status
        self._ended = Exit(status, self._capture.output(), self._seconds, self._own)
        self._notify()
        if self.on_end is not None:
            self.on_end()

    def _close_stdin(self) -> None:
        ours = self._pipes.ours
        if STDIN in ours:
            self._loop.remove_writer(ours[STDIN])
            os.close(ours.pop(STDIN))
        if STDIN in self._pipes.childs:
            os.close(self._pipes.childs.pop(STDIN))

    def _close_output(self, stream: int) -> None:
        fd = self._pipes.ours.pop(stream, None)
        if fd is not None:
            if self._listening:
                self._loop.remove_reader(fd)
            os.close(fd)
