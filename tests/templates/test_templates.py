"""Every template, in both languages, installed into a project and proven by its own cases."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.cases.case import CaseResult
from hookwright.cases.read import read_cases
from hookwright.cases.run import Runner
from hookwright.cli import main as hookwright
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.protocol.sources import Scope
from hookwright.templates import TemplateLanguage, load_template, template_names
from hookwright.templates.install import install

NAMES = template_names()


def places(root: Path) -> Places:
    """Return a home and a project with a space in its name."""
    (root / "home").mkdir(exist_ok=True)
    (root / "a project").mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "HOOKWRIGHT_MANAGED_SETTINGS": str(root / "none")}
    return Places(project=str(root / "a project"), env=env, home=str(root / "home"), trust=TrustPolicy.EVERYTHING)


def run_cases(where: Places, path: str) -> list[CaseResult]:
    async def main() -> list[CaseResult]:
        async with Runner(where) as runner:
            return await runner.run_all(read_cases(path), 4)

    return asyncio.run(main())


@pytest.mark.parametrize("language", TemplateLanguage)
@pytest.mark.parametrize("name", NAMES)
def test_the_cases_of_a_template_pass(name: str, language: TemplateLanguage, tmp_path: Path) -> None:
    for program in load_template(name).needs(language):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}, which is not installed")
    where = places(tmp_path)
    done = install(load_template(name), language, Scope.PROJECT, where.load().locations)
    cases = next(item.path for item in done if item.path.endswith(".yaml"))
    results = run_cases(where, cases)
    assert {result.case.name: list(map(str, result.problems)) for result in results if not result.passed} == {}
    assert [result.case.name for result in results if result.vacuous] == []
    project = tmp_path / "a project"
    left = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert left == {os.path.relpath(item.path, project) for item in done}


@pytest.mark.parametrize("language", TemplateLanguage)
@pytest.mark.parametrize("name", NAMES)
def test_check_finds_nothing_in_a_template(
    name: str,
    language: TemplateLanguage,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = places(tmp_path)
    install(load_template(name), language, Scope.PROJECT, where.load().locations)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    status = hookwright(["check", str(tmp_path / "a project"), "--json"])
    assert (status, json.loads(capsys.readouterr().out)) == (0, [])


@pytest.mark.parametrize("name", NAMES)
def test_a_template_has_scripts_for_both_languages_or_none(name: str) -> None:
    template = load_template(name)
    assert len(template.scripts) in (0, 2)
    uses = "{script}" in str(template.settings)
    assert uses == bool(template.scripts)


@pytest.mark.parametrize("language", TemplateLanguage)
@pytest.mark.parametrize("name", NAMES)
def test_a_template_names_the_programs_it_needs(name: str, language: TemplateLanguage) -> None:
    template = load_template(name)
    script = template.scripts.get(language, "")
    used = {
        program
        for program in ("jq", "git", "curl")
        if re.search(rf"^[^#\n]*(?:\[\"|[|(]\s*|^\s*){program}\b(?!\))", script, re.MULTILINE)
    }
    assert used <= set(template.needs(language))


def test_there_are_the_twenty_most_wanted() -> None:
    assert len(NAMES) == 20


@pytest.mark.parametrize("name", [name for name in NAMES if load_template(name).scripts])
def test_scripts_are_sound(name: str, tmp_path: Path) -> None:
    scripts = load_template(name).scripts
    shell = tmp_path / "x.sh"
    shell.write_text(scripts[TemplateLanguage.BASH])
    assert subprocess.run(["bash", "-n", shell], capture_output=True, check=False).returncode == 0
    compile(scripts[TemplateLanguage.PYTHON], name, "exec")
    assert scripts[TemplateLanguage.BASH].startswith("#!/usr/bin/env bash\n")
    assert scripts[TemplateLanguage.PYTHON].startswith("#!/usr/bin/env python3\n")
    imported = re.findall(r"^(?:import|from) (\w+)", scripts[TemplateLanguage.PYTHON], re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names


def test_the_guards_among_them_fail_closed() -> None:
    guards = ("shell-guard", "path-guard", "secret-guard", "git-rules", "subagent-scope", "remote-approval", "policy")
    for name in guards:
        for groups in load_template(name).settings.values():
            assert all(handler["onFailure"] == "block" for group in groups for handler in group["hooks"])


@pytest.mark.needs("jq")
def test_a_second_edit_waits_for_the_run_that_goes_on(tmp_path: Path) -> None:
    where = places(tmp_path)
    install(load_template("async-tests"), TemplateLanguage.BASH, Scope.PROJECT, where.load().locations)
    project = tmp_path / "a project"
    check = project / ".claude" / "test"
    check.write_text("#!/bin/sh\necho ran >> ran.txt\n")
    check.chmod(0o755)
    script = project / ".claude" / "hooks" / "async-tests.sh"
    env = {**where.env, "CLAUDE_PROJECT_DIR": str(project)}
    runs = [
        subprocess.Popen([script], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=project)
        for _ in range(5)
    ]
    assert [run.wait(20) for run in runs] == [0] * 5
    assert (project / "ran.txt").read_text() == "ran\n"


# ── among other hooks ───────────────────────────────────────────────────────

#: Hooks of a user's own, which refuse, fail, talk and leave traces.
BUSY = {
    "hooks": {
        event: [
            {
                "hooks": [
                    {"type": "command", "command": f"echo {event} >> ~/traces; echo 'not on my machine' >&2; exit 2"},
                    {"type": "command", "command": "exit 7"},
                    {"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"},
                    {"type": "http", "url": "http://127.0.0.1:9/hook", "timeout": 1},
                ]
            }
        ]
        for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "Notification")
    }
}


def busy_home(root: Path) -> Path:
    settings = root / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(BUSY))
    return settings


@pytest.mark.needs("jq", "git")
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_all_templates_in_one_project_pass_beside_the_users_own_hooks(order: str, tmp_path: Path) -> None:
    busy_home(tmp_path)
    where = places(tmp_path)
    locations = where.load().locations
    named = list(enumerate(NAMES if order == "forwards" else reversed(NAMES)))
    for index, name in named:
        install(load_template(name), list(TemplateLanguage)[index % 2], Scope.PROJECT, locations)
    folder = tmp_path / "a project" / ".claude" / "hooks" / "tests"
    results = [result for path in sorted(folder.iterdir()) for result in run_cases(where, str(path))]
    assert len(results) > 100
    assert {result.case.id: list(map(str, result.problems)) for result in results if not result.passed} == {}
    assert not (tmp_path / "home" / "traces").exists()


@pytest.mark.needs("jq")
def test_the_command_that_new_prints_is_green_for_a_user_with_hooks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    busy_home(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    for scope in ("project", "user"):
        assert hookwright(["new", "shell-guard", "--scope", scope]) == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("next: "))
        assert hookwright(line.removeprefix("next: hookwright ").split()) == 0
        assert "14 passed" in capsys.readouterr().out
    assert not (tmp_path / "home" / "traces").exists()
