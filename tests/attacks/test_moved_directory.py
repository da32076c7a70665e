"""A `cd` of the session does not switch a guard off in silence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.runs import Place, bash
from hookwright import Places, open_session
from hookwright.protocol.outcome import Deny, Outcome
from support import event, hooks_for, script, settings

AREA = "engine: a guard named by a relative path"

MOVED = "working-directory-moved"
#: Forms that end with 127, 126, 1 and 0 where the script is missing.
FORMS = [
    ".claude/hooks/guard.sh",
    "bash .claude/hooks/guard.sh",
    "'.claude/hooks/guard.sh'",
    ".claude/hooks/guard.sh || true",
    "cat .claude/hooks/guard.sh | sh",
    "test -x .claude/hooks/guard.sh && .claude/hooks/guard.sh; true",
    "perl .claude/hooks/guard.sh; exit 1",
]


def fire(folder: Path, command: str, where: str, **fields: object) -> Outcome:
    script(folder / ".claude/hooks/guard.sh", "exit 2")
    (folder / "sub").mkdir()
    settings(folder, hooks_for("PreToolUse", {"type": "command", "command": command, **fields}))

    async def firing() -> Outcome:
        env = {"PATH": "/usr/bin:/bin", "HOOKWRIGHT_TRUST": "1"}
        places = Places(project=str(folder), home=str(folder / "home"), env=env)
        async with open_session(places) as session:
            call = {"tool_name": "Bash", "tool_input": {"command": "touch x"}, "cwd": str(folder / where)}
            return await session.fire(event("PreToolUse", **call))

    return asyncio.run(firing())


@pytest.mark.parametrize("command", FORMS)
def test_a_guard_that_fails_closed_refuses_after_a_cd(command: str, tmp_path: Path) -> None:
    outcome = fire(tmp_path, command, "sub", onFailure="block")
    assert isinstance(outcome.decision, Deny)
    assert MOVED in [note.code for note in outcome.diagnostics]


@pytest.mark.parametrize("command", FORMS)
def test_the_moved_directory_is_named(command: str, tmp_path: Path) -> None:
    outcome = fire(tmp_path, command, "sub")
    [said] = [note.message for note in outcome.diagnostics if note.code == MOVED]
    assert ".claude/hooks/guard.sh" in said
    assert f"not in {tmp_path}/sub" in said
    assert '"$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh"' in said
    assert outcome.runs[0].verdict.ending.value != "success"


def test_where_the_guard_is_found_nothing_is_said(tmp_path: Path) -> None:
    outcome = fire(tmp_path, ".claude/hooks/guard.sh", "")
    assert isinstance(outcome.decision, Deny)
    assert not outcome.diagnostics


@pytest.mark.parametrize("command", ["cat >> log.txt", "jq -f none.jq 2> errors.txt; true", "cd .. && sub/ok.sh"])
def test_a_hook_that_finds_what_it_needs_is_left_alone(command: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").touch()
    outcome = fire(tmp_path, command.replace("sub/ok.sh", "true"), "sub", onFailure="block")
    assert not isinstance(outcome.decision, Deny)
    assert MOVED not in [note.code for note in outcome.diagnostics]


def test_the_user_sees_that_a_call_went_unchecked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    script(place.project / ".claude/hooks/guard.mjs", "exit 2")
    (place.project / "sub").mkdir()
    command = "perl .claude/hooks/guard.mjs; exit 1"
    place.hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    place.trust_as_it_is()
    turns = {"turns": [[bash("cd sub")], [bash("touch made")], [{"text": "done"}]]}
    ran = place.run(turns, "--allowedTools", "Bash", output="stream-json")
    notes = [line for line in ran.of("system", "informational") if line.get("tag") == "hook_no_verdict"]
    assert "where the session moved" in notes[0]["content"]
    assert "didn't check this action" in notes[1]["content"]
