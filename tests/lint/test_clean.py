"""Hooks in the manner of popular repositories, well written: nothing above a remark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hookwright.protocol.diagnostics import Severity
from lint.projects import check

CLEAN = sorted((Path(__file__).parent / "clean").iterdir())


def test_there_are_thirty_of_them() -> None:
    assert len(CLEAN) == 30


@pytest.mark.parametrize("project", CLEAN, ids=lambda path: path.name)
def test_nothing_above_info_is_found(project: Path, tmp_path: Path) -> None:
    # A copy outside this repository: settings are searched up to the repository's root.
    root = Path(shutil.copytree(project, tmp_path / "project"))
    found = [item for item in check(root, tmp_path / "home") if item.severity is not Severity.INFO]
    assert [(item.rule, item.at.path, item.at.line, item.what) for item in found] == []
