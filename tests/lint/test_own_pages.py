"""What this project shows as good is good: by default `check` has nothing against its pages and recipes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docpages import ROOT, Block, projects
from hookwright.lint import Finding
from hookwright.protocol.diagnostics import Severity
from lint.projects import check

RECIPES = sorted(path for path in (ROOT / "examples" / "recipes").iterdir() if path.is_dir())
#: What the pages write as examples of mistakes: the parts with these words, and this file.
MISTAKES = ("HK703", "moved-away")
WRONG = ".claude/settings.local.json"
PARTS = [
    pytest.param(part, id=f"{name}-{number}")
    for name in ("README.md", "docs/guide.md", "docs/agent.md", "docs/security.md", "docs/workers.md")
    for number, part in enumerate(projects((ROOT / name).read_text()))
    if any("settings" in (block.file or "") for block in part)
    and not any(word in block.text for block in part for word in MISTAKES)
]


def serious(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(item.rule, item.at.path, item.what) for item in found if item.severity is not Severity.INFO]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_a_recipe_is_clean(recipe: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(recipe, tmp_path / "project"))
    assert serious(check(root, tmp_path / "home")) == []


@pytest.mark.parametrize("part", PARTS)
def test_a_page_is_clean(part: list[Block], tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    for block in part:
        if block.file and block.file != WRONG:
            place = home / block.file[2:] if block.file.startswith("~/") else project / block.file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text)
            place.chmod(0o755 if block.text.startswith("#!") else 0o644)
    found = [*check(project, home), *(check(home, home) if (home / ".claude").exists() else [])]
    assert serious(found) == []
