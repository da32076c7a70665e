"""What `hookwright run` says on stderr in its default output, and how its hooks run in sequence."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, Ran, bash
from tui.chats import write

CALL = {"turns": [[bash("echo x")], [{"text": "All done."}]]}
RECIPE = Path(__file__).parents[2] / "examples" / "recipes" / "format-then-test"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def plainly(place: Place, script: Any, *args: str) -> Ran:
    """Run as a person does: text, not verbose."""
    command = [word for word in place.command(script, *args, output="text") if word != "--verbose"]
    done = subprocess.run(
        [*command, "PROMPT"], cwd=place.project, env=place.env, capture_output=True, text=True, check=False, timeout=60
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("body", "more", "said"),
    [
        ("exec /nonexistent/guard.sh", {}, "gave no usable answer"),
        ("echo broken >&2; exit 1", {}, "broken"),
        ("sleep 20", {"timeout": 0.2}, "didn't answer in time"),
        ("echo '{\"decision\": 3}'", {}, "hook error"),
        ('echo \'{"systemMessage": "SM-careful"}\'', {}, "SM-careful"),
        ("echo forbidden >&2; exit 2", {}, "forbidden"),
    ],
)
def test_a_guard_that_did_not_guard_is_on_stderr(place: Place, body: str, more: dict[str, Any], said: str) -> None:
    place.hook("PreToolUse", body, **more)
    ran = plainly(place, CALL, "--allowedTools", "Bash")
    assert ran.stdout == "All done.\n"
    assert said in ran.stderr
    assert ran.stderr.startswith("hookwright: ")


def test_a_call_that_was_refused_is_on_stderr_with_its_reason_and_the_way_out(place: Place) -> None:
    ran = plainly(place, {"turns": [[bash("mkdir made")], [{"text": "All done."}]]})
    assert (ran.code, ran.stdout) == (0, "All done.\n")
    assert "1 call was refused; --allowedTools, --permission-mode" in ran.stderr
    assert "Bash: " in ran.stderr
    assert "approval" in ran.stderr


def test_the_reason_of_a_stop_hook_is_on_stderr(place: Place) -> None:
    place.answer("Stop", {"continue": False, "stopReason": "budget is spent"})
    ran = plainly(place, {"turns": [[{"text": "All done."}]]})
    assert ran.stdout == "All done.\n"
    assert "budget is spent" in ran.stderr


def test_a_trusted_guard_that_changed_is_reported(place: Place) -> None:
    guard = place.file(".claude/hooks/guard.sh", "#!/bin/sh\ngrep -q forbidden && exit 2; exit 0\n")
    guard.chmod(0o755)
    place.hooks["PreToolUse"] = [{"hooks": [{"type": "command", "command": ".claude/hooks/guard.sh"}]}]
    place.trust_as_it_is()
    script = {
        "turns": [[bash("echo '# x' >> .claude/hooks/guard.sh")], [bash("echo forbidden > b.txt")], [{"text": "end"}]]
    }
    ran = plainly(place, script, "--allowedTools", "Bash")
    assert "changed" in ran.stderr
    assert "trust" in ran.stderr


def test_nothing_is_said_when_nothing_went_wrong(place: Place) -> None:
    place.hook("PreToolUse", "true")
    assert plainly(place, CALL, "--allowedTools", "Bash").stderr == ""


# ── in sequence ─────────────────────────────────────────────────────────────


@pytest.mark.req("R-289", "R-290")
def test_several_hooks_after_a_tool_run_in_sequence_and_a_stop_ends_the_rest(place: Place) -> None:
    place.hook("PostToolUse", "sleep 0.3; echo first >> order.log")
    place.hook("PostToolUse", 'echo second >> order.log; echo \'{"continue": false, "stopReason": "enough"}\'')
    place.hook("PostToolUse", "echo deploy >> order.log")
    plainly(place, CALL, "--allowedTools", "Bash", "--sequential")
    assert (place.project / "order.log").read_text() == "first\nsecond\n"


@pytest.mark.req("R-404")
def test_the_recipe_format_then_test_works_in_the_agent(place: Place) -> None:
    shutil.copytree(RECIPE / ".claude", place.project / ".claude", dirs_exist_ok=True)
    place.hooks.update(json.loads((RECIPE / ".claude" / "settings.json").read_text())["hooks"])
    script = {"turns": [[write("x.txt", "x\n")], [{"text": "end"}]]}
    ran = plainly(place, script, "--permission-mode", "acceptEdits", "--sequential")
    assert ran.stdout == "end\n"
    assert (place.project / "order.log").read_text() == "formatted\ntested\n"


@pytest.mark.parametrize(("flags", "out"), [((), "killed"), (("--no-timeouts",), "waited")])
def test_without_time_limits_a_hook_runs_until_it_ends(place: Place, flags: tuple[str, ...], out: str) -> None:
    place.hook("PreToolUse", "sleep 1; echo waited > ended.txt", timeout=0.2)
    plainly(place, CALL, "--allowedTools", "Bash", *flags)
    ended = place.project / "ended.txt"
    assert (ended.read_text().strip() if ended.exists() else "killed") == out


@pytest.mark.parametrize(("flags", "ran"), [((), True), (("--frozen",), False)])
def test_a_frozen_session_keeps_the_hooks_of_its_start(place: Place, flags: tuple[str, ...], ran: bool) -> None:
    late = {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "touch late.txt"}]}]}}
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("{}")
    (place.root / "late.json").write_text(json.dumps(late))
    script = {"turns": [[bash(f"cp {place.root}/late.json {settings}")], [bash("echo x")], [{"text": "end"}]]}
    plainly(place, script, "--permission-mode", "bypassPermissions", *flags)
    assert (place.project / "late.txt").exists() is ran
