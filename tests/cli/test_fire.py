"""`hookwright fire` for authors: samples of every event and tool, injected failures, the model's view, watching."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Shell
from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.samples import sample_fields, tool_names
from hookwright.protocol.wire import decode_event, payload
from support import hooks_for, script, settings, specific

KIT = Path(__file__).parents[1] / "conformance" / "kit"
DENY = {"type": "command", "command": "echo not here >&2; exit 2"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def says(value: dict[str, Any]) -> dict[str, str]:
    return {"type": "command", "command": f"echo '{json.dumps(value)}'"}


# ── samples ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tool", [*tool_names(), "mcp__tracker__search"])
@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"])
def test_every_tool_has_a_sample_on_every_tool_event(event: str, tool: str) -> None:
    common = {"session_id": "s", "transcript_path": "/t", "cwd": "/project", "hook_event_name": event}
    fields = payload(decode_event({**common, **sample_fields(event, "/project", tool)}))
    assert fields["tool_name"] == tool
    assert all(str(value).startswith("/project/") for key, value in fields["tool_input"].items() if "path" in key)
    assert ("mcp_server" in fields) == tool.startswith("mcp__")
    assert ("tool_response" in fields) == (event == "PostToolUse")


@pytest.mark.parametrize("event", [name for name, cls in CATALOGUE.items() if cls.rules.values])
def test_a_sample_takes_the_value_of_the_matcher(event: str) -> None:
    rules = CATALOGUE[event].rules
    for value in rules.values:
        assert sample_fields(event, "/project", value)[str(rules.target)] == value


def test_a_sample_that_is_not_there_says_which_are(shell: Shell) -> None:
    with pytest.raises(InvalidEvent, match=r"`Wriet` .*Did you mean `Write`"):
        sample_fields("PreToolUse", "/project", "Wriet")
    with pytest.raises(InvalidEvent, match="no matcher"):
        sample_fields("Stop", "/project", "Write")
    done = shell("fire", "PreToolUse", "--sample", "Wriet")
    assert (done.returncode, "mcp__server__tool" in done.stderr) == (2, True)
    alone = shell("fire", "--sample", "Write")
    assert (alone.returncode, "name the event" in alone.stderr) == (2, True)


def test_show_event_prints_what_the_hook_would_read_and_runs_nothing(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "touch ran"}))
    shown = json.loads(shell("fire", "PreToolUse", "--sample", "Edit", "--show-event").stdout)
    assert shown["tool_input"]["file_path"] == str(shell.project / "src/app.py")
    assert shown["tool_input"]["replace_all"] is False
    assert not (shell.project / "ran").exists()
    by_tool = json.loads(shell("fire", "PreToolUse", "--tool", "Read", "--show-event").stdout)
    assert by_tool["tool_input"] == {"file_path": str(shell.project / "src/app.py")}
    given = json.loads(shell("fire", "PreToolUse", "--tool", "Read", "--input", "{}", "--show-event").stdout)
    assert given["tool_input"] == {}


# ── failure injection ───────────────────────────────────────────────────────

CLOSED = {**DENY, "command": "exit 0", "onFailure": "block"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [("timeout", "timeout"), ("crash", "killed"), ("garbage", "broken-json"), ("missing", "launch-failed")],
)
def test_an_injected_failure_goes_the_way_of_a_real_one(shell: Shell, fault: str, code: str) -> None:
    settings(shell.home, hooks_for("PreToolUse", DENY))
    done = shell("fire", "PreToolUse", "--inject", fault)
    assert done.returncode == 0
    assert f"[{code}]" in done.stdout
    assert f"injected: {fault}" in done.stdout
    assert "PROCEED, no hook gave a verdict" in done.stdout
    settings(shell.home, hooks_for("PreToolUse", CLOSED))
    assert shell("fire", "PreToolUse", "--inject", fault).returncode == 2


def test_a_fault_strikes_only_the_hooks_that_it_names(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", DENY, {"type": "command", "command": "touch ran"}))
    found = shell.json("fire", "PreToolUse", "--inject", "crash:touch")
    assert [run["outcome"] for run in found["ran"]] == ["error", "error"]
    assert [run["exit_code"] for run in found["ran"]] == [2, 139]
    assert list(found["injected"].values()) == ["crash"]
    assert not (shell.project / "ran").exists()


def test_huge_output_is_spilled_as_from_a_real_hook(shell: Shell) -> None:
    settings(shell.home, hooks_for("SessionStart", {"type": "command", "command": "true"}))
    found = shell.json("fire", "SessionStart", "--inject", "huge")
    assert "spilled" in [diagnostic["code"] for diagnostic in found["diagnostics"]]


def test_a_slow_start_costs_the_hooks_own_time(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", {**DENY, "timeout": 0.3}))
    late = shell.json("fire", "PreToolUse", "--inject", "slow=2s")
    assert (late["blocked"], late["ran"][0]["outcome"]) == (False, "cancelled")
    settings(shell.home, hooks_for("PreToolUse", DENY))
    slow = shell.json("fire", "PreToolUse", "--inject", "slow=300ms")
    assert slow["blocked"]
    assert slow["ran"][0]["ms"] >= 300


@pytest.mark.parametrize("text", ["crush", "slow", "slow=soon", "crash=2s"])
def test_a_fault_that_does_not_exist_is_refused(shell: Shell, text: str) -> None:
    done = shell("fire", "PreToolUse", "--inject", text)
    assert (done.returncode, text in done.stderr) == (2, True)


# ── what the model gets ─────────────────────────────────────────────────────


def test_as_model_prints_every_text_in_its_place(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", DENY, says(specific("PreToolUse", additionalContext="be nice"))))
    assert shell("fire", "PreToolUse", "--as-model").stdout == (
        f"PreToolUse:Bash hook error: [{DENY['command']}]: not here\n"
        "<system-reminder>\nPreToolUse:Bash hook additional context: be nice\n</system-reminder>\n"
    )
    parts = shell.json("fire", "PreToolUse", "--as-model")
    assert [part["place"] for part in parts] == ["tool result (error)", "reminder"]


ECHO = (
    "<system-reminder>\nStop hook blocking error from command: "
    '"echo \'{"decision": "block", "reason": "tests fail"}\'": tests fail\n</system-reminder>'
)


def test_as_model_shows_rewritten_output_feedback_and_silence(shell: Shell) -> None:
    rewritten = specific("PostToolUse", updatedToolOutput={"stdout": "[gone]"})
    settings(shell.home, hooks_for("PostToolUse", says(rewritten), DENY))
    parts = shell.json("fire", "PostToolUse", "--as-model")
    assert parts[0] == {"place": "tool result", "text": '{"stdout":"[gone]"}'}
    assert parts[1]["text"].startswith("<system-reminder>\nPostToolUse:Bash hook blocking error")
    settings(shell.home, hooks_for("Stop", says({"decision": "block", "reason": "tests fail"})))
    assert shell.json("fire", "Stop", "--as-model") == [
        {"place": "user message", "text": "Stop hook feedback:\ntests fail"},
        {"place": "reminder", "text": ECHO},
    ]
    nothing = shell("fire", "PreToolUse", "--as-model")
    assert (nothing.stdout, "receives nothing" in nothing.stderr) == ("", True)


def test_as_model_shows_what_comes_late(shell: Shell) -> None:
    settings(shell.home, hooks_for("PostToolUse", {**says({"systemMessage": "tests are red"}), "async": True}))
    done = shell("fire", "PostToolUse", "--as-model")
    assert "<system-reminder>\ntests are red\n</system-reminder>" in done.stdout


# ── latency, servers, watching ──────────────────────────────────────────────


def test_the_slowest_handler_is_named(shell: Shell) -> None:
    slow = {"type": "command", "command": "sleep 0.2"}
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "true"}, slow))
    line = next(line for line in shell("fire", "PreToolUse").stdout.splitlines() if line.startswith("latency"))
    assert line.endswith("sleep 0.2")
    assert shell.json("fire", "PreToolUse")["ms"] >= 200


def test_mcp_tool_hooks_get_their_servers(shell: Shell) -> None:
    config = {"mcpServers": {"kit": {"command": sys.executable, "args": [str(KIT / "fake_mcp.py")]}}}
    hook = {"type": "mcp_tool", "server": "kit", "tool": "json"}
    settings(shell.home, hooks_for("PreToolUse", hook))
    without = shell.json("fire", "PreToolUse")
    assert (without["blocked"], "not configured" in without["ran"][0]["error"]) == (False, True)
    inline = shell.json("fire", "PreToolUse", "--mcp-config", json.dumps(config))
    file = shell.project / "mcp.json"
    file.write_text(json.dumps(config))
    from_file = shell.json("fire", "PreToolUse", "--mcp-config", "mcp.json")
    assert [inline["reason"], from_file["reason"]] == ["REASON-from-mcp"] * 2
    shown = shell("fire", "PreToolUse", "--mcp-config", "mcp.json")
    assert (shown.returncode, "BLOCKED" in shown.stdout) == (2, True)
    assert not re.search(r"exit \d", shown.stdout), "a tool has no exit status"
    missing = shell("fire", "PreToolUse", "--mcp-config", "nope.json")
    assert (missing.returncode, "nope.json" in missing.stderr) == (2, True)


def test_a_tool_hook_that_fails_blocks_nothing_and_has_no_exit_status(shell: Shell) -> None:
    servers = {"gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}}
    (shell.project / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    settings(shell.home, hooks_for("PreToolUse", {"type": "mcp_tool", "server": "gone", "tool": "x"}))
    done = shell("fire", "PreToolUse", "--mcp-config", "mcp.json")
    assert (done.returncode, "no hook gave a verdict" in done.stdout) == (0, True)
    assert "could not be reached" in done.stdout
    assert not re.search(r"exit \d+ in", done.stdout)


def test_watch_fires_again_when_a_script_or_a_setting_changes(shell: Shell) -> None:
    guard = script(shell.home / "guard.sh", "echo first >&2; exit 2")
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": str(guard)}))
    process = shell.start("fire", "PreToolUse", "--watch", "--as-model")
    assert process.stdout is not None
    try:
        seen = [_until(process.stdout, "watching")]
        script(guard, "echo second >&2; exit 2")
        seen.append(_until(process.stdout, "watching"))
        settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "echo third >&2; exit 2"}))
        seen.append(_until(process.stdout, "watching"))
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 2
    finally:
        process.kill()
        process.stdout.close()
    assert [word for word, text in zip(("first", "second", "third"), seen, strict=True) if word in text] == [
        "first",
        "second",
        "third",
    ]
    assert "guard.sh changed" in seen[1]


def test_watching_says_what_an_edit_does_to_a_trusted_hook(shell: Shell) -> None:
    settings(shell.project, hooks_for("Stop", {"type": "command", "command": "true"}))
    shell("trust", "--yes")
    for more, said in (((), True), (("--trust",), False)):
        process = shell.start("fire", "Stop", "--watch", *more)
        assert process.stdout is not None
        try:
            assert ("an edited hook of the project is skipped" in _until(process.stdout, "watching")) is said
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _until(stream: Any, word: str) -> str:
    lines = []
    for line in stream:
        lines.append(line)
        if line.startswith(word):
            break
    return "".join(lines)


# ── events from a file ──────────────────────────────────────────────────────


def test_an_event_on_stdin_gets_ordinary_values_for_what_it_lacks(shell: Shell) -> None:
    partial = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "/x"}})
    for arguments in (("fire",), ("fire", "PreToolUse")):
        event = json.loads(shell(*arguments, "--show-event", stdin=partial).stdout)
        assert (event["tool_name"], event["tool_input"]) == ("Write", {"file_path": "/x"})
        assert event["tool_use_id"]
        assert event["session_id"]


def test_a_named_event_is_read_from_a_file_and_options_come_last(shell: Shell) -> None:
    (shell.project / "event.json").write_text('{"tool_name": "Bash", "tool_input": {"command": "ls"}}')
    with open(shell.project / "event.json", "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "hookwright.cli", "fire", "PreToolUse", "--show-event", "--set", "tool_use_id=mine"],
            stdin=file,
            capture_output=True,
            cwd=shell.project,
            check=False,
        )
    event = json.loads(done.stdout)
    assert (event["tool_input"], event["tool_use_id"]) == ({"command": "ls"}, "mine")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("fire", "Stop"), '{"hook_event_name": "PreToolUse"}', "the event on stdin is PreToolUse, not Stop"),
        (("fire", "Stop", "--tool", "Bash"), "", "Stop has no field `tool_name`"),
        (("fire", "PreToolUse", "--prompt", "x"), "", "PreToolUse has no field `prompt`"),
        (("fire", "Stop", "--set", "stop_hook_actve=true"), "", "Did you mean `stop_hook_active`?"),
        (("fire", "SessionStart", "--sample", "bogus"), "", "`bogus` is not a source of SessionStart"),
        (("fire", "event.json"), "", "hookwright fire < event.json"),
    ],
)
def test_a_wrong_option_is_a_usage_error(shell: Shell, arguments: tuple[str, ...], stdin: str, message: str) -> None:
    (shell.project / "event.json").write_text("{}")
    done = shell(*arguments, stdin=stdin)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


# ── what a failed hook printed ──────────────────────────────────────────────


def test_the_end_of_both_streams_of_a_failed_hook_is_shown(shell: Shell) -> None:
    failing = "for i in $(seq 30); do echo line $i >&2; done; echo on stdout; exit 1"
    settings(shell.home, hooks_for("Stop", {"type": "command", "command": failing}))
    shown = shell("fire", "Stop").stdout
    assert "stderr (last 20 of 30 lines):\n        line 11\n" in shown
    assert "        line 30\n" in shown
    assert "        line 10\n" not in shown
    assert "stdout:\n        on stdout\n" in shown


def test_hooks_that_wait_for_a_review_are_one_line(shell: Shell) -> None:
    hooks = hooks_for("Stop", *({"type": "command", "command": f"true {n}"} for n in range(3)))
    settings(shell.project, hooks)
    wanted = "hookwright: 3 hooks of this project are off until you review them: hookwright trust"
    for command in ("fire", "explain"):
        assert shell(command, "Stop").stderr.splitlines() == [wanted]
    assert shell("list").stderr.splitlines() == [wanted]
    settings(shell.project, {**hooks, "permissions": {"deny": ["Read(.env)"]}})
    both = "hookwright: 3 hooks and 1 setting of this project are off until you review them: hookwright trust"
    assert shell("list").stderr.splitlines() == [both]
