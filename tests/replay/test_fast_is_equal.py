"""Fast is equal, order does not matter, each call once: the same changes whatever runs them, in isolation."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.protocol.events import PreToolUse
from hookwright.replay.fleet.fleet import Fleet
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import why_not
from hookwright.replay.isolation.levels import LEVELS
from hookwright.replay.model import Change, Ran
from hookwright.replay.past import Fate, Past, SourceLine
from hookwright.replay.pool import process_pool
from hookwright.replay.run import Conditions, replay
from replay.isolated import needs_isolation, working_level
from support import hooks_for, script

pytestmark = needs_isolation

PURE = "#!/bin/sh\nset -- \"$(cat)\"\ncase $1 in *'rm -rf'*) echo no >&2; exit 2 ;; esac\n"
#: Refuses from its third event of a session on.
COUNTING = "#!/bin/sh\ncat > /dev/null\necho x >> seen\n[ $(wc -l < seen) -le 2 ] || { echo enough >&2; exit 2; }\n"
#: Says something else in each session.
PASSING = '#!/bin/sh\nsed \'s/.*"session_id":"\\([a-z]*\\)".*/in \\1/\' >&2\nexit 2\n'

_CALLS = some.lists(
    some.tuples(
        some.sampled_from("abc"), some.sampled_from(["ls", "rm -rf x", "pwd"]), some.sampled_from(["Bash", "Read"])
    ),
    min_size=1,
    max_size=7,
)


class World:
    """A project with hooks outside it, made anew for each example."""

    def __init__(self, root: Path, bodies: list[str]) -> None:
        self.project, home = root / "project", root / "home"
        self.project.mkdir()
        home.mkdir()
        commands = [str(script(root / f"hook{number}.sh", body)) for number, body in enumerate(bodies)]
        hooks = [{"type": "command", "command": command} for command in commands]
        self.candidate = msgspec.json.encode(hooks_for("PreToolUse", *hooks, matcher="Bash")).decode()
        env = {"PATH": os.environ["PATH"], "HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
        self._places = Places(project=str(self.project), env=env, home=str(home), state_dir=str(home / "state"))

    def pasts(self, calls: list[tuple[str, str, str]]) -> list[Past]:
        return [self._past(number, *call) for number, call in enumerate(calls, 1)]

    def _past(self, number: int, session: str, command: str, tool: str) -> Past:
        event = PreToolUse(
            session_id=session,
            transcript_path=f"/t/{session}.jsonl",
            cwd=str(self.project),
            tool_name=tool,
            tool_input={"command": command},
            tool_use_id=f"t{number}",
        )
        return Past(event=event, place=SourceLine(session, number), time=float(number), fate=Fate.SUCCEEDED)

    def changes(self, pasts: list[Past], executor: Executor | Fleet | None = None, **more: Any) -> list[Change]:
        conditions = Conditions(places=self._places, **{"isolation": working_level() or "", "jobs": 1, **more})
        return [
            _untimed(one) for one in replay(pasts, self.candidate, "none", conditions=conditions, executor=executor)
        ]


def _untimed(change: Change) -> Change:
    def same(run: Ran) -> Ran:
        return msgspec.structs.replace(run, ms=0.0, reused=False)

    now = msgspec.structs.replace(change.now, runs=tuple(map(same, change.now.runs)))
    return msgspec.structs.replace(change, now=now)


def holds(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Real hooks in real processes: a few examples."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@given(
    _CALLS,
    some.lists(some.sampled_from([PURE, COUNTING, PASSING]), min_size=1, max_size=2, unique=True),
    some.integers(1, 3),
    some.booleans(),
    some.randoms(use_true_random=False),
)
@holds(6)
def test_workers_reuse_order_and_copies_do_not_show(
    calls: list[tuple[str, str, str]], bodies: list[str], jobs: int, reuse: bool, chance: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), bodies)
        pasts = world.pasts(calls)
        slow = world.changes(pasts, reuse=False)
        assert [change.past for change in slow] == sorted(pasts, key=lambda one: (one.event.session_id, one.time))
        late = [msgspec.structs.replace(past, time=99.0) for past in chance.sample(pasts, len(pasts) // 2)]
        mixed = chance.sample([*pasts, *late], len(pasts) + len(late))
        assert world.changes(mixed, jobs=jobs, reuse=reuse) == slow


class Killing(Executor):
    """A pool whose workers are killed by the system after a few tasks were handed out."""

    def __init__(self, jobs: int, after: int) -> None:
        self._pool: ProcessPoolExecutor = process_pool(jobs)
        self._left = after

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = self._pool.submit(fn, *args, **kwargs)
        self._left -= 1
        if self._left == 0:
            for process in self._pool._processes.values():
                assert process.pid is not None
                os.kill(process.pid, signal.SIGKILL)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@given(some.integers(1, 2), some.integers(1, 4))
@holds(3)
def test_killed_workers_lose_nothing(jobs: int, after: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), [COUNTING])
        pasts = world.pasts([(session, "ls", "Bash") for session in "abcde" for _ in range(3)])
        with Killing(jobs, after) as pool:
            found = world.changes(pasts, executor=pool, jobs=jobs)
    assert [change.bucket.value for change in found] == ["same", "same", "stricter"] * 5


@pytest.mark.parametrize("level", ["overlay", "landlock"])  # in bubblewrap the folder of these hooks is empty
def test_both_levels_let_hooks_count_and_leaves_nothing(tmp_path: Path, level: str) -> None:
    reason = why_not(next(one for one in LEVELS if one.name.value == level), Bounds(str(tmp_path), str(tmp_path)))
    if reason is not None:
        pytest.skip(reason)
    world = World(tmp_path, [COUNTING])
    found = world.changes(world.pasts([("a", "ls", "Bash")] * 3), isolation=level)
    assert [change.bucket.value for change in found] == ["same", "same", "stricter"]
    assert list(world.project.iterdir()) == []


def test_threads_of_the_caller_are_never_isolated(tmp_path: Path) -> None:
    world = World(tmp_path, [COUNTING])
    with ThreadPoolExecutor(1) as pool, pytest.raises(ConfigError, match="pass an executor of processes"):
        world.changes(world.pasts([("a", "ls", "Bash")]), executor=pool)
