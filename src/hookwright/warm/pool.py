"""The interpreters of one session: one per command and trust domain, started when first needed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Hashable

import msgspec

from hookwright.processes.exits import ExitWatch
from hookwright.processes.pipes import STDERR, STDIN, STDOUT, Pipes
from hookwright.processes.process import Command, Exit, ExitCode, Limits, NotStarted, Process, run, start
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.sources import Source
from hookwright.warm.domains import domain
from hookwright.warm.plan import Unusual, WarmPlan, plan
from hookwright.warm.zygote import PATIENCE, Spare, Zygote, stamp_of, with_start

#: Interpreters held at once; the least recently used one makes room.
_HELD = 16
#: An interpreter started this often without serving an event changes too often to be held.
_TRIES = 4


class Forked(Process):
    """A child of a zygote, which reports how it ended."""

    def __init__(self, zygote: Zygote, pid: int, pipes: Pipes, mark: str) -> None:
        super().__init__(asyncio.get_running_loop(), pid, pipes, Limits(), mark)
        self._zygote = zygote

    def _watch(self) -> ExitWatch:
        return self._zygote.watch(self.pid, self._on_exit)


class WarmFork(msgspec.Struct, frozen=True):
    """A fork waiting for its event."""

    zygote: Zygote
    spare: Spare

    def start(self, command: Command, timeout: float | None) -> Process | NotStarted:
        """Send it an event; if it is gone, start the command the ordinary way."""
        pipes = Pipes()
        try:
            pipes.open(command.stdin)
            streams = [pipes.childs[stream] for stream in (STDIN, STDOUT, STDERR)]
            self.zygote.send(self.spare, command, streams)
        except OSError:  # it is gone, or its message is too long
            pipes.close()
            self.spare.channel.close()
            return start(command, timeout)
        process = Forked(self.zygote, self.spare.pid, pipes, command.mark)
        process.begin(timeout)
        return process


class _PoolPlace(msgspec.Struct, eq=False):
    """The state of one command."""

    zygote: Zygote | None = None
    preparing: bool = False
    unusual: Unusual | None = None
    starts: int = 0
    served: int = 0


class Interpreters:
    """Holds interpreters ready and hands out their forks."""

    def __init__(self) -> None:
        self._places: dict[Hashable, _PoolPlace] = {}
        self._probed: dict[Hashable, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: Interpreters that accept no new events and may still be running some.
        self._leaving: set[Zygote] = set()

    async def take(self, handler: CommandHandler, command: Command) -> WarmFork | Unusual | None:
        """Return a fork for an event; None when none is ready yet, Unusual when there will never be one."""
        planned = plan(handler, command)
        if isinstance(planned, Unusual):
            return planned
        place = self._place(handler.source, planned, command)
        zygote = place.zygote
        if zygote is None:
            return place.unusual
        if not zygote.current(command):
            place.zygote = None
            self._leave(zygote)
            return None
        spare = await zygote.take()
        if spare is None:
            return None
        place.served += 1
        return WarmFork(zygote, spare)

    def prepare(self, handler: CommandHandler, command: Command) -> None:
        """Prepare an interpreter for the next event of this command."""
        planned = plan(handler, command)
        if isinstance(planned, Unusual):
            return
        place = self._place(handler.source, planned, command)
        if place.preparing or place.zygote is not None or place.unusual is not None:
            return
        place.preparing = True
        task = asyncio.ensure_future(self._prepare(place, planned, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def refuse(self, handler: CommandHandler, command: Command, reason: str) -> None:
        """Start this command the ordinary way from now on."""
        planned = plan(handler, command)
        if isinstance(planned, Unusual):
            return
        place = self._place(handler.source, planned, command)
        place.unusual = Unusual(reason)
        if place.zygote is not None:
            self._leave(place.zygote)
            place.zygote = None

    @property
    def served(self) -> int:
        """The number of events given to forks."""
        return sum(place.served for place in self._places.values())

    @property
    def refusals(self) -> list[str]:
        """Why commands that looked plain have no interpreter."""
        return [place.unusual.reason for place in self._places.values() if place.unusual is not None]

    async def settled(self) -> None:
        """Wait until all preparations are done."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """End all interpreters and wait until they are gone."""
        for task in self._tasks:
            task.cancel()
        await self.settled()
        places, self._places = self._places, {}
        for zygote in (*self._leaving, *(place.zygote for place in places.values())):
            if zygote is not None:
                await zygote.aclose()

    def _place(self, source: Source, planned: WarmPlan, command: Command) -> _PoolPlace:
        key = (domain(source), planned.argv, planned.shell, command.cwd if planned.local else None)
        place = self._places.pop(key, None) or _PoolPlace()
        self._places[key] = place  # the most recently used one is last
        return place

    async def _prepare(self, place: _PoolPlace, planned: WarmPlan, command: Command) -> None:
        place.starts += 1
        try:
            if place.starts > _TRIES and place.starts > place.served:
                place.unusual = Unusual("the files its start depends on change too often")
            elif not await self._obeys(planned, command):
                place.unusual = Unusual(f"{planned.program} does not start as CPython 3.10 or later does")
            else:
                place.zygote, place.unusual = await _begin(planned, command)
        finally:
            place.preparing = False
        self._make_room()

    async def _obeys(self, planned: WarmPlan, command: Command) -> bool:
        """Check once, without a script, whether an interpreter runs our `sitecustomize.py` at all."""
        key = stamp_of(planned.program)
        if key not in self._probed:
            answer = secrets.token_hex(8)
            env = with_start(command, "probe", answer)
            argv = (planned.interpreter, "-c", "raise SystemExit(1)")
            ended = await run(Command(argv=argv, cwd=command.cwd, env=env), PATIENCE)
            said = ended.output.stdout.data if isinstance(ended, Exit) and ended.status == ExitCode(0) else b""
            self._probed[key] = said == answer.encode()
        return self._probed[key]

    def _make_room(self) -> None:
        held = [place for place in self._places.values() if place.zygote is not None]
        for place in held[:-_HELD]:
            assert place.zygote is not None
            self._leave(place.zygote)
            place.zygote = None

    def _leave(self, zygote: Zygote) -> None:
        self._leaving = {old for old in self._leaving if old.running} | {zygote}
        zygote.retire()


async def _begin(planned: WarmPlan, command: Command) -> tuple[Zygote | None, Unusual | None]:
    try:
        zygote = Zygote(planned, command)
    except OSError as error:
        return None, Unusual(f"its interpreter cannot be started: {error}")
    try:
        unusual = await zygote.up()
    except BaseException:  # also a cancellation
        await zygote.aclose()
        raise
    if unusual is not None:
        await zygote.aclose()
        return None, unusual
    return zygote, None
