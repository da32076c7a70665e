"""Hostile hooks change nothing outside their view, at every level of isolation, for root and for an ordinary user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from hookwright.errors import HookwrightError
from hookwright.replay.isolation.alone import in_fork
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.levels import LEVELS, IsolationLevel, Name
from hookwright.replay.isolation.views import View, enter
from replay.isolation.outside import ORDINARY, Outside, become, outside

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # the test runner has threads when it forks
]

HOSTILE = (Path(__file__).parent / "hostile.py").read_text()
Result = TypeVar("Result")

#: Attacks on files of which a view has its own; they may work there.
HARMLESS = {
    "write_home",
    "delete_project",
    "write_tmp",
    "write_var_tmp",
    "write_shared_memory",
    "write_through_a_hard_link",
    "leave_a_daemon",
    "signal_others",  # a process of the view may have the same number
    "trace_others",
}
#: Attacks that seem to work, without effect.
IGNORED = {
    Name.OVERLAY: {"signal_the_keeper"},
    Name.LANDLOCK: {"chmod_elsewhere", "chmod_by_descriptor", "times_elsewhere"},
    # A packet to its own loopback device, and a mount that only the process itself sees.
    Name.BWRAP: {"signal_the_keeper", "send_udp", "mount_as_new_root"},
}


def python(user: int) -> str:
    """Return an interpreter that a user may run; that of the tests may be in a private folder of root."""
    for path in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        open_to_all = all(os.stat(folder).st_mode & 1 for folder in (path, *map(str, Path(path).parents)))
        if os.path.exists(path) and (user == os.geteuid() or open_to_all):
            return path
    pytest.skip(f"there is no interpreter that user {user} may run")


def inside(user: int, function: Callable[[View], Result], level: IsolationLevel, bounds: Bounds) -> Result:
    """Run a function in a view of a user."""

    def run() -> Result:
        if user != os.geteuid():
            become(user)
        return function(enter(level, bounds))

    return in_fork(run)


def users() -> list[int]:
    """Return the users that tests can be: root can be an ordinary user as well."""
    return [0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()]


@pytest.fixture(params=users(), ids=lambda user: "root" if user == 0 else "ordinary")
def user(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def around(user: int) -> Iterator[Outside]:
    with outside(user) as found:
        yield found


@pytest.fixture(params=[level for level in LEVELS if level.isolated], ids=lambda level: level.name.value)
def level(request: pytest.FixtureRequest, user: int, around: Outside) -> IsolationLevel:
    found: IsolationLevel = request.param
    try:
        inside(user, lambda view: None, found, around.bounds)
    except (OSError, HookwrightError) as problem:
        pytest.skip(f"this machine does not allow the level {found.name.value} for user {user}: {problem}")
    return found


def attack(view: View, around: Outside, program: str) -> dict[str, str]:
    """Run the hostile hook in a view, and return how its attacks ended."""
    targets = around.targets() | {"start": view.project, "keeper": str(os.getppid() or 1), "worker": str(os.getpid())}
    done = subprocess.run(
        [program, "-I", "-c", HOSTILE, json.dumps(targets)],
        env={"PATH": os.defpath, **view.env},
        stdout=subprocess.PIPE,
        check=True,
    )
    results: dict[str, str] = json.loads(done.stdout)
    return results


def test_hostile_hooks_leave_everything_outside_as_it_was(user: int, level: IsolationLevel, around: Outside) -> None:
    """Nothing outside changes, nothing is reached, no process is left, and a renewed view shows nothing of them."""
    program = python(user)

    def hostile(view: View) -> tuple[dict[str, str], bool, object, list[int]]:
        results = attack(view, around, program)
        changed = bool(view.written())
        view.renew()
        return results, changed, view.written(), around.left()

    before = around.files()
    results, changed, later, left = inside(user, hostile, level, around.bounds)
    assert around.files() == before
    assert around.reached() == []
    assert around.alive()
    assert (changed, later, left, around.left()) == (True, (), [], [])
    worked = {name for name, word in results.items() if word == "worked"}
    if around.elsewhere.startswith(tempfile.gettempdir()):  # an ordinary user has no other place; views have their own
        worked -= {name for name in worked if name.endswith("_elsewhere")} | {"write_through_a_link"}
        worked -= {"chmod_by_descriptor"}
    assert worked - HARMLESS - IGNORED[level.name] == set(), results


def test_the_hostile_hook_is_hostile(user: int) -> None:
    """Without isolation its attacks on files, sockets and processes work."""
    program = python(user)
    with outside(user) as around:
        targets = around.targets() | {"start": around.bounds.project, "keeper": "0", "worker": "0"}
        chosen = (
            "write_home chmod_elsewhere connect_tcp send_udp connect_unix connect_abstract trace_others signal_others"
        )
        script = HOSTILE.replace('for name in (*first, "delete_project")', f"for name in {chosen.split()!r}")
        done = in_fork(lambda: _run_as(user, [program, "-I", "-c", script, json.dumps(targets)]))
        assert set(json.loads(done).values()) == {"worked"}
        assert around.reached() == ["tcp", "udp", "unix", "abstract"]


def _run_as(user: int, argv: list[str]) -> bytes:
    if user != os.geteuid():
        become(user)
    return subprocess.run(argv, capture_output=True, check=True).stdout
