"""`hookwright run` as a command: formats, exit statuses, signals, a killed process, findings, the debug file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agent.runs import LIMIT, Place, bash, control, end, seen, tool

ALLOW = ("--allowedTools", "Bash")
DONE: dict[str, Any] = {"turns": [[{"text": "Done it."}]]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ── formats ─────────────────────────────────────────────────────────────────


def test_text_is_the_answer_alone(place: Place) -> None:
    place.hook("Stop", "echo noise")
    ran = place.run(DONE, output="text")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "Done it.\n", "")


def test_json_is_one_object(place: Place) -> None:
    place.hook("PreToolUse", "exit 2")
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, *ALLOW, output="json")
    result = json.loads(ran.stdout)
    assert (result["type"], result["result"], result["num_turns"]) == ("result", "end", 2)
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Bash"]
    assert result["usage"]["output_tokens"] > 0
    assert result["duration_ms"] >= 0


@pytest.mark.req("R-318", "R-319", "R-336")
def test_every_line_of_a_stream_is_json_from_init_to_result(place: Place) -> None:
    place.hook("SessionStart", "echo not json")
    place.hook("PostToolUse", "echo not json; echo neither >&2")
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, *ALLOW)
    assert [line["subtype"] for line in ran.lines[:3]] == ["hook_started", "hook_response", "init"]
    (first,), last = ran.of("system", "init"), ran.lines[-1]
    assert (first["type"], first["subtype"], first["cwd"]) == ("system", "init", str(place.project))
    assert {"Bash", "Read"} <= set(first["tools"])
    assert (last["type"], last["subtype"], last["result"]) == ("result", "success", "end")
    assert len({line["session_id"] for line in ran.lines}) == 1


def test_hook_lines_tell_start_and_end(place: Place) -> None:
    place.hook("PostToolUse", "echo out; echo err >&2; exit 1")
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, *ALLOW)
    (started,), (response,) = ran.of("system", "hook_started"), ran.of("system", "hook_response")
    assert started["hook_name"] == response["hook_name"] == "PostToolUse:Bash"
    assert started["hook_id"] == response["hook_id"]
    assert (response["exit_code"], response["outcome"]) == (1, "error")
    assert (response["stdout"], response["stderr"]) == ("out\n", "err\n")


def test_partial_messages_arrive_piece_by_piece(place: Place) -> None:
    ran = place.run({"turns": [[{"text": "one two three"}]]}, "--include-partial-messages")
    events = [line["event"] for line in ran.of("stream_event")]
    pieces = [event["delta"]["text"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(pieces) == "one two three"
    assert len(pieces) > 1
    kinds = [event["type"] for event in events if event["type"] != "content_block_delta"]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]


@pytest.mark.req("R-277", "R-280")
def test_messages_of_hooks_are_lines_for_the_person(place: Place) -> None:
    place.answer("PreToolUse", {"systemMessage": "MIND-THE-GAP"})
    turns = [[bash("echo x")], [{"when": "MIND-THE-GAP"}, {"text": "LEAKED"}], [{"text": "CLEAN"}]]
    ran = place.run({"turns": turns}, *ALLOW)
    told = [line["content"] for line in ran.of("system", "informational")]
    assert told == ["PreToolUse:Bash says: MIND-THE-GAP"]
    assert ran.text == "CLEAN"


def test_a_hook_without_a_verdict_is_told(place: Place) -> None:
    place.hook("PreToolUse", "exit 127")
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, *ALLOW)
    tags = [line.get("tag") for line in ran.of("system", "informational")]
    assert "hook_no_verdict" in tags


# ── prompts ─────────────────────────────────────────────────────────────────


def test_no_prompt_is_an_error(place: Place) -> None:
    ran = place.run(DONE, prompt="")
    assert ran.code == 2
    assert "no prompt" in ran.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--permission-prompt-tool", "stdio"), "needs --input-format stream-json"),
        (("--input-format", "stream-json", "--output-format", "text"), "needs --output-format stream-json"),
        (("--settings", "none.json"), "none.json"),
        (("--agents", "[]"), "--agents"),
        (("--mcp-config", "none.json"), "none.json"),
        (("--resume", ""), "--continue"),
        (("--resume", "none"), "none"),
        (("--json-schema", "[]"), "--json-schema: expected a JSON object"),
        (("--json-schema", '{"type": "array"}'), "wrap other values in an object"),
        (("--system-prompt-file", "missing.txt"), "--system-prompt-file missing.txt"),
    ],
)
def test_flags_that_cannot_be_carried_out_are_refused(place: Place, flags: tuple[str, ...], said: str) -> None:
    ran = place.run(DONE, *flags)
    assert ran.code == 2
    assert said in ran.stderr


@pytest.mark.req("R-266")
def test_a_blocked_prompt_ends_with_status_0(place: Place) -> None:
    place.hook("UserPromptSubmit", "echo NOT-THIS >&2; exit 2")
    ran = place.run({"turns": [[{"text": "asked"}]]}, output="text")
    assert ran.code == 0
    assert ran.stdout.startswith("UserPromptSubmit operation blocked by hook:\n")
    assert "NOT-THIS" in ran.stdout
    assert ran.stdout.endswith("Original prompt: PROMPT\n")


def test_setup_and_session_start_only(place: Place) -> None:
    place.hook("Setup")
    place.hook("SessionStart")
    place.hook("UserPromptSubmit")
    ran = place.run(DONE, "--init-only")
    assert ran.code == 0
    assert place.order == ["Setup", "SessionStart"]
    assert ran.stdout == ""


def test_the_turn_limit_ends_a_run(place: Place) -> None:
    place.hook("Stop")
    ran = place.run({"turns": [[bash("echo 1")], [bash("echo 2")], [{"text": "end"}]]}, "--max-turns", "2", *ALLOW)
    assert (ran.code, ran.results[0]["subtype"], ran.results[0]["num_turns"]) == (1, "error_max_turns", 3)
    assert place.got("Stop") == []


# ── signals and crashes ─────────────────────────────────────────────────────


@pytest.mark.req("R-349")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_a_signal_ends_the_session_in_order(place: Place, number: int, status: int) -> None:
    place.hook("SessionEnd")
    place.hook("Stop")
    place.hook("PreToolUse", f"touch {place.root}/here")
    process = place.start({"turns": [[bash("sleep 20")]]}, *ALLOW)
    _wait_for(place.root / "here")
    started = time.monotonic()
    ran = end(process, number)
    assert ran.code == status
    assert [payload["reason"] for payload in place.got("SessionEnd")] == ["other"]
    assert place.got("Stop") == []
    interrupted = [(line["subtype"], line["is_error"], line["terminal_reason"]) for line in ran.results]
    assert interrupted == ([("error_during_execution", True, "aborted_tools")] if number == signal.SIGINT else [])
    assert time.monotonic() - started < LIMIT / 2


@pytest.mark.req("R-334", "R-321")
def test_a_killed_session_goes_on_where_it_was(place: Place) -> None:
    specific = {"hookEventName": "PostToolUse", "additionalContext": "CTX-kept"}
    place.answer("PostToolUse", {"hookSpecificOutput": specific}, matcher="Write")
    place.hook("PreToolUse", f"cd {place.root}; echo $$ > new; mv new here; sleep 20", matcher="Bash")
    write = tool("Write", file_path=str(place.project / "a.txt"), content="x")
    process = place.start({"turns": [[write], [bash("echo x")]]}, "--permission-mode", "acceptEdits")
    _wait_for(place.root / "here")
    process.kill()
    process.communicate(timeout=LIMIT)
    _wait_until_gone(int((place.root / "here").read_text()))
    assert all(isinstance(line, dict) for line in place.transcript())
    place.hooks.clear()
    turns = [[{"when": "may have had partial effects[\\s\\S]*GO-ON"}, {"text": "SAW"}], [{"text": "MISSED"}]]
    ran = place.run({"turns": turns}, "--continue", prompt="GO-ON")
    assert ran.text == "SAW"
    said = [line for line in place.transcript() if line["type"] == "attachment"]
    assert any(line["attachment"].get("content") == ["CTX-kept"] for line in said)


def _wait_until_gone(pid: int) -> None:
    until = time.monotonic() + LIMIT / 2
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < until, "a hook outlived the session"
        time.sleep(0.02)


def _wait_for(path: Path) -> None:
    until = time.monotonic() + LIMIT
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


# ── findings ────────────────────────────────────────────────────────────────


def test_what_is_wrong_with_the_configuration_is_on_stderr(place: Place) -> None:
    place.settings["hooks"] = {"PreToolUse": [{"hooks": [{"type": "comand", "command": "true"}]}]}
    ran = place.run(DONE)
    assert ran.code == 0
    assert "PreToolUse[0].hooks[0]" in ran.stderr
    assert "[unknown-type]" in ran.stderr


def test_untrusted_hooks_do_not_run_and_are_told(place: Place) -> None:
    place.hook("Stop")
    ran = place.run(DONE, HOOKWRIGHT_TRUST="0")
    assert place.got("Stop") == []
    wanted = "hookwright: 1 hook of this project is off until you review it: hookwright trust"
    assert wanted in ran.stderr.splitlines()
    assert "not trusted" not in ran.stderr, "once is enough"
    assert place.run(DONE, "--trust", HOOKWRIGHT_TRUST="0").code == 0
    assert len(place.got("Stop")) == 1


def test_a_failing_session_end_hook_is_told_on_stderr(place: Place) -> None:
    command = place.hook("SessionEnd", "echo broken >&2; exit 1")
    ran = place.run(DONE)
    assert ran.code == 0
    assert f"SessionEnd hook [{command}] failed: " in ran.stderr


@pytest.mark.req("R-313")
def test_a_broken_env_file_is_told_and_skipped(place: Place) -> None:
    place.hook("SessionStart", 'echo \'export A="open\' >> "$CLAUDE_ENV_FILE"')
    place.hook("SessionStart", "echo 'export B=fine' >> \"$CLAUDE_ENV_FILE\"")
    ran = place.run({"turns": [[bash("echo [$A][$B]")], *seen("\\[\\]\\[fine\\]")]}, *ALLOW)
    assert ran.text == "SAW"
    assert "sessionstart-hook-0.sh:1" in ran.stderr
    assert "SessionStart-0.sh" in ran.stderr


@pytest.mark.req("R-337", "R-338", "R-340", "R-286")
def test_the_debug_file_tells_what_hooks_did(place: Place) -> None:
    log = place.root / "debug.log"
    good = place.hook("PreToolUse", "echo PLAIN-OUTPUT")
    bad = place.hook("PostToolUse", "echo WHY >&2; exit 3")
    place.answer("PostToolUse", {"suppressOutput": True, "systemMessage": "HUSH"})
    place.answer("PostToolBatch", {"continue": False, "stopReason": "ENOUGH"})
    place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, "--debug-file", str(log), *ALLOW)
    lines = log.read_text().splitlines()
    assert any("[DEBUG]" in line and f"PreToolUse:Bash started (command): {good}" in line for line in lines)
    assert any("[DEBUG]" in line and f"ended: {good}: success, exit code 0," in line for line in lines)
    assert any("[DEBUG]" in line and "PLAIN-OUTPUT" in line for line in lines)
    assert any("[WARN]" in line and f"failed: {bad}: " in line and "WHY" in line for line in lines)
    assert any("[INFO]" in line and "ENOUGH" in line for line in lines)
    assert not any("HUSH" in line and "stdout" in line for line in lines)
    assert os.stat(log).st_mode & 0o077 == 0


@pytest.mark.req("R-339")
@pytest.mark.parametrize(("output", "told"), [("text", True), ("stream-json", False)])
def test_added_context_is_logged_as_a_user_step_unless_stdout_is_json(place: Place, output: str, told: bool) -> None:
    log = place.root / "debug.log"
    place.hook("UserPromptSubmit", "echo CTX-x")
    place.run(DONE, "--debug-file", str(log), output=output)
    steps = [line for line in log.read_text().splitlines() if "] user: " in line]
    assert bool(steps) is told


@pytest.mark.parametrize(("flags", "lines"), [((), ["run", "event"]), (("--no-journal",), [])])
def test_runs_are_in_the_journal(place: Place, flags: tuple[str, ...], lines: list[str]) -> None:
    place.hook("Stop")
    place.run(DONE, *flags)
    journal = place.home / ".local" / "state" / "hookwright" / "journal.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    assert [record["kind"] for record in records if record.get("event") == "Stop"] == lines


# ── a program on the other end ──────────────────────────────────────────────


def test_the_host_is_asked_for_permission(place: Place) -> None:
    place.answer("PreToolUse", _ask("REALLY?"))

    def allow(dialogue: Any) -> None:
        dialogue.send("go")
        dialogue.wait_for(lambda line: line["type"] == "control_request")
        asked = next(json.loads(line) for line in dialogue._lines if '"control_request"' in line)
        assert asked["request"]["subtype"] == "can_use_tool"
        assert "REALLY?" in asked["request"]["decision_reason"]
        answer = {"behavior": "allow", "updatedInput": {"command": "echo HOST-INPUT"}}
        response = {"subtype": "success", "request_id": asked["request_id"], "response": answer}
        dialogue.send({"type": "control_response", "response": response})
        dialogue.wait_for(lambda line: line["type"] == "result")

    turns = [[bash("echo x")], *seen("HOST-INPUT")]
    ran = place.talk({"turns": turns}, [allow], "--permission-prompt-tool", "stdio")
    assert ran.text == "SAW"


@pytest.mark.req("R-078")
def test_an_interrupt_ends_the_turn_and_not_the_session(place: Place) -> None:
    place.hook("PreToolUse", f"touch {place.root}/here; sleep 20; touch {place.root}/late", matcher="Bash")
    place.hook("Stop")

    def interrupted(dialogue: Any) -> None:
        dialogue.send("go")
        _wait_for(place.root / "here")
        dialogue.send(control("interrupt"))
        dialogue.wait_for(lambda line: line["type"] == "result")

    def then(dialogue: Any) -> None:
        dialogue.send("next")
        dialogue.wait_for(lambda line: line["type"] == "result", 2)

    turns = [[bash("touch ran.txt")], *seen("Request interrupted by user", "next")]
    ran = place.talk({"turns": turns}, [interrupted, then], *ALLOW)
    assert [line["terminal_reason"] for line in ran.results] == ["aborted_tools", "completed"]
    assert ran.text == "SAW"
    assert not (place.project / "ran.txt").exists()
    assert not (place.root / "late").exists()
    assert [payload["last_assistant_message"] for payload in place.got("Stop")] == ["SAW"]


@pytest.mark.req("R-350")
def test_a_change_of_mode_shows_in_later_input(place: Place) -> None:
    place.hook("UserPromptSubmit")
    feed = ["one", control("set_permission_mode", mode="plan"), "two", control("set_permission_mode", mode="odd")]
    ran = place.talk({"turns": [[{"text": "1"}], [{"text": "2"}]]}, feed)
    assert [payload["permission_mode"] for payload in place.got("UserPromptSubmit")] == ["default", "plan"]
    responses = [line["response"]["subtype"] for line in ran.of("control_response")]
    assert responses == ["success", "error"]


def test_a_hook_in_the_background_wakes_the_model(place: Place) -> None:
    place.hook("PostToolUse", "sleep 0.5; echo WAKE-UP >&2; exit 2", asyncRewake=True)
    turns = [[bash("echo x")], [{"text": "idle"}], *seen("SYSTEM NOTIFICATION[\\s\\S]*WAKE-UP")]

    def twice(dialogue: Any) -> None:
        dialogue.send("go")
        dialogue.wait_for(lambda line: line["type"] == "result", 2)

    ran = place.talk({"turns": turns}, [twice], *ALLOW)
    assert [result["result"] for result in ran.results] == ["idle", "SAW"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--disallowedTools", "Bash(ls *"), "--disallowedTools 'Bash(ls *'"),
        (("--allowedTools", "Bash(ls *"), "--allowedTools 'Bash(ls *'"),
        (("--permission-mode", "bogus"), "--permission-mode bogus"),
        (("--tools", "Bash,Raed"), "there is no tool Raed. The tools are Agent, "),
        (("--settings", '{"sandbox": {"enabled": true}}'), "cannot be run in a sandbox"),
    ],
)
def test_a_mistyped_restriction_is_refused_before_anything_runs(place: Place, args: tuple[str, ...], said: str) -> None:
    place.hook("SessionStart")
    ran = place.run({"turns": [[{"text": "end"}]]}, *args)
    assert (ran.code, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert place.got("SessionStart") == []


def test_without_a_model_a_run_ends_at_once_and_names_the_ways_out(place: Place) -> None:
    place.hook("SessionStart")
    command = place.command({"turns": []})
    at = command.index("--script")
    words = [*command[:at], *command[at + 2 :], "go"]
    ran = subprocess.run(words, cwd=place.project, env=place.env, capture_output=True, text=True, timeout=LIMIT)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert len(ran.stderr.splitlines()) == 1
    assert all(word in ran.stderr for word in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "--script FILE"))
    assert place.got("SessionStart") == []


def _ask(reason: str) -> dict[str, Any]:
    decision = {"permissionDecision": "ask", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}
