"""The messages that the Agent SDK reads: system, assistant, stream, task and result messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    ResultError,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    ToolUseBlock,
    UserMessage,
)

from sdk.bench import Bench, Guard, bash, decides, text, tool, turn, user

MODEL = "claude-opus-5-5"
ALLOWED = ["Bash", "Agent"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_tool_round_trip_has_a_block_per_message_and_a_result_with_its_cost(bench: Bench) -> None:
    bench.play([text("I look."), bash("echo x")], [text("end")], model=MODEL)
    heard = bench.ask("go", allowed_tools=ALLOWED)
    said = [message for message in heard.messages if isinstance(message, AssistantMessage)]
    assert [type(message.content[0]).__name__ for message in said] == ["TextBlock", "ToolUseBlock", "TextBlock"]
    (answered,) = [message for message in heard.messages if isinstance(message, UserMessage)]
    assert isinstance(answered.tool_use_result, dict)
    assert answered.tool_use_result["stdout"].strip() == "x"
    result = heard.result
    assert (result.subtype, result.is_error, result.result, result.num_turns) == ("success", False, "end", 2)
    assert result.total_cost_usd is not None
    assert result.total_cost_usd > 0
    assert set(result.model_usage or {}) == {MODEL}
    assert heard.system("init")[0]["claude_code_version"]


def test_every_prompt_of_a_stream_has_its_init_and_result(bench: Bench) -> None:
    bench.play([text("one")], [text("two")])
    heard = bench.ask([user("1"), user("2")])
    assert [result.result for result in heard.results] == ["one", "two"]
    assert len(heard.system("init")) == 2


def test_partial_messages_are_whole_streams_with_indices(bench: Bench) -> None:
    bench.play([text("one two"), bash("echo x")], [text("end")])
    heard = bench.ask("go", include_partial_messages=True, allowed_tools=ALLOWED)
    events = [message.event for message in heard.messages if isinstance(message, StreamEvent)]
    first = events[: [event["type"] for event in events].index("message_stop") + 1]
    kinds = [(event["type"], event.get("index")) for event in first if event["type"] != "content_block_delta"]
    assert kinds == [
        ("message_start", None),
        ("content_block_start", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_stop", 1),
        ("message_delta", None),
        ("message_stop", None),
    ]
    deltas = [event["delta"] for event in first if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == "one two"
    assert "echo x" in "".join(delta.get("partial_json", "") for delta in deltas)


def test_a_background_command_is_a_task(bench: Bench) -> None:
    bench.play([bash("sleep 0.4", run_in_background=True)], [text("started")], [text("end")])
    heard = bench.ask("go", allowed_tools=ALLOWED, hooks=Guard().on("Stop"))
    (started,) = [message for message in heard.messages if isinstance(message, TaskStartedMessage)]
    (ended,) = [message for message in heard.messages if isinstance(message, TaskNotificationMessage)]
    (updated,) = [message for message in heard.messages if isinstance(message, TaskUpdatedMessage)]
    assert (started.task_type, ended.task_id, ended.status) == ("local_bash", started.task_id, "completed")
    assert updated.status == "completed"
    assert [len(line["tasks"]) for line in heard.system("background_tasks_changed")] == [1, 0]


def test_a_subagent_is_a_task_and_shows_its_calls(bench: Bench) -> None:
    task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose")
    sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[text("t"), bash("echo x")], [text("done")]]}
    bench.play([task], [text("end")], routes=[sub])
    heard = bench.ask("go", allowed_tools=ALLOWED)
    (started,) = [message for message in heard.messages if isinstance(message, TaskStartedMessage)]
    assert (started.task_type, started.description) == ("local_agent", "d")
    inner = [m for m in heard.messages if isinstance(m, AssistantMessage) and m.parent_tool_use_id is not None]
    assert [type(block) for message in inner for block in message.content] == [ToolUseBlock]
    (ended,) = [message for message in heard.messages if isinstance(message, TaskNotificationMessage)]
    assert (ended.summary, ended.usage is not None) == ("done", True)


def test_a_refused_call_is_a_permission_denied_message(bench: Bench) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    heard = bench.ask("go", disallowed_tools=["Bash(touch *)"], allowed_tools=ALLOWED)
    (denied,) = heard.system("permission_denied")
    assert (denied["tool_name"], denied["decision_reason_type"]) == ("Bash", "rule")
    assert [one["tool_name"] for one in heard.result.permission_denials or []] == ["Bash"]
    assert not bench.exists("ran.txt")


def test_a_compaction_reports_status_and_boundary(bench: Bench) -> None:
    summary = {"name": "sum", "match": "summary", "on": "last", "turns": [[text("SUMMARY")]]}
    bench.play([text("one")], [text("two")], routes=[summary])

    async def work(client: ClaudeSDKClient) -> Any:
        await turn(client, "hello")
        return await turn(client, "/compact")

    heard = bench.talk(work)
    assert [line["status"] for line in heard.system("status")] == ["compacting", None]
    (boundary,) = heard.system("compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert heard.result.result == ""


def test_a_prompt_that_a_hook_blocks_says_so(bench: Bench) -> None:
    bench.play([text("end")])
    guard = Guard({"decision": "block", "reason": "NOT-THIS"})
    heard = bench.ask("go", hooks=guard.on("UserPromptSubmit"))
    (line,) = heard.system("informational")
    assert "NOT-THIS" in line["content"]
    assert line["prompt_submit_outcome"]["kind"] == "blocked_by_hook"
    assert (heard.texts, heard.result.num_turns) == ([], 0)


def test_a_stop_hook_that_objects_is_a_user_message_and_a_notification(bench: Bench) -> None:
    bench.play([text("first")], [text("second")])
    guard = Guard(lambda given: {} if given["stop_hook_active"] else {"decision": "block", "reason": "MORE"})
    heard = bench.ask("go", hooks=guard.on("Stop"))
    assert (heard.texts, heard.result.num_turns) == (["first", "second"], 2)
    assert [line["key"] for line in heard.system("notification")] == ["stop-hook-error"]
    assert any(isinstance(m, UserMessage) and "MORE" in str(m.content) for m in heard.messages)


def test_context_that_a_hook_adds_is_not_a_message(bench: Bench) -> None:
    bench.play([{"when": "SECRET-CONTEXT"}, text("saw it")], [text("missed it")])
    added = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "SECRET-CONTEXT"}}
    heard = bench.ask("go", hooks=Guard(added).on("UserPromptSubmit"))
    assert heard.texts == ["saw it"]
    assert not any("SECRET-CONTEXT" in str(m) for m in heard.messages if isinstance(m, UserMessage))


def test_an_api_error_is_an_error_result(bench: Bench) -> None:
    bench.play([{"error": 500, "message": "busy"}])
    with pytest.raises(ResultError, match="busy"):
        bench.ask("go")


def test_the_turn_limit_is_an_error_result(bench: Bench) -> None:
    bench.play([bash("echo 1")], [bash("echo 2")], [text("end")])
    with pytest.raises(ResultError, match="maximum number of turns"):
        bench.ask("go", max_turns=1, allowed_tools=ALLOWED)


def test_a_budget_ends_the_run(bench: Bench) -> None:
    bench.play([bash("echo 1")], [bash("touch ran.txt")], [text("end")], model=MODEL)
    with pytest.raises(ResultError, match="maximum budget"):
        bench.ask("go", max_budget_usd=0.000001, allowed_tools=ALLOWED)
    assert not bench.exists("ran.txt")


def test_structured_output_is_the_value_that_fits_the_schema(bench: Bench) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    bench.play([text("It is seven.")], [tool("StructuredOutput", n=7)], [text("end")])
    heard = bench.ask("go", output_format={"type": "json_schema", "schema": schema})
    assert heard.result.structured_output == {"n": 7}


def test_a_value_that_does_not_fit_the_schema_is_refused(bench: Bench) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    bench.play([tool("StructuredOutput", n="seven")], [tool("StructuredOutput", n=7)], [text("end")])
    heard = bench.ask("go", output_format={"type": "json_schema", "schema": schema})
    assert heard.tool_results[0].is_error
    assert heard.result.structured_output == {"n": 7}


def test_an_image_of_a_prompt_reaches_the_model(bench: Bench) -> None:
    bench.play([{"when": "look"}, text("end")])
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    heard = bench.ask([user([image, {"type": "text", "text": "look"}])])
    assert heard.texts == ["end"]
    (path,) = (bench.home / ".claude" / "projects").glob("*/*.jsonl")
    assert '"media_type":"image/png"' in path.read_text()


def test_a_deferred_call_is_in_the_result(bench: Bench) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    heard = bench.ask("go", hooks=Guard(decides("defer")).on("PreToolUse"), allowed_tools=ALLOWED)
    assert heard.result.deferred_tool_use is not None
    assert heard.result.deferred_tool_use.name == "Bash"
    assert not bench.exists("ran.txt")
