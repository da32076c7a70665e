"""`written` names exactly what hooks changed: random file operations in a view and on a plain copy agree."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.replay.isolation.alone import in_fork, run_isolated
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import why_not
from hookwright.replay.isolation.levels import LEVELS, IsolationLevel, Name
from hookwright.replay.isolation.views import View
from replay.isolation.outside import tree

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # the test runner has threads when it forks
]

#: Operations that have no effect at a level.
WITHOUT_EFFECT = {Name.OVERLAY: (), Name.LANDLOCK: ("mode", "touch"), Name.BWRAP: ()}

#: `make isolation` tries more.
EXAMPLES = int(os.environ.get("HOOKWRIGHT_EXAMPLES", "8"))
PATHS = st.sampled_from(["a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "new", "new/x"])
KINDS = ["write", "append", "open", "remove", "clear", "mkdir", "move", "link", "hard", "mode", "touch"]
OPERATIONS = st.lists(st.tuples(st.sampled_from(KINDS), PATHS, PATHS), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def bounds() -> Iterator[Bounds]:
    with tempfile.TemporaryDirectory() as base:
        for name in ("project/d/e", "home", "temp"):
            os.makedirs(f"{base}/{name}")
        for name in ("a", "b", "d/x", "d/y", "d/e/z"):
            with open(f"{base}/project/{name}", "w", encoding="utf-8") as file:
                file.write(name)
            os.utime(f"{base}/project/{name}", (1_000_000_000, 1_000_000_000))
        yield Bounds(f"{base}/project", f"{base}/home", f"{base}/temp")


@pytest.mark.parametrize("level", [level for level in LEVELS if level.isolated], ids=lambda level: level.name.value)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_written_names_exactly_what_changed(
    level: IsolationLevel, bounds: Bounds, operations: list[tuple[str, str, str]]
) -> None:
    if reason := _why_not(level, bounds):
        pytest.skip(f"this machine does not allow the level {level.name.value}: {reason}")
    outside = tree(bounds.project)
    named = run_isolated(lambda view: _written(view, operations), level, bounds)
    assert tree(bounds.project) == outside
    assert named == _expected(bounds, [one for one in operations if one[0] not in WITHOUT_EFFECT[level.name]])


_KNOWN: dict[Name, str | None] = {}


def _why_not(level: IsolationLevel, bounds: Bounds) -> str | None:
    if level.name not in _KNOWN:
        _KNOWN[level.name] = why_not(level, bounds)
    return _KNOWN[level.name]


def _hook(folder: str, operations: list[tuple[str, str, str]]) -> None:
    """Do what a hook does, in a process of its own."""

    def run() -> None:
        os.chdir(folder)
        for what, path, other in operations:
            with contextlib.suppress(OSError):
                _operate(what, path, other)

    in_fork(run)


def _operate(what: str, path: str, other: str) -> None:
    match what:
        case "write" | "append":
            with open(path, what[0], encoding="utf-8") as file:
                file.write(other)
        case "open":
            os.close(os.open(path, os.O_RDWR))
        case "remove":
            os.unlink(path)
        case "clear":
            shutil.rmtree(path)
        case "mkdir":
            os.mkdir(path)
        case "move" if not os.path.isdir(path):  # folders are moved by copying in an overlay
            os.rename(path, other)
        case "link":
            os.symlink(other, path)
        case "hard":
            os.link(path, other)
        case "mode":
            os.chmod(path, 0o755 if "x" in other else 0o700 if os.path.isdir(path) else 0o600)
        case "touch":
            os.utime(path)


def _written(view: View, operations: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    _hook(view.project, operations)
    return [(one.path, one.how) for one in view.written() or ()]


def _expected(bounds: Bounds, operations: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return what the operations change in a plain copy."""
    with tempfile.TemporaryDirectory() as base:
        copy = f"{base}/copy"
        shutil.copytree(bounds.project, copy, symlinks=True)
        before = _facts(copy)
        _hook(copy, operations)
        after = _facts(copy)
    found = [(path, "created") for path in after.keys() - before.keys()]
    for path, facts in before.items():
        parent = os.path.dirname(path)
        if path in after and after[path] != facts:
            found.append((path, "changed"))
        elif path not in after and (parent == "" or stat.S_ISDIR(after.get(parent, (0, 0, b""))[0])):
            found.append((path, "removed"))
    return sorted((os.path.join(bounds.project, path), how) for path, how in found)


def _facts(folder: str) -> dict[str, tuple[int, int, bytes]]:
    """Return type and mode of everything in a folder; of files also time and content."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for place, folders, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in (*folders, *names)):
            facts = os.lstat(path)
            content = b"" if stat.S_ISDIR(facts.st_mode) else _content(path, facts.st_mode)
            modified = 0 if stat.S_ISDIR(facts.st_mode) else facts.st_mtime_ns
            found[os.path.relpath(path, folder)] = (facts.st_mode, modified, content)
    return found


def _content(path: str, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.readlink(path).encode()
    with open(path, "rb") as file:
        return file.read()
