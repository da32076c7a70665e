"""Every template, in both languages, installed into a project and proven by its own cases."""

from __future__ import annotations

import asyncio
import json
import os
import re
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
