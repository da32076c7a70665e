"""Every scenario in every framework that is installed."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from adapters.scenarios import SCENARIOS, World

#: Framework → the module that it is imported by.
FRAMEWORKS = {"pydantic_ai": "pydantic_ai", "agent_framework": "agent_framework"}


def driver(name: str) -> Any:
    pytest.importorskip(FRAMEWORKS[name])
    return importlib.import_module(f"adapters.drive_{name}")


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_scenario(framework: str, scenario: str, tmp_path: Path) -> None:
    used = driver(framework)
    if scenario in used.CANNOT:
        pytest.skip(used.CANNOT[scenario])
    SCENARIOS[scenario](used, World(tmp_path))
