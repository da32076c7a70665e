"""A host that is killed takes its hooks with it; a host that ends in order leaves what its hooks left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookwright.config import Places
from hookwright.processes.group import Group, leaders
from hookwright.processes.watchdog import Watchdog, _note
from hookwright.session import open_session
from processes import eventually, gone, written
from support import event, hooks_for, open_fds

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")

#: A host that fires one event and tells where its watchdog is; argument: the project.
HOST = """
import asyncio, os, sys
from hookwright.protocol.samples import sample
from hookwright.session import open_session
from hookwright.config import Places

async def main():
    folder = sys.argv[1]
    places = Places(project=folder, env={**os.environ, "HOME": folder}, settings=(sys.argv[2],))
    async with open_session(places, watchdog=True) as session:
        await session.fire(sample("PreToolUse", cwd=folder))
        await asyncio.sleep(60)

asyncio.run(main())
"""


#: A host whose agent hook searches with a pattern that takes forever; argument: the project.
SEARCHING_HOST = """
import asyncio, os, sys
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.protocol.samples import sample
from hookwright.session import open_session
from hookwright.wiring import Places, Powers

async def main():
    folder = sys.argv[1]
    env = {**os.environ, "HOME": folder, "HOOKWRIGHT_RUN": sys.argv[3]}
    places = Places(project=folder, env=env, settings=(sys.argv[2],))
    turn = [{"tool": "Grep", "input": {"pattern": "(a+)+$"}}]
    model = ScriptedModel(parse_script({"routes": [{"match": "SEARCH", "turns": [turn]}]}))
    async with open_session(places, powers=Powers(model=model), watchdog=True) as session:
        await session.fire(sample("Stop", cwd=folder))

asyncio.run(main())
"""


def test_a_killed_host_takes_the_search_of_an_agent_hook_with_it(tmp_path: Path) -> None:
    (tmp_path / "trap").write_text("a" * 60 + "!\n")
    settings = json.dumps(hooks_for("Stop", {"type": "agent", "prompt": "SEARCH"}))
    outer = f"outer-{os.getpid()}"
    started = subprocess.Popen([sys.executable, "-c", SEARCHING_HOST, str(tmp_path), settings, outer], cwd=tmp_path)
    try:
        assert eventually(lambda: leaders(f"HOOKWRIGHT_RUN={outer}"), 20)
        (search,) = leaders(f"HOOKWRIGHT_RUN={outer}")
        assert search != started.pid
    finally:
        started.kill()
        started.wait()
    assert gone(search)


def host(folder: Path, command: str, **fields: object) -> subprocess.Popen[bytes]:
    settings = hooks_for("PreToolUse", {"type": "command", "command": command, **fields})
    return subprocess.Popen([sys.executable, "-c", HOST, str(folder), json.dumps(settings)], cwd=folder)


@pytest.mark.parametrize(
    "command",
    [
        "echo $$ > pid; exec sleep 60",
        "trap '' TERM; echo $$ > pid; sleep 60; sleep 60",
        "sleep 60 & echo $! > pid; wait",
        "setsid sh -c 'echo $$ > pid; exec sleep 60' & sleep 60",
        "echo $$ > pid; kill -STOP $$",
    ],
)
def test_a_killed_host_takes_its_hooks_with_it(command: str, tmp_path: Path) -> None:
    started = host(tmp_path, command)
    pid = int(written(tmp_path / "pid"))
    started.kill()
    started.wait()
    assert gone(pid, 10)


def test_a_hook_that_took_off_its_mark_is_found_by_its_pid(tmp_path: Path) -> None:
    started = host(tmp_path, "sleep 0.5; echo $$ > pid; exec env -i sleep 60")
    pid = int(written(tmp_path / "pid"))
    started.kill()
    started.wait()
    assert gone(pid, 10)


def test_background_hooks_end_too(tmp_path: Path) -> None:
    started = host(tmp_path, "echo $$ > pid; exec sleep 60", **{"async": True})
    pid = int(written(tmp_path / "pid"))
    started.kill()
    started.wait()
    assert gone(pid, 10)


def test_what_an_ended_hook_left_in_the_background_lives_on(tmp_path: Path) -> None:
    started = host(tmp_path, "sleep 60 >/dev/null 2>&1 & echo $! > pid")
    pid = int(written(tmp_path / "pid"))
    time.sleep(0.3)
    started.kill()
    started.wait()
    try:
        assert not gone(pid, 1)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_the_watchdog_goes_with_its_session_and_leaves_nothing(tmp_path: Path) -> None:
    settings = json.dumps(hooks_for("PreToolUse", {"type": "command", "command": "true"}))

    async def main() -> int:
        async with open_session(Places(project=str(tmp_path), settings=(settings,)), watchdog=True) as session:
            await session.fire(event("PreToolUse", cwd=str(tmp_path)))
            assert session._wiring.watchdog is not None
            pid = session._wiring.watchdog.pid
            assert pid is not None
            return pid

    before = open_fds()
    assert gone(asyncio.run(main()), 0.1)
    assert open_fds() == before


def test_no_watchdog_is_started_without_a_hook(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_session(Places(project=str(tmp_path)), watchdog=True) as session:
            await session.fire(event("PreToolUse", cwd=str(tmp_path)))
            assert session._wiring.watchdog is not None
            assert session._wiring.watchdog.pid is None

    asyncio.run(main())


def test_a_watchdog_that_died_is_replaced_and_told_everything(tmp_path: Path) -> None:
    async def main() -> None:
        watchdog = Watchdog()
        sleeper = subprocess.Popen(["sleep", "60"], env={"HOOKWRIGHT_RUN": "a.hook-1"}, start_new_session=True)
        watchdog.guard("HOOKWRIGHT_RUN=a.hook-1")
        first = watchdog.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert eventually(lambda: watchdog._process is not None and watchdog._process.poll() is not None)
        watchdog.guard("HOOKWRIGHT_RUN=a.hook-2")
        assert watchdog.pid not in (None, first)
        await watchdog.aclose()
        assert sleeper.wait(5) == -signal.SIGTERM

    asyncio.run(main())


def test_a_watchdog_that_somebody_stopped_does_not_stop_the_host() -> None:
    async def main() -> None:
        watchdog = Watchdog()
        watchdog.guard("RUN=x")
        assert watchdog.pid is not None
        os.kill(watchdog.pid, signal.SIGSTOP)
        started = time.monotonic()
        for number in range(20_000):
            watchdog.guard(f"RUN={number}")
            watchdog.release(f"RUN={number}")
        assert time.monotonic() - started < 5
        os.kill(watchdog.pid, signal.SIGCONT)
        await watchdog.aclose()

    asyncio.run(main())


def test_the_list_of_live_runs() -> None:
    live: dict[str, int] = {}
    for line in ("+R=a", "=R=a 12", "+R=b", "+R=a", "-R=b", "-R=c", "+R=d/e.hook-1"):
        _note(line, live)
    assert live == {"R=a": 12, "R=d/e.hook-1": 0}


@pytest.mark.parametrize(
    "line", ["", "+", "=", "+ 12", "+x", "+=x", "+R=", "=R=a 12 13", "=R=a x", "+R=a b", "\0", "R=a"]
)
def test_a_line_that_names_no_run_ends_nobody(line: str) -> None:
    live: dict[str, int] = {}
    _note(line, live)
    assert live == {}


@pytest.mark.parametrize("mark", ["", "=", "PATH=", "=x", "PATH"])
def test_a_mark_that_everybody_has_finds_nobody(mark: str) -> None:
    assert leaders(mark) == set()


@pytest.mark.parametrize("leader", [0, 1, -1])
def test_no_group_but_a_hooks_own_gets_a_signal(leader: int) -> None:
    assert not Group(leader).signal(0)
