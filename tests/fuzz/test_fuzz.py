"""The short form of `make fuzz`: each target under hypothesis, and a few thousand edits of its seeds."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.mutate import WORDS, inputs
from fuzz.targets import TARGETS

EDITS = 1500
#: What runs C code that may crash.
FRAGILE = ("shell", "rule", "hidden command", "reading", "moving")


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]
    pieces = st.one_of(st.sampled_from(target.seeds), st.sampled_from(WORDS), st.binary(max_size=20))
    target.run(b"".join(data.draw(st.lists(pieces, max_size=8))))


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in FRAGILE])
def test_edited_seeds(name: str) -> None:
    target = TARGETS[name]
    for made in itertools.islice(inputs(target.seeds, 1), EDITS):
        target.run(made)


@pytest.mark.parametrize("name", FRAGILE)
def test_edited_seeds_in_a_process_that_may_crash(name: str) -> None:
    argv = [sys.executable, "-m", "fuzz", "--plain", "--inside", name, "--runs", str(EDITS), "--seed", "1"]
    ended = subprocess.run(argv, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_run_says_what_it_tried() -> None:
    argv = [sys.executable, "-m", "fuzz", "--plain", "--runs", "3", "--only", "url"]
    ended = subprocess.run(argv, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert (ended.returncode, "failing: none" in ended.stdout) == (0, True)
