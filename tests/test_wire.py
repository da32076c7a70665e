"""The payloads: what every event's hook reads on stdin, and how events are read back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import parse_json
from hookwright.protocol.wire import camel, decode_event, encode, encode_event
from support import command, event
from test_engine import at, engine, group

ALL = sorted(CATALOGUE)
COMMON = ["session_id", "transcript_path", "cwd"]

#: What stands after `hook_event_name` in the payload of an ordinary event, in this order.
FIELDS: dict[str, list[str]] = {
    "SessionStart": ["source"],
    "Setup": ["trigger"],
    "InstructionsLoaded": ["file_path", "memory_type", "load_reason"],
    "UserPromptSubmit": ["prompt"],
    "UserPromptExpansion": ["expansion_type", "command_name", "command_args", "prompt"],
    "MessageDisplay": ["turn_id", "message_id", "index", "final", "delta"],
    "PreToolUse": ["tool_name", "tool_input", "tool_use_id"],
    "PermissionRequest": ["tool_name", "tool_input"],
    "PermissionDenied": ["tool_name", "tool_input", "tool_use_id", "reason"],
    "PostToolUse": ["tool_name", "tool_input", "tool_response", "tool_use_id", "duration_ms"],
    "PostToolUseFailure": ["tool_name", "tool_input", "tool_use_id", "error", "is_interrupt", "duration_ms"],
    "PostToolBatch": ["tool_calls"],
    "Notification": ["message", "notification_type"],
    "SubagentStart": [],
    "SubagentStop": [
        "stop_hook_active",
        "agent_transcript_path",
        "last_assistant_message",
        "background_tasks",
        "session_crons",
    ],
    "TaskCreated": ["task_id", "task_subject", "task_description"],
    "TaskCompleted": ["task_id", "task_subject", "task_description"],
    "Stop": ["stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"],
    "StopFailure": ["error", "last_assistant_message"],
    "TeammateIdle": ["teammate_name", "team_name"],
    "ConfigChange": ["source", "file_path"],
    "CwdChanged": ["old_cwd", "new_cwd"],
    "DirectoryAdded": ["directory", "source"],
    "FileChanged": ["file_path", "event"],
    "WorktreeCreate": ["name"],
    "WorktreeRemove": ["worktree_path"],
    "PreCompact": ["trigger", "custom_instructions"],
    "PostCompact": ["trigger", "compact_summary"],
    "Elicitation": ["mcp_server_name", "message", "mode", "requested_schema"],
    "ElicitationResult": ["mcp_server_name", "action", "mode", "content"],
    "SessionEnd": ["reason"],
}
SWITCH = [
    "from_model",
    "to_model",
    "requested_model",
    "source",
    "context_tokens",
    "prompt_cache_warm",
    "cache_ttl",
    "estimated_cache_write_usd",
    "pricing",
]
FIELDS |= {"PreModelSwitch": SWITCH, "PostModelSwitch": SWITCH}

#: The events that say which permission mode is on.
WITH_MODE = {
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "SubagentStop",
    "TeammateIdle",
}


def captured(name: str, folder: Path, **fields: Any) -> dict[str, Any]:
    """Fire an event at a real hook that saves its stdin."""
    print_path = "; echo /w" if name == "WorktreeCreate" else ""
    made = engine(folder, group(name, command(f"cat > stdin{print_path}")))
    asyncio.run(made.fire(at(name, folder, **fields)))
    raw = (folder / "stdin").read_text()
    assert raw.endswith("}\n")
    value = json.loads(raw)
    assert isinstance(value, dict)
    return value


@pytest.mark.req("R-054", "R-056", "R-058", "R-059", "R-060", "R-062", "R-064", "R-066", "R-068", "R-070", "R-071")
@pytest.mark.req("R-073", "R-075", "R-076", "R-083", "R-087", "R-088", "R-090", "R-093", "R-094", "R-095", "R-096")
@pytest.mark.parametrize("name", ALL)
def test_the_payload_of_every_event(name: str, tmp_path: Path) -> None:
    seen = captured(name, tmp_path)
    mode = ["permission_mode"] if name in WITH_MODE else []
    agent = ["agent_id", "agent_type"] if name in ("SubagentStart", "SubagentStop") else []
    assert list(seen) == [*COMMON, *mode, *agent, "hook_event_name", *FIELDS[name]]
    assert seen["hook_event_name"] == name
    assert seen["cwd"] == str(tmp_path)
    assert seen["transcript_path"] == str(tmp_path / "t.jsonl")


@pytest.mark.req("R-097")
@pytest.mark.parametrize("mode", ["default", "plan", "acceptEdits", "bypassPermissions", "auto", "dontAsk"])
def test_the_permission_mode_is_passed_as_it_is(mode: str) -> None:
    assert json.loads(encode_event(event("PreToolUse", permission_mode=mode)))["permission_mode"] == mode


@pytest.mark.req("R-098")
def test_inside_a_subagent_the_payload_names_it_before_the_event() -> None:
    seen = json.loads(
        encode_event(event("PreToolUse", prompt_id="p", agent_id="a1", agent_type="Explore", effort={"level": "high"}))
    )
    expected = [*COMMON, "prompt_id", "permission_mode", "agent_id", "agent_type", "effort", "hook_event_name"]
    assert list(seen)[: len(expected)] == expected


@pytest.mark.req("R-062")
def test_a_permission_request_has_no_tool_use_id(tmp_path: Path) -> None:
    suggestions = [{"type": "addRules"}]
    seen = captured("PermissionRequest", tmp_path, permission_suggestions=suggestions)
    assert "tool_use_id" not in seen
    assert seen["permission_suggestions"] == suggestions


@pytest.mark.req("R-088")
@pytest.mark.parametrize("text", [None, "", "keep the plan"])
def test_custom_instructions_are_text_or_null(text: str | None, tmp_path: Path) -> None:
    assert captured("PreCompact", tmp_path, custom_instructions=text)["custom_instructions"] == text


@pytest.mark.req("R-066")
@pytest.mark.parametrize("response", [None, "text", 7, [1], {"a": {"b": 1}}])
def test_a_tool_response_is_any_json_value(response: Any, tmp_path: Path) -> None:
    assert captured("PostToolUse", tmp_path, tool_response=response)["tool_response"] == response


@pytest.mark.parametrize("name", ALL)
def test_an_event_survives_the_way_out_and_back(name: str) -> None:
    made = event(name, a_newer_field={"x": [1]})
    assert decode_event(encode_event(made)) == made
    assert list(json.loads(encode_event(made)))[-1] == "a_newer_field"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "an event is a JSON object, not array"),
        (b"{}", "`hook_event_name` is missing"),
        (b'{"hook_event_name": "PreTool"}', "Did you mean `PreToolUse`?"),
        (b'{"hook_event_name": "Stop"}', "missing required field `session_id`"),
        (
            b'{"hook_event_name": "Stop", "session_id": 1, "transcript_path": "", "cwd": "", "stop_hook_active": true}',
            "session_id",
        ),
    ],
)
def test_a_wrong_event_is_named(raw: bytes, says: str) -> None:
    with pytest.raises(InvalidEvent, match=says.replace("?", r"\?")):
        decode_event(raw)


def test_lone_surrogates_are_replaced_and_never_raise() -> None:
    made = event("UserPromptSubmit", prompt="a\ud800b")
    assert json.loads(encode_event(made))["prompt"] == "a\ufffdb"


def test_wire_names() -> None:
    assert camel("additional_context") == "additionalContext"
    assert camel("updated_mcp_tool_output") == "updatedMCPToolOutput"
    assert camel("retry") == "retry"


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_survives_encoding(value: Any) -> None:
    assert parse_json(encode(value).decode()) == (value, None)


@given(st.text())
def test_parse_json_never_raises(text: str) -> None:
    value, problem = parse_json(text)
    assert (problem is None) or value is None


@pytest.mark.parametrize("text", ["NaN", "Infinity", "[1,]", "// x", "'a'", "[" * 100_000, "1" * 5_000_000 + "x"])
def test_what_is_not_json(text: str) -> None:
    assert parse_json(text)[1] is not None
