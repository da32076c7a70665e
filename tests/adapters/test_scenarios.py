"""Every scenario in every framework that is installed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from adapters.ran import PAGE, page_with_tables, recorded, recording
from adapters.scenarios import CANNOT, FRAMEWORKS, MODULES, SCENARIOS, World

RUNS = [(one, name) for one in FRAMEWORKS for name in SCENARIOS if name not in CANNOT[one]]


@pytest.mark.parametrize(("framework", "scenario"), RUNS)
def test_scenario(framework: str, scenario: str, tmp_path: Path) -> None:
    pytest.importorskip(MODULES.get(framework, framework))
    with recording() as fired:
        SCENARIOS[scenario](importlib.import_module(f"adapters.drive_{framework}"), World(tmp_path))
    assert set(recorded(framework)[scenario]) <= fired, f"write it with: cd tests && python -m adapters.ran {framework}"


def test_the_page_shows_what_ran() -> None:
    assert PAGE.read_text() == page_with_tables(), "write it with: cd tests && python -m adapters.ran"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_ran_is_every_scenario_that_can_be_expressed(framework: str) -> None:
    assert list(recorded(framework)) == [name for one, name in RUNS if one == framework]
