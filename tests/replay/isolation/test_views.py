"""A view of the machine: what hooks write in it is kept apart, named and forgotten."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from hookwright.errors import ConfigError, ViewEnded
from hookwright.replay.isolation.alone import run_isolated
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.changes import Written
from hookwright.replay.isolation.choose import choose, why_not
from hookwright.replay.isolation.levels import NONE, OVERLAY
from hookwright.replay.isolation.views import View, enter

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # the test runner has threads when it forks
]


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    for name in ("project", "home", "temp"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "kept.txt").write_text("kept")
    found = Bounds(str(tmp_path / "project"), str(tmp_path / "home"), str(tmp_path / "temp"))
    reason = why_not(OVERLAY, found)
    if reason is not None:
        pytest.skip(f"this machine does not allow overlays: {reason}")
    return found


def sh(view: View, script: str) -> int:
    """Run a hook in a view."""
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=view.project, env={"PATH": os.defpath, **view.env}, check=False
    ).returncode


def test_what_a_hook_writes_is_named_and_forgotten(bounds: Bounds) -> None:
    def inside(view: View) -> tuple[int, list[tuple[str, str]], tuple[Written, ...] | None, list[str]]:
        code = sh(view, "echo x > new && rm kept.txt && echo y > $HOME/state && touch $TMPDIR/mark")
        named: list[tuple[str, str]] = [(one.path, one.how) for one in view.written() or ()]
        view.renew()
        return code, named, view.written(), sorted(os.listdir(view.project))

    code, named, later, listed = run_isolated(inside, OVERLAY, bounds)
    assert code == 0
    assert named == [
        (f"{bounds.home}/state", "created"),
        (f"{bounds.project}/kept.txt", "removed"),
        (f"{bounds.project}/new", "created"),
        (f"{bounds.temp}/mark", "created"),
    ]
    assert later == ()
    assert listed == ["kept.txt"]
    assert os.listdir(bounds.home) == os.listdir(bounds.temp) == []
    assert Path(bounds.project, "kept.txt").read_text() == "kept"


def test_a_view_is_renewed_after_its_working_directory_was_removed(bounds: Bounds) -> None:
    def inside(view: View) -> tuple[str, list[str]]:
        os.chdir(view.project)
        sh(view, "rm -rf $PWD; exit 0")
        view.renew()
        return os.getcwd(), os.listdir(view.project)

    assert run_isolated(inside, OVERLAY, bounds) == (os.getcwd(), ["kept.txt"])


def test_a_worker_that_is_killed_takes_its_view_with_it(bounds: Bounds) -> None:
    """The keeper is the process that the owner of a worker knows; everything inside ends with it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            view = enter(OVERLAY, bounds)
            subprocess.Popen(["/bin/sleep", "60"], pass_fds=(theirs,))
            os.write(theirs, view.level.name.value.encode())
            signal.pause()
        finally:
            os._exit(1)
    os.close(theirs)
    assert os.read(ours, 100) == b"overlay"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert os.read(ours, 100) == b""  # the last process that could write has ended
    os.close(ours)


def _work(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def test_enter_is_the_initializer_of_a_pool(bounds: Bounds) -> None:
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=enter, initargs=(OVERLAY, bounds)) as pool:
        assert list(pool.map(_work, range(3))) == [(0, 1), (1, 1), (4, 1)]


def test_a_process_that_is_killed_gives_no_result(bounds: Bounds) -> None:
    with pytest.raises(ViewEnded, match="ended with 7 and without a result"):
        run_isolated(lambda view: os._exit(7), OVERLAY, bounds)


def test_none_is_only_for_those_who_ask_and_trust(bounds: Bounds) -> None:
    with pytest.raises(ConfigError, match="Add --trust"):
        choose("none", bounds, trusted=False)
    assert choose("none", bounds, trusted=True) == NONE
    assert choose("auto", bounds, trusted=True) == OVERLAY
