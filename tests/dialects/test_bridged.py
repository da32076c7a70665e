"""Real hooks behind the bridge: every answer that must stop a call stops it in every agent, as that agent reads it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialects.recordings import MUST_STOP, recorded
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.dialects.firing import answered, limit_of, read_request
from hookwright.dialects.model import Dialect
from hookwright.dialects.native import NativeAnswer, read_before_call
from hookwright.dialects.table import dialect, dialects
from hookwright.observers.journal.reader import Filter, records

EXPORTED = [table for table in dialects() if table.exported]


class Project:
    """A project with hooks of the user, and what an agent gets to hear about a call in it."""

    def __init__(self, root: Path) -> None:
        self.folder, self.home, self.state = root / "p", root / "h", root / "s"
        (self.folder).mkdir()
        (self.home / ".claude").mkdir(parents=True)

    def hooks(self, event: str, command: str, **more: Any) -> None:
        groups = [{**more, "hooks": [{"type": "command", "command": command}]}]
        (self.home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {event: groups}}))

    def places(self, cwd: str, agent: str) -> Places:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "HOOKWRIGHT_STATE_DIR": str(self.state)}
        return Places(project=cwd, env=env, trust=TrustPolicy.EVERYTHING, agent=agent)

    def answer(self, table: Dialect, limit: float = 20, **fields: Any) -> NativeAnswer:
        sent = {"session_id": "s", "cwd": str(self.folder), **fields}
        request = read_request(table, json.dumps(sent).encode())
        return asyncio.run(answered(request, lambda cwd: self.places(cwd, table.name), limit))

    def shell(self, table: Dialect, limit: float = 20) -> NativeAnswer:
        moment = table.moment_of("PreToolUse")
        tool = next(tool for tool in table.tools if tool.claude == "Bash")
        assert moment is not None
        call = {"tool_name": tool.name, "tool_input": {"command": "echo hi > made.txt"}}
        return self.answer(table, limit, hook_event_name=moment.name, **call)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("line", recorded("codex", "answer")[:MUST_STOP], ids=lambda line: line["label"])
def test_an_answer_that_must_stop_a_call_stops_it_in_every_agent(project: Project, line: dict[str, Any]) -> None:
    out, err = shlex.quote(line["stdout"]), shlex.quote(line["stderr"])
    project.hooks("PreToolUse", f"printf %s {out}; printf %s {err} >&2; exit {line['status']}", matcher="Bash")
    answers = {table.name: project.shell(table) for table in EXPORTED}
    readings = {table.name: read_before_call(table, answers[table.name]) for table in EXPORTED}
    assert {name: reading.why for name, reading in readings.items() if not reading.stops} == {}, answers


def test_silence_and_broken_json_let_a_call_run_in_every_agent(project: Project) -> None:
    for command in ("true", "echo '{broken'"):
        project.hooks("PreToolUse", command)
        assert all(not read_before_call(table, project.shell(table)).stops for table in EXPORTED)


PATCH = "*** Begin Patch\n*** Add File: ok\n+1\n*** Update File: a\n*** Move to: .env\n@@\n+K=1\n*** End Patch"
GUARD = (
    "import json, sys; path = json.load(sys.stdin)['tool_input']['file_path']\n"
    "if path.endswith('/.env'): print('protected', file=sys.stderr); sys.exit(2)\n"
)
FILES = {
    "codex": ("PreToolUse", "apply_patch", {"command": PATCH}),
    "gemini": ("BeforeTool", "write_file", {"file_path": ".env", "content": "K=1"}),
    "qwen": ("PreToolUse", "write_file", {"file_path": ".env", "content": "K=1"}),
    "kimi": ("PreToolUse", "Write", {"path": ".env", "content": "K=1"}),
    "copilot": ("PreToolUse", "Write", {"path": ".env", "file_text": "K=1"}),
    "opencode": ("tool.execute.before", "write", {"filePath": ".env", "content": "K=1"}),
}


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
def test_a_guard_of_files_blocks_whatever_the_agent_calls_the_path(project: Project, table: Dialect) -> None:
    project.hooks("PreToolUse", f"{sys.executable} -c {shlex.quote(GUARD)}", matcher="Write|Edit")
    event, tool, given = FILES[table.name]
    answer = project.answer(table, hook_event_name=event, tool_name=tool, tool_input=given)
    assert read_before_call(table, answer).stops
    assert "protected" in answer.stdout + answer.stderr


def test_the_journal_names_the_agent(project: Project) -> None:
    project.hooks("PreToolUse", "true")
    project.shell(dialect("codex"))
    project.shell(dialect("kimi"))
    kept = list(records(str(project.state), Filter(agent="kimi")))
    assert {record["src"] for record in kept} == {"kimi"}
    assert len(kept) == 2
    assert len(list(records(str(project.state), Filter()))) == 4


def test_our_own_limit_is_below_the_agents_and_refuses(project: Project) -> None:
    project.hooks("PreToolUse", "sleep 30")
    answer = project.shell(dialect("codex"), limit=0.2)
    assert answer.status == 2
    assert "took longer than 0.2 s" in answer.stderr
    codex = dialect("codex")
    assert limit_of(codex, codex.moment_of("PreToolUse"), None) == 599
    assert limit_of(codex, codex.moment_of("SessionEnd"), None) == 2


def test_settings_that_cannot_be_read_refuse_and_name_the_file(project: Project) -> None:
    (project.home / ".claude" / "settings.json").write_text("{broken")
    for table in EXPORTED:
        answer = project.shell(table)
        assert read_before_call(table, answer).stops
        assert ".claude/settings.json cannot be read" in answer.stdout + answer.stderr


def test_hooks_in_the_background_are_waited_for_and_their_context_is_carried(project: Project) -> None:
    said = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"tests failed"}}'
    groups = [{"hooks": [{"type": "command", "command": f"echo '{said}'", "async": True}]}]
    (project.home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PostToolUse": groups}}))
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "ok"}
    answer = project.answer(dialect("codex"), hook_event_name="PostToolUse", **call)
    assert json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"] == "tests failed"


def test_hooks_of_a_file_that_the_agent_loads_as_well_still_refuse_and_are_reported(project: Project) -> None:
    (project.folder / ".claude").mkdir()
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}
    (project.folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    copilot, codex = dialect("copilot"), dialect("codex")
    answer = project.shell(copilot)
    assert read_before_call(copilot, answer).stops
    assert "GitHub Copilot CLI loads .claude/settings.json by itself, so its hooks may run twice" in answer.stderr
    assert "by itself" not in project.shell(codex).stderr


# ── the command ─────────────────────────────────────────────────────────────


def command(project: Project, data: str, *options: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(project.home), "HOOKWRIGHT_STATE_DIR": str(project.state)}
    call = [sys.executable, "-m", "hookwright.cli", "hook", "--from", "codex", *options]
    return subprocess.run(call, input=data, env=env, capture_output=True, text=True, timeout=60)


def test_the_command_answers_in_the_agents_words(project: Project) -> None:
    project.hooks("PreToolUse", "echo no >&2; exit 2")
    sent = {"session_id": "s", "cwd": str(project.folder), "hook_event_name": "PreToolUse", "tool_use_id": "c"}
    done = command(project, json.dumps({**sent, "tool_name": "Bash", "tool_input": {"command": "ls"}}))
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"].endswith("no")


def test_a_payload_that_is_not_one_is_refused_with_the_way_out(project: Project) -> None:
    done = command(project, "\x00")
    assert (done.returncode, done.stdout) == (2, "")
    assert "hookwright export --to codex --remove" in done.stderr


def test_a_directory_that_is_gone_is_refused(project: Project) -> None:
    sent = {"session_id": "s", "cwd": "/gone", "hook_event_name": "PreToolUse", "tool_use_id": "c"}
    done = command(project, json.dumps({**sent, "tool_name": "Bash", "tool_input": {"command": "ls"}}))
    assert done.returncode == 2
    assert "/gone is not a directory" in done.stderr


def test_the_limit_of_the_agent_can_be_given(project: Project) -> None:
    project.hooks("PreToolUse", "sleep 30")
    sent = {"session_id": "s", "cwd": str(project.folder), "hook_event_name": "PreToolUse", "tool_use_id": "c"}
    call = json.dumps({**sent, "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = command(project, call, "--limit", "0.8")
    assert (done.returncode, done.stdout) == (2, "")
    assert "they took longer than 0.4 s" in done.stderr or "nothing answered within" in done.stderr
