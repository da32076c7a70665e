"""Changes by hand, each of which the tests that name its requirement row must notice."""

from __future__ import annotations

import ast
import gc
from collections.abc import Sequence

import pytest

import coverage_map
from mutants.campaign import rows_of
from mutants.ledger import Proof, RowMutant, read_record, row_mutants
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
            end = fate(lambda change=change: _apply(change), tests, _LIMIT)
            print(f"{change.row}: {end.end.value}: {change.file}: {change.after.strip()} {end.killer}", flush=True)
            record.rows.pop(change.row, None)
            if end.end is End.SURVIVED:
                unnoticed.append(change)
            else:
                record.rows[change.row] = Proof(f"{change.file}: {change.before} → {change.after}", end.killer)
        record.rows = dict(sorted(record.rows.items()))
        record.write()

    collected(files, job)
    print(f"{len(changes)} changes by hand: {len(unnoticed)} not noticed by the tests of their row")
    return 1 if unnoticed else 0


def _apply(change: RowMutant) -> None:
    module = module_of(change.file)
    if not put_all(module, ast.parse(change.source())):
        raise NotApplied(f"{change.row}: no function of {change.file} changed")
