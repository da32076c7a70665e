"""Every rule finds its bad sample, at the line it names, and nothing in its good one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.lint import RULES, LintRule
from lint.projects import STRICT, check, line_of, write

#: HK810 needs a trust store; it is tried with the command itself.
STATIC = [rule for rule in RULES.values() if not rule.bad.trust and rule.id != "HK810"]
ROWS = {"HK201": "R-044", "HK306": "R-383", "HK508": "R-383", "HK621": "R-383", "HK705": "R-383", "HK707": "R-383"}
MARKED = [pytest.param(rule, marks=pytest.mark.req(ROWS[rule.id]) if rule.id in ROWS else ()) for rule in STATIC]


@pytest.mark.parametrize("rule", MARKED, ids=lambda rule: rule.id)
def test_the_bad_sample_is_caught_at_its_line(rule: LintRule, tmp_path: Path) -> None:
    root = write(rule.bad, tmp_path / "project")
    found = check(
        root, tmp_path / "home", rule.bad.target, paths=(rule.bad.path,), selection=STRICT, agent=rule.bad.agent
    )
    name, line = line_of(rule.bad)
    places = {(str(Path(item.at.path).relative_to(root)), item.at.line) for item in found if item.rule == rule.id}
    assert (name, line) in places


@pytest.mark.parametrize("rule", STATIC, ids=lambda rule: rule.id)
def test_the_good_sample_is_left_alone(rule: LintRule, tmp_path: Path) -> None:
    root = write(rule.good, tmp_path / "project")
    found = check(
        root, tmp_path / "home", rule.good.target, paths=(rule.good.path,), selection=STRICT, agent=rule.good.agent
    )
    assert [item for item in found if item.rule == rule.id] == []
