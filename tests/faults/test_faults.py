"""The short form of `make faults`: every quick row, each in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faults.hostile import FAULTS
from faults.runner import Result, run_row
from faults.table import ROWS

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for leftovers in /proc")

QUICK = [name for name, row in ROWS.items() if row.quick]


def verdict(result: Result) -> list[str]:
    return [*result.wrong, *(f"left behind: {text}" for text in result.left)]


@pytest.mark.req("R-113", "R-117", "R-183", "R-184", "R-186", "R-187", "R-190", "R-222")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", QUICK)
def test_fault(name: str) -> None:
    if name == "no process is left" and os.geteuid() != 0 and "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("the limit is one of the user, whose other tests start processes at the same time")
    result = run_row(name)
    if result.undecided:
        pytest.skip(result.undecided)
    assert verdict(result) == []
    assert result.tried > 0


def test_every_hostile_hook_that_fails_can_fail_closed() -> None:
    assert all(fault.code for fault in FAULTS.values() if fault.fails)
    assert all(fault.fails for fault in FAULTS.values() if fault.expires)
