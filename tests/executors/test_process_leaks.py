"""Whatever happens to a process, nothing of it is left: no descriptor, child, task, timer or reader."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import threading
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hookwright.processes import spawn as _spawn
from hookwright.processes.process import Command, Exit, Expired, Limits, NotStarted, Process, run, start
from processes import eventually, sh
from support import open_fds

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors in /proc")

#: What a process may do, in a moment; each row is one shape of life and death.
SCRIPTS = (
    "true",
    "cat",
    "exit 3",
    "kill -9 $$",
    "echo out; echo err >&2",
    "exec <&- >&- 2>&-; sleep 0.01",
    "head -c 200000 /dev/zero",
    "sleep 0.02; echo late",
)


def children() -> set[int]:
    """List the children of this process, zombies included."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def left_behind(work: Callable[[], Awaitable[None]]) -> dict[str, object]:
    """Do some work twice on one loop; say what is more after the second time than after the first."""

    async def main() -> dict[str, object]:
        loop = asyncio.get_running_loop()

        def counts() -> dict[str, object]:
            gc.collect()
            return {
                "fds": open_fds(),
                "children": children(),
                "tasks": len(asyncio.all_tasks()),
                "threads": threading.active_count(),
                "readers": len(loop._selector.get_map()),  # type: ignore[attr-defined]
                "timers": sum(not timer.cancelled() for timer in loop._scheduled),  # type: ignore[attr-defined]
                "processes": sum(isinstance(thing, Process) for thing in gc.get_objects()),
            }

        await work()
        before = counts()
        await work()
        await asyncio.sleep(0)
        after = counts()
        return {name: (before[name], after[name]) for name in before if before[name] != after[name]}

    return asyncio.run(main())


@pytest.fixture(params=["as it comes", "with Popen"])
def spawner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes in both ways."""
    if request.param == "with Popen":
        monkeypatch.setattr(_spawn, "_DIRECT", False)


@pytest.mark.req("R-190")
@pytest.mark.usefixtures("spawner")
def test_many_runs_leave_nothing() -> None:
    async def work() -> None:
        for batch in range(8):
            commands = [sh(SCRIPTS[n % len(SCRIPTS)], stdin=b"x" * (1 if batch else 100_000)) for n in range(10)]
            results = await asyncio.gather(*(run(command, 60) for command in commands))
            assert all(isinstance(result, Exit) for result in results)

    assert left_behind(work) == {}


def test_ended_process_is_freed_without_the_garbage_collector() -> None:
    async def main() -> None:
        for script, timeout in (("true", 60), ("echo x", None), ("sleep 60", 0.02), ("sleep 0.3 &", 60)):
            process = start(sh(script, stdin=b"x" * 100_000), timeout, Limits(drain=0.02))
            assert isinstance(process, Process)
            await process.wait()
            known = weakref.ref(process)
            del process
            await asyncio.sleep(0)
            assert known() is None, script

    gc.collect()
    gc.disable()
    try:
        asyncio.run(main())
    finally:
        gc.enable()


@pytest.mark.req("R-190")
def test_failed_starts_leave_nothing() -> None:
    async def work() -> None:
        for _ in range(20):
            for argv, cwd in (
                (("/no/such",), "/"),
                (("/bin/sh",), "/no/such"),
                (("/bin/sh", "\0"), "/"),
                (("/",), "/"),
            ):
                result = await run(Command(argv=argv, cwd=cwd, env={}, stdin=b"x" * 100_000), 60)
                assert isinstance(result, NotStarted)

    assert left_behind(work) == {}


def test_mistake_of_the_host_raises_and_leaves_nothing() -> None:
    async def work() -> None:
        for _ in range(5):
            with pytest.raises(TypeError):
                await run(Command(argv=("/bin/true", 1), cwd="/", env={}))  # type: ignore[arg-type]

    assert left_behind(work) == {}


@pytest.mark.req("R-190")
def test_limits_leave_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        scripts = ("sleep 60", "sleep 60 & sleep 60 & wait", "trap '' TERM; sleep 60; sleep 60", "yes", "kill -STOP $$")
        limits = Limits(kill_after=0.2)
        commands = [sh(script, stdin=b"x" * 3_000_000) for script in scripts]
        results = await asyncio.gather(*(run(command, 0.1, limits) for command in commands))
        assert all(isinstance(result, Expired) for result in results)

    assert left_behind(work) == {}


@pytest.mark.req("R-190")
def test_background_children_leave_nothing_of_ours() -> None:
    async def work() -> None:
        results = await asyncio.gather(*(run(sh("sleep 1 &"), 60, Limits(drain=0.05)) for _ in range(8)))
        assert all(isinstance(result, Exit) for result in results)

    assert left_behind(work) == {}


@pytest.mark.req("R-188", "R-190")
@pytest.mark.parametrize("seed", [1, 2])
def test_cancellations_at_random_moments_leave_nothing(seed: int) -> None:
    chance = random.Random(seed)
    scripts = (*SCRIPTS, "sleep 60", "sleep 60 & wait", "trap '' TERM; echo up; sleep 60", "yes", "sleep 60 &")

    async def one() -> None:
        process = start(
            sh(chance.choice(scripts), stdin=b"x" * chance.choice((0, 10, 2_000_000))), 60, Limits(kill_after=0.1)
        )
        assert isinstance(process, Process)
        work = chance.choice((process.wait, process.first_line, process.kill))
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        await asyncio.sleep(chance.choice((0, 0, 0.001, 0.003, 0.006, 0.02)))
        task.cancel()
        if chance.random() < 0.3:
            await asyncio.sleep(chance.choice((0, 0.001, 0.01)))
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await process.kill()
        assert await process.wait() == await process.wait()
        assert _no_member(process.pid)

    async def work() -> None:
        for _ in range(5):
            await asyncio.gather(*(one() for _ in range(10)))

    assert left_behind(work) == {}


def _no_member(group: int) -> bool:
    def nobody() -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return all(_group_and_state(pid)[0] != group or _group_and_state(pid)[1] == "Z" for pid in _pids())

    return eventually(nobody)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _group_and_state(pid: int) -> tuple[int, str]:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, "Z"
    return int(fields[2]), fields[0]


def test_interrupt_of_the_host_ends_the_process() -> None:
    pids: list[int] = []

    async def main() -> None:
        process = start(sh("sleep 60"), 60)
        assert isinstance(process, Process)
        pids.append(process.pid)
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
        await process.wait()

    before = open_fds(), children()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert _no_member(pids[0])
    assert (open_fds(), children()) == before
