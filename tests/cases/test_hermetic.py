"""Which settings a case loads, and which hooks take part in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookwright.cases.case import Case
from hookwright.cases.run import sources_of
from hookwright.cli import main as hookwright
from hookwright.config import Places


def places(root: Path, sources: tuple[str, ...] | None = None) -> Places:
    env = {"HOME": str(root / "home"), "PATH": "/usr/bin:/bin"}
    return Places(project=str(root / "project"), env=env, home=str(root / "home"), cwd=str(root), sources=sources)


def case(path: str, sources: tuple[str, ...] | None = None) -> Case:
    return Case(name="x", event="Stop", path=path, sources=sources)


def test_the_callers_choice_comes_first(tmp_path: Path) -> None:
    assert sources_of(case("project/a.yaml", ("local",)), places(tmp_path, ("user",))) == ("user",)


def test_then_what_the_case_names(tmp_path: Path) -> None:
    assert sources_of(case("home/.claude/hooks/tests/a.yaml", ("project",)), places(tmp_path)) == ("project",)


def test_then_the_place_of_its_file(tmp_path: Path) -> None:
    assert sources_of(case("home/.claude/hooks/tests/a.yaml"), places(tmp_path)) == ("user",)
    assert sources_of(case("project/.claude/hooks/tests/a.yaml"), places(tmp_path)) == ("project", "local")
    assert sources_of(case("home/.claude-other/a.yaml"), places(tmp_path)) == ("project", "local")


HOOKS = {
    "hooks": {
        "PreToolUse": [
            {"hooks": [{"type": "command", "command": "cat >/dev/null; echo first >&2; exit 2"}]},
            {"hooks": [{"type": "command", "command": "cat >/dev/null; echo second"}]},
        ]
    }
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, root = tmp_path / "home", tmp_path / "project"
    for folder, hooks in (
        (home, {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 3"}]}]}}),
        (root, HOOKS),
    ):
        (folder / ".claude").mkdir(parents=True)
        (folder / ".claude" / "settings.json").write_text(json.dumps(hooks))
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    return root


def run(project: Path, text: str, *options: str) -> int:
    (project / "cases.yaml").write_text(text)
    return hookwright(["test", "--trust", *options, "cases.yaml"])


def test_the_hooks_of_the_user_have_no_part_in_a_projects_cases(project: Path) -> None:
    assert run(project, "[{event: PreToolUse, tool: Bash, expect: {decision: deny, ran: 2}}]") == 0


def test_a_case_may_ask_for_them(project: Path) -> None:
    wanted = "sources: [user, project], expect: {decision: deny, ran: 3, errors: 1}"
    assert run(project, f"[{{event: PreToolUse, tool: Bash, {wanted}}}]") == 0


def test_only_names_the_hooks_that_take_part(project: Path) -> None:
    assert run(project, "[{event: PreToolUse, tool: Bash, only: echo second, expect: {decision: none, ran: 1}}]") == 0


def test_a_name_that_no_hook_has_fails_its_own_case_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = """
- {name: mistyped, event: PreToolUse, tool: Bash, only: third, expect: {ran: 0}}
- {name: right, event: PreToolUse, tool: Bash, only: echo second, expect: {ran: 1}}
"""
    assert run(project, cases) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "`only: third` names no hook. The hooks loaded from project, local settings are:" in shown
    assert ("1 passed, 1 failed" in shown, "mistyped not fired" in shown) == (True, True)
    before = (project / "cases.yaml").read_text()
    assert hookwright(["test", "--trust", "--update", "cases.yaml"]) == 1, "what was not fired cannot be recorded"
    assert (project / "cases.yaml").read_text() == before


def test_an_unknown_source_is_an_error_with_its_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(project, "- event: Stop\n  sources: [home]\n  expect: {ran: 0}\n") == 2
    assert "cases.yaml:2: `home` is not one of user, project, local" in capsys.readouterr().err
