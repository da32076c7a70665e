"""Each of the 33 events fires through `hookwright run` with a real hook: what the hook and the model read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, control, route, seen, tool

KIT = Path(__file__).parents[1] / "conformance" / "kit"
COMMON = {"session_id", "transcript_path", "cwd", "hook_event_name"}
ALLOW = ("--allowedTools", "Bash,Agent,Skill,EnterWorktree,ExitWorktree,mcp__fake__elicit")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def only(place: Place, event: str) -> dict[str, Any]:
    """Give what the one hook run of an event read, after a look at the fields that all events have."""
    (payload,) = place.got(event)
    assert set(payload) >= COMMON
    assert payload["hook_event_name"] == event
    assert os.path.isabs(payload["transcript_path"])
    assert payload["transcript_path"].endswith(payload["session_id"] + ".jsonl")
    return payload


def own(payload: dict[str, Any]) -> dict[str, Any]:
    """Leave out what all events may have."""
    common = COMMON | {"prompt_id", "effort"}
    return {key: value for key, value in payload.items() if key not in common}


def mcp() -> tuple[str, str]:
    """Give the flags that connect the kit's small MCP server."""
    servers = {"fake": {"command": "python3", "args": [str(KIT / "fake_mcp.py")]}}
    return ("--mcp-config", json.dumps({"mcpServers": servers}))


# ── the session ─────────────────────────────────────────────────────────────


@pytest.mark.req("R-053", "R-054", "R-093", "R-094", "R-096", "R-324", "R-328")
def test_session_start(place: Place) -> None:
    place.hook("SessionStart", "echo CTX-start")
    ran = place.run({"turns": seen("SessionStart:startup hook success: CTX-start[\\s\\S]*PROMPT")})
    assert own(only(place, "SessionStart")) == {"source": "startup"}
    assert ran.text == "SAW"


def test_setup(place: Place) -> None:
    place.hook("Setup", "echo CTX-setup")
    ran = place.run({"turns": [[{"when": "CTX-setup"}, {"text": "LEAKED"}], [{"text": "CLEAN"}]]}, "--init")
    assert own(only(place, "Setup")) == {"trigger": "init"}
    assert ran.text == "CLEAN"


def test_instructions_loaded(place: Place) -> None:
    place.hook("InstructionsLoaded")
    place.file("sub/CLAUDE.md", "RULE-sub\n")
    path = place.file("sub/f.txt", "x\n")
    ran = place.run({"turns": [[tool("Read", file_path=str(path))], *seen("RULE-sub")]})
    assert own(only(place, "InstructionsLoaded")) == {
        "file_path": str(place.project / "sub" / "CLAUDE.md"),
        "memory_type": "Project",
        "load_reason": "nested_traversal",
        "trigger_file_path": str(path),
    }
    assert ran.text == "SAW"


@pytest.mark.req("R-089", "R-090", "R-274")
def test_session_end(place: Place) -> None:
    place.answer("SessionEnd", {"decision": "block", "reason": "stay"})
    ran = place.run({"turns": [[{"text": "bye"}]]})
    assert own(only(place, "SessionEnd")) == {"reason": "other"}
    assert (ran.code, ran.text) == (0, "bye")


# ── prompts ─────────────────────────────────────────────────────────────────


@pytest.mark.req("R-055", "R-056", "R-267")
def test_user_prompt_submit(place: Place) -> None:
    place.hook("UserPromptSubmit", "echo CTX-prompt")
    ran = place.run({"turns": seen("PROMPT[\\s\\S]*UserPromptSubmit hook success: CTX-prompt")})
    assert own(only(place, "UserPromptSubmit")) == {"prompt": "PROMPT", "permission_mode": "default"}
    assert ran.text == "SAW"


def test_user_prompt_expansion(place: Place) -> None:
    place.file(".claude/commands/greet.md", "Say hello to $ARGUMENTS\n")
    specific = {"hookEventName": "UserPromptExpansion", "additionalContext": "CTX-exp"}
    place.answer("UserPromptExpansion", {"hookSpecificOutput": specific}, matcher="greet")
    ran = place.run({"turns": seen("Say hello to Bob", "CTX-exp")}, prompt="/greet Bob")
    assert own(only(place, "UserPromptExpansion")) == {
        "permission_mode": "default",
        "expansion_type": "slash_command",
        "command_name": "greet",
        "command_args": "Bob",
        "command_source": "projectSettings",
        "prompt": "/greet Bob",
    }
    assert ran.text == "SAW"


def test_message_display(place: Place) -> None:
    specific = {"hookEventName": "MessageDisplay", "displayContent": "SHOWN"}
    place.answer("MessageDisplay", {"hookSpecificOutput": specific})
    ran = place.run({"turns": [[{"text": "ORIGINAL"}]]})
    payload = own(only(place, "MessageDisplay"))
    assert (payload["delta"], payload["index"], payload["final"]) == ("ORIGINAL", 0, True)
    assert ran.text == "SHOWN"
    assert ran.of("assistant")[0]["message"]["content"] == [{"type": "text", "text": "SHOWN"}]


# ── tools ───────────────────────────────────────────────────────────────────


@pytest.mark.req("R-057", "R-058", "R-059", "R-060", "R-254")
def test_pre_tool_use(place: Place) -> None:
    place.hook("PreToolUse", "echo REASON >&2; exit 2", matcher="Write")
    call = tool("Write", file_path="rel.txt", content="x")
    ran = place.run(
        {"turns": [[call], *seen("PreToolUse:Write hook error: .*REASON")]}, "--permission-mode", "acceptEdits"
    )
    payload = own(only(place, "PreToolUse"))
    path = str(place.project / "rel.txt")
    assert payload == {
        "permission_mode": "acceptEdits",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "x"},
        "tool_use_id": "toolu_S001",
    }
    assert ran.text == "SAW"
    assert not os.path.exists(path)


@pytest.mark.req("R-061", "R-062", "R-261")
def test_permission_request(place: Place) -> None:
    specific = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    place.answer("PermissionRequest", {"hookSpecificOutput": specific})
    ran = place.run({"turns": [[bash("echo RAN > ran.txt; cat ran.txt")], *seen("RAN")]})
    payload = own(only(place, "PermissionRequest"))
    assert payload["tool_name"] == "Bash"
    assert "tool_use_id" not in payload
    assert ran.text == "SAW"


def test_permission_denied(place: Place) -> None:
    place.answer("PermissionDenied", {"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}})
    turns = [[bash("touch ran.txt")], *seen("denied in auto mode", "you may retry this tool call")]
    ran = place.run({"turns": turns}, "--permission-mode", "auto")
    payload = own(only(place, "PermissionDenied"))
    assert (payload["reason"], payload["permission_mode"]) == ("Classifier unavailable", "auto")
    assert ran.text == "SAW"
    assert not (place.project / "ran.txt").exists()


@pytest.mark.req("R-063", "R-064", "R-065", "R-066", "R-262")
def test_post_tool_use(place: Place) -> None:
    command = place.answer("PostToolUse", {"decision": "block", "reason": "REASON"})
    wanted = f'PostToolUse:Bash hook blocking error from command: "{command}": REASON'
    ran = place.run({"turns": [[bash("echo OUT")], *seen("OUT", wanted)]}, *ALLOW)
    payload = own(only(place, "PostToolUse"))
    assert payload.pop("duration_ms") >= 0
    response = payload.pop("tool_response")
    assert (response["stdout"], response["interrupted"]) == ("OUT", False)
    assert payload == {
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "echo OUT", "description": "run"},
        "tool_use_id": "toolu_S001",
    }
    assert ran.text == "SAW"
    assert "is_error" not in ran.tool_results()[0]


@pytest.mark.req("R-067", "R-068", "R-265")
def test_post_tool_use_failure(place: Place) -> None:
    place.answer("PostToolUseFailure", {"decision": "block", "reason": "REASON"})
    turns = [[bash("echo OUT; exit 3")], *seen("Exit code 3", "PostToolUseFailure:Bash hook blocking error.*REASON")]
    ran = place.run({"turns": turns}, *ALLOW)
    payload = own(only(place, "PostToolUseFailure"))
    assert payload["error"].startswith("Exit code 3")
    assert payload["is_interrupt"] is False
    assert ran.text == "SAW"
    assert ran.tool_results()[0]["is_error"] is True


def test_post_tool_batch(place: Place) -> None:
    specific = {"hookEventName": "PostToolBatch", "additionalContext": "CTX-batch"}
    place.answer("PostToolBatch", {"hookSpecificOutput": specific})
    turns = [
        [bash("echo ONE"), bash("echo TWO")],
        *seen("ONE", "TWO", "PostToolBatch hook additional context: CTX-batch"),
    ]
    ran = place.run({"turns": turns}, *ALLOW)
    calls = own(only(place, "PostToolBatch"))["tool_calls"]
    assert [(call["tool_use_id"], call["tool_response"]) for call in calls] == [
        ("toolu_S001", "ONE"),
        ("toolu_S002", "TWO"),
    ]
    assert ran.text == "SAW"


# ── agents, tasks, teams ────────────────────────────────────────────────────

TASK = tool("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose", run_in_background=False)


@pytest.mark.req("R-072", "R-073")
def test_subagent_start(place: Place) -> None:
    specific = {"hookEventName": "SubagentStart", "additionalContext": "CTX-sub"}
    place.answer("SubagentStart", {"hookSpecificOutput": specific}, matcher="general-purpose")
    routes = [route("subagent", "SUBTASK", seen("SubagentStart hook additional context: CTX-sub"))]
    ran = place.run({"turns": [[TASK], [{"text": "done"}]], "routes": routes}, *ALLOW)
    payload = own(only(place, "SubagentStart"))
    assert payload["agent_type"] == "general-purpose"
    assert payload["agent_id"]
    assert ran.tool_results()[-1]["content"] == [{"type": "text", "text": "SAW"}]


@pytest.mark.req("R-074", "R-075", "R-076", "R-271")
def test_subagent_stop(place: Place) -> None:
    body = 'grep -q \'stop_hook_active":true\' <<< "$payload" || echo \'{"decision":"block","reason":"GO-ON"}\''
    place.hook("SubagentStop", body)
    routes = [route("subagent", "SUBTASK", [[{"text": "first"}], *seen("Stop hook feedback:\\nGO-ON")])]
    ran = place.run({"turns": [[TASK], [{"text": "done"}]], "routes": routes}, *ALLOW)
    first, second = place.got("SubagentStop")
    assert (first["stop_hook_active"], second["stop_hook_active"]) == (False, True)
    assert first["last_assistant_message"] == "first"
    assert first["agent_type"] == "general-purpose"
    assert first["agent_transcript_path"].endswith(f"/subagents/agent-{first['agent_id']}.jsonl")
    assert os.path.exists(first["agent_transcript_path"])
    assert ran.tool_results()[-1]["content"] == [{"type": "text", "text": "SAW"}]


def test_task_created(place: Place) -> None:
    place.hook("TaskCreated", "echo NO-TASK >&2; exit 2")
    turns = [
        [tool("TaskCreate", subject="Do A", description="all of A")],
        [{"when": "TaskCreated hook feedback:[\\s\\S]*NO-TASK"}, tool("TaskList")],
        *seen("No tasks"),
    ]
    ran = place.run({"turns": turns})
    assert own(only(place, "TaskCreated")) == {
        "task_id": "1",
        "task_subject": "Do A",
        "task_description": "all of A",
    }
    assert ran.text == "SAW"


@pytest.mark.req("R-081")
def test_task_completed(place: Place) -> None:
    place.answer("TaskCompleted", {"decision": "block", "reason": "TESTS-FAIL"})
    turns = [
        [tool("TaskCreate", subject="Do A", description="all of A")],
        [tool("TaskUpdate", taskId="1", status="completed")],
        [{"when": "TaskCompleted hook feedback:[\\s\\S]*TESTS-FAIL"}, tool("TaskList")],
        *seen("\\[pending\\] Do A"),
    ]
    ran = place.run({"turns": turns})
    payload = own(only(place, "TaskCompleted"))
    assert (payload["task_id"], payload["task_subject"]) == ("1", "Do A")
    assert ran.text == "SAW"


@pytest.mark.req("R-080", "R-342")
def test_teammate_idle(place: Place) -> None:
    place.hook(
        "TeammateIdle", f"test -e {place.root}/once || {{ touch {place.root}/once; echo LOOK-AGAIN >&2; exit 2; }}"
    )
    joins = tool("Agent", description="d", prompt="SUBTASK", name="ada")
    routes = [route("mate", "SUBTASK", [[{"text": "first"}], *seen("TeammateIdle hook feedback:[\\s\\S]*LOOK-AGAIN")])]
    turns = [[joins], [{"text": "waiting"}], *seen('teammate-message from="ada">\\nSAW')]
    ran = place.run({"turns": turns, "routes": routes}, *ALLOW)
    first, second = place.got("TeammateIdle")
    assert first["teammate_name"] == second["teammate_name"] == "ada"
    assert first["team_name"] == f"session-{first['session_id'][:8]}"
    assert first["agent_id"]
    assert [result["result"] for result in ran.results] == ["waiting", "SAW"]


# ── ends ────────────────────────────────────────────────────────────────────


@pytest.mark.req("R-077", "R-079", "R-268")
def test_stop(place: Place) -> None:
    body = 'grep -q \'stop_hook_active":true\' <<< "$payload" || { echo NOT-DONE >&2; exit 2; }'
    place.hook("Stop", body)
    ran = place.run({"turns": [[{"text": "first"}], *seen("Stop hook feedback:[\\s\\S]*NOT-DONE")]})
    first, second = place.got("Stop")
    assert (first["stop_hook_active"], first["last_assistant_message"]) == (False, "first")
    assert (second["stop_hook_active"], second["last_assistant_message"]) == (True, "SAW")
    assert first["background_tasks"] == first["session_crons"] == []
    assert ran.text == "SAW"


@pytest.mark.req("R-078")
def test_stop_failure(place: Place) -> None:
    place.hook("StopFailure", matcher="overloaded")
    place.hook("Stop")
    ran = place.run({"turns": [[{"error": 529, "etype": "overloaded_error", "message": "too much"}]]})
    payload = own(only(place, "StopFailure"))
    assert payload["error"] == "overloaded"
    assert "too much" in payload["last_assistant_message"]
    assert place.got("Stop") == []
    assert ran.code == 1
    assert "too much" in ran.text


# ── surroundings ────────────────────────────────────────────────────────────


@pytest.mark.req("R-082", "R-083")
def test_config_change(place: Place) -> None:
    place.hook("ConfigChange", "exit 2", matcher="local_settings")
    new = {"hooks": {"PostToolBatch": [{"hooks": [{"type": "command", "command": f"touch {place.root}/taken-up"}]}]}}
    local = place.project / ".claude" / "settings.local.json"
    place.file(".claude/settings.local.json", "{}")
    changes = bash(f"cat > {local} <<'EOF'\n{json.dumps(new)}\nEOF")
    ran = place.run({"turns": [[changes], [bash("echo NEXT")], *seen("NEXT")]}, *ALLOW)
    assert own(only(place, "ConfigChange")) == {"source": "local_settings", "file_path": str(local)}
    assert ran.text == "SAW"
    assert not (place.root / "taken-up").exists()


def test_cwd_changed(place: Place) -> None:
    (place.project / "sub").mkdir()
    place.hook("CwdChanged", 'echo "export WHERE=IN-SUB" >> "$CLAUDE_ENV_FILE"')
    turns = [[bash("cd sub")], [bash("sleep 0.7")], [bash("echo $WHERE; pwd")], *seen("IN-SUB", "/project/sub")]
    ran = place.run({"turns": turns}, *ALLOW)
    project = str(place.project)
    assert own(only(place, "CwdChanged")) == {"old_cwd": project, "new_cwd": f"{project}/sub"}
    assert ran.text == "SAW"


def test_directory_added(place: Place) -> None:
    other = place.root / "other"
    other.mkdir()
    (other / "f.txt").write_text("FROM-OTHER\n")
    place.hook("DirectoryAdded")
    turns = [[{"text": "one"}], [tool("Read", file_path=str(other / "f.txt"))], *seen("FROM-OTHER")]
    ran = place.talk({"turns": turns}, ["first", control("register_repo_root", path=str(other)), "second"])
    assert own(only(place, "DirectoryAdded")) == {"directory": str(other), "source": "register_repo_root"}
    assert ran.text == "SAW"


def test_file_changed(place: Place) -> None:
    place.file("data.env", "1")
    place.hook("FileChanged", 'echo "export DATA=NEW-DATA" >> "$CLAUDE_ENV_FILE"', matcher="data.env|other.env")
    turns = [[bash("sleep 0.8; echo 2 > data.env; sleep 1.2")], [bash("echo $DATA")], *seen("NEW-DATA")]
    ran = place.run({"turns": turns}, *ALLOW)
    assert own(only(place, "FileChanged")) == {"file_path": str(place.project / "data.env"), "event": "change"}
    assert ran.text == "SAW"


@pytest.mark.req("R-084", "R-273", "R-343")
def test_worktree_create(place: Place) -> None:
    place.hook("WorktreeCreate", f"mkdir -p {place.root}/tree; echo {place.root}/tree")
    ran = place.run({"turns": [[bash("pwd")], *seen(f"{place.root}/tree")]}, "--worktree", "feature", *ALLOW)
    payload = only(place, "WorktreeCreate")
    assert own(payload) == {"name": "feature"}
    assert payload["cwd"] == str(place.project)
    assert ran.text == "SAW"


@pytest.mark.req("R-085", "R-343")
def test_worktree_remove(place: Place) -> None:
    place.hook("WorktreeCreate", f"mkdir -p {place.root}/tree; echo {place.root}/tree")
    place.hook("WorktreeRemove", f"rmdir {place.root}/tree")
    turns = [
        [tool("EnterWorktree", name="x")],
        [tool("ExitWorktree", action="remove")],
        *seen(f"work in {place.project}"),
    ]
    ran = place.run({"turns": turns}, *ALLOW)
    assert own(only(place, "WorktreeRemove")) == {"worktree_path": f"{place.root}/tree"}
    assert ran.text == "SAW"
    assert not (place.root / "tree").exists()


# ── compaction and models ───────────────────────────────────────────────────

SUMMARY = route("compact", "detailed summary", [[{"text": "<summary>SUM</summary>"}]], on="last")


@pytest.mark.req("R-086", "R-087", "R-088")
def test_pre_compact(place: Place) -> None:
    place.hook("PreCompact", "echo NOT-NOW >&2; exit 2", matcher="manual")
    turns = [[{"text": "one"}], [{"when": "SUM"}, {"text": "COMPACTED"}], [{"text": "KEPT"}]]
    ran = place.talk({"turns": turns, "routes": [SUMMARY]}, ["first", "/compact keep the names", "second"])
    assert own(only(place, "PreCompact")) == {"trigger": "manual", "custom_instructions": "keep the names"}
    assert "Compaction blocked by PreCompact hook" in ran.results[1]["result"]
    assert "NOT-NOW" in ran.results[1]["result"]
    assert ran.text == "KEPT"


@pytest.mark.req("R-327")
def test_post_compact(place: Place) -> None:
    for event in ("PreCompact", "SubagentStop", "PostCompact"):
        place.hook(event)
    place.hook("SessionStart", matcher="compact")
    turns = [[{"text": "one"}], *seen("SUM")]
    ran = place.talk({"turns": turns, "routes": [SUMMARY]}, ["first", "/compact", "second"])
    payload = own(only(place, "PostCompact"))
    assert payload == {"trigger": "manual", "compact_summary": "<summary>SUM</summary>"}
    assert place.order == ["PreCompact", "SubagentStop", "SessionStart", "PostCompact"]
    assert place.got("SubagentStop")[0]["agent_type"] == ""
    assert ran.text == "SAW"


def test_pre_model_switch(place: Place) -> None:
    place.answer("PreModelSwitch", {"decision": "block", "reason": "STAY"})
    feed = ["first", control("set_model", model="sonnet"), "second"]
    ran = place.talk({"model": "old-model", "turns": [[{"text": "one"}], [{"text": "two"}]]}, feed)
    payload = own(only(place, "PreModelSwitch"))
    assert (payload["from_model"], payload["requested_model"], payload["source"]) == ("old-model", "sonnet", "sdk")
    assert payload["to_model"].startswith("claude-sonnet")
    assert ran.of("control_response")[0]["response"]["error"] == "STAY"
    assert [line["message"]["model"] for line in ran.of("assistant")] == ["old-model", "old-model"]


def test_post_model_switch(place: Place) -> None:
    place.hook("PostModelSwitch", "echo CTX-model")
    feed = ["first", control("set_model", model="new-model"), "second"]
    ran = place.talk({"model": "old-model", "turns": [[{"text": "one"}], *seen("PostModelSwitch.*CTX-model")]}, feed)
    assert own(only(place, "PostModelSwitch"))["to_model"] == "new-model"
    assert [line["message"]["model"] for line in ran.of("assistant")] == ["old-model", "new-model"]
    assert ran.text == "SAW"


# ── MCP and notifications ───────────────────────────────────────────────────


def test_elicitation(place: Place) -> None:
    specific = {"hookEventName": "Elicitation", "action": "accept", "content": {"name": "Bob"}}
    place.answer("Elicitation", {"hookSpecificOutput": specific}, matcher="fake")
    turns = [[tool("mcp__fake__elicit")], *seen('"accept"', "Bob")]
    ran = place.run({"turns": turns}, *mcp(), *ALLOW)
    payload = own(only(place, "Elicitation"))
    assert (payload["mcp_server_name"], payload["message"], payload["mode"]) == ("fake", "Your name?", "form")
    assert payload["requested_schema"]["required"] == ["name"]
    assert ran.text == "SAW"


@pytest.mark.req("R-069", "R-070", "R-071")
def test_elicitation_result_and_notification(place: Place) -> None:
    specific = {"hookEventName": "ElicitationResult", "action": "accept", "content": {"name": "Eve"}}
    place.answer("ElicitationResult", {"hookSpecificOutput": specific})
    place.hook("Notification", "exit 2", matcher="elicitation_response")
    ran = place.run({"turns": [[tool("mcp__fake__elicit")], *seen("accept", "Eve")]}, *mcp(), *ALLOW)
    payload = own(only(place, "ElicitationResult"))
    assert payload == {"mcp_server_name": "fake", "action": "cancel", "mode": "form"}
    notice = own(only(place, "Notification"))
    assert set(notice) == {"message", "notification_type"}
    assert ran.text == "SAW"


def test_every_event_has_its_test() -> None:
    """The catalogue and this file name the same events."""
    from hookwright.protocol.events import CATALOGUE

    text = Path(__file__).read_text()
    missing = [
        name for name in CATALOGUE if f'only(place, "{name}")' not in text and f'place.got("{name}")' not in text
    ]
    assert missing == []
