"""The tests notice small changes of the pure core: a sample of them, and the lists that `make mutants` works with."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

import coverage_map
from mutants import ledger, mutant, swap
from mutants.targets import PROVING, TARGETS

TESTS = Path(__file__).parent.parent


def test_a_sample_of_fifty_mutants_is_noticed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mutants", "--sample", "50", "--seed", "2027"],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "50 mutants: " in done.stdout


def test_every_listed_survivor_still_exists() -> None:
    known = {one.id for file in TARGETS for one in mutant.mutants(file)}
    assert [survivor for survivor in ledger.listed() if survivor not in known] == []
    assert [survivor for survivor in ledger.listed().values() if len(survivor.reason) < 20] == []


def test_every_test_file_of_a_target_exists() -> None:
    tests = [test for table in (TARGETS, PROVING) for names in table.values() for test in names]
    assert [test for test in tests if not (TESTS / test).is_file()] == []


def test_every_change_by_hand_fits_its_source_and_a_row_with_tests() -> None:
    named = {mark.row for mark in coverage_map.all_marks()}
    for change in ledger.row_mutants():
        assert change.row in named
        ast.parse(change.source())


# ── the mutator itself ──


def changes(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(mutant, "SOURCE", tmp_path)
    (tmp_path / "m.py").write_text(source)
    return [f"{one.name}: {one.change}" for one in mutant.mutants("m.py")]


def test_what_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
LIMIT = 2
Alias = Left | Right

def f(a, b):
    '''A docstring.'''
    assert a
    if a and not b:
        g(a, key=b)
    return a == "xy"
"""
    assert changes(source, tmp_path, monkeypatch) == [
        "LIMIT: 2 → 3",
        "f: a and (not b) → a or not b",
        "f: a → not a",
        "f: not b → b",
        "f: g(a, key=b) → pass",
        "f: key=b → (nothing)",
        "f: return a == 'xy' → return None",
        "f: a == 'xy' → a != 'xy'",
        "f: 'xy' → 'xXXy'",
    ]


def test_a_change_reaches_those_who_imported_the_function_or_the_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "LIMIT = 2\nTWICE = LIMIT * 2\n\ndef f():\n    return LIMIT + 10\n"
    module, user = types.ModuleType("changed"), types.ModuleType("user")
    module.__file__ = str(tmp_path / "changed.py")
    exec(source, module.__dict__)
    monkeypatch.setitem(sys.modules, "changed", module)
    monkeypatch.setitem(sys.modules, "user", user)
    user.__dict__.update(f=module.__dict__["f"], TWICE=module.__dict__["TWICE"])
    swap.put_function(module, ast.parse(source.replace("+ 10", "+ 20")), "f")
    assert user.__dict__["f"]() == 22
    swap.put_constants(module, ast.parse(source.replace("LIMIT = 2", "LIMIT = 3")), "LIMIT")
    assert (user.__dict__["f"](), user.__dict__["TWICE"]) == (23, 6)
    with pytest.raises(swap.NotApplied):
        swap.put_function(module, ast.parse(source), "missing")
