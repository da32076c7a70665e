"""The messages that the Agent SDK reads: system, assistant, stream, task and result messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    HookEventMessage,
    ResultError,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    ToolUseBlock,
    UserMessage,
)

from sdk.bench import Bench, Guard, Heard, bash, decides, text, tool, turn, user, works

MODEL = "claude-opus-5-5"
ALLOWED = ["Bash", "Agent"]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
PROMPT_ID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ── one session, most messages ──────────────────────────────────────────────


class Session:
    """A client with every kind of message switched on: a call, a refused call, a subagent, a picture, a compaction."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)
        inner = [[text("inner words"), bash("echo y")], [text("done")]]
        sub = {"name": "sub", "match": "SUB", "on": "first", "turns": inner}
        summary = {"name": "sum", "match": "detailed summary", "on": "last", "turns": [[text("SUMMARY")]]}
        bench.play(
            [text("one two"), bash("echo x")],
            [text("end")],
            [bash("touch ran.txt")],
            [task],
            [text("both done")],
            [{"when": "look"}, text("a picture")],
            routes=[sub, summary],
            model=MODEL,
        )
        self.call, self.refusal, self.picture, self.compaction = bench.talk(
            self._talk,
            allowed_tools=ALLOWED,
            disallowed_tools=["Bash(touch *)"],
            include_partial_messages=True,
            include_hook_events=True,
            forward_subagent_text=True,
            hooks=Guard().on("PreToolUse", "Bash"),
            session_id="99999999-2222-4333-8444-555555555555",
            extra_args={"replay-user-messages": None},
        )

    @staticmethod
    async def _talk(client: ClaudeSDKClient) -> list[Heard]:
        async def picture() -> AsyncIterator[dict[str, Any]]:
            yield {**user([IMAGE, {"type": "text", "text": "look"}]), "uuid": PROMPT_ID}

        heard = [await turn(client, "go"), await turn(client, "deny")]
        await client.query(picture())
        heard.append(Heard([message async for message in client.receive_response()]))
        return [*heard, await turn(client, "/compact")]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(Bench(tmp_path_factory.mktemp("session")))


@works("tool-round-trip", "tool-use-result", "session-id")
def test_a_tool_round_trip_has_a_block_per_message_and_the_tools_own_result(session: Session) -> None:
    said = [message for message in session.call.messages if isinstance(message, AssistantMessage)]
    assert [type(message.content[0]).__name__ for message in said] == ["TextBlock", "ToolUseBlock", "TextBlock"]
    (answered,) = [m for m in session.call.messages if isinstance(m, UserMessage) and m.tool_use_result]
    assert isinstance(answered.tool_use_result, dict)
    assert answered.tool_use_result["stdout"].strip() == "x"
    result = session.call.result
    assert (result.subtype, result.is_error, result.result, result.num_turns) == ("success", False, "end", 2)
    assert result.session_id == "99999999-2222-4333-8444-555555555555"
    assert session.call.system("init")[0]["claude_code_version"]


@works("result-cost", "result-model-usage")
def test_a_result_has_its_cost_and_what_each_model_used(session: Session) -> None:
    first, last = session.call.result, session.picture.result
    assert first.total_cost_usd is not None
    assert last.total_cost_usd is not None
    assert 0 < first.total_cost_usd < last.total_cost_usd
    assert set(last.model_usage or {}) == {MODEL}
    assert last.model_usage is not None
    assert last.model_usage[MODEL]["costUSD"] == pytest.approx(last.total_cost_usd)


@works("partial-messages")
def test_partial_messages_are_whole_streams_with_indices(session: Session) -> None:
    events = [message.event for message in session.call.messages if isinstance(message, StreamEvent)]
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


@works("include-hook-events")
def test_hook_events_are_messages(session: Session) -> None:
    events = [message for message in session.call.messages if isinstance(message, HookEventMessage)]
    assert {(event.subtype, event.hook_event_name) for event in events} == {
        ("hook_started", "PreToolUse"),
        ("hook_response", "PreToolUse"),
    }


@works("permission-denied")
def test_a_refused_call_is_a_permission_denied_message(session: Session) -> None:
    (denied,) = session.refusal.system("permission_denied")
    assert (denied["tool_name"], denied["decision_reason_type"]) == ("Bash", "rule")
    assert [one["tool_name"] for one in session.refusal.result.permission_denials or []] == ["Bash"]
    assert not session.bench.exists("ran.txt")


@works("task-progress", "forward-subagent-text")
def test_a_subagent_is_a_task_and_shows_its_calls_and_words(session: Session) -> None:
    (started,) = [message for message in session.refusal.messages if isinstance(message, TaskStartedMessage)]
    assert (started.task_type, started.description) == ("local_agent", "d")
    inner = [m for m in session.refusal.messages if isinstance(m, AssistantMessage) and m.parent_tool_use_id]
    assert [type(block).__name__ for m in inner for block in m.content] == ["TextBlock", "ToolUseBlock", "TextBlock"]
    assert [line["last_tool_name"] for line in session.refusal.system("task_progress")] == ["Bash"]
    (ended,) = [message for message in session.refusal.messages if isinstance(message, TaskNotificationMessage)]
    assert (ended.summary, ended.usage is not None) == ("done", True)


@works("images", "replay-user-messages")
def test_an_image_of_a_prompt_reaches_the_model_and_the_prompt_is_repeated(session: Session) -> None:
    assert session.picture.texts == ["a picture"]
    (path,) = (session.bench.home / ".claude" / "projects").glob("*/*.jsonl")
    line = next(line for line in path.read_text().splitlines() if '"media_type":"image/png"' in line)
    assert f'"uuid":"{PROMPT_ID}"' in line
    repeated = [message for message in session.picture.messages if isinstance(message, UserMessage)]
    assert [message.uuid for message in repeated] == [PROMPT_ID]


@works("compact-boundary", "status")
def test_a_compaction_reports_status_and_boundary(session: Session) -> None:
    assert [line["status"] for line in session.compaction.system("status")] == ["compacting", None]
    (boundary,) = session.compaction.system("compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert session.compaction.result.result == ""


# ── other messages ──────────────────────────────────────────────────────────


@works("query-stream", "cost-unknown", "verbatim-prompts")
def test_every_prompt_of_a_stream_has_its_result_and_an_unknown_price_is_not_nothing(bench: Bench) -> None:
    bench.play([text("one")], [{"when": "/compact"}, text("two")])
    heard = bench.ask([user("1"), user("/compact")], verbatim_prompts=True)
    assert [result.result for result in heard.results] == ["one", "two"]
    assert len(heard.system("init")) == 2
    assert [result.total_cost_usd for result in heard.results] == [None, None]
    (used,) = (heard.result.model_usage or {}).values()
    assert used["costUSD"] is None


def test_without_the_option_a_subagent_shows_its_calls_only(bench: Bench) -> None:
    task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)
    sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[text("t"), bash("echo x")], [text("done")]]}
    bench.play([task], [text("end")], routes=[sub])
    heard = bench.ask("go", allowed_tools=ALLOWED)
    inner = [m for m in heard.messages if isinstance(m, AssistantMessage) and m.parent_tool_use_id is not None]
    assert [type(block) for message in inner for block in message.content] == [ToolUseBlock]


def test_context_that_a_hook_adds_is_not_a_message(bench: Bench) -> None:
    bench.play([{"when": "SECRET-CONTEXT"}, text("saw it")], [text("missed it")])
    added = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "SECRET-CONTEXT"}}
    heard = bench.ask("go", hooks=Guard(added).on("UserPromptSubmit"))
    assert heard.texts == ["saw it"]
    assert not any("SECRET-CONTEXT" in str(m) for m in heard.messages if isinstance(m, UserMessage))


@works("api-error")
def test_an_api_error_is_an_error_result(bench: Bench) -> None:
    bench.play([{"error": 500, "message": "busy"}])
    with pytest.raises(ResultError, match="busy"):
        bench.ask("go")


@works("max-turns")
def test_the_turn_limit_is_an_error_result(bench: Bench) -> None:
    bench.play([bash("echo 1")], [bash("echo 2")], [text("end")])
    with pytest.raises(ResultError, match="maximum number of turns"):
        bench.ask("go", max_turns=1, allowed_tools=ALLOWED)


@works("max-budget-usd")
def test_a_budget_ends_the_run(bench: Bench) -> None:
    bench.play([bash("echo 1")], [bash("touch ran.txt")], [text("end")], model=MODEL)
    with pytest.raises(ResultError, match="maximum budget"):
        bench.ask("go", max_budget_usd=0.000001, allowed_tools=ALLOWED)
    assert not bench.exists("ran.txt")


@works("output-format")
def test_structured_output_is_the_value_that_fits_the_schema(bench: Bench) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    right = [tool("StructuredOutput", n=7)]
    bench.play([tool("StructuredOutput", n="seven")], [text("It is seven.")], right, [text("end")])
    heard = bench.ask("go", output_format={"type": "json_schema", "schema": schema})
    assert heard.tool_results[0].is_error
    assert heard.result.structured_output == {"n": 7}


@works("defer")
def test_a_deferred_call_is_in_the_result(bench: Bench) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    heard = bench.ask("go", hooks=Guard(decides("defer")).on("PreToolUse"), allowed_tools=ALLOWED)
    assert heard.result.deferred_tool_use is not None
    assert heard.result.deferred_tool_use.name == "Bash"
    assert not bench.exists("ran.txt")
