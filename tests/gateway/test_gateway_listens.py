"""The gateway over HTTP, as a process, between real clients and real servers."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult

from gateway.listening import Listening, listening, request
from gateway.test_gateway_clients import HOOKS, LIGHT, SERVER, ends, said
from hookwright.adapters.gateway.listener import sessions as room
from hookwright.adapters.gateway.listener.doors import Doors, doors, turned_away
from hookwright.errors import ConfigError, HookwrightError
from processes import children, eventually, gone
from support import settings


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    settings(folder, {"hooks": HOOKS})
    return folder


@pytest.fixture(scope="module")
def light(project: Path) -> Iterator[Listening]:
    """One gateway for the tests by hand; it ends by a signal, with all sessions that they left open."""
    with listening(project, *LIGHT) as found:
        yield found
        open_sessions = ends(project).count("start") - ends(project).count("end")
        assert open_sessions > 0
        below = children(found.process.pid)
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(20) == 0
    assert all(gone(pid) for pid in below)
    assert ends(project).count("start") == ends(project).count("end")


@pytest.fixture
def since(project: Path) -> Callable[[], list[str]]:
    """The sessions that began and ended during a test."""
    before = len(ends(project)) if (project / "ends").exists() else 0
    return lambda: ends(project)[before:]


Since = Callable[[], list[str]]


# ── the client of the SDK ──


def test_the_client_of_the_sdk(project: Path, since: Since) -> None:
    """In the protocol with sessions, and in the one without them, at one gateway."""
    asked: list[str] = []

    async def agree(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    async def body(url: str, mode: str) -> int:
        async with Client(url, mode=mode, elicitation_callback=agree) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["add"].output_schema is None
            denied = await client.call_tool("fail", {})
            assert "NOT-THIS" in said(denied)[0]
            hidden = await client.call_tool("add", {"a": 1, "b": 2})
            assert (said(hidden), hidden.structured_content) == (["REDACTED"], None)
            pid = int(said(await client.call_tool("pid", {}))[0].split()[0])
            assert "SURE?" in asked.pop()
            many = await asyncio.gather(*(client.call_tool("echo", {"text": str(n)}) for n in range(8)))
            assert [said(one)[0] for one in many] == [f"echo:{n}" for n in range(8)]
            assert said(await client.call_tool("ask", {})) == ["hello Ada"], "a hook answered the server's question"
            assert client.instructions == "SessionStart:startup hook success: HELLO"
        return pid

    with listening(project, *SERVER) as found:
        first = asyncio.run(body(found.url, "legacy"))
        assert gone(first), "the client ended its session, and the server of it"
        assert since() == ["start", "end"]
        second = asyncio.run(body(found.url, "auto"))
        assert since() == ["start", "end", "start"]
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(20) == 0
        assert gone(second)
    assert since() == ["start", "end", "start", "end"]


# ── by hand ──


def test_sessions_are_apart_and_each_ends_once(light: Listening, since: Since) -> None:
    one, two = light.greet(), light.greet()
    assert one != two
    assert light.call(one, "echo", text="x")["result"]["content"][0]["text"] == "echo:x"
    assert light.call(two, "fail")["result"]["isError"] is True
    assert light.ask("DELETE", Mcp_Session_Id=one)[0].status == 200
    assert since() == ["start", "start", "end"]
    assert [light.ask(method, Mcp_Session_Id=one)[0].status for method in ("DELETE", "GET")] == [404, 404]
    assert light.ask(body=request("ping", 1), Mcp_Session_Id=one)[0].status == 404
    assert "result" in light.call(two, "echo", text="y"), "the other one is still open"


def test_a_question_comes_as_an_event_before_the_answer(light: Listening) -> None:
    session = light.greet(elicitation={})
    call = request("tools/call", 7, name="pid", arguments={"text": "x"})
    with light.opened("POST", call, Mcp_Session_Id=session) as response:
        question = _event(response)
        assert question["method"] == "elicitation/create"
        assert "SURE?" in question["params"]["message"]
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"allow": True}}}
        assert light.ask(body=answer, Mcp_Session_Id=session)[0].status == 202
        result = _event(response)
        assert (result["id"], result["result"]["content"][0]["text"]) == (7, "echo:x")
        assert response.read().strip() == b"", "the stream ends with the answer"


def _event(response: http.client.HTTPResponse) -> Any:
    for line in iter(response.readline, b""):
        if line.startswith(b"data: "):
            return json.loads(line.removeprefix(b"data: "))
    raise AssertionError("the stream ended")


def test_a_request_whose_id_is_in_use_and_a_second_stream_are_refused(light: Listening) -> None:
    session = light.greet()
    hang = request("tools/call", 5, name="hang", arguments={})
    with light.opened("POST", hang, Mcp_Session_Id=session) as waiting:
        response, (answer,) = light.ask(body={**hang, "method": "ping"}, Mcp_Session_Id=session)
        assert (response.status, "has the id of another one" in answer["error"]["message"]) == (400, True)
        with light.opened("GET", Mcp_Session_Id=session) as stream:
            assert light.ask("GET", Mcp_Session_Id=session)[0].status == 409
            assert light.ask("DELETE", Mcp_Session_Id=session)[0].status == 200
            assert not any(b"data:" in one.read() for one in (waiting, stream)), "the end of the session ends both"


def test_a_server_that_dies_ends_its_session_only(light: Listening) -> None:
    one, two = light.greet(), light.greet()
    assert light.call(one, "die")["error"]["message"] == "the MCP server `files` exited with 3"
    assert eventually(lambda: light.ask(body=request("ping", 1), Mcp_Session_Id=one)[0].status == 404, 10)
    assert "result" in light.call(two, "echo", text="y")


def test_clients_without_a_session_share_a_server_and_not_their_answers(light: Listening) -> None:
    """Every client counts from 1; one that leaves cancels its call."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    }
    got: dict[str, Any] = {}

    def call(text: str, **headers: str) -> int:
        body = request("tools/call", 1, name="echo", arguments={"text": text}, _meta=meta)
        head = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "echo", **headers}
        response, (got[text],) = light.ask(body=body, **head)
        return response.status

    threads = [threading.Thread(target=call, args=(f"t{n}",)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert {text: (one["id"], one["result"]["content"][0]["text"]) for text, one in got.items()} == {
        f"t{n}": (1, f"echo:t{n}") for n in range(5)
    }
    assert call("other", Mcp_Name="fail") == 400, "headers that say something else than the body are refused"


@pytest.mark.parametrize(
    ("status", "method", "body", "headers"),
    [
        (421, "POST", {}, {"Host": "evil.example"}),
        (421, "POST", {}, {"Host": "127.0.0.1:1"}),
        (403, "POST", {}, {"Origin": "http://evil.example"}),
        (403, "GET", None, {"Origin": "null"}),
        (415, "POST", {}, {"Content_Type": "text/plain"}),
        (406, "POST", {}, {"Accept": "application/json"}),
        (400, "POST", b"{", {}),
        (400, "POST", b'{"x": NaN}', {}),
        (400, "POST", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}),
        (404, "POST", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"Mcp_Session_Id": "guessed"}),
        (400, "GET", None, {}),
        (400, "DELETE", None, {}),
        (405, "PUT", {}, {}),
        (413, "POST", b"[" + b" " * 17_000_000 + b"]", {}),
    ],
)
def test_what_is_not_let_in(light: Listening, status: int, method: str, body: Any, headers: Any) -> None:
    response, _ = light.ask(method, body, **headers)
    assert response.status == status


def test_no_more_than_so_many_sessions() -> None:
    """With connections that do nothing, since each real one is a process."""

    async def body() -> None:
        opened = 0

        def opener(replies: Any) -> Any:
            nonlocal opened
            opened += 1
            return _Opened()

        found = room.Sessions(opener, print)
        names = [(await found.open())[0] for _ in range(room.MOST_SESSIONS)]
        with pytest.raises(room.TooMany, match="64 sessions are open"):
            await found.open()
        await found.end(names[0])
        await found.open()
        await found.close()
        assert opened == room.MOST_SESSIONS + 1
        with pytest.raises(HookwrightError, match="is ending"):
            await found.open()

    asyncio.run(body())


class _Opened:
    """A connection that does nothing."""

    def __init__(self, idle: float = 0.0) -> None:
        self.idle = idle
        self.over = asyncio.Event()

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None


def test_a_session_that_does_nothing_for_long_ends() -> None:
    async def body() -> None:
        found = room.Sessions(lambda replies: _Opened(room.IDLE + 1), print)
        name, _ = await found.open()
        for _ in range(10):
            await asyncio.sleep(0)
        assert found.get(name) is None
        await found.close()

    asyncio.run(body())


# ── the doors, as a law ──


@pytest.mark.parametrize("address", ["8765", "127.0.0.1", "127.0.0.1:99999", "example.com:1", ":1", "127.0.0.1:x", ""])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(ConfigError, match="--listen"):
        doors(address, ())


@pytest.mark.parametrize("address", ["0.0.0.0:1", "192.168.1.2:1", "[::]:1"])
def test_other_machines_need_a_name(address: str) -> None:
    with pytest.raises(ConfigError, match="other machines can reach this address"):
        doors(address, ())
    assert doors(address, ["box.example"]).knows("BOX.example:1")


@pytest.mark.parametrize("address", ["127.0.0.1:8", "localhost:8", "[::1]:8", "127.9.9.9:8"])
def test_this_machine_has_its_names(address: str) -> None:
    found = doors(address, ["proxy.example:443"])
    assert all(map(found.knows, ("localhost:8", "127.0.0.1:8", "[::1]:8", "proxy.example:443")))
    assert not any(map(found.knows, ("", "localhost", "localhost:9", "proxy.example", "localhost:8.evil.example")))


def test_a_port_that_is_taken_is_an_error(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "hookwright.cli", "mcp", "--name", "x", "--listen", address, "--", "true"]
        ran = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=30, check=False)
    assert ran.returncode == 2
    assert f"--listen {address}: Address already in use" in ran.stderr


def test_the_order_of_refusals() -> None:
    door = Doors("127.0.0.1", 8)
    found = turned_away(door, "POST", {"host": "localhost:8", "origin": "https://localhost:8"})
    assert found is not None
    assert found.status == 415
    assert turned_away(door, "DELETE", {"host": "localhost:8"}) is None
