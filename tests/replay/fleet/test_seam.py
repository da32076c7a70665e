"""Workers elsewhere, through the seam of `concurrent.futures`: the same report, whoever is killed."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hookwright.errors import ConfigError
from hookwright.replay.fleet.fleet import Fleet, FleetWorkers, SharedFile, fleet_level
from hookwright.replay.fleet.inner import InnerKilled, InnerProcess
from hookwright.replay.fleet.worker import Errand, Program, run_errand
from hookwright.replay.model import Change, Code
from hookwright.replay.pool import Killed, TaskRun, process_pool
from hookwright.replay.run import Conditions, prepared, replay
from replay.isolated import needs_isolation, working_level
from replay.test_fast_is_equal import COUNTING, PURE, Killing, World, _untimed

# ── the report is the same ──────────────────────────────────────────────────


@needs_isolation
def test_a_fleet_with_a_killed_worker_reports_what_one_process_does(tmp_path: Path) -> None:
    world = World(tmp_path, [PURE, COUNTING])
    pasts = world.pasts([(name, what, "Bash") for name in "abcd" for what in ("ls", "rm -rf x", "ls")])
    alone = world.changes(pasts)
    with Killing(2, after=4) as pool:
        assert world.changes(pasts, executor=Fleet(pool, 2)) == alone
    assert [change.bucket.value for change in alone] == ["same", "stricter", "stricter"] * 4


@needs_isolation
def test_workers_see_files_they_do_not_have_and_leave_nothing(tmp_path: Path) -> None:
    root = tmp_path / "machine"
    root.mkdir()
    world = World(root, [COUNTING])
    pasts = world.pasts([("a", "ls", "Bash")] * 3)
    conditions = Conditions(places=world._places, isolation=working_level() or "", jobs=1)
    if conditions.isolation != "overlay":
        pytest.skip("files can be shown at the level overlay alone")
    with (
        process_pool(1) as pool,
        prepared(pasts, world.candidate, "none", conditions=conditions, executor=Fleet(pool, 1)) as ready,
    ):
        shutil.move(root, tmp_path / "elsewhere")
        found = [change.bucket.value for change in ready]
    assert found == ["same", "same", "stricter"]
    assert not root.exists()
    assert list((tmp_path / "elsewhere" / "project").iterdir()) == []


@needs_isolation
def test_a_hook_that_misses_a_file_on_workers_is_undecided_and_never_an_approval(tmp_path: Path) -> None:
    root = tmp_path / "machine"
    root.mkdir()
    world = World(root, ["#!/bin/sh\ncat > /dev/null\n[ ! -e ~/policy ] || { echo no >&2; exit 2; }\n"])
    (root / "home" / "policy").write_text("strict")
    pasts = world.pasts([("a", "ls", "Bash")])
    assert [change.bucket.value for change in world.changes(pasts)] == ["stricter"]
    conditions = Conditions(places=world._places, isolation=working_level() or "", jobs=1)
    if conditions.isolation != "overlay":
        pytest.skip("files can be shown at the level overlay alone")
    with (
        process_pool(1) as pool,
        prepared(pasts, world.candidate, "none", conditions=conditions, executor=Fleet(pool, 1)) as ready,
    ):
        shutil.move(root, tmp_path / "elsewhere")
        (change,) = ready
    assert change.bucket.value == "undecided"
    assert [(doubt.code, doubt.detail) for doubt in change.now.doubts] == [(Code.ELSEWHERE, str(root / "home/policy"))]


def test_files_that_cannot_be_shown_are_refused_with_the_way_out(tmp_path: Path) -> None:
    root = tmp_path / "machine"
    root.mkdir()
    world = World(root, [PURE])
    pasts = world.pasts([("a", "ls", "Bash")])
    conditions = Conditions(places=world._places, isolation="none", jobs=1)
    with (
        process_pool(1) as pool,
        prepared(pasts, world.candidate, "none", conditions=conditions, executor=Fleet(pool, 1)) as ready,
    ):
        (root / "hook0.sh").write_text("#!/bin/sh\nexit 0\n")
        with pytest.raises(ConfigError, match=r"hook0\.sh is not there as it is on your machine.*same paths"):
            list(ready)


# ── killed processes ────────────────────────────────────────────────────────

DEADLY = "#!/bin/sh\ngrep -q boom && kill -9 $CLAUDE_PID\nexit 0\n"


def _changes(world: World, calls: list[tuple[str, str, str]], fleet: Fleet) -> list[Change]:
    conditions = Conditions(places=world._places, isolation="none", jobs=1)
    found = replay(world.pasts(calls), world.candidate, "none", conditions=conditions, executor=fleet)
    return [_untimed(change) for change in found]


def test_a_session_that_kills_its_process_is_undecided_and_touches_no_other(tmp_path: Path) -> None:
    world = World(tmp_path, [DEADLY, PURE])
    calls = [(name, "boom" if name == "b" else "rm -rf x", "Bash") for name in "abcd"]
    with process_pool(1) as pool:
        found = _changes(world, calls, Fleet(pool, 1))
        assert list(pool._processes) == [pool.submit(os.getpid).result()]
    assert [change.bucket.value for change in found] == ["stricter", "undecided", "stricter", "stricter"]
    assert [doubt.code for doubt in found[1].now.doubts] == [Code.POISON]


def test_an_inner_process_passes_results_and_errors_on_and_ends_with_its_owner() -> None:
    inner = InnerProcess()
    assert inner.ask(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        inner.ask(divmod, 7, 0)
    with pytest.raises(InnerKilled, match="ended with -9"):
        inner.ask(os.kill, inner.ask(os.getpid), signal.SIGKILL)
    other = InnerProcess()
    pid = other.ask(os.getpid)
    other.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# ── every task has one result: any split, any kills ─────────────────────────


def _doubled(packed: bytes, index: int, part: tuple[int, ...]) -> list[int]:
    return [number * 2 for number in part]


class Unreliable(Executor):
    """Loses the worker of some tasks when they are first handed out, and of others each time."""

    def __init__(self, once: set[int], always: set[int]) -> None:
        self._once = set(once)
        self._always = always

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _, work, index, part = args
        if index in self._once or index in self._always:
            self._once.discard(index)
            future.set_exception(BrokenExecutor("a worker was killed"))
        else:
            future.set_result(work(b"", index, part))
        return future


@given(
    some.lists(some.integers(0, 99), max_size=40),
    some.lists(some.integers(1, 7), min_size=1, max_size=12),
    some.sets(some.integers(0, 20), max_size=8),
    some.sets(some.integers(0, 20), max_size=3),
    some.integers(1, 5),
)
def test_any_split_on_workers_that_are_killed_gives_the_results_of_one(
    numbers: list[int], sizes: list[int], once: set[int], always: set[int], jobs: int
) -> None:
    parts: list[tuple[int, ...]] = []
    while len(taken := [number for part in parts for number in part]) < len(numbers):
        parts.append(tuple(numbers[len(taken) : len(taken) + sizes[len(parts) % len(sizes)]]))
    fleet = Fleet(Unreliable(once, always), jobs)
    run: TaskRun[list[int]] = TaskRun(FleetWorkers(fleet, SharedFile("", "")))
    results = list(run.results(_doubled, b"", list(enumerate(parts))))
    assert results == [
        Killed() if index in always else [number * 2 for number in part] for index, part in enumerate(parts)
    ]


# ── versions, levels ────────────────────────────────────────────────────────


def test_another_version_is_refused_with_the_way_out() -> None:
    errand = Errand(SharedFile("", ""), b"", Program("0.0.1", "3.99"))
    with pytest.raises(ConfigError, match=r"started by Hookwright 0\.0\.1 on Python 3\.99.*hookwright==0\.0\.1"):
        run_errand(errand, _doubled)


class TwoKinds(Fleet):
    """Workers with different levels."""

    def levels(self, wanted: str, *, trusted: bool) -> list[str]:
        """Return what two workers say."""
        return ["overlay", "landlock"] if wanted == "auto" else [wanted, wanted]


def test_the_level_of_a_fleet_is_the_best_that_every_worker_has() -> None:
    with process_pool(1) as pool:
        assert fleet_level(TwoKinds(pool, 1), "auto", trusted=False) == "landlock"
        with pytest.raises(ConfigError, match="Add --trust"):
            fleet_level(Fleet(pool, 1), "none", trusted=False)
        assert fleet_level(Fleet(pool, 1), "none", trusted=True) == "none"
        if working_level() is not None:
            assert fleet_level(Fleet(pool, 1), "auto", trusted=False) == working_level()


def test_a_bundle_is_unpacked_once_per_worker(tmp_path: Path) -> None:
    world = World(tmp_path, [PURE])
    calls = [(name, "ls", "Bash") for name in "abcd"]
    with process_pool(1) as pool:
        _changes(world, calls, Fleet(pool, 1, share=str(tmp_path / "share")))
        found = pool.submit(_unpacked, tempfile.gettempdir()).result()
    assert len(list((tmp_path / "share").iterdir())) == 1
    assert len(found) == 1


def _unpacked(_folder: str) -> list[str]:
    from hookwright.replay.fleet.worker import _BUNDLES

    return [one.root for one in _BUNDLES._unpacked.values()]
