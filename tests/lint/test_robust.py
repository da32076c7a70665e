"""Whatever a project contains, check reports something or nothing, and never crashes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.lint import RULES
from hookwright.lint.catalogue.samples import HOOKS, SETTINGS, bash, script
from hookwright.lint.model import Sample
from hookwright.protocol.events import CATALOGUE
from lint.projects import check, write

SCRIPTS = {
    Path(name).suffix: [
        text
        for rule in RULES.values()
        for sample in (rule.bad, rule.good)
        for file, text in sample.files.items()
        if Path(file).suffix == Path(name).suffix
    ]
    for name in ("x.sh", "x.py")
}
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 99999), st.text(max_size=20), st.just("Bash(git *)"))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
KEYS = st.sampled_from(
    ["type", "command", "args", "matcher", "hooks", "if", "timeout", "async", "url", "shell", "once"]
)
HANDLERS = st.dictionaries(KEYS, VALUES, max_size=6)
GROUPS = st.one_of(
    VALUES, HANDLERS, st.fixed_dictionaries({"matcher": VALUES, "hooks": st.lists(HANDLERS, max_size=3)})
)
EVENTS = st.dictionaries(
    st.sampled_from([*CATALOGUE, "PreToolCall"]), st.lists(GROUPS, max_size=3) | VALUES, max_size=4
)
SETTINGS_FILES = st.fixed_dictionaries({"hooks": EVENTS | VALUES}, optional={"env": VALUES, "permissions": VALUES})

slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@slow
@given(value=SETTINGS_FILES)
def test_any_settings_can_be_checked(value: Any, tmp_path: Path) -> None:
    root = write(Sample({SETTINGS: json.dumps(value, indent=1)}), tmp_path / "project")
    for found in check(root, tmp_path / "home", "2.1.50,gemini,windows"):
        assert found.at.line >= 1
        assert found.rule in RULES


@slow
@given(data=st.binary(max_size=200))
def test_any_bytes_can_stand_in_a_settings_file(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "project" / SETTINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    check(tmp_path / "project", tmp_path / "home")


@pytest.mark.parametrize("ending", SCRIPTS)
@settings(slow, max_examples=15)
@given(choice=st.integers(0, 10_000), cut=st.integers(0, 400), drop=st.integers(1, 30))
def test_a_damaged_script_can_be_checked(ending: str, choice: int, cut: int, drop: int, tmp_path: Path) -> None:
    text = SCRIPTS[ending][choice % len(SCRIPTS[ending])]
    start = cut % len(text)
    damaged = text[:start] + text[start + drop :]
    root = write(script(f"x{ending}", damaged, matcher="*"), tmp_path / "project")
    os.chmod(root / HOOKS / f"x{ending}", 0o755)
    check(root, tmp_path / "home")


HOSTILE = {
    "deep parentheses": ("x.sh", bash("(" * 3000 + "true" + ")" * 3000 + "\n")),
    "deep substitutions": ("x.sh", bash("x=" + '"$(echo ' * 60 + "a" + ')"' * 60 + "\n")),
    "functions that double": (
        "x.sh",
        bash("f0() { echo x; }\n" + "".join(f"f{n}() {{ {f'f{n - 1}; ' * 9}}}\n" for n in range(1, 8)) + "f7\n"),
    ),
    "a function that calls itself": ("x.sh", bash("f() { f; f; }\nf\n")),
    "deep python": ("x.py", "#!/usr/bin/env python3\nx = " + "(" * 150 + "1" + ")" * 150 + "\n"),
    "python functions that double": (
        "x.py",
        "#!/usr/bin/env python3\ndef f0():\n    pass\n"
        + "".join(f"def f{n}():\n" + f"    f{n - 1}()\n" * 9 for n in range(1, 8))
        + "f7()\n",
    ),
    "deep javascript": ("x.js", "#!/usr/bin/env node\n" + "if (a) {" * 2000 + "}" * 2000 + "\n"),
    "one long line": ("x.sh", bash("echo " + "a " * 50_000 + "\n")),
    "no text at all": ("x.sh", "#!/bin/sh\n\0\0\0"),
}


@pytest.mark.parametrize(("name", "body"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_script_is_left_unread(name: str, body: str, tmp_path: Path) -> None:
    root = write(script(name, body, matcher="*"), tmp_path / "project")
    assert "HK401" not in {found.rule for found in check(root, tmp_path / "home")}


def test_odd_files_in_the_place_of_scripts_are_left_alone(tmp_path: Path) -> None:
    root = write(script("x.sh", bash("true\n")), tmp_path / "project")
    path = root / HOOKS / "x.sh"
    path.unlink()
    path.mkdir()
    check(root, tmp_path / "home")
    path.rmdir()
    os.mkfifo(path)
    check(root, tmp_path / "home")
    path.unlink()
    path.symlink_to("x.sh")
    assert "HK301" in {found.rule for found in check(root, tmp_path / "home")}
