"""What a request becomes on the wire, model by model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hookwright.executors.prompt import SCHEMA
from hookwright.models import anthropic, from_environment, openai
from hookwright.models._system_role import SystemRole
from hookwright.models.types import (
    AdaptiveThinking,
    NoThinking,
    Request,
    Response,
    ThinkingBudget,
    ToolDefinition,
    Tuning,
)
from servers import Server, chat_api, fail, messages_api, say

USER = {"role": "user", "content": "hi"}
NOTE = {"role": "system", "content": "note"}
REMINDER = {"type": "text", "text": "<system-reminder>\nnote\n</system-reminder>"}


@pytest.mark.parametrize(
    ("name", "role", "quiet"),
    [
        ("claude-haiku-5-5", SystemRole.AFTER_USER, {"thinking": {"type": "disabled"}}),
        ("claude-opus-5", SystemRole.AFTER_USER, {"thinking": {"type": "disabled"}}),
        ("claude-opus-4-8", SystemRole.AFTER_USER, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", SystemRole.AFTER_USER, {"thinking": {"type": "between_tools"}}),
        ("claude-opus-5-5", SystemRole.AFTER_USER, {"output_config": {"effort": "low"}}),
        ("claude-fable-5-1", SystemRole.AFTER_USER, {"output_config": {"effort": "low"}}),
        ("claude-opus-4-7", SystemRole.NOWHERE, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-4-5-20250929", SystemRole.NOWHERE, {"thinking": {"type": "disabled"}}),
        ("claude-opus-4-20250514", SystemRole.NOWHERE, {"thinking": {"type": "disabled"}}),
        ("us.anthropic.claude-haiku-5-5-v1:0", SystemRole.NOWHERE, {"thinking": {"type": "disabled"}}),
        ("claude-3-5-haiku-latest", SystemRole.NOWHERE, {}),
        ("some-other-model", SystemRole.NOWHERE, {}),
    ],
)
def test_models_of_the_messages_api_differ(name: str, role: SystemRole, quiet: dict[str, Any]) -> None:
    can = anthropic.abilities(name)
    assert (can.system_role, can.without_thinking) == (role, quiet)
    body = anthropic.request_body(Request(messages=[USER, NOTE], thinking=False), name)
    kept = [USER, NOTE]
    reminded = [{"role": "user", "content": [REMINDER, {"type": "text", "text": "hi"}]}]
    assert body["messages"] == (kept if role is SystemRole.AFTER_USER else reminded)
    assert {key: body[key] for key in ("thinking", "output_config") if key in body} == quiet


def test_thinking_is_left_alone_in_a_conversation() -> None:
    body = anthropic.request_body(Request(messages=[USER]), "claude-haiku-5-5")
    assert body == {"model": "claude-haiku-5-5", "max_tokens": 8192, "messages": [USER]}


@pytest.mark.parametrize(
    ("name", "limit", "effort"),
    [
        ("gpt-6.1-terra", "max_completion_tokens", "none"),
        ("gpt-5.4-mini", "max_completion_tokens", "none"),
        ("gpt-5-mini", "max_completion_tokens", "minimal"),
        ("gpt-5.1-codex", "max_completion_tokens", None),
        ("gpt-5-chat-latest", "max_completion_tokens", None),
        ("o3-mini", "max_completion_tokens", "low"),
        ("gpt-4.1", "max_tokens", None),
        ("qwen3-coder", "max_tokens", None),
    ],
)
def test_models_of_chat_completions_differ(name: str, limit: str, effort: str | None) -> None:
    body = openai.request_body(Request(messages=[USER], thinking=False, max_tokens=7), name)
    assert (body[limit], body.get("reasoning_effort")) == (7, effort)
    assert "reasoning_effort" not in openai.request_body(Request(messages=[USER]), name)


ADAPTIVE = {"type": "adaptive"}
BUDGET = {"type": "enabled", "budget_tokens": 2000}


@pytest.mark.parametrize(
    ("name", "tuning", "sent", "said"),
    [
        ("claude-sonnet-5-5", Tuning(thinking=AdaptiveThinking()), {"thinking": ADAPTIVE}, ""),
        ("claude-sonnet-4-5", Tuning(thinking=AdaptiveThinking()), {}, "takes --max-thinking-tokens"),
        ("claude-haiku-5-5", Tuning(thinking=ThinkingBudget(2000)), {"thinking": ADAPTIVE}, "not limited to 2000"),
        ("claude-haiku-4-5", Tuning(thinking=ThinkingBudget(2000)), {"thinking": BUDGET}, ""),
        ("claude-opus-4-6", Tuning(thinking=ThinkingBudget(2000)), {"thinking": BUDGET}, ""),
        ("some-model", Tuning(thinking=ThinkingBudget(2000)), {"thinking": BUDGET}, ""),
        ("some-model", Tuning(thinking=NoThinking()), {}, "disabled has no effect"),
        ("claude-haiku-5-5", Tuning(thinking=NoThinking()), {"thinking": {"type": "disabled"}}, ""),
        ("claude-opus-5-5", Tuning(thinking=NoThinking()), {"output_config": {"effort": "low"}}, "always thinks"),
        ("claude-opus-5-5", Tuning(effort="max"), {"output_config": {"effort": "max"}}, ""),
        ("claude-haiku-4-5", Tuning(effort="high"), {}, "--effort has no effect"),
        (
            "claude-opus-4-8",
            Tuning(thinking=AdaptiveThinking(), thinking_display="summarized"),
            {"thinking": {**ADAPTIVE, "display": "summarized"}},
            "",
        ),
        (
            "claude-opus-5-5",
            Tuning(task_budget=64_000, effort="low", betas=("b-1",)),
            {
                "output_config": {"effort": "low", "task_budget": {"type": "tokens", "total": 64_000}},
                "extra_headers": {"anthropic-beta": "b-1,task-budgets-2026-03-13"},
            },
            "",
        ),
        ("claude-sonnet-5", Tuning(task_budget=64_000), {}, "--task-budget has no effect"),
    ],
)
def test_the_messages_api_gets_what_a_model_takes_and_the_rest_is_said(
    name: str, tuning: Tuning, sent: dict[str, Any], said: str
) -> None:
    body = anthropic.request_body(Request(messages=[USER], tuning=tuning), name)
    assert {key: body[key] for key in ("thinking", "output_config", "extra_headers") if key in body} == sent
    assert body["max_tokens"] == 8192 + sent.get("thinking", {}).get("budget_tokens", 0), "thoughts are part of it"
    notes = anthropic.ignored_tuning(tuning, name)
    assert len(notes) == bool(said)
    assert said in "".join(notes)


@pytest.mark.parametrize(
    ("name", "tuning", "effort", "said"),
    [
        ("o3", Tuning(effort="medium"), "medium", []),
        ("gpt-5", Tuning(effort="max"), "high", ["--effort max is `high`"]),
        ("gpt-5", Tuning(thinking=NoThinking(), effort="high"), "minimal", []),
        ("gpt-6.1-terra", Tuning(effort="high"), "none", ["only without thinking"]),
        ("gpt-4.1", Tuning(effort="high"), None, ["does not take one"]),
        ("o3", Tuning(thinking=AdaptiveThinking()), None, []),
        ("o3", Tuning(thinking=ThinkingBudget(7)), None, ["--max-thinking-tokens has no effect"]),
        (
            "o3",
            Tuning(betas=("b-1", "b-2"), task_budget=9, thinking_display="omitted"),
            None,
            ["--thinking-display has no effect", "b-1, b-2 belongs", "--task-budget has no effect"],
        ),
    ],
)
def test_chat_completions_get_an_effort_and_the_rest_is_said(
    name: str, tuning: Tuning, effort: str | None, said: list[str]
) -> None:
    tools = [ToolDefinition("Read", "d", {"type": "object"})]
    body = openai.request_body(Request(messages=[USER], tools=tools, tuning=tuning), name)
    assert body.get("reasoning_effort") == effort
    notes = openai.ignored_tuning(tuning, name)
    assert [text in note for text, note in zip(said, notes, strict=True)] == [True] * len(said)


def test_newer_chat_models_take_tools_only_without_thinking() -> None:
    request = Request(messages=[USER], tools=[ToolDefinition("Read", "d", {"type": "object"})])
    assert openai.request_body(request, "gpt-5.4")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in openai.request_body(request, "gpt-5")


def test_chat_messages_keep_order_roles_and_pictures() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    messages: list[Mapping[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, picture]},
        NOTE,
        {"role": "assistant", "content": [thought, {"type": "text", "text": "b"}]},
        {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
    ]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert openai.request_body(Request(messages=messages), "m")["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, image]},
        NOTE,
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c\n\nd"},
    ]


def ask(server: Server, *, times: int = 1) -> list[Response]:
    async def main() -> list[Response]:
        model = from_environment(server.env)
        try:
            return [await model.complete(Request(messages=[USER], schema=SCHEMA)) for _ in range(times)]
        finally:
            await model.close()

    return asyncio.run(main())


@pytest.mark.req("R-125")
def test_the_messages_api_holds_the_answer_to_a_schema() -> None:
    with messages_api(say('{"ok": true}')) as server:
        assert ask(server)[0].text == '{"ok": true}'
    body = server.requests[0].body
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert body["messages"] == [USER]


@pytest.mark.req("R-125")
def test_without_structured_output_the_answer_is_begun_with_a_brace() -> None:
    refusal = fail(400, "output_config.format: this model does not support structured output")
    with messages_api(refusal, say('"ok": true}')) as server:
        assert [response.text for response in ask(server, times=2)] == ['{"ok": true}', '{"ok": true}']
    first, second, third = (received.body for received in server.requests)
    assert "output_config" in first
    assert "output_config" not in second
    assert second["messages"] == [USER, {"role": "assistant", "content": "{"}]
    # The model is remembered, so the next question is not asked twice.
    assert third["messages"] == second["messages"]


@pytest.mark.req("R-125")
def test_chat_completions_hold_the_answer_to_a_schema() -> None:
    with chat_api(say('{"ok": true}')) as server:
        assert ask(server)[0].text == '{"ok": true}'
    form = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert server.requests[0].body["response_format"] == {"type": "json_schema", "json_schema": form}


def test_an_open_schema_is_not_asked_for_strictly() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    body = openai.request_body(Request(messages=[USER], schema=schema), "m")
    assert body["response_format"]["json_schema"]["strict"] is False


def test_arguments_that_are_no_json_object_stay_visible() -> None:
    assert openai._input("{broken") == {"unreadable_arguments": "{broken"}
    assert openai._input("[1]") == {"unreadable_arguments": "[1]"}
    assert openai._input("") == {}
