"""Replay on a real dask cluster: `make fleet` runs these."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from hookwright.cli import main
from hookwright.errors import ConfigError
from hookwright.replay.fleet.dask import DaskExecutor, DaskFleet, as_fleet, dask_cluster
from hookwright.replay.fleet.fleet import fleet_level
from hookwright.replay.fleet.reading import read_apart
from hookwright.replay.fleet.worker import Program
from hookwright.replay.model import Code
from hookwright.replay.past import Coverage, Past
from hookwright.replay.run import Conditions, replay
from hookwright.replay.sources import past_events
from hookwright.replay.transcripts.files import SourceFile
from hookwright.replay.transcripts.sessions import Reader
from replay.fleet.reports import timeless
from replay.histories import call, prompt, result, write
from replay.isolated import needs_isolation, working_level
from replay.test_fast_is_equal import COUNTING, PURE, World
from support import hooks_for, script

distributed = pytest.importorskip("distributed")
pytestmark = [needs_isolation, pytest.mark.filterwarnings("default")]

#: Counts the calls of its session, and takes its time.
SLOW = COUNTING.replace("cat > /dev/null", "cat > /dev/null; sleep 0.1")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers; dask does not run a task again whose worker was killed, so Hookwright has to."""
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as found,
    ):
        yield found


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as found:
        found.wait_for_workers(2)
        yield found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "HOOKWRIGHT", "XDG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(home / "none"))
    monkeypatch.chdir(project)
    for number in range(8):
        name = f"s{number}"
        lines = [prompt("go", number, session=name)]
        for second in range(1, 4):
            own = f"toolu_{number:08}{second:08}"
            lines += [call(own, number + second / 10, session=name), result(own, number + second / 9, session=name)]
        write(tmp_path / "history" / f"{name}.jsonl", lines)
    hooks = [
        {"type": "command", "command": str(script(tmp_path / f"hook{number}.sh", body))}
        for number, body in enumerate((SLOW, PURE))
    ]
    (tmp_path / "guard.json").write_text(json.dumps(hooks_for("PreToolUse", *hooks, matcher="Bash")))
    return tmp_path


def _report(place: Path, *options: str) -> dict[str, Any]:
    out = place / f"{time.monotonic_ns()}.json"
    words = ["replay", str(place / "history"), "--candidate", str(place / "guard.json"), "--baseline", "none"]
    assert main([*words, "--json", "--out", str(out), *options]) == 0
    found: dict[str, Any] = timeless(json.loads(out.read_text()))
    return found


def _kill_a_busy_worker(client: Any, killed: list[int]) -> None:
    """Kill a worker with SIGKILL while it has a task, after others were begun."""
    deadline = time.monotonic() + 60
    seen: set[str] = set()
    while time.monotonic() < deadline:
        busy = {address: keys for address, keys in client.processing().items() if keys}
        seen.update(key for keys in busy.values() for key in keys)
        if busy and len(seen) >= 5:
            worker = next(iter(busy))
            killed.append(client.run(os.getpid, workers=[worker])[worker])
            os.kill(killed[0], signal.SIGKILL)
            return
        time.sleep(0.01)


def test_the_report_with_a_worker_killed_in_the_middle_is_that_of_this_machine(
    place: Path, client: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    alone = _report(place, "--jobs", "1")
    killed: list[int] = []
    killer = threading.Thread(target=_kill_a_busy_worker, args=(client, killed))
    killer.start()
    found = _report(place, "--on", client.scheduler.address)
    killer.join()
    assert killed
    assert found == alone
    assert alone["buckets"]["stricter"]["events"] == 8
    assert "has no TLS" in capfd.readouterr().err


def test_a_client_or_its_executor_is_enough_in_python(tmp_path: Path, client: Any) -> None:
    world = World(tmp_path, [PURE, COUNTING])
    pasts = world.pasts([(name, what, "Bash") for name in "abc" for what in ("ls", "rm -rf x", "ls")])
    alone = world.changes(pasts)
    assert world.changes(pasts, executor=client) == alone
    assert isinstance(as_fleet(client.get_executor()), DaskFleet)


def test_workers_read_what_a_url_names(place: Path, client: Any) -> None:
    url = f"local://{place}/history"
    here, there = Coverage(), Coverage()
    fleet = DaskFleet(client)

    def apart(sources: Sequence[SourceFile], otherwise: Reader) -> Reader:
        return read_apart(fleet, sources, _never)

    found = list(past_events([url], coverage=there, apart=apart))
    known = list(past_events([str(place / "history")], coverage=here))
    assert [(one.call, one.time, one.fate) for one in found] == [(one.call, one.time, one.fate) for one in known]
    assert there == here
    assert here.calls == 24


def _never(source: SourceFile, *_: object) -> Iterator[Past]:
    raise AssertionError(f"{source.path} was read here")


DEADLY = "#!/bin/sh\ngrep -q boom && kill -9 $CLAUDE_PID\nexit 0\n"


def test_a_session_that_kills_its_process_is_undecided_and_no_worker_is_lost(tmp_path: Path, client: Any) -> None:
    world = World(tmp_path, [DEADLY, PURE])
    calls = [(name, "boom" if name == "b" else "rm -rf x", "Bash") for name in "abcd"]
    before = sorted(client.run(os.getpid).values())
    conditions = Conditions(places=world._places, isolation="none")
    found = list(replay(world.pasts(calls), world.candidate, "none", conditions=conditions, executor=client))
    assert [change.bucket.value for change in found] == ["stricter", "undecided", "stricter", "stricter"]
    assert [doubt.code for doubt in found[1].now.doubts] == [Code.POISON]
    assert sorted(client.run(os.getpid).values()) == before


class Murderous(DaskExecutor):
    """Kills whichever worker has a task of session b, each time."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        pasts = args[2] if len(args) > 2 else ()
        deadly = any(isinstance(past, Past) and past.event.session_id == "b" for past in pasts)
        return super().submit(_end_worker if deadly else fn, *args, **kwargs)


def _end_worker(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_worker_is_undecided_and_its_neighbours_are_not(tmp_path: Path, client: Any) -> None:
    world = World(tmp_path, [COUNTING, PURE])
    calls = [(name, "rm -rf x", "Bash") for name in "abcd"]
    conditions = Conditions(places=world._places, isolation=working_level() or "")
    fleet = DaskFleet(client)
    fleet.executor = Murderous(client)
    found = list(replay(world.pasts(calls), world.candidate, "none", conditions=conditions, executor=fleet))
    assert [change.bucket.value for change in found] == ["stricter", "undecided", "stricter", "stricter"]
    assert [doubt.code for doubt in found[1].now.doubts] == [Code.POISON]


def _listed(dask_worker: Any) -> tuple[list[str], list[str]]:
    return sorted(os.listdir(dask_worker.local_directory)), sorted(dask_worker.plugins)


def test_bundles_are_taken_back_and_nothing_is_left_on_workers(tmp_path: Path, client: Any) -> None:
    world = World(tmp_path, [PURE])
    before = client.run(_listed)
    world.changes(world.pasts([("a", "ls", "Bash")]), executor=client)
    assert client.run(_listed) == before


def test_a_worker_with_another_version_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookwright.replay.fleet.dask.Program", lambda: Program("0.0.1"))
    with pytest.raises(ConfigError, match=r"this worker has Hookwright .* was started by Hookwright 0\.0\.1.*image"):
        DaskFleet(client)


def test_a_worker_without_the_wanted_level_refuses(client: Any) -> None:
    with pytest.raises(ConfigError, match="Add --trust"):
        fleet_level(DaskFleet(client), "none", trusted=False)
    with pytest.raises(ConfigError, match=r"the worker .*: --isolation strict: not a level"):
        fleet_level(DaskFleet(client), "strict", trusted=False)
    assert fleet_level(DaskFleet(client), "auto", trusted=False) == working_level()


def test_no_scheduler_and_no_workers_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookwright.replay.fleet.dask._PATIENCE", 2)
    with pytest.raises(ConfigError, match="no dask scheduler answers there"), dask_cluster("tcp://127.0.0.1:9"):
        pass
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty,
        pytest.raises(ConfigError, match="the scheduler has no workers"),
        dask_cluster(empty.scheduler_address),
    ):
        pass
