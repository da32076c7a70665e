"""Every scenario in every framework that is installed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from adapters.scenarios import CANNOT, FRAMEWORKS, MODULES, PAGE, SCENARIOS, World, page_with_table

RUNS = [(one, name) for one in FRAMEWORKS for name in SCENARIOS if name not in CANNOT[one]]


@pytest.mark.parametrize(("framework", "scenario"), RUNS)
def test_scenario(framework: str, scenario: str, tmp_path: Path) -> None:
    pytest.importorskip(MODULES.get(framework, framework))
    SCENARIOS[scenario](importlib.import_module(f"adapters.drive_{framework}"), World(tmp_path))


def test_the_page_shows_what_ran() -> None:
    assert PAGE.read_text() == page_with_table(), "write it with: cd tests && python -m adapters.scenarios"
