"""Hold an interpreter right before its script: the host's side (the other is `start/sitecustomize.py`).

Laws
* The interpreter is started by the hook's own command line, in the hook's own environment; it belongs to one
  command of one trust domain.
* Every event gets its own fork, in its own session, so its whole group can be ended. The fork is made before the
  event and waits; its parent, the zygote, reaps it and reports its status.
* It is dropped as soon as anything its start depended on has changed.
* It ends with us: its channel closes, however we end.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from hookwright.processes.exits import ExitCode, ExitWatch, Signalled, Status, Unknown, watch_exit
from hookwright.processes.spawn import Command, spawn
from hookwright.protocol.jsontext import Json
from hookwright.storage import stamp
from hookwright.warm.plan import Unusual, WarmPlan
from hookwright.warm.stdlib import PRELOADED

START = os.path.join(os.path.dirname(__file__), "start")
#: Bytes of one message; an environment fits.
_MESSAGE = 1 << 18
#: Waiting forks, at most; each has some megabytes of memory.
_SPARES = 4
#: A fork writes its mark into the initial environment, where the system shows it; it must fit there.
_ROOM = "~" * 16
#: Seconds an interpreter may take to start.
PATIENCE = 20.0

NamedStamp = tuple[str, int, int, int]


class Spare(msgspec.Struct, frozen=True):
    """A fork waiting for an event, and the channel it reads."""

    pid: int
    channel: socket.socket


class Facts(msgspec.Struct, frozen=True):
    """What an interpreter reported about its start."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    #: What must not change.
    stamps: tuple[NamedStamp, ...]
    #: Folders Python searches before its own library: no module there may have the name of a preloaded one.
    folders: tuple[NamedStamp, ...]
    preloaded: frozenset[str]


class Zygote:
    """One interpreter held ready, and its forks."""

    def __init__(self, plan: WarmPlan, command: Command) -> None:
        self.plan = plan
        self.command = command
        self._loop = asyncio.get_running_loop()
        self._up: asyncio.Future[Facts | Unusual] = self._loop.create_future()
        self._spares: deque[Spare] = deque()
        self._takers: deque[asyncio.Future[Spare | None]] = deque()
        self._wanted = 1
        self._coming = 0
        self._watches: dict[int, Callable[[Status], None]] = {}
        self._folders: dict[str, NamedStamp | None] = {}
        self._retired = False
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self.pid = 0
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._noise, noise = os.pipe()
        try:
            self._channel.setblocking(False)
            os.set_blocking(self._noise, False)
            self._loop.add_reader(self._channel, self._on_message)
            self.pid = spawn(_with_order(command, plan), theirs.fileno(), noise, noise)
            watch_exit(self._loop, self.pid, self._on_exit)
        except BaseException:  # it cannot be used, and must not stay
            self._gone.set_result(None)
            self.close()
            raise
        finally:
            theirs.close()
            os.close(noise)

    # ── its life ────────────────────────────────────────────────────────────

    async def up(self) -> Unusual | None:
        """Wait until it is ready; return why if it cannot be held."""
        try:
            async with asyncio.timeout(PATIENCE):
                facts = await asyncio.shield(self._up)
        except TimeoutError:
            return Unusual(f"its interpreter was not ready after {PATIENCE:g} s")
        if isinstance(facts, Unusual):
            return facts
        said = self._said()
        if said:
            return Unusual(f"its interpreter prints before the script starts: {said!r}")
        if facts.argv != self.plan.argv:
            return Unusual(f"the shell starts {list(facts.argv)}, not {list(self.plan.argv)}")
        self._folders = {stamp[0]: stamp for stamp in facts.folders}
        self._fill()
        return None

    def retire(self) -> None:
        """Accept no more events, and end when the current ones are answered."""
        self._retired = True
        self._send_away()
        if not self._watches:
            self.close()

    def close(self) -> None:
        """End it and its waiting forks. How a fork with an event ends is then not reported."""
        if self._closed:
            return
        if not self._up.done():
            self._up.set_result(Unusual("it was ended"))
        self._loop.remove_reader(self._channel)
        self._channel.close()
        os.close(self._noise)
        self._send_away()
        watches, self._watches = self._watches, {}
        for on_exit in watches.values():
            on_exit(Unknown())
        if not self._gone.done():
            os.killpg(self.pid, signal.SIGKILL)  # perhaps with a shell; the watch reaps it

    async def aclose(self) -> None:
        """End it and wait until it is gone."""
        self.close()
        await self._gone

    @property
    def running(self) -> bool:
        """Whether its process exists."""
        return not self._gone.done()

    @property
    def _closed(self) -> bool:
        return self._channel.fileno() < 0

    def _send_away(self) -> None:
        while self._spares:
            self._spares.pop().channel.close()  # it reads the end and exits
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)

    @property
    def alive(self) -> bool:
        """Whether it can still serve events."""
        return not self._closed and not self._retired

    def current(self, command: Command) -> bool:
        """Return whether a start in this environment would still lead to the same interpreter."""
        facts = self._up.result() if self._up.done() else None
        if not self.alive or not isinstance(facts, Facts):
            return False
        then, now = self.command.env, command.env
        if not all(map(varies, then.keys() ^ now.keys())) or any(
            value != now.get(name) and not varies(name) for name, value in then.items()
        ):
            return False
        return all(stamp_of(stamp[0]) == stamp for stamp in facts.stamps) and self._unshadowed(facts)

    def _unshadowed(self, facts: Facts) -> bool:
        """Return whether no new file next to the script shadows a preloaded module."""
        for folder, old in self._folders.items():
            now = stamp_of(folder)
            if now == old:
                continue
            try:
                names = {entry.partition(".")[0] for entry in os.listdir(folder)}
            except OSError:
                return False
            if names & facts.preloaded:
                return False
            self._folders[folder] = now
        return True

    # ── its forks ───────────────────────────────────────────────────────────

    async def take(self) -> Spare | None:
        """Return a waiting fork, or the next one; None when there will be none."""
        if self._spares:
            return self._spares.popleft()
        if not self.alive:
            return None
        self._wanted = min(self._wanted + 1, _SPARES)
        taker: asyncio.Future[Spare | None] = self._loop.create_future()
        self._takers.append(taker)
        self._fill()
        return await taker

    def send(self, spare: Spare, command: Command, streams: list[int]) -> None:
        """Send a fork its event; raise OSError when it is gone."""
        lines = [os.fsencode(command.cwd), *self._changes(command)]
        socket.send_fds(spare.channel, [b"\0".join(lines)], streams)
        spare.channel.close()
        self._fill()

    def watch(self, pid: int, on_exit: Callable[[Status], None]) -> ExitWatch:
        """Register a callback for the end of a fork."""
        self._watches[pid] = on_exit
        return _ForkWatch(self, pid)

    def unwatch(self, pid: int) -> None:
        """Remove a callback."""
        self._watches.pop(pid, None)

    def _fill(self) -> None:
        """Request forks until enough are waiting or on their way."""
        missing = max(self._wanted - len(self._spares), 0) + len(self._takers) - self._coming
        try:
            for _ in range(missing):
                self._channel.send(b"F")
                self._coming += 1
        except OSError:  # it is gone or stuck; without forks, hooks are started the ordinary way
            self.close()

    def _changes(self, command: Command) -> list[bytes]:
        """Return the differences between the environment of the start and that of the event."""
        facts = self._up.result()
        assert isinstance(facts, Facts)
        then, now = self.command.env, command.env
        changed = {name: value for name, value in now.items() if then.get(name) != value}
        if self.plan.shell and command.cwd != self.command.cwd and "PWD" in facts.env:
            changed["PWD"] = _pwd(now.get("PWD", ""), command.cwd)
        lines = [os.fsencode(f"{name}={value}") for name, value in changed.items()]
        if command.mark:
            lines.append(os.fsencode(command.mark))
        return lines + [os.fsencode(name) for name in then if name not in now and name not in changed]

    # ── its messages ────────────────────────────────────────────────────────

    def _on_message(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self._channel, _MESSAGE, 1)
        except BlockingIOError:
            return
        except OSError:
            data, fds = b"", []
        match data[:1]:
            case b"R":
                self._up.set_result(_facts(data[1:].decode()))
            case b"S":
                self._coming -= 1
                self._offer(Spare(int(data[1:]), socket.socket(fileno=fds[0])))
            case b"X":
                pid, status = map(int, data[1:].split())
                self._spares = deque(spare for spare in self._spares if spare.pid != pid)
                on_exit = self._watches.pop(pid, None)
                if on_exit is not None:
                    code = os.waitstatus_to_exitcode(status)
                    on_exit(ExitCode(code) if code >= 0 else Signalled(-code))
                if self._retired and not self._watches:
                    self.close()
            case _:
                self._loop.remove_reader(self._channel)  # the exit watch reports its end

    def _offer(self, spare: Spare) -> None:
        if self._retired:
            spare.channel.close()
            return
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(spare)
                return
        self._spares.append(spare)

    def _on_exit(self, status: Status) -> None:
        if not self._up.done():
            self._up.set_result(Unusual(self._said() or f"its interpreter ended at once ({status})"))
        self._gone.set_result(None)
        self.close()

    def _said(self) -> str:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._noise, 4096).decode("utf-8", "replace").strip()
        return ""


class _ForkWatch:
    __slots__ = ("_pid", "_zygote")

    def __init__(self, zygote: Zygote, pid: int) -> None:
        self._zygote = zygote
        self._pid = pid

    def close(self) -> None:
        """Forget the fork; the zygote reaps it."""
        self._zygote.unwatch(self._pid)


def with_start(command: Command, kind: str, subject: str, *more: str) -> dict[str, str]:
    """Return an environment in which Python finds `start/sitecustomize.py` first."""
    given = command.env.get("PYTHONPATH")
    path = START + os.pathsep + given if given else START
    order = "\n".join((kind, "" if given is None else f"={given}", subject, *more))
    return {**command.env, "PYTHONPATH": path, "HOOKWRIGHT_WARM": order}


def _with_order(command: Command, plan: WarmPlan) -> Command:
    env = with_start(command, "hold", plan.script, *PRELOADED)
    mark = command.mark + _ROOM if command.mark else ""  # not the mark of any run, and room for those of the forks
    return Command(argv=command.argv, cwd=command.cwd, env=env, mark=mark)


def _facts(text: str) -> Facts:
    raw: dict[str, Json] = ast.literal_eval(text)
    return Facts(
        argv=tuple(raw["argv"]),
        env=raw["env"],
        stamps=tuple(map(tuple, raw["stamps"])),
        folders=tuple(map(tuple, raw["folders"])),
        preloaded=frozenset(raw["preloaded"]),
    )


def stamp_of(path: str) -> NamedStamp | None:
    """Return the path and the stamp of a file or folder, as sitecustomize.py does; None where there is none."""
    found = stamp(path)
    return (path, *found) if found is not None else None


def varies(name: str) -> bool:
    """Return whether Hookwright sets a variable for each event."""
    return name.startswith(("CLAUDE", "HOOKWRIGHT_"))


def _pwd(inherited: str, cwd: str) -> str:
    """Return PWD as a shell started in a directory sets it: the inherited value if it is correct, else the path."""
    with contextlib.suppress(OSError):
        if os.path.isabs(inherited) and os.path.samefile(inherited, cwd):
            return inherited
    return os.path.realpath(cwd)
