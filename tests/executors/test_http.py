"""HTTP handlers against a real server, well-behaved or not."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import sys
import zlib
from typing import Any

import pytest

from hookwright import __version__
from hookwright.executors.http import HttpExecutor
from hookwright.interpret import interpret
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Deny
from hookwright.protocol.replies import Answered, Failed, Failure, Reply
from hookwright.protocol.wire import encode_event
from http_server import PROJECT, USER, Answer, Server, answer, ask, executor, job, raw, with_server
from support import event

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}


# ── what is sent ──


def test_request_is_the_payload_without_its_newline() -> None:
    reply, server = ask(answer("{}"))
    (request,) = server.requests
    assert reply == Answered({}, 200, body="{}")
    assert request.line == "POST /hook HTTP/1.1"
    assert request.body == encode_event(event("PreToolUse"))[:-1]
    assert {name: request.headers[name] for name in ("content-type", "accept", "user-agent", "host")} == {
        "content-type": "application/json",
        "accept": "application/json, text/plain, */*",
        "user-agent": f"hookwright/{__version__}",
        "host": f"127.0.0.1:{server.port}",
    }


def test_headers_take_allowed_variables_and_nothing_else() -> None:
    reply, server = ask(
        answer(),
        headers=(
            ("X-A", "Bearer $MY_TOKEN"),
            ("X-B", "${MY_TOKEN}!"),
            ("X-C", "$OTHER"),
            ("X-D", "$UNSET|"),
            ("X-E", "5$ and ${"),
            ("X-F", "$LATIN"),
            ("content-TYPE", "application/x-custom"),
        ),
        allowed_env_vars=("MY_TOKEN", "UNSET", "LATIN"),
    )
    sent = server.requests[0].headers
    assert {name: sent[name] for name in ("x-a", "x-b", "x-c", "x-d", "x-e", "x-f", "content-type")} == {
        "x-a": "Bearer tok-value",
        "x-b": "tok-value!",
        "x-c": "",
        "x-d": "|",
        "x-e": "5$ and ${",
        "x-f": "caf\udce9",
        "content-type": "application/x-custom",
    }
    assert reply == Answered(
        {},
        200,
        (
            "header X-C: $OTHER is not in the handler's `allowedEnvVars`; an empty string was used",
            "header X-D: $UNSET is not set; an empty string was used",
        ),
    )


def test_both_lists_must_name_a_variable() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        narrow = executor(env=["OTHER"])
        fields: dict[str, Any] = {"headers": (("X-A", "$MY_TOKEN/$OTHER"),), "allowed_env_vars": ("MY_TOKEN", "OTHER")}
        reply = await narrow(job(server.url, **fields))
        assert server.requests[0].headers["x-a"] == "/other-value"
        assert isinstance(reply, Answered)
        assert reply.notes == ("header X-A: $MY_TOKEN is not in `httpHookAllowedEnvVars`; an empty string was used",)
        nothing = executor(env=[])
        await nothing(job(server.url, **fields))
        assert server.requests[1].headers["x-a"] == "/"
        await narrow.aclose()
        await nothing.aclose()

    with_server(answer(), work)


def test_a_value_cannot_add_a_header() -> None:
    reply, server = ask(
        answer(),
        headers=(("X-A", "$EVIL"), ("X-B", "b\r\nX-Injected: 2"), ("Bad Name", "x"), ("X-C:", "y"), ("", "z")),
        allowed_env_vars=("EVIL",),
    )
    request = server.requests[0]
    assert request.headers["x-a"] == "aX-Injected: 1"
    assert request.headers["x-b"] == "bX-Injected: 2"
    assert not [line for line in request.raw if line.lower().startswith(("x-injected", "bad", "x-c", ":"))]
    assert isinstance(reply, Answered)
    assert len(reply.notes) == 5


@pytest.mark.parametrize("name", ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Authorization"])
def test_headers_of_the_connection_are_not_the_hooks_to_set(name: str) -> None:
    reply, server = ask(answer(), headers=((name, "chunked"),))
    assert [line for line in server.requests[0].raw if "chunked" in line] == []
    assert isinstance(reply, Answered)
    assert len(reply.notes) == 1


def test_url_is_not_interpolated() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        await run(job(server.url + "/$MY_TOKEN/${MY_TOKEN}", allowed_env_vars=("MY_TOKEN",)))
        assert server.requests[0].line == "POST /hook/$MY_TOKEN/${MY_TOKEN} HTTP/1.1"

    with_server(answer(), work)


def test_proxy_variables_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(answer("{}"))[0] == Answered({}, 200, body="{}")


def test_without_h11_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h11", None)
    monkeypatch.delitem(sys.modules, "hookwright.executors._httpclient", raising=False)
    assert asyncio.run(executor()(job("http://127.0.0.1:9/"))) == Failed(
        Failure.LAUNCH, "an http hook needs an optional dependency: pip install 'hookwright[http]'"
    )


# ── what counts as an answer ──


@pytest.mark.parametrize(
    ("respond", "expected"),
    [
        (answer(json.dumps(DENY)), Answered(DENY, 200, body=json.dumps(DENY))),
        (
            answer(json.dumps(DENY), "201 Created", ("Content-Type: text/plain",)),
            Answered(DENY, 201, body=json.dumps(DENY)),
        ),
        (answer("\ufeff {} \n"), Answered({}, 200, body="\ufeff {} \n")),
        (answer('{"async": true}'), Answered({"async": True}, 200, body='{"async": true}')),
        (answer(""), Answered({}, 200)),
        (answer(" \n"), Answered({}, 200)),
        (answer(status="204 No Content"), Answered({}, 204)),
        (
            answer("plain text"),
            Failed(
                Failure.ANSWER,
                "HTTP hook must return JSON, but got non-JSON response body: plain text",
                status=200,
                body="plain text",
            ),
        ),
        (
            answer('{"broken": '),
            Failed(
                Failure.ANSWER,
                'HTTP hook must return JSON, but got non-JSON response body: {"broken":',
                status=200,
                body='{"broken": ',
            ),
        ),
        (
            answer("[1]"),
            Failed(
                Failure.ANSWER, "HTTP hook must return a JSON object, but got other JSON: [1]", status=200, body="[1]"
            ),
        ),
        (
            raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
            Answered({}, 200, body="{}"),
        ),
        (
            raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            Answered({}, 200, body="{}"),
        ),
        (
            answer(gzip.compress(b'{"a":1}'), headers=("Content-Encoding: gzip",)),
            Answered({"a": 1}, 200, body='{"a":1}'),
        ),
        (
            answer(zlib.compress(b'{"a":1}'), headers=("Content-Encoding: Deflate",)),
            Answered({"a": 1}, 200, body='{"a":1}'),
        ),
    ],
)
def test_2xx(respond: Answer, expected: Reply) -> None:
    assert ask(respond)[0] == expected


@pytest.mark.parametrize("status", ["300 X", "302 Found", "304 X", "400 X", "401 X", "404 Not Found", "500 X", "503 X"])
def test_any_other_status_is_an_error_even_with_a_decision(status: str) -> None:
    reply, server = ask(answer(json.dumps(DENY), status))
    code = int(status[:3])
    assert reply == Failed(Failure.STATUS, f"HTTP {code} from {server.url}", code)


def test_a_long_text_is_shown_in_part() -> None:
    reply, _ = ask(answer("x" * 5000))
    assert isinstance(reply, Failed)
    assert len(reply.message) < 300


def test_redirects_are_not_followed() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        async with Server(answer(json.dumps(DENY))) as elsewhere:
            for status in ("301 X", "302 X", "303 X", "307 X", "308 X"):
                server.respond = answer(status=status, headers=(f"Location: {elsewhere.url}",))
                reply = await run(job(server.url))
                assert reply == Failed(Failure.STATUS, f"HTTP {status[:3]} from {server.url}", int(status[:3]))
            assert elsewhere.requests == []

    with_server(answer(), work)


def test_the_answer_is_obeyed() -> None:
    reply, server = ask(answer(json.dumps(DENY)))
    asked = job(server.url)
    assert isinstance(interpret(reply, asked.handler, asked.event).decision, Deny)


def test_notes_become_diagnostics() -> None:
    reply, server = ask(answer(status="401 X"), headers=(("Authorization", "Bearer $OTHER"),))
    asked = job(server.url)
    codes = [diagnostic.code for diagnostic in interpret(reply, asked.handler, asked.event).diagnostics]
    assert codes == ["http-failed", "asked-without"]


# ── what is allowed ──


def test_allowlist_is_asked_before_anything_is_sent() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        for urls in ([], ["https://example.com/*"], [f"http://127.0.0.1:{server.port}@example.com/*"]):
            reply = await executor(urls)(job(server.url))
            assert isinstance(reply, Failed)
            assert reply.why is Failure.FORBIDDEN
            assert server.url in reply.message
        assert server.connections == 0
        good = executor(["http://127.0.0.1:*"])
        assert await good(job(server.url)) == Answered({}, 200, body="{}")
        await good.aclose()

    with_server(answer("{}"), work)


@pytest.mark.parametrize("url", ["http://good@127.0.0.1/", "gopher://127.0.0.1/", "http://127.0.0.1\\@good/"])
def test_a_url_that_cannot_be_trusted_is_not_used(url: str) -> None:
    reply = asyncio.run(executor(None)(job(url)))
    assert isinstance(reply, Failed)
    assert reply.why is Failure.FORBIDDEN
    assert repr(url) in reply.message


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.169.254./",
        "http://169。254。169。254/",
        "http://[fe80::1]/",
        "http://100.100.100.200/",
        "http://metadata.google.internal/computeMetadata/v1/",
    ],
)
def test_a_project_hook_cannot_reach_metadata(url: str) -> None:
    reply, tried = without_connections(job(url, PROJECT))
    assert isinstance(reply, Failed)
    assert (reply.why, tried) == (Failure.FORBIDDEN, [])


def test_a_user_hook_is_not_held_back() -> None:
    reply, tried = without_connections(job("http://169.254.169.254/", USER))
    assert isinstance(reply, Failed)
    assert (reply.why, tried) == (Failure.CONNECTION, ["169.254.169.254"])


def without_connections(asked: Job) -> tuple[Reply, list[str]]:
    """Run a job on a loop that refuses every connection and notes the address: no test may reach a real service."""
    tried: list[str] = []

    async def create_connection(factory: object, host: str, *args: object, **options: object) -> None:
        tried.append(host)
        raise ConnectionRefusedError

    async def main() -> Reply:
        asyncio.get_running_loop().create_connection = create_connection  # type: ignore[method-assign, assignment]
        return await executor()(asked)

    return asyncio.run(main()), tried


def resolver(*answers: list[str]) -> list[str]:
    """Make the running loop resolve names by this script, and give the list of names that it was asked for."""
    script = iter(answers)
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(script)]

    asyncio.get_running_loop().getaddrinfo = getaddrinfo  # type: ignore[method-assign, assignment]
    return asked


def test_every_address_of_a_name_is_checked() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        resolver(["127.0.0.1", "169.254.169.254"])
        reply = await run(job(f"http://rebind.example:{server.port}/hook", PROJECT))
        assert isinstance(reply, Failed)
        assert reply.why is Failure.FORBIDDEN
        assert server.connections == 0

    with_server(answer("{}"), work)


def test_the_checked_address_is_the_one_connected_to() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        asked = resolver(["127.0.0.1"], ["169.254.169.254"])
        url = f"http://rebind.example:{server.port}/hook"
        assert await run(job(url, PROJECT)) == Answered({}, 200, body="{}")
        assert asked == ["rebind.example"]
        assert server.requests[0].headers["host"] == f"rebind.example:{server.port}"

    with_server(answer("{}"), work)


def test_a_project_hook_gets_no_connection_that_a_user_hook_left() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        resolver(["127.0.0.1"])
        url = f"http://metadata.google.internal:{server.port}/hook"
        assert await run(job(url, USER)) == Answered({}, 200, body="{}")
        reply = await run(job(url, PROJECT))
        assert isinstance(reply, Failed)
        assert reply.why is Failure.FORBIDDEN
        assert await run(job(url, USER)) == Answered({}, 200, body="{}")
        assert (server.connections, len(server.requests)) == (1, 2)

    with_server(answer("{}"), work)


def test_the_next_address_is_tried_when_the_first_refuses() -> None:
    async def work(server: Server, run: HttpExecutor) -> None:
        resolver(["127.0.0.2", "127.0.0.1"])
        assert await run(job(f"http://two.example:{server.port}/hook")) == Answered({}, 200, body="{}")

    with_server(answer("{}"), work)
