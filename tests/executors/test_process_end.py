"""Ending processes: time limits, cancellation, and those who resist."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from hookwright.processes import group as _group
from hookwright.processes.group import Group
from hookwright.processes.process import (
    Command,
    Exit,
    ExitCode,
    Expired,
    Limits,
    Process,
    Signalled,
    Unknown,
    run,
    start,
)
from processes import alive, eventually, gone, python, sh, written

#: Long enough that waiting for it would be seen.
LONG = 60.0


@pytest.fixture(params=["as it comes", "without pidfd"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take each road that some system takes."""
    if request.param == "without pidfd":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.fixture
def no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no /proc, where zombies count as life and a group ends with SIGKILL at the latest."""
    monkeypatch.setattr(_group, "_PROC", "/nonexistent")


def running(script: str, timeout: float | None = LONG, limits: Limits | None = None) -> Process:
    """Start a shell script."""
    process = start(sh(script), timeout, limits or Limits())
    assert isinstance(process, Process), process
    return process


def seconds(began: float) -> float:
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        pytest.param("sleep 60", b"", id="silent"),
        pytest.param("echo '{}'; sleep 60", b"{}\n", id="after its answer"),
        pytest.param("kill -STOP $$; sleep 60", b"", id="stopped"),
        pytest.param("sleep 60 & sleep 60 & wait", b"", id="with children"),
        pytest.param("cat /dev/zero >&2", b"", id="flooding"),
    ],
)
def test_limit_ends_a_process_with_sigterm(script: str, printed: bytes, platform: None) -> None:
    began = time.monotonic()
    result = asyncio.run(run(sh(script), 0.2, Limits(kill_after=20)))
    assert isinstance(result, Expired)
    assert (result.limit, result.output.stdout.data) == (0.2, printed)
    assert 0.2 <= seconds(began) < 15


def test_limit_ends_a_process_that_never_stops_printing() -> None:
    result = asyncio.run(run(sh("while :; do printf x; sleep 0.02; done"), 0.3))
    assert isinstance(result, Expired)
    assert set(result.output.stdout.data) == set(b"x")


@pytest.mark.req("R-187")
def test_process_that_ignores_sigterm_is_killed(tmp_path: Path, platform: None) -> None:
    pidfile = tmp_path / "pid"
    script = f"trap '' TERM; sleep 60 & echo $! >{pidfile}; wait; sleep 60"
    result = asyncio.run(run(sh(script), 0.2, Limits(kill_after=0.2)))
    assert isinstance(result, Expired)
    assert gone(int(written(pidfile)))


@pytest.mark.req("R-187")
def test_grandchild_that_ignores_sigterm_is_killed_though_its_parent_obeys(tmp_path: Path, platform: None) -> None:
    pidfile = tmp_path / "pid"
    script = f"(trap '' TERM; exec sleep 60) & echo $! >{pidfile}; trap 'exit 0' TERM; wait"
    result = asyncio.run(run(sh(script), 0.2, Limits(kill_after=0.3)))
    assert isinstance(result, Expired)
    assert gone(int(written(pidfile)))


@pytest.mark.usefixtures("no_proc")
def test_group_is_ended_without_proc_too(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    script = f"(trap '' TERM; exec sleep 60) & echo $! >{pidfile}; wait"
    assert isinstance(asyncio.run(run(sh(script), 0.2, Limits(kill_after=0.3))), Expired)
    assert gone(int(written(pidfile)))


def test_grandchild_that_takes_its_time_to_obey_gets_it(tmp_path: Path, platform: None) -> None:
    script = (
        f"(trap 'sleep 0.2; echo saved >{tmp_path}/state; exit' TERM; echo up; while :; do sleep 0.02; done) & wait"
    )

    async def main() -> None:
        process = running(script, limits=Limits(kill_after=20))
        assert await process.first_line() == b"up"
        assert (await process.kill()).status == Signalled(signal.SIGTERM)

    asyncio.run(main())
    assert (tmp_path / "state").read_text() == "saved\n"


def test_limit_holds_though_nobody_waits(tmp_path: Path) -> None:
    async def main() -> None:
        process = running("sleep 60", 0.1)
        until = time.monotonic() + 20
        while alive(process.pid) and time.monotonic() < until:
            await asyncio.sleep(0.02)
        assert isinstance(await process.wait(), Expired)

    asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the waiting thread keeps the process")
def test_process_that_nobody_waited_for_ends_after_its_loop() -> None:
    async def main() -> int:
        return running("sleep 60").pid

    pid = asyncio.run(main())
    with pytest.warns(ResourceWarning, match="neither waited for nor killed"):
        gc.collect()
    assert not alive(pid)


def test_limit_can_be_set_anew() -> None:
    async def main() -> None:
        shorter = running("sleep 60", LONG)
        longer = running("sleep 0.3; echo done", 0.1)
        none = running("sleep 0.3; echo done", 0.1)
        shorter.expire_after(0.1)
        longer.expire_after(LONG)
        none.expire_after(None)
        results = await asyncio.gather(shorter.wait(), longer.wait(), none.wait())
        assert [type(result) for result in results] == [Expired, Exit, Exit]
        shorter.expire_after(LONG)
        assert await shorter.wait() == results[0]

    asyncio.run(main())


def test_new_limit_does_not_spare_a_process_that_is_being_ended() -> None:
    async def main() -> Exit:
        process = running("trap '' TERM; echo up; while :; do sleep 0.02; done", limits=Limits(kill_after=0.2))
        await process.first_line()
        killing = asyncio.create_task(process.kill())
        await asyncio.sleep(0)
        process.expire_after(LONG)
        return await killing

    assert asyncio.run(asyncio.wait_for(main(), 20)).status == Signalled(signal.SIGKILL)


def test_limit_below_the_time_of_a_start_expires() -> None:
    assert isinstance(asyncio.run(run(sh("sleep 60"), 0.0)), Expired)


def test_first_line_of_an_expired_process_is_none() -> None:
    async def main() -> None:
        process = running("sleep 60", 0.1)
        assert await process.first_line() is None
        assert isinstance(await process.wait(), Expired)

    asyncio.run(main())


@pytest.mark.req("R-188")
@pytest.mark.parametrize("wait", ["wait", "first_line"])
def test_cancelled_waiter_ends_the_group_before_the_limit(wait: str, tmp_path: Path, platform: None) -> None:
    pidfile = tmp_path / "pid"

    async def main() -> int:
        process = running(f"sleep 60 & echo $! >{pidfile}; wait", limits=Limits(kill_after=20))
        task = asyncio.create_task(getattr(process, wait)())
        await asyncio.sleep(0)
        while not (pidfile.exists() and pidfile.read_text().endswith("\n")):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process.pid

    began = time.monotonic()
    leader = asyncio.run(main())
    assert seconds(began) < 15
    assert gone(leader)
    assert gone(int(written(pidfile)))


@pytest.mark.req("R-188")
def test_timeout_of_the_caller_ends_the_process() -> None:
    async def main() -> int:
        process = running("sleep 60")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await process.wait()
        return process.pid

    assert gone(asyncio.run(main()))


def test_second_cancellation_kills_at_once(platform: None) -> None:
    async def main() -> int:
        process = running("trap '' TERM; echo up; while :; do sleep 0.05; done", limits=Limits(kill_after=LONG))
        assert await process.first_line() == b"up"
        task = asyncio.create_task(process.wait())
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0.1)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process.pid

    began = time.monotonic()
    assert gone(asyncio.run(main()))
    assert seconds(began) < 30


def test_cancellation_in_the_grace_ends_the_background_child(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"

    async def main() -> None:
        task = asyncio.create_task(run(sh(f"sleep 60 & echo $! >{pidfile}"), LONG, Limits(drain=LONG)))
        while not (pidfile.exists() and pidfile.read_text().endswith("\n")):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert gone(int(written(pidfile)))


def test_kill_answers_every_waiter() -> None:
    async def main() -> None:
        process = running("echo up; sleep 60")
        waiters = [asyncio.create_task(process.wait()) for _ in range(2)]
        await process.first_line()
        killed = await process.kill()
        assert killed.status == Signalled(signal.SIGTERM)
        assert killed.output.stdout.data == b"up\n"
        assert await asyncio.gather(*waiters) == [killed, killed]
        assert await process.kill() == killed

    asyncio.run(main())


def test_process_that_exits_by_itself_when_killed_tells_its_code() -> None:
    async def main() -> Exit:
        process = running("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.02; done")
        await process.first_line()
        return await process.kill()

    killed = asyncio.run(main())
    assert (killed.status, killed.output.stdout.data) == (ExitCode(9), b"up\nbye\n")


def test_coroutine_that_is_thrown_away_takes_the_process_with_it(tmp_path: Path, platform: None) -> None:
    async def main() -> None:
        for method in ("wait", "kill"):
            process = running("trap '' TERM; sleep 60")
            coroutine = getattr(process, method)()
            coroutine.send(None)
            coroutine.close()
            assert not alive(process.pid)
            assert isinstance((await process.kill()).status, Signalled | Unknown)

    asyncio.run(main())


def test_closed_loop_leaves_nothing_behind() -> None:
    loop = asyncio.new_event_loop()

    async def begin() -> tuple[Process, object]:
        process = running("trap '' TERM; sleep 60")
        coroutine = process.wait()
        coroutine.send(None)
        return process, coroutine

    process, coroutine = loop.run_until_complete(begin())
    loop.close()
    coroutine.close()  # type: ignore[attr-defined]
    assert not alive(process.pid)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root, to give up the right to signal")
def test_process_that_may_not_be_signalled_is_given_up_and_reaped_later() -> None:
    said = python(
        "import asyncio, os, time\n"
        "from hookwright.processes.process import Command, Limits, start\n"
        "async def main():\n"
        "    process = start(Command(argv=('/bin/sleep', '1.8'), cwd='/', env={}), 0.1, Limits(kill_after=0.1))\n"
        "    os.setresuid(65534, 65534, 0)\n"
        "    began = time.monotonic()\n"
        "    print(type(await process.wait()).__name__, (await process.kill()).status)\n"
        "    print(time.monotonic() - began < 2.5)\n"
        "    running = f'/proc/{process.pid}'\n"
        "    while os.path.exists(running) and time.monotonic() - began < 20: await asyncio.sleep(0.05)\n"
        "    print(os.path.exists(running))\n"
        "asyncio.run(main())\n"
    )
    assert said == f"Expired {Unknown()}\nTrue\nFalse\n"


def test_group_without_members_is_not_alive(platform: None) -> None:
    async def main() -> int:
        process = running("true")
        await process.wait()
        return process.pid

    assert not Group(asyncio.run(main())).alive()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="zombies are told apart by /proc")
def test_zombie_is_not_alive() -> None:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os._exit(0)
    assert eventually(lambda: Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z")
    assert Group(pid).signal(0)
    assert not Group(pid).alive()
    os.waitpid(pid, 0)
    assert not Group(pid).signal(0)


# ── what left the group ──

DAEMON = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork(): os._exit(0)\n"
    "    os.write(os.open('daemon', os.O_WRONLY | os.O_CREAT), b'%d\\n' % os.getpid())\n"
    "    time.sleep(60)\n"
    "time.sleep(float(sys.argv[1]))\n"
)


def daemon(folder: Path, seconds: float, mark: str = "MARK=here") -> Command:
    env = {"PATH": os.environ["PATH"], "MARK": "here"}
    argv = (sys.executable, "-c", DAEMON, str(seconds))
    return Command(argv=argv, cwd=str(folder), env=env, mark=mark)


@pytest.mark.req("R-187")
@pytest.mark.parametrize("end", ["limit", "cancel"])
def test_a_marked_daemon_ends_with_its_process(end: str, tmp_path: Path) -> None:
    async def main() -> None:
        process = start(daemon(tmp_path, 60))
        assert isinstance(process, Process)
        waiting = asyncio.create_task(process.wait())
        while not (tmp_path / "daemon").exists() or not (tmp_path / "daemon").read_text():
            await asyncio.sleep(0.01)
        if end == "limit":
            process.expire_after(0)
        else:
            waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert gone(int(written(tmp_path / "daemon")))


def test_a_daemon_of_a_process_that_ended_by_itself_lives_on(tmp_path: Path) -> None:
    own = daemon(tmp_path, 0.2)
    # Another test may end all processes with the usual mark at this moment.
    marked = msgspec.structs.replace(own, env={**own.env, "MARK": "own"}, mark="MARK=own")
    asyncio.run(run(marked))
    pid = int(written(tmp_path / "daemon"))
    try:
        assert alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_marks_are_compared_whole(tmp_path: Path) -> None:
    others = [
        subprocess.Popen(["sleep", "60"], env={"MARK": value}, start_new_session=True)
        for value in ("here2", "here.1", "x\nMARK=here", "no here")
    ]
    inner = subprocess.Popen(["sleep", "60"], env={"MARK": "here/9f.hook-1"}, start_new_session=True)
    try:
        asyncio.run(run(daemon(tmp_path, 60), timeout=0.5))
        assert inner.wait(5) == -signal.SIGKILL
        assert [other.poll() for other in others] == [None] * 4
    finally:
        for other in (*others, inner):
            other.kill()
            other.wait()
