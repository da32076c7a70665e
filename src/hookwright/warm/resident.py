"""One resident hook process: the host's side of the worker protocol (docs/workers.md).

Laws
* One event at a time. A broken protocol, the time limit and a cancelled waiter each end the process with its group;
  an answer is never taken for that of another event.
* The death of a process during an event is the reply to that event, as it would be without a worker; the event is not
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

#: Longer answers are refused, and output beyond this is not kept; the limits of any process.
_LONGEST = 8 * 1024 * 1024
_PRINTED = 1024 * 1024
_READ = 65536
#: The capacity of a pipe.
_PIPE = 1024 * 1024
#: Seconds to wait for a quick worker without the loop; starting a process blocks the loop as long.
_AT_ONCE = 0.0003
#: The number of descriptors `select` can wait for.
_SELECTABLE = 1024
#: Seconds from SIGTERM to SIGKILL, and how long an idle process may take to notice the end of its stdin.
_KILL_AFTER = 1.5
_LEAVE = 0.5
#: Files of the hook watched for changes.
_WATCHED = 256


class Greeting(msgspec.Struct, frozen=True):
    """The first line of a worker: its protocol version and its source files."""

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
    """A worker process and the messages exchanged with it."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.asked = 0
        #: How many of its latest answers in a row were neither a success nor a refusal.
        self.failures = 0
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
        except BaseException:  # the pipes must be closed in any case
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

    # ── requests ────────────────────────────────────────────────────────────

    async def greeting(self, limit: float) -> Unusual | None:
        """Wait for its first line; if it is not a worker, end it and return why."""
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
        """Send an event and wait for its answer."""
        reply = await self._replied(command, limit)
        good = isinstance(reply, Exited) and reply.status in (0, 2)
        self.failures = 0 if good else self.failures + 1
        return reply

    async def _replied(self, command: Command, limit: float | None) -> Reply:
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
        if not self._gone.done() and self._poll.poll(0):
            self._on_print()  # its output before the answer is in the pipe by now
        try:
            answer = _answer.decode(line)
        except msgspec.DecodeError as error:
            await self.end()
            return Failed(Failure.ANSWER, f"the worker's line is not an answer: {error}")
        if answer.id != self.asked:
            await self.end()
            return Failed(Failure.ANSWER, f"the worker answered event {answer.id} instead of {self.asked}")
        stdout, stderr = answer.stdout.encode("utf-8", "replace"), answer.stderr.encode("utf-8", "replace")
        stderr = bytes(self._printed) + stderr if self._printed else stderr
        return Exited(answer.exit & 0xFF, stdout, stderr, interleaved=stderr + stdout)

    def usable(self) -> bool:
        """Return whether it can be asked again."""
        return not (self._broken or self._gone.done() or self._received)

    def fits(self, command: Command) -> bool:
        """Return whether a new process would be the same program in the same environment."""
        if any(stamp_of(stamp[0]) != stamp for stamp in self._stamps):
            return False
        self._note_changes(command)
        return all(map(varies, self._changes))

    def memory(self) -> int:
        """Return its memory use in bytes; 0 where the system does not report it."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def _request(self, command: Command) -> bytes:
        """Wrap the event, serialised once for all handlers, in its envelope."""
        if self._env is not command.env:
            self._note_changes(command)
        name, _, value = command.mark.partition("=")
        changes = {**self._changes, name: value} if name else self._changes
        head = msgspec.json.encode({"id": self.asked, "cwd": command.cwd, "env": changes})
        return b'%b,"event":%b}\n' % (head[:-1], command.stdin.rstrip(b"\n"))

    def _note_changes(self, command: Command) -> None:
        """Record which variables differ from those of the previous event."""
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
        """Wait for a worker that was quick before, without the loop: two loop iterations cost more than the answer."""
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
        except OSError:  # it closed its stdin; its exit or the time limit follows
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
        """Read what has arrived; return the line it completes."""
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
            self._loop.remove_reader(stream)  # the exit watch reports its end
        return chunk

    # ── its end ─────────────────────────────────────────────────────────────

    async def leave(self) -> None:
        """Close the stdin of an idle worker, and end it if it does not exit."""
        self._broken = True
        if not self._gone.done():
            self._loop.remove_writer(self._in)
            os.close(self._in)
            self._in = -1
            await asyncio.wait((self._gone,), timeout=_LEAVE)
        await self.end()

    async def end(self) -> None:
        """End it with its group and wait until it is gone; without a running loop, use SIGKILL at once."""
        self._broken = True
        if self._gone.done():
            self._group.end_strays()  # what it forked must not outlive it
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
        for _ in range(_PIPE // _READ):  # the rest of the pipes
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
    """Return the reply for a process that ended during an event."""
    match status:
        case ExitCode(code=code):
            return Exited(code, b"", stderr, interleaved=stderr)
        case Signalled(number=number):
            return Exited(128 + number, b"", stderr, number, interleaved=stderr)
        case _:
            return Failed(Failure.LAUNCH, "exit status unknown: another part of this process reaped the child")
