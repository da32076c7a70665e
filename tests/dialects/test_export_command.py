"""`hookwright export` on real files, and the lines of shell that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookwright.cli import main
from hookwright.config.locations import Surroundings
from hookwright.dialects.export.files import TARGETS, target
from hookwright.dialects.installed import newer_than_recorded
from hookwright.dialects.model import FileScope
from hookwright.dialects.table import dialect

USERS = [name for name, scope in TARGETS if scope is FileScope.USER]
HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard --strict"}]}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "HOOKWRIGHT_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def user_hooks(home: Path, hooks: dict[str, Any]) -> None:
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))


def file_of(home: Path, agent: str) -> Path:
    return home / TARGETS[agent, FileScope.USER].removeprefix("~/")


@pytest.mark.parametrize("agent", USERS)
def test_export_check_and_remove_leave_what_was_there(home: Path, agent: str) -> None:
    user_hooks(home, HOOKS)
    file = file_of(home, agent)
    assert main(["export", "--to", agent, "--check"]) == 1
    assert main(["export", "--to", agent]) == 0
    assert "--from" in file.read_text()
    assert main(["export", "--to", agent, "--check"]) == 0
    once = file.read_bytes()
    assert main(["export", "--to", agent]) == 0
    assert file.read_bytes() == once
    assert main(["export", "--to", agent, "--remove"]) == 0
    assert not file.exists()


ODD = '// mine\n{\n\t"hooks": {"BeforeTool": [{"hooks": []},]}, // x\n\t"theme": "dark",\n}\n'


def test_a_file_with_comments_is_restored_byte_for_byte_and_a_dry_run_only_shows(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(home, "gemini")
    file.parent.mkdir()
    file.write_text(ODD)
    file.chmod(0o640)
    assert main(["export", "--to", "gemini", "--dry-run"]) == 0
    assert "+" in capsys.readouterr().out
    assert file.read_text() == ODD
    assert main(["export", "--to", "gemini"]) == 0
    assert file.read_text() != ODD
    assert main(["export", "--to", "gemini", "--remove"]) == 0
    assert file.read_text() == ODD
    assert file.stat().st_mode & 0o777 == 0o640


def test_hooks_that_would_never_run_refuse_the_export_and_are_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user_hooks(home, {"Notification": [{"hooks": [{"type": "command", "command": "ring-bell"}]}]})
    assert main(["export", "--to", "codex"]) == 2
    assert "Notification: ring-bell never runs: Codex CLI has no such event" in capsys.readouterr().err
    assert not file_of(home, "codex").exists()
    assert main(["export", "--to", "codex", "--partial"]) == 0
    assert "ring-bell never runs" in capsys.readouterr().err


def test_what_is_not_carried_is_printed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user_hooks(home, {"Stop": HOOKS["PreToolUse"], "SubagentStop": HOOKS["PreToolUse"]})
    assert main(["export", "--to", "opencode", "--partial"]) == 0
    said = capsys.readouterr().err
    assert "Stop: guard --strict cannot refuse: cannot be refused" in said
    assert "`ask` becomes a refusal" in said
    assert main(["export", "--to", "copilot"]) == 0
    said = capsys.readouterr().err
    assert "What is known about SubagentStop in GitHub Copilot CLI is documented, not proven." in said
    assert "What is known about Stop" not in said


def test_an_agent_that_also_loads_claudes_file_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".claude").mkdir()
    Path(".claude/settings.json").write_text(json.dumps({"hooks": HOOKS}))
    assert main(["export", "--to", "copilot"]) == 2
    assert "loads" in (said := capsys.readouterr().err)
    assert "its hooks would run twice" in said
    assert main(["export", "--to", "copilot", "--setting-sources", "user"]) == 0
    assert "--setting-sources user" in file_of(home, "copilot").read_text()


def test_an_export_in_both_scopes_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", "codex"]) == 0
    assert main(["export", "--to", "codex", "--scope", "project"]) == 2
    assert "already calls Hookwright" in capsys.readouterr().err


def test_a_hook_that_the_agent_already_has_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user_hooks(home, HOOKS)
    Path(".codex").mkdir()
    Path(".codex/hooks.json").write_text(json.dumps({"hooks": HOOKS}))
    assert main(["export", "--to", "codex"]) == 2
    assert "already has this command: guard --strict" in capsys.readouterr().err


def test_a_file_of_someone_else_is_not_touched(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(home, "opencode")
    file.parent.mkdir(parents=True)
    file.write_text("export const Other = 1\n")
    assert main(["export", "--to", "opencode"]) == 2
    assert "was not written by `hookwright export`" in capsys.readouterr().err
    assert main(["export", "--to", "opencode", "--remove"]) == 0
    assert file.read_text() == "export const Other = 1\n"


def install_codex(folder: Path, version: str) -> Path:
    """Lay Codex out as npm does, with a program that must never be started; return the folder for PATH."""
    package = folder / "lib" / "node_modules" / "@openai" / "codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@openai/codex", "version": version}))
    (package / "bin" / "codex.js").write_text(f"#!/bin/sh\ntouch {folder}/started\necho codex-cli 1.2.3\n")
    (package / "bin" / "codex.js").chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin" / "codex").symlink_to("../lib/node_modules/@openai/codex/bin/codex.js")
    return folder / "bin"


WARNING = "Codex CLI 0.999.1 is installed and newer than 0.166.0, which was recorded"


@pytest.mark.parametrize(
    "command",
    [["export", "--to", "codex"], ["check", "--agent", "codex"], ["check", "--for", "codex,kimi"]],
    ids=" ".join,
)
def test_a_newer_agent_than_the_recorded_one_is_reported_and_never_started(
    home: Path, tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = install_codex(tmp_path / "node", "0.999.1")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    main(command)
    assert WARNING in capsys.readouterr().err
    assert not (tmp_path / "node" / "started").exists()


def test_no_warning_for_the_recorded_version_an_unknown_one_and_a_program_of_the_project(
    tmp_path: Path,
) -> None:
    codex, project = dialect("codex"), tmp_path / "project"
    project.mkdir()
    inside = install_codex(project / "tools", "0.999.1")
    same = install_codex(tmp_path / "same", codex.version)
    beta = install_codex(tmp_path / "beta", "nightly")
    older = install_codex(tmp_path / "older", "0.9.0")
    for path in (inside, "bin", "", same, beta, older, tmp_path / "empty"):
        assert newer_than_recorded(codex, {"PATH": str(path), "HOME": "/nowhere"}, str(project)) == ""
    brew = tmp_path / "Cellar" / "codex" / "0.999.1" / "bin"
    brew.mkdir(parents=True)
    (brew / "codex").write_text("")
    (brew / "codex").chmod(0o755)
    assert WARNING in newer_than_recorded(codex, {"PATH": f"{inside}:{brew}", "HOME": "/nowhere"}, str(project))
    assert WARNING in newer_than_recorded(codex, {"PATH": str(inside), "HOME": f"{project}/me"}, str(project))


# ── the line of shell ───────────────────────────────────────────────────────

PROGRAMS = {
    "missing": ("/no/such/hookwright", 127),
    "crashing": ("exit 1", 1),
    "killed": ("kill -9 $$", 137),
}


@pytest.mark.parametrize("how", PROGRAMS)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_program_that_does_not_answer_refuses_with_a_text_except_at_the_end_of_a_turn(
    tmp_path: Path, how: str, shell: str
) -> None:
    name, status = PROGRAMS[how]
    program = tmp_path / "it's a hookwright"
    program.write_text(f"#!/bin/sh\n{name}\n")
    program.chmod(0o755)
    words = (name if how == "missing" else str(program), "hook", "--from", "codex")
    table = dialect("codex")
    file = target(table, FileScope.USER, words, Surroundings.here({}, str(tmp_path), str(tmp_path)), str(tmp_path))
    for event, expected in (("PreToolUse", 2), ("UserPromptSubmit", 2), ("Stop", status), ("SessionEnd", status)):
        moment = table.moment_of(event)
        assert moment is not None
        done = subprocess.run([shell, "-c", file.command(moment)], input="{}", capture_output=True, text=True)
        assert done.returncode % 256 == expected or (how == "killed" and done.returncode in (-9, 137)), done
        if expected == 2:
            assert f"Hookwright could not run your hooks (status {status})" in done.stderr
            assert "hookwright export --to codex --remove" in done.stderr


def test_the_line_of_a_program_that_answers_changes_nothing(tmp_path: Path) -> None:
    program = tmp_path / "hookwright"
    program.write_text("#!/bin/sh\ncat; echo no >&2; exit 2\n")
    program.chmod(0o755)
    table = dialect("codex")
    around = Surroundings.here({}, str(tmp_path), str(tmp_path))
    file = target(table, FileScope.USER, (str(program),), around, str(tmp_path))
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    done = subprocess.run(["sh", "-c", file.command(moment)], input="in", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "in", "no\n")


def test_an_exported_line_runs_the_real_engine(home: Path) -> None:
    user_hooks(home, {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]})
    assert main(["export", "--to", "codex"]) == 0
    group = json.loads(file_of(home, "codex").read_text())["hooks"]["PreToolUse"][0]
    sent = {"session_id": "s", "cwd": os.getcwd(), "hook_event_name": "PreToolUse", "tool_use_id": "c"}
    call = json.dumps({**sent, "tool_name": "Bash", "tool_input": {"command": "ls"}})
    env = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    line = group["hooks"][0]["command"]
    done = subprocess.run(["bash", "-lc", line], input=call, env=env, capture_output=True, text=True)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", done.stderr
