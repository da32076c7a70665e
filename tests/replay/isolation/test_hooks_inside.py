"""Hookwright's own way to run hooks works in a view: processes, time limits, the watchdog, warm interpreters."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from hookwright.processes.guard import start_guarded
from hookwright.processes.process import Command, Expired, NotStarted
from hookwright.processes.watchdog import Watchdog
from hookwright.replay.isolation.levels import IsolationLevel
from hookwright.replay.isolation.views import View
from replay.isolation.outside import Outside
from replay.isolation.test_hostile import around, inside, level, user
from warmth import Bench, facts

__all__ = ["around", "level", "user"]

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # the test runner has threads when it forks
]


def test_a_hook_that_reaches_its_limit_is_ended(user: int, level: IsolationLevel, around: Outside) -> None:
    async def expire(view: View) -> tuple[bool, bytes]:
        watchdog = Watchdog()
        mark = "HOOKWRIGHT_RUN=test.1"
        argv = ("/bin/sh", "-c", "echo $HOOKWRIGHT_REPLAY; setsid sleep 60 & sleep 60")
        command = Command(argv=argv, cwd=view.project, env={"PATH": os.defpath, **view.env}, mark=mark)
        process = start_guarded(command, 0.3, watchdog)
        assert not isinstance(process, NotStarted), process
        result = await process.wait()
        await watchdog.aclose()
        return isinstance(result, Expired), result.output.stdout.data

    began = time.monotonic()
    assert inside(user, lambda view: asyncio.run(expire(view)), level, around.bounds) == (True, b"1\n")
    assert time.monotonic() - began < 20


def test_warm_hooks_answer_as_cold_ones(level: IsolationLevel, around: Outside, user: int) -> None:
    if user != os.geteuid():
        pytest.skip("the interpreter of the tests may be in a private folder of root")

    async def both(view: View) -> tuple[object, object, int, list[str]]:
        bench = Bench(Path(view.project), dict(view.env))
        Path(view.project, "hook.py").write_text("import os\nprint(os.environ['TMPDIR'])\nopen('seen', 'w').close()\n")
        try:
            job = bench.job(f"{sys.executable} {view.project}/hook.py")
            await bench.ready(job)
            return facts(await bench.cold(job)), facts(await bench.warm(job)), bench.served, bench.refusals
        finally:
            await bench.workers.aclose()

    cold, warm, served, refusals = inside(user, lambda view: asyncio.run(both(view)), level, around.bounds)
    assert (warm, served, refusals) == (cold, 1, [])
    assert os.listdir(around.bounds.project) == ["a.txt"]
