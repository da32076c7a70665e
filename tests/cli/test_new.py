"""`hookwright new`: from nothing to a proven hook."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from command_line import Shell
from support import settings


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_choice_is_listed(shell: Shell) -> None:
    out = shell("new", "--list").stdout
    assert out.count("\n") == 40
    assert "shell-guard" in out
    rows = shell.json("new", "--list")
    assert {"name": "llm-review", "events": ["PreToolUse"]}.items() <= {
        key: value for row in rows if row["name"] == "llm-review" for key, value in row.items()
    }.items()
    wrong = shell("new", "shel-guard")
    assert (wrong.returncode, "Did you mean `shell-guard`?" in wrong.stderr) == (2, True)
    assert shell("new").returncode == 2


def test_a_hook_is_written_tested_trusted_and_works(shell: Shell) -> None:
    done = shell("new", "shell-guard", "--lang", "python")
    assert done.returncode == 0
    assert "next: hookwright test --trust .claude/hooks/tests/shell-guard.yaml" in done.stdout
    script = shell.project / ".claude" / "hooks" / "shell-guard.py"
    assert stat.S_IMODE(script.stat().st_mode) & stat.S_IXUSR
    assert shell("test", "--trust").returncode == 0
    assert shell("trust", "--yes").returncode == 0
    assert shell("fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "rm -rf /"}').returncode == 2
    assert shell("fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}').returncode == 0


def test_the_settings_keep_their_form_and_nothing_is_overwritten(shell: Shell) -> None:
    before = '{\n    "env": {"A": "1"},   \n    "hooks": {"Stop": []}\n}\n'
    path = settings(shell.project, before)
    path.chmod(0o640)
    assert shell("new", "path-guard").returncode == 0
    after = path.read_text()
    assert after.startswith('{\n    "env": {"A": "1"},   \n    "hooks": {"Stop": []')
    assert json.loads(after)["hooks"]["PreToolUse"][0]["matcher"] == "Write|Edit|NotebookEdit"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    again = shell("new", "path-guard")
    assert (again.returncode, "already exists" in again.stdout, "already has the entry" in again.stdout) == (
        0,
        True,
        True,
    )
    assert path.read_text() == after
    script = shell.project / ".claude" / "hooks" / "path-guard.sh"
    script.write_text("mine\n")
    refused = shell("new", "path-guard")
    assert (refused.returncode, "not overwritten" in refused.stderr, script.read_text()) == (2, True, "mine\n")


def test_a_broken_settings_file_stops_everything_before_it_begins(shell: Shell) -> None:
    settings(shell.project, "{broken")
    done = shell("new", "notify")
    assert (done.returncode, "nothing was changed" in done.stderr) == (2, True)
    assert [path.name for path in (shell.project / ".claude").iterdir()] == ["settings.json"]


@pytest.mark.needs("jq")
def test_user_scope_goes_to_the_home(shell: Shell) -> None:
    assert shell("new", "secret-guard", "--scope", "user").returncode == 0
    entry = json.loads((shell.home / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert entry["command"] == '"$HOME"/.claude/hooks/secret-guard.sh'
    assert not (shell.project / ".claude").exists()
    cases = str(shell.home / ".claude" / "hooks" / "tests" / "secret-guard.yaml")
    assert shell("test", cases).returncode == 0
    elsewhere = shell("new", "notify", "--scope", "user", CLAUDE_CONFIG_DIR=str(shell.home / "my config"))
    assert elsewhere.returncode == 0
    text = (shell.home / "my config" / "settings.json").read_text()
    assert f"'{shell.home}/my config/hooks'/notify.sh" in json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert shell("new", "policy", "--scope", "user").returncode == 2


@pytest.mark.req("R-007")
@pytest.mark.parametrize("below", [".", "sub"])
@pytest.mark.needs("git")
def test_a_local_settings_file_is_ignored_by_git(shell: Shell, below: str) -> None:
    subprocess.run(["git", "init", "-q", shell.project], check=True)
    folder = shell.project / below
    folder.mkdir(exist_ok=True)
    assert shell("new", "notify", "--scope", "local", "--project", below).returncode == 0
    path = folder / ".claude" / "settings.local.json"
    assert path.exists()
    check = subprocess.run(["git", "-C", shell.project, "check-ignore", "-q", path], check=False)
    assert check.returncode == 0
    status = subprocess.run(
        ["git", "-C", shell.project, "status", "--short"], capture_output=True, text=True, check=True
    )
    assert "settings.local.json" not in status.stdout
    tracked = ["git", "-C", str(shell.project), "check-ignore", "-q", str(folder / ".claude" / "settings.json")]
    assert subprocess.run(tracked, check=False).returncode == 1


def test_show_prints_and_writes_nothing(shell: Shell) -> None:
    done = shell("new", "budget", "--lang", "python", "--show")
    assert "#!/usr/bin/env python3" in done.stdout
    assert "cases:" in done.stdout
    assert os.listdir(shell.project) == []


def test_json_tells_what_was_done(shell: Shell) -> None:
    done = shell.json("new", "llm-review")
    assert [os.path.basename(item["path"]) for item in done["done"]] == ["llm-review.yaml", "settings.json"]


def test_a_program_that_is_missing_is_named(shell: Shell, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    said = shell("new", "shell-guard", PATH=str(tools))
    assert "it needs jq, which is not installed here: install it, or use --lang python" in said.stdout
    assert "jq" not in shell("new", "path-guard", "--lang", "python", PATH=str(tools)).stdout
