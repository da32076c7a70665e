"""Options of the Agent SDK that are for the model: what the Messages API and chat completions get, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sdk.bench import PROGRAM, Bench, Heard, said, works
from servers import Received, chat_api, fail, messages_api, say

OPTIONS: dict[str, Any] = {
    "thinking": {"type": "enabled", "budget_tokens": 2000, "display": "summarized"},
    "effort": "high",
    "betas": ["context-1m-2025-08-07"],
    "task_budget": {"total": 64_000},
    "client_app": "my-app/1.0",
}


class Asked:
    """A run against a model API, its requests, and what it said on stderr."""

    def __init__(self, bench: Bench, env: dict[str, str], **more: Any) -> None:
        self.lines: list[str] = []
        whole = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", **env, "CLAUDE_CODE_MAX_RETRIES": "0"}
        self.heard: Heard = bench.ask("go", cli_path=PROGRAM, env=whole, stderr=self.lines.append, **more)

    @property
    def notes(self) -> str:
        """What was said on stderr."""
        return "\n".join(self.lines)


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Asked, list[Received]]]:
    """A model that is overloaded, so that the fallback answers."""
    with messages_api(fail(529, code="overloaded_error"), say("hello")) as server:
        bench = Bench(tmp_path_factory.mktemp("newest"))
        more = {**OPTIONS, "model": "claude-opus-5-5", "fallback_model": "claude-haiku-4-5"}
        yield Asked(bench, server.env, **more), server.requests


@works("fallback-model")
def test_the_fallback_answers_when_the_model_is_overloaded(newest: tuple[Asked, list[Received]]) -> None:
    asked, requests = newest
    assert [request.body["model"] for request in requests] == ["claude-opus-5-5", "claude-haiku-4-5"]
    assert asked.heard.texts == ["hello"]
    assert set(asked.heard.result.model_usage or {}) == {"claude-haiku-4-5"}


@works("effort", "task-budget", "betas")
def test_effort_task_budget_and_betas_are_sent_to_a_model_that_takes_them(
    newest: tuple[Asked, list[Received]],
) -> None:
    first = newest[1][0]
    assert first.body["output_config"] == {"effort": "high", "task_budget": {"type": "tokens", "total": 64_000}}
    assert first.headers["anthropic-beta"] == "context-1m-2025-08-07,task-budgets-2026-03-13"


@works("thinking", "max-thinking-tokens")
def test_thinking_has_the_form_that_each_model_takes(newest: tuple[Asked, list[Received]]) -> None:
    asked, (first, second) = newest
    assert first.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert second.body["thinking"] == {"type": "enabled", "budget_tokens": 2000, "display": "summarized"}
    assert asked.notes.count("claude-opus-5-5 decides itself how much it thinks; it is not limited to 2000") == 1


@works("client-app")
def test_the_app_is_named_in_every_request(newest: tuple[Asked, list[Received]]) -> None:
    assert all("client-app/my-app/1.0" in request.headers["user-agent"] for request in newest[1])


@said("openai-tuning")
def test_what_chat_completions_cannot_express_is_said_once(tmp_path: Path) -> None:
    with chat_api(say("hello")) as server:
        asked = Asked(Bench(tmp_path), {**server.env, "OPENAI_MODEL": "o3"}, **OPTIONS)
        (request,) = server.requests
    assert asked.heard.texts == ["hello"]
    assert request.body["reasoning_effort"] == "high"
    assert "client-app/my-app/1.0" in request.headers["user-agent"]
    for words in ("--max-thinking-tokens", "--thinking-display", "--betas", "--task-budget"):
        assert asked.notes.count(f"{words} has no effect on o3") == 1
    notes = [line["content"] for line in asked.heard.system("informational")]
    assert len(notes) == 4
