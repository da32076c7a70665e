"""Changes by hand, each of which the tests that name its requirement row must notice."""

from __future__ import annotations

import ast
import functools
import gc
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import coverage_map
from mutants.campaign import rows_of
from mutants.ledger import Proof, RowMutant, read_record, row_mutants
from mutants.mutant import SOURCE
from mutants.runner import End, collected, fate, module_of
from mutants.swap import NotApplied, put_all

#: Processor seconds that the tests of one row take at most.
_LIMIT = 60


def run() -> int:
    """Try every change on the tests of its row; keep the proofs, and return 1 where one was not noticed."""
    changes = row_mutants()
    wanted = {change.row for change in changes}
    marks = [mark for mark in coverage_map.all_marks() if mark.row in wanted]
    files = dict.fromkeys(str(mark.path.relative_to("tests")) for mark in marks)
    unnoticed: list[RowMutant] = []

    def job(items: Sequence[pytest.Item]) -> None:
        gc.freeze()
        record = read_record()
        for change in changes:
            tests = [item for item in items if change.row in rows_of(item)]
            with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
                end = fate(functools.partial(_apply, change, Path(folder)), tests, _LIMIT)
            if end.killer.startswith("import: "):
                raise SystemExit(f"{change.row}: {end.killer}")
            how = "" if end.asserted else " (no expectation failed)"
            print(f"{change.row}: {end.end.value}: {change.file} {end.killer}{how}", flush=True)
            record.rows.pop(change.row, None)
            if end.end is End.SURVIVED:
                unnoticed.append(change)
            elif end.asserted:  # a time-out names no test, and an exception of the code is met by any test
                record.rows[change.row] = Proof(f"{change.file}: {change.before} → {change.after}", end.killer)
        record.rows = dict(sorted(record.rows.items()))
        record.write()

    collected(files, job)
    print(f"{len(changes)} changes by hand: {len(unnoticed)} not noticed by the tests of their row")
    return 1 if unnoticed else 0


def _apply(change: RowMutant, folder: Path) -> None:
    """Change the module in this process, and the source that processes of the tests import."""
    module = module_of(change.file)
    if not put_all(module, ast.parse(change.source())):
        raise NotApplied(f"{change.row}: no function of {change.file} changed")
    sys.executable = str(_python_of(_overlay(change, folder / "src"), folder / "python"))


def _overlay(change: RowMutant, folder: Path) -> Path:
    """Make a copy of the source by links, in which one file is changed."""
    here, there = folder, SOURCE
    for part in (*change.file.split("/"), None):
        if part is None:
            here.write_text(change.source())
            return folder
        here.mkdir(parents=True, exist_ok=True)
        for entry in there.iterdir():
            if entry.name not in (part, "__pycache__"):
                (here / entry.name).symlink_to(entry)
        here, there = here / part, there / part
    raise AssertionError("a file has a path")


def _python_of(source: Path, path: Path) -> Path:
    """Write a program that is Python with another source first."""
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(source))} exec {shlex.quote(sys.executable)} "$@"\n')
    path.chmod(0o755)
    return path
