"""One hook process that stays: the host's side of the worker protocol (docs/workers.md).

Laws
* One event at a time. Whatever breaks the protocol, the time limit or the waiter's patience ends the process with its
  group; an answer is never taken for that of another event.
* A process that dies over an event is the reply to that event, as it would be without a worker; the event is not
  tried again.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Mapping

import msgspec

from hookwright.processes.exits import ExitCode, Signalled, Status, watch_exit
from hookwright.processes.group import Group
from hookwright.processes.spawn import Command, spawn
from hookwright.protocol.replies import Exited, Failed, Failure, Reply, TimedOut
from hookwright.warm.plan import Unusual
from hookwright.warm.zygote import NamedStamp, stamp_of, varies

#: An answer that is longer is none, and what is printed beyond that is not kept; the limits of any process.
_LONGEST = 8 * 1024 * 1024
_PRINTED = 1024 * 1024
_READ = 65536
#: The most that a pipe holds.
_PIPE = 1024 * 1024
#: A worker that answers within so many seconds is waited for; starting a process keeps the loop as long.
_AT_ONCE = 0.0003
#: Descriptors that `select` can wait for.
_SELECTABLE = 1024
#: Seconds from SIGTERM to SIGKILL, and how long an idle process may take to notice the end of its stdin.
_KILL_AFTER = 1.5
_LEAVE = 0.5
#: Files of the hook that are watched for changes.
_WATCHED = 256


class Greeting(msgspec.Struct, frozen=True):
    """The first line of a worker: the protocol that it speaks, and the files it is made of."""

    worker: int
    files: tuple[str, ...] = ()


class WorkerAnswer(msgspec.Struct, frozen=True):
    """The line that answers one event: what a process would have printed, and its exit status."""

    id: int
    exit: int = 0
    stdout: str = ""
    stderr: str = ""


_greeting = msgspec.json.Decoder(Greeting)
_answer = msgspec.json.Decoder(WorkerAnswer)


class Resident:
    """A worker process and what passes between it and us."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.asked = 0
        self._loop = asyncio.get_running_loop()
        self.started = self._loop.time()
        self._gone: asyncio.Future[Status] = self._loop.create_future()
        self._waiting: asyncio.Future[bytes | None] | None = None
        self._received = bytearray()
        self._printed = bytearray()
        self._unsent = memoryview(b"")
        self._stamps: tuple[NamedStamp, ...] = ()
        self._env: Mapping[str, str] = command.env
        self._changes: Mapping[str, str | None] = {}
        self._broken = False
        self._quick = False
        child_in, self._in = os.pipe()
        self._out, child_out = os.pipe()
        self._err, child_err = os.pipe()
        try:
            for ours in (self._in, self._out, self._err):
                os.set_blocking(ours, False)
            self.pid = spawn(_as_worker(command), child_in, child_out, child_err)
            watch_exit(self._loop, self.pid, self._on_exit)
        except BaseException:  # whatever it is, the pipes are ours
            for ours in (self._in, self._out, self._err):
                os.close(ours)
            raise
        finally:
            for childs in (child_in, child_out, child_err):
                os.close(childs)
        self._group = Group(self.pid, command.mark)
        self._loop.add_reader(self._out, self._on_output)
        self._loop.add_reader(self._err, self._on_print)
        self._poll = select.poll()
        self._poll.register(self._err, select.POLLIN)

    # ── what it is asked ────────────────────────────────────────────────────

    async def greeting(self, limit: float) -> Unusual | None:
        """Wait for its first line; say why it is no worker, after ending it."""
        line = await self._line(limit)
        try:
            greeting = _greeting.decode(line) if line is not None else None
        except msgspec.DecodeError:
            greeting = None
        if greeting is not None and greeting.worker == 1:
            stamps = (stamp_of(path) for path in greeting.files[:_WATCHED])
            self._stamps = tuple(stamp for stamp in stamps if stamp is not None)
            return None
        await self.end()
        said = (line or bytes(self._printed))[:200].decode("utf-8", "replace").strip()
        return Unusual(f"it does not speak the worker protocol: {said!r} instead of a greeting")

    async def ask(self, command: Command, limit: float | None) -> Reply:
        """Hand over an event and wait for its answer."""
        self.asked += 1
        self._printed.clear()
        self._send(self._request(command))
        began = self._loop.time()
        line = self._ready_line() or self._line_at_once() or await self._line(limit)
        self._quick = self._loop.time() - began < _AT_ONCE
        if self._endless:
            await self.end()
            return Failed(Failure.ANSWER, f"the worker's answer is longer than {_LONGEST} bytes")
        if line is None and limit is not None and not self._gone.done():
            await self.end()
            return TimedOut(limit)
        if line is None:
            return _death(await self._gone, bytes(self._printed))
        if self._poll.poll(0):
            self._on_print()  # what it printed before it answered is in the pipe by now
        try:
            answer = _answer.decode(line)
        except msgspec.DecodeError as error:
            await self.end()
            return Failed(Failure.ANSWER, f"the worker's line is no answer: {error}")
        if answer.id != self.asked:
            await self.end()
            return Failed(Failure.ANSWER, f"the worker answered event {answer.id} instead of {self.asked}")
        stdout, stderr = answer.stdout.encode("utf-8", "replace"), answer.stderr.encode("utf-8", "replace")
        stderr = bytes(self._printed) + stderr if self._printed else stderr
        return Exited(answer.exit & 0xFF, stdout, stderr, interleaved=stderr + stdout)

    def usable(self) -> bool:
        """Tell whether it can be asked again."""
        return not (self._broken or self._gone.done() or self._received)

    def fits(self, command: Command) -> bool:
        """Tell whether a new process would be the same program in the same surroundings."""
        if any(stamp_of(stamp[0]) != stamp for stamp in self._stamps):
            return False
        self._note_changes(command)
        return all(map(varies, self._changes))

    def memory(self) -> int:
        """Tell how many bytes it has in memory; 0 where the system does not say."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def _request(self, command: Command) -> bytes:
        """Put the event, as it was serialised for all handlers, into its envelope."""
        if self._env is not command.env:
            self._note_changes(command)
        name, _, value = command.mark.partition("=")
        changes = {**self._changes, name: value} if name else self._changes
        head = msgspec.json.encode({"id": self.asked, "cwd": command.cwd, "env": changes})
        return b'%b,"event":%b}\n' % (head[:-1], command.stdin.rstrip(b"\n"))

    def _note_changes(self, command: Command) -> None:
        """Note which variables differ from those of the event before."""
        before, now = self._env, command.env
        if before is now:
            self._changes = {}
            return
        changes: dict[str, str | None] = {name: value for name, value in now.items() if before.get(name) != value}
        if before.keys() - now.keys():
            changes.update((name, None) for name in before if name not in now)
        self._env, self._changes = now, changes

    # ── the wire ────────────────────────────────────────────────────────────

    def _line_at_once(self) -> bytes | None:
        """Wait for a worker that was quick before, without the loop: two turns of it cost more than the answer."""
        if not self._quick or self._out >= _SELECTABLE:
            return None
        select.select((self._out,), (), (), _AT_ONCE)
        return self._ready_line()

    async def _line(self, limit: float | None) -> bytes | None:
        """Wait for one line; None when there is none within the limit or at all."""
        if self._gone.done():
            return None
        waiting: asyncio.Future[bytes | None] = self._loop.create_future()
        self._waiting = waiting
        timer = self._loop.call_later(limit, self._break) if limit is not None else None
        try:
            return await waiting
        except asyncio.CancelledError:
            await self.end()
            raise
        finally:
            self._waiting = None
            if timer is not None:
                timer.cancel()

    def _break(self) -> None:
        self._broken = True
        self._resolve(None)

    def _resolve(self, line: bytes | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(line)

    def _send(self, data: bytes) -> None:
        self._unsent = memoryview(data)
        self._write()
        if self._unsent:
            self._loop.add_writer(self._in, self._feed)

    def _feed(self) -> None:
        self._write()
        if not self._unsent:
            self._loop.remove_writer(self._in)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            return
        except OSError:  # it closed its stdin; what it makes of that, its exit or the time limit will tell
            self._unsent = memoryview(b"")

    def _on_output(self) -> None:
        line = self._ready_line()
        if line is not None and self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(line)
        elif line is not None or self._endless:
            self._break()

    @property
    def _endless(self) -> bool:
        return len(self._received) > _LONGEST

    def _ready_line(self) -> bytes | None:
        """Read what has come; give the line that is complete by that."""
        chunk = self._read(self._out)
        if not self._received and chunk.endswith(b"\n") and chunk.find(b"\n") == len(chunk) - 1:
            return chunk
        self._received += chunk
        end = self._received.find(b"\n", max(0, len(self._received) - len(chunk)))
        if end < 0:
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _on_print(self) -> None:
        self._printed += self._read(self._err)[: max(0, _PRINTED - len(self._printed))]

    def _read(self, stream: int) -> bytes:
        try:
            chunk = os.read(stream, _READ)
        except BlockingIOError:
            return b""
        if not chunk:
            self._loop.remove_reader(stream)  # its end comes through the exit watch
        return chunk

    # ── its end ─────────────────────────────────────────────────────────────

    async def leave(self) -> None:
        """Let an idle worker go: its stdin ends, and if it does not understand that, so does it."""
        self._broken = True
        if not self._gone.done():
            self._loop.remove_writer(self._in)
            os.close(self._in)
            self._in = -1
            await asyncio.wait((self._gone,), timeout=_LEAVE)
        await self.end()

    async def end(self) -> None:
        """End it with its group and wait until it is gone; if nobody can wait, at once."""
        self._broken = True
        if self._gone.done():
            return
        self._group.signal(signal.SIGTERM)
        self._group.signal(signal.SIGCONT)
        try:
            await asyncio.wait((self._gone,), timeout=_KILL_AFTER)
        finally:
            self._group.signal(signal.SIGKILL)
            self._group.end_strays()
        await asyncio.wait((self._gone,), timeout=_KILL_AFTER)

    def _on_exit(self, status: Status) -> None:
        for _ in range(_PIPE // _READ):  # what is left in the pipes
            self._on_output()
            self._on_print()
        for ours in (self._in, self._out, self._err):
            if ours >= 0:
                self._loop.remove_reader(ours)
                self._loop.remove_writer(ours)
                os.close(ours)
        self._gone.set_result(status)
        self._resolve(None)


def _as_worker(command: Command) -> Command:
    return Command(argv=command.argv, cwd=command.cwd, env={**command.env, "HOOKWRIGHT_WORKER": "1"}, mark=command.mark)


def _death(status: Status, stderr: bytes) -> Reply:
    """Give the reply of a process that ended over an event."""
    match status:
        case ExitCode(code=code):
            return Exited(code, b"", stderr, interleaved=stderr)
        case Signalled(number=number):
            return Exited(128 + number, b"", stderr, number, interleaved=stderr)
        case _:
            return Failed(Failure.LAUNCH, "its exit status cannot be known: this program reaps its children elsewhere")
