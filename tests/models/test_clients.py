"""Both API families over real HTTP, through their official SDKs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from types import SimpleNamespace
from typing import Any, TypeVar

import anthropic
import openai
import pytest

from hookwright.models import from_environment
from hookwright.models.anthropic import AnthropicModel, retry_delay
from hookwright.models.openai import OpenAIModel
from hookwright.models.types import (
    ApiError,
    Delta,
    Model,
    Request,
    Response,
    Retrying,
    TextDelta,
    ToolDefinition,
    ToolUseDelta,
    Usage,
    error_kind,
)
from servers import Answer, Server, call, chat_api, fail, messages_api, raw, say, slowly, torn

Api = Callable[..., AbstractContextManager[Server]]
both = pytest.mark.parametrize("api", [messages_api, chat_api], ids=["messages", "chat"])

READ = ToolDefinition("Read", "Read a file", {"type": "object", "properties": {"file_path": {"type": "string"}}})
HELLO = Request(messages=[{"role": "user", "content": "hello"}])


T = TypeVar("T")


def using(server: Server, work: Callable[[Model], Awaitable[T]]) -> T:
    """Do something with the server's model, and close it."""

    async def main() -> T:
        model = from_environment(server.env)
        try:
            async with asyncio.timeout(20):
                return await work(model)
        finally:
            await model.close()

    return asyncio.run(main())


def ask_once(api: Api, server: Server) -> Response:
    """Ask through a client that a host made itself, without retries."""
    model: Model
    if api is messages_api:
        model = AnthropicModel(lambda: anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0))
    else:
        url = f"{server.url}/v1"
        model = OpenAIModel(lambda: openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0))

    async def main() -> Response:
        try:
            return await model.complete(HELLO)
        finally:
            await model.close()

    return asyncio.run(main())


def ask(server: Server, request: Request = HELLO) -> Response:
    return using(server, lambda model: model.complete(request))


async def gather(stream: AsyncIterator[Delta]) -> list[Delta]:
    return [delta async for delta in stream]


def streamed(server: Server, request: Request = HELLO) -> list[Delta]:
    return using(server, lambda model: gather(model.stream(request)))


@both
def test_an_answer_has_text_usage_and_stop_reason(api: Api) -> None:
    with api(say("Hello, ", "you.")) as server:
        response = ask(server)
    assert (response.text, response.stop_reason) == ("Hello, you.", "end_turn")
    assert response.usage == Usage(100, 10, 0, 5)
    assert response.model in server.env.values()


@both
def test_a_stream_gives_the_pieces_and_then_the_same_answer(api: Api) -> None:
    answer = Answer(texts=("Let ", "me look."), calls=(("Read", {"file_path": "/a"}),))
    with api(answer) as server:
        deltas = streamed(server, Request(messages=HELLO.messages, tools=[READ]))
        whole = ask(server, Request(messages=HELLO.messages, tools=[READ]))
    *pieces, last = deltas
    assert isinstance(last, Response)
    assert [piece.text for piece in pieces if isinstance(piece, TextDelta)] == ["Let ", "me look."]
    tool = [piece for piece in pieces if isinstance(piece, ToolUseDelta)]
    assert (tool[0].name, tool[0].partial_json) == ("Read", "")
    assert "".join(piece.partial_json for piece in tool) == '{"file_path": "/a"}'
    assert (last.text, last.tool_uses[0]["input"], last.stop_reason) == (
        "Let me look.",
        {"file_path": "/a"},
        "tool_use",
    )
    assert (last.usage, last.stop_reason) == (whole.usage, whole.stop_reason)
    assert [block["type"] for block in last.content] == [block["type"] for block in whole.content]


@both
def test_a_tool_call_and_its_result_go_there_and_back(api: Api) -> None:
    with api(call("Read", {"file_path": "/a"}), say("It is empty.")) as server:

        async def talk(model: Model) -> Response:
            messages: list[dict[str, Any]] = [{"role": "user", "content": "What is in /a?"}]
            first = await model.complete(Request(messages=messages, tools=[READ], system="Be brief."))
            use = first.tool_uses[0]
            result = {"type": "tool_result", "tool_use_id": use["id"], "content": "EMPTY", "is_error": True}
            messages += [{"role": "assistant", "content": list(first.content)}, {"role": "user", "content": [result]}]
            return await model.complete(Request(messages=messages, tools=[READ], system="Be brief."))

        assert using(server, talk).text == "It is empty."
    body = server.requests[1].body
    if api is messages_api:
        assert body["system"] == "Be brief."
        assert body["tools"] == [{"name": "Read", "description": "Read a file", "input_schema": READ.input_schema}]
        assert body["messages"][1]["content"][0]["input"] == {"file_path": "/a"}
        assert body["messages"][2]["content"][0] == {
            "type": "tool_result",
            "tool_use_id": "toolu_0_0",
            "content": "EMPTY",
            "is_error": True,
        }
    else:
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
        assert body["tools"][0]["function"]["parameters"] == READ.input_schema
        assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "Read", "arguments": '{"file_path": "/a"}'}
        assert body["messages"][3] == {"role": "tool", "tool_call_id": "call_0_0", "content": "Error: EMPTY"}


@both
@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "", "unknown"),
        (401, "", "authentication_failed"),
        (402, "", "billing_error"),
        (403, "", "authentication_failed"),
        (404, "", "model_not_found"),
        (413, "", "invalid_request"),
        (422, "", "invalid_request"),
        (429, "", "rate_limit"),
        (429, "insufficient_quota", "billing_error"),
        (500, "", "server_error"),
        (529, "", "overloaded"),
    ],
)
def test_an_error_status_has_a_kind_and_is_named(api: Api, status: int, code: str, kind: str) -> None:
    with api(fail(status, "MESSAGE-bad", code)) as server, pytest.raises(ApiError, match="MESSAGE-bad") as caught:
        ask(server)
    assert (caught.value.kind, caught.value.status) == (kind, status)
    assert str(status) in str(caught.value)
    retried = status in (429, 500, 529)
    assert len(server.requests) == (3 if retried else 1)


@both
@pytest.mark.parametrize("status", [429, 500])
def test_a_passing_failure_is_retried_by_the_sdk(api: Api, status: int) -> None:
    with api(fail(status), say("at last")) as server:
        assert ask(server).text == "at last"
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "kind"), [(529, "overloaded"), (500, "server_error"), (429, "rate_limit")])
def test_a_stream_says_that_it_is_sent_again(status: int, kind: str) -> None:
    with messages_api(fail(status, "NO"), say("at last")) as server:
        first, *rest = streamed(server)
    assert isinstance(first, Retrying)
    assert (first.attempt, first.most, first.status, first.error) == (1, 2, status, kind)
    assert 0.5 <= first.delay <= 0.625
    assert not any(isinstance(piece, Retrying) for piece in rest)
    assert len(server.requests) == 2


class Refused(Exception):
    """An error as the SDK raises it, with the headers of the answer."""

    def __init__(self, **headers: str) -> None:
        self.response = SimpleNamespace(headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_the_pause_before_a_request_is_sent_again() -> None:
    def failed(status: int, **headers: str) -> ApiError:
        error = ApiError("x", status=status, kind=error_kind(status, None))
        error.__cause__ = Refused(**headers)
        return error

    for attempt, pause in [(0, 0.5), (1, 1.0), (4, 8.0), (9, 32.0)]:
        found = retry_delay(failed(529), attempt)
        assert found is not None
        assert pause <= found <= pause * 1.25
    assert retry_delay(failed(429, retry_after="7"), 3) == 7.0
    assert retry_delay(failed(400, x_should_retry="true", retry_after="1"), 0) == 1.0
    assert retry_delay(failed(529, x_should_retry="false"), 0) is None
    assert retry_delay(failed(400), 0) is None
    assert (retry_delay(failed(429, retry_after="3600"), 0) or 99) < 1


@both
def test_a_server_that_is_not_there_is_named(api: Api) -> None:
    with api(say("x")) as server:
        pass
    with pytest.raises(ApiError, match=r"127\.0\.0\.1 cannot be reached") as caught:
        ask_once(api, server)
    assert (caught.value.kind, caught.value.status) == ("unknown", None)


@both
@pytest.mark.parametrize("broken", [raw(b'{"id": "x", "cont'), raw(b"[]"), raw(b"{}"), torn(say("hello"), 20)])
def test_an_answer_that_cannot_be_read_is_an_error(api: Api, broken: Answer) -> None:
    with api(broken) as server, pytest.raises(ApiError):
        ask_once(api, server)


@both
@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_a_stream_that_breaks_off_is_an_error(api: Api, pieces: int) -> None:
    with api(torn(say("one ", "two ", "three"), pieces)) as server, pytest.raises(ApiError):
        streamed(server)


@both
def test_giving_up_closes_the_connection(api: Api) -> None:
    async def give_up(model: Model) -> None:
        task = asyncio.create_task(model.complete(HELLO))
        await asyncio.to_thread(server.arrived.wait, 15)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with api(slowly(30, say("late"))) as server:
        using(server, give_up)
        assert server.hung_up.wait(10)
    assert len(server.requests) == 1


@both
def test_a_stream_may_be_left_early(api: Api) -> None:
    async def leave(model: Model) -> Delta:
        async with aclosing(model.stream(HELLO)) as deltas:  # type: ignore[type-var]
            return await anext(deltas)

    with api(say("one ", "two")) as server:
        assert using(server, leave) == TextDelta("one ")


@both
def test_a_model_outlives_an_event_loop(api: Api) -> None:
    with api(say("again")) as server:
        model = from_environment(server.env)

        async def once() -> str:
            try:
                return (await model.complete(HELLO)).text
            finally:
                await model.close()

        assert [asyncio.run(once()), asyncio.run(once())] == ["again", "again"]


@both
def test_a_request_may_name_its_model_and_its_purpose(api: Api) -> None:
    with api(say("x")) as server:
        ask(server, Request(messages=HELLO.messages, model="other-model", purpose="prompt-hook"))
        ask(server)
    named, plain = server.requests
    assert (named.body["model"], named.headers["x-hookwright-purpose"]) == ("other-model", "prompt-hook")
    assert plain.body["model"] in server.env.values()
    assert "x-hookwright-purpose" not in plain.headers


@both
def test_the_key_is_sent(api: Api) -> None:
    with api(say("x")) as server:
        ask(server)
    assert server.requests[0].headers["authorization"] == "Bearer key"


def test_an_auth_token_is_sent_where_there_is_no_key() -> None:
    with messages_api(say("x")) as server:
        del server.env["ANTHROPIC_API_KEY"]
        server.env["ANTHROPIC_AUTH_TOKEN"] = "token"
        ask(server)
    assert server.requests[0].headers["authorization"] == "Bearer token"


def test_thinking_is_kept_in_the_content_and_out_of_the_text() -> None:
    with messages_api(say("yes", thinking="hm")) as server:
        response = ask(server)
        last = streamed(server)[-1]
    assert response.text == "yes"
    assert response.content[0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    assert isinstance(last, Response)
    assert last.content[0] == response.content[0]


def test_an_error_inside_a_stream_has_its_kind() -> None:
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    answer = Answer(body=error, headers={"content-type": "text/event-stream"})
    with messages_api(answer) as server, pytest.raises(ApiError, match="busy") as caught:
        streamed(server)
    assert (caught.value.kind, caught.value.status) == ("overloaded", None)
