"""What one more event costs: two files by hand, the rest is generated; no other library file names an event."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hookwright
import layers
from hookwright.protocol.events import CATALOGUE

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hookwright"
#: Written by tools/generate.py.
GENERATED = {"__init__.py", "author/_tables.py", "author/decorators.py"}
#: Written by hand for every event.
BY_HAND = {"protocol/events.py", "protocol/samples.py"}
#: Rooms that fire events, show them, judge hooks for them, rebuild past ones or say what other agents call them.
HOSTS = {"adapters", "agent", "tui", "cli", "lint", "cases", "templates", "dialects", "replay"}
#: Library files that are the host of an event, or offer one by default.
ALSO = {"ConfigChange": {"session.py"}, "Stop": {"code_hooks.py"}}


def python(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder, env=env, check=False)


def test_generated_source_is_up_to_date() -> None:
    done = python(ROOT, str(ROOT / "tools" / "generate.py"), "--check")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


# ── one more event ──────────────────────────────────────────────────────────

CLASS = '''
class CoffeeReady(Event, frozen=True, kw_only=True):
    """The coffee is ready."""

    rules: ClassVar[EventRules] = EventRules(when="the coffee is ready", target="cup", output=CONTEXT)
    cup: str


CATALOGUE: dict'''
HOOK = """
from hookwright.author import context, hook

@hook.coffee_ready("big")
def drink(event):
    return context(f"a {event.cup} cup")

hook.run()
"""
HOST = """
import hookwright
from hookwright.protocol.samples import sample

places = hookwright.Places(home=".", settings=("settings.json",))
assert not places.load().diagnostics
for cup in ("big", "small"):
    outcome = hookwright.fire_sync(sample("CoffeeReady", cwd=".", cup=cup), places)
    print(hookwright.CoffeeReady.__name__, outcome.context)
"""


def test_an_event_needs_two_files_by_hand(tmp_path: Path) -> None:
    for part in ("src", "tools"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    protocol = tmp_path / "src" / "hookwright" / "protocol"
    change(protocol / "events.py", "\nCATALOGUE: dict", CLASS)
    change(protocol / "events.py", "        SessionEnd,\n", "        SessionEnd,\n        CoffeeReady,\n")
    change(protocol / "samples.py", '    "SessionEnd": {', '    "CoffeeReady": {"cup": "big"},\n    "SessionEnd": {')
    written = python(tmp_path, "tools/generate.py")
    assert written.returncode == 0, written.stderr
    assert {line.split()[0] for line in written.stdout.splitlines()} == {f"src/hookwright/{name}" for name in GENERATED}

    (tmp_path / "drink.py").write_text(HOOK)
    hooks = {"CoffeeReady": [{"hooks": [{"type": "command", "command": f"{sys.executable} drink.py"}]}]}
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": hooks}))
    done = python(tmp_path, "-c", HOST, PYTHONPATH=str(tmp_path / "src"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["CoffeeReady ('a big cup',)", "CoffeeReady ()"]


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# ── the events there are ────────────────────────────────────────────────────


def named(tree: ast.AST) -> Iterator[str]:
    """Yield identifiers and whole strings; prose is not code."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Constant(value=str(text)):
                yield text


def test_no_other_library_file_names_an_event() -> None:
    found: dict[str, set[str]] = {name: set() for name in CATALOGUE}
    for path in layers.files():
        file = path.relative_to(PACKAGE)
        if file.parts[0] not in HOSTS:
            for name in set(named(ast.parse(path.read_text()))) & CATALOGUE.keys():
                found[name].add(file.as_posix())
    for name, files in found.items():
        assert files - GENERATED - BY_HAND <= ALSO.get(name, set()), name
        assert files >= BY_HAND, name


@pytest.mark.parametrize("name", [name for names in hookwright._EXPORTS.values() for name in names])
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(hookwright, name) is not None
    assert name in dir(hookwright)


def test_a_name_that_is_not_public_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        hookwright.Nothing  # noqa: B018
