"""Hosts that are given up, killed, or not alone."""

from __future__ import annotations

import asyncio
import collections.abc
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Generator
from pathlib import Path
from typing import Any

from faults.leftovers import describe
from faults.network import TESTS, endpoint
from faults.world import SIBLING, World, command
from hookwright.config.truststore import TrustStore
from hookwright.session import HookSession

_TOLERATED = (asyncio.CancelledError,)


class _Counted(collections.abc.Coroutine[Any, Any, Any]):
    """A coroutine that says each time it waits."""

    def __init__(self, inner: Coroutine[Any, Any, Any], waits: _Waits) -> None:
        self._inner = inner
        self._waits = waits

    def send(self, value: Any) -> Any:
        waiting = self._inner.send(value)
        self._waits.again()
        return waiting

    def throw(self, *error: Any) -> Any:
        waiting = self._inner.throw(*error)
        self._waits.again()
        return waiting

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


class _Waits:
    """Counts the waits of all tasks, and gives the first task up at the chosen one."""

    def __init__(self, chosen: int = -1) -> None:
        self.count = 0
        self._chosen = chosen
        self.top: asyncio.Task[Any] | None = None

    def again(self) -> None:
        if self.count == self._chosen and self.top is not None:
            asyncio.get_running_loop().call_soon(self.top.cancel)
        self.count += 1


async def _given_up(session: HookSession, world: World, tool: str, chosen: int) -> int:
    """Fire, give up at one wait, and tell how many waits there were."""
    waits = _Waits(chosen)
    loop = asyncio.get_running_loop()
    loop.set_task_factory(lambda loop, work, **more: asyncio.Task(_Counted(work, waits), loop=loop, **more))
    try:
        waits.top = asyncio.create_task(session.fire(world.event(tool)))
        with contextlib.suppress(*_TOLERATED):
            await asyncio.wait_for(asyncio.shield(asyncio.wait({waits.top})), 20)
        world.check(waits.top.done(), f"{tool}: given up at wait {chosen}, it does not end")
    finally:
        loop.set_task_factory(None)
    return waits.count


async def cancelled_everywhere(world: World) -> None:
    """Give an event up at each wait of each of its tasks; nothing may be left and the next event must work."""
    async with endpoint() as url:
        groups: list[tuple[str, list[dict[str, Any]]]] = [
            ("One", [command("sleep 0.05; exit 2")]),
            (
                "Three",
                [command("sleep 0.05; exit 2"), command("sleep 0.03"), command("trap '' TERM; sleep 0.1; sleep 0.1")],
            ),
            ("Http", [{"type": "http", "url": f"{url}/deny"}, {"type": "http", "url": f"{url}/hang", "timeout": 0.2}]),
            ("Large", [command(f"cat >/dev/null; {SIBLING}")]),
            ("Asked", [command("echo '{\"async\": true}'; sleep 0.05")]),
        ]
        async with world.session(*groups) as session:
            for tool, _ in groups:
                await session.fire(world.event(tool))
                await session.background.wait()
            world.begin()
            for tool, _ in groups:
                waits = await _given_up(session, world, tool, -1)
                for chosen in range(waits + 1):
                    await _given_up(session, world, tool, chosen)
                    await session.background.wait()
                    session.background.collect()
                    await world.next_works(session)
                    await world.settle()
                world.check(waits >= 2, f"{tool}: only {waits} waits were seen")


def start_victim(world: World, events: int) -> subprocess.Popen[str]:
    """Start a host that works in the row's folders."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TESTS), "TMPDIR": str(world.temporary)}
    argv = [sys.executable, "-m", "faults.victim", str(world.folder), world.mark, str(events)]
    return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)


async def killed(world: World, times: int) -> None:
    """Kill a host at random moments: its hooks go with it, and what it wrote can be read and continued."""
    chance = random.Random(7)
    async with world.session() as session:
        slowest = 0.0
        for _ in range(times):
            victim = start_victim(world, 0)
            assert victim.stdout is not None
            assert victim.stdout.readline() == "ready\n"
            await asyncio.sleep(chance.uniform(0, 0.4))
            victim.kill()
            victim.wait()
            victim.stdout.close()
            left, seconds = await survivors(world, victim.pid)
            slowest = max(slowest, seconds)
            world.check(not left, f"{len(left)} processes survive their host: {'; '.join(map(describe, left))}")
            torn = _torn_lines(world.state)
            world.check(torn <= times, f"{torn} torn lines in the journal")
            _trusts(world)
            await world.next_works(session)
        world.over = slowest
        await world.settle()


async def survivors(world: World, host: int) -> tuple[frozenset[int], float]:
    """Wait until nothing of a killed host is left; end and give what is there after six seconds, and the time."""
    died = time.monotonic()
    while (living := world.living() | _watchdogs(host)) and time.monotonic() - died < 6:
        await asyncio.sleep(0.02)
    seconds = time.monotonic() - died
    for pid in living:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return living, seconds


def _watchdogs(host: int) -> frozenset[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[-2:] == [str(host).encode(), b""] and words[-3].endswith(b"watchdog.py"):
                    found.add(int(entry.name))
    return frozenset(found)


def _journal(state: Path) -> list[bytes]:
    files = sorted(state.glob("journal.jsonl*"))
    return [line for path in files for line in path.read_bytes().split(b"\n") if line]


def _torn_lines(state: Path) -> int:
    torn = 0
    for line in _journal(state):
        try:
            json.loads(line)
        except ValueError:
            torn += 1
    return torn


def _trusts(world: World) -> None:
    store = TrustStore(str(world.state / "trust.json"))
    try:
        store.projects()
    except Exception as error:  # whatever it raises is the finding
        world.check(False, f"the trust store is broken: {error}")
    else:
        world.check(True, "")


async def side_by_side(world: World) -> None:
    """Let two hosts work in the same folders at once: no line is torn, none is lost, no file is shared."""
    events = 60
    async with world.session() as session:
        hosts = [start_victim(world, events) for _ in range(2)]
        for host in hosts:
            out, _ = await asyncio.to_thread(host.communicate)
            world.check((host.returncode, out) == (0, "ready\n"), f"a host ended with {host.returncode}")
        lines = [json.loads(line) for line in _journal(world.state)]
        count = sum(line["kind"] == "event" and line.get("tool") == "Quick" for line in lines)
        world.check(count == 2 * events, f"{count} of {2 * events} events are in the journal")
        spills = list((world.folder / "sessions" / "shared" / "tool-results").iterdir())
        world.check(len(spills) == 2 * events, f"{len(spills)} of {2 * events} spill files")
        world.check(all(path.stat().st_size == 12_000 for path in spills), "a spill file is incomplete")
        store = TrustStore(str(world.state / "trust.json"))
        kept = [store.decisions(project) for project in store.projects()]
        world.check([len(records) for records in kept] == [1, 1], f"the trust store holds {kept}")
        await world.next_works(session)
        await world.settle()
