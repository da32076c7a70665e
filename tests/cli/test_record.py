"""`hookwright record`: transcripts and live sessions become cases that `hookwright test` runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Shell
from hookwright.cases.firing import make_event
from hookwright.cases.read import read_cases
from hookwright.cases.record import EventChoice, Seen, as_json, as_yaml, make_cases
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.samples import sample
from hookwright.protocol.wire import payload
from support import hooks_for, settings

GUARD = hooks_for("PreToolUse", {"type": "command", "command": "echo 'no (really)' >&2; exit 2"}, matcher="Bash")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    settings(shell.home, GUARD)
    return shell


def transcript(shell: Shell) -> str:
    cwd = str(shell.project)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"ls {cwd}"}}
    again = {**call, "id": "t2"}
    write = {"type": "tool_use", "id": "t3", "name": "Write", "input": {"file_path": f"{cwd}/a.py", "content": "x"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    failed = {"type": "tool_result", "tool_use_id": "t3", "content": "no space", "is_error": True}
    lines: list[Any] = [
        {"type": "summary", "summary": "a talk"},
        {"type": "user", "cwd": cwd, "message": {"role": "user", "content": "list files, token=abcdefghijkl"}},
        {"type": "user", "cwd": cwd, "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        {"type": "assistant", "cwd": cwd, "message": {"role": "assistant", "content": [call, again, write]}},
        {"type": "user", "cwd": cwd, "message": {"content": [result]}, "toolUseResult": {"stdout": "a.py"}},
        {"type": "user", "cwd": cwd, "message": {"content": [failed]}},
    ]
    path = shell.project / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"torn')
    return path.name


def test_a_transcript_becomes_cases_that_can_be_recorded(shell: Shell) -> None:
    done = shell("record", transcript(shell), "--out", ".claude/hooks/tests/old.yaml")
    assert (done.returncode, "5 cases, 0 with a decision" in done.stderr) == (0, True)
    cases = read_cases(str(shell.project / ".claude/hooks/tests/old.yaml"))
    assert [case.event for case in cases] == [
        "UserPromptSubmit",
        "PreToolUse",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
    ]
    assert cases[0].fields["prompt"] == "list files, token=[redacted]"
    assert cases[1].fields["tool_input"] == {"command": "ls {project}"}
    assert cases[2].fields["tool_input"]["file_path"] == "{project}/a.py"
    assert cases[3].fields["tool_response"] == {"stdout": "a.py"}
    assert cases[4].fields["error"] == "no space"
    assert shell("test").returncode == 1
    assert shell("test", "--update").returncode == 0
    assert shell("test").returncode == 0


def test_events_are_chosen(shell: Shell) -> None:
    path = transcript(shell)
    found = json.loads(shell("record", path, "--event", "PreToolUse", "--tool", "Write", "--json").stdout)
    assert [case["name"] for case in found] == ["PreToolUse Write {project}/a.py"]
    assert len(json.loads(shell("record", path, "--limit", "2", "--json").stdout)) == 2
    for args, message in (
        (["--event", "PreTool"], "Did you mean `PreToolUse`?"),
        (["--tool", "Nope"], "none of the 6 events"),
        (["--out", path], "already exists"),
        (["none.jsonl"], "cannot be read"),
    ):
        done = shell("record", *([path] if args[0].startswith("-") else []), *args)
        assert (done.returncode, message in done.stderr) == (2, True)
    assert "name a transcript" in shell("record").stderr


def test_a_live_session_is_recorded_with_what_was_decided(shell: Shell) -> None:
    command = [sys.executable, "-m", "hookwright.cli", "fire", "PreToolUse", "--sample", "Bash"]
    done = shell("record", "--out", "live.json", "--", *command)
    assert done.returncode == 2
    assert "BLOCKED" in done.stdout
    case = json.loads((shell.project / "live.json").read_text())[0]
    assert case["expect"]["decision"] == "deny"
    assert case["expect"]["reason"].endswith(r"no \(really\)")
    assert case["sources"] == ["user"]
    again = shell("test", "live.json")
    assert (again.returncode, "1 passed" in again.stdout) == (0, True), (
        "the case loads the settings its hook comes from"
    )
    nothing = shell("record", "--", "true")
    assert (nothing.returncode, "fired no event" in nothing.stderr) == (2, True)
    missing = shell("record", "--", "./nope")
    assert (missing.returncode, "cannot be started" in missing.stderr) == (2, True)


def test_a_hook_of_the_user_that_only_watched_does_not_bind_a_projects_case(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "true"}))
    settings(shell.project, GUARD)
    command = [sys.executable, "-m", "hookwright.cli", "fire", "PreToolUse", "--sample", "Bash", "--trust"]
    shell("record", "--out", "live.json", "--", *command)
    assert "sources" not in json.loads((shell.project / "live.json").read_text())[0]
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "echo mine >&2; exit 2"}))
    shell("record", "--out", "both.json", "--", *command)
    assert json.loads((shell.project / "both.json").read_text())[0]["sources"] == ["user", "project"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_event_survives_the_way_through_a_file(name: str, tmp_path: Path) -> None:
    before = payload(sample(name, cwd="/somewhere"))
    written = make_cases([Seen(before, "none")], EventChoice())
    for text, ending in ((as_yaml(written), "yaml"), (as_json(written), "json")):
        path = tmp_path / f"cases.{ending}"
        path.write_text(text)
        case = read_cases(str(path))[0]
        assert (case.event, case.name) == (name, written[0]["name"])
        after = payload(make_event(case, "/somewhere", "/tmp/x"))
        passing = ("session_id", "transcript_path", "tool_use_id", "agent_transcript_path")
        assert {k: v for k, v in after.items() if k not in passing} == {
            k: v for k, v in before.items() if k not in passing
        }
