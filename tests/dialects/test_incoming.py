"""From payloads to events: by the recordings, and by the laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.dialects.incoming import Translated, UnreadablePayload, translate
from hookwright.dialects.table import AGENTS, dialect
from hookwright.protocol.wire import payload as written

COMMON = {"session_id": "s", "cwd": "/w/p"}


def events(agent: str, **fields: Any) -> list[dict[str, Any]]:
    found = translate(dialect(agent), {**COMMON, **fields})
    assert isinstance(found, Translated), found
    return [written(event) for event in found.events]


def before_a_call(agent: str) -> str:
    moment = dialect(agent).moment_of("PreToolUse")
    assert moment is not None
    return moment.name


def unread(agent: str, **fields: Any) -> str:
    found = translate(dialect(agent), {**COMMON, **fields})
    assert isinstance(found, UnreadablePayload), found
    return found.reason


def test_a_patch_is_one_event_per_path_with_absolute_paths() -> None:
    text = "*** Begin Patch\n*** Update File: a\n*** Move to: /x/b\n@@\n-1\n+2\n*** Delete File: .env\n*** End Patch"
    found = events(
        "codex", hook_event_name="PreToolUse", tool_name="apply_patch", tool_input={"command": text}, tool_use_id="c"
    )
    assert [(event["tool_name"], event["tool_input"]["file_path"]) for event in found] == [
        ("Edit", "/w/p/a"),
        ("Write", "/x/b"),
        ("Edit", "/w/p/.env"),
    ]
    assert {event["tool_use_id"] for event in found} == {"c"}
    assert {event["x_tool_name"] for event in found} == {"apply_patch"}


@pytest.mark.parametrize(
    ("agent", "tool", "given", "found"),
    [
        ("kimi", "Write", {"path": ".env", "file_path": "notes.md"}, "both `path` and `file_path`"),
        ("kimi", "Write", {"file_path": "notes.md", "path": ".env"}, "both `file_path` and `path`"),
        ("opencode", "edit", {"filePath": "/w/p/.env", "file_path": "/w/p/notes.md"}, "both `filePath` and"),
        ("copilot", "Read", {"path": "a", "filePath": ".env"}, "both `path` and `filePath`"),
    ],
)
def test_a_guard_is_never_shown_one_of_two_keys_that_mean_the_same(
    agent: str, tool: str, given: dict[str, Any], found: str
) -> None:
    assert found in unread(agent, hook_event_name=before_a_call(agent), tool_name=tool, tool_input=given)


def test_a_call_with_two_patches_is_unreadable() -> None:
    one, other = (f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch" for path in ("notes.md", ".env"))
    given = {"command": one, "patchText": other}
    name = before_a_call("opencode")
    assert "two patches" in unread("opencode", hook_event_name=name, tool_name="patch", tool_input=given)


@pytest.mark.parametrize("given", [{}, {"command": 1}, {"command": "ls"}, {"patch": "*** Begin Patch"}])
def test_a_patch_that_cannot_be_read_is_unreadable(given: dict[str, Any]) -> None:
    assert "patch" in unread("codex", hook_event_name="PreToolUse", tool_name="apply_patch", tool_input=given)


@pytest.mark.parametrize(
    ("agent", "event", "tool"),
    [("kimi", "PreToolUse", "Write"), ("gemini", "BeforeTool", "write_file"), ("copilot", "PreToolUse", "Edit")],
)
def test_a_file_tool_without_a_path_is_unreadable_since_a_guard_would_be_blind(
    agent: str, event: str, tool: str
) -> None:
    reason = unread(agent, hook_event_name=event, tool_name=tool, tool_input={"target": ".env"})
    assert reason == f"the call of {tool} has no `file_path`, so a guard could not judge it"


def test_ids_are_made_up_alike_before_and_after_a_call_and_modes_never() -> None:
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    [before] = events("gemini", hook_event_name="BeforeTool", **call)
    [after] = events("gemini", hook_event_name="AfterTool", tool_response={"llmContent": "a"}, **call)
    assert before["tool_use_id"] == after["tool_use_id"]
    assert before["tool_use_id"].startswith("x-")
    assert "permission_mode" not in before
    assert after["tool_response"] == {"llmContent": "a"}


def test_a_result_with_an_error_is_a_failed_call() -> None:
    [event] = events(
        "gemini",
        hook_event_name="AfterTool",
        tool_name="run_shell_command",
        tool_input={"command": "ls"},
        tool_response={"llmContent": "", "error": {"message": "exit 3"}},
    )
    assert (event["hook_event_name"], event["error"]) == ("PostToolUseFailure", "exit 3")


def test_names_of_mcp_tools_come_from_the_context_or_are_tried_at_every_border() -> None:
    call = {"hook_event_name": "BeforeTool", "tool_name": "mcp_my_db_drop", "tool_input": {}}
    known = events("gemini", mcp_context={"server_name": "my_db", "tool_name": "drop"}, **call)
    assert [event["tool_name"] for event in known] == ["mcp__my_db__drop"]
    guessed = [event["tool_name"] for event in events("gemini", **call)]
    assert guessed == ["mcp_my_db_drop", "mcp__my__db_drop", "mcp__my_db__drop"]
    opencode = events("opencode", hook_event_name="tool.execute.before", tool_name="db_drop", tool_input={})
    assert [event["tool_name"] for event in opencode] == ["db_drop", "mcp__db__drop"]


def test_modes_of_qwen_have_the_names_of_claude_code() -> None:
    [event] = events("qwen", hook_event_name="UserPromptSubmit", prompt="hi", permission_mode="auto_edit")
    assert event["permission_mode"] == "acceptEdits"


def test_a_field_of_another_type_does_not_cost_the_event() -> None:
    [event] = events("codex", hook_event_name="Stop", stop_hook_active=True, effort="high", agent_id=None)
    assert event["stop_hook_active"] is True


@pytest.mark.parametrize("name", ["BeforeModel", "Sneeze", None, 7])
def test_an_event_without_a_counterpart_is_unreadable(name: Any) -> None:
    assert "has no translation" in unread("gemini", hook_event_name=name)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.sampled_from(AGENTS), st.data())
def test_every_call_is_an_event_or_unreadable_whatever_is_sent(agent: str, data: st.DataObject) -> None:
    table = dialect(agent)
    moment = data.draw(st.sampled_from([each for each in table.moments if each.claude == "PreToolUse"]))
    name = data.draw(st.sampled_from([tool.name for tool in table.tools]) | st.text(max_size=8) | _json)
    sent = data.draw(st.dictionaries(st.sampled_from(["tool_input", "cwd", "effort", "prompt_id"]), _json))
    found = translate(table, {**COMMON, "hook_event_name": moment.name, "tool_name": name, **sent})
    assert isinstance(found, UnreadablePayload) or found.events


def test_vs_code_behind_the_export_of_copilot_is_read_by_its_own_names() -> None:
    found = events(
        "copilot",
        hook_event_name="PreToolUse",
        tool_name="create_file",
        tool_input={"filePath": ".env", "content": "K=1"},
    )
    assert [(event["tool_name"], event["tool_input"]["file_path"]) for event in found] == [("Write", "/w/p/.env")]
    several = {"replacements": [{"filePath": ".env", "oldString": "a", "newString": "b"}]}
    why = unread("copilot", hook_event_name="PreToolUse", tool_name="multi_replace_string_in_file", tool_input=several)
    assert "has no `file_path`, so a guard could not judge it" in why
