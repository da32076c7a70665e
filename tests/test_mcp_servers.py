"""Connections to real MCP servers: processes and HTTP, well-behaved or not."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from hookwright.errors import McpError, MissingExtra
from hookwright.mcp.servers import (
    CallFailed,
    ElicitationRequest,
    Elicited,
    HttpServer,
    McpServers,
    McpToolResult,
    ServerConfig,
    ServerUnavailable,
    StdioServer,
)
from support import open_fds

HERE = Path(__file__).parent
FAKE = StdioServer(sys.executable, (str(HERE / "conformance" / "kit" / "fake_mcp.py"),))
REAL = StdioServer(sys.executable, (str(HERE / "mcp_server.py"), "stdio"), (("FLAVOUR", "sour"),))


def with_servers(work: Callable[[McpServers], Awaitable[None]], timeout: int = 20_000, **servers: ServerConfig) -> None:
    """Work with servers; afterwards no descriptor and no task may be left."""
    before = open_fds()

    async def main() -> None:
        env = {"PATH": os.environ["PATH"], "MCP_TIMEOUT": str(timeout)}
        async with asyncio.timeout(30), McpServers(servers, env=env, cwd=str(HERE)) as connected:
            await work(connected)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert open_fds() <= before


def script(text: str) -> StdioServer:
    return StdioServer("/bin/sh", ("-c", text))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the grace that the SDK gives to processes that do not end by themselves."""
    import mcp.client.stdio

    monkeypatch.setattr(mcp.client.stdio, "PROCESS_TERMINATION_TIMEOUT", 0.2)
    monkeypatch.setattr(mcp.client.stdio, "FORCE_KILL_TIMEOUT", 0.2)


def text(value: str) -> tuple[dict[str, str], ...]:
    return ({"type": "text", "text": value},)


async def bob(question: ElicitationRequest) -> Elicited:
    return Elicited("accept", {"name": "Bob"})


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# ── a process ──


def test_tools_and_results() -> None:
    async def work(servers: McpServers) -> None:
        tools = {tool.full_name: tool for tool in await servers.tools("kit")}
        assert list(tools) == [f"mcp__kit__{name}" for name in ("echo", "fail", "json", "elicit", "structured")]
        echo = tools["mcp__kit__echo"]
        assert (echo.server, echo.name, echo.description) == ("kit", "echo", "echo")
        assert echo.input_schema["required"] == ["text"]
        assert echo.annotations == {"readOnlyHint": True}
        assert tools["mcp__kit__structured"].output_schema is not None
        assert await servers.call("kit", "echo", {"text": "hi"}) == McpToolResult(text("echo:hi"))
        assert await servers.call("kit", "structured", {}) == McpToolResult(text('{"n":1}'), {"n": 1})
        assert await servers.call("kit", "fail", {}) == McpToolResult(text("MCP-BOOM"), is_error=True)

    with_servers(work, kit=FAKE)


def test_questions_go_to_whoever_called() -> None:
    asked: list[ElicitationRequest] = []

    async def decline(question: ElicitationRequest) -> Elicited:
        asked.append(question)
        return Elicited("decline", {"name": "not sent"})

    async def work(servers: McpServers) -> None:
        accepted = await servers.call("kit", "elicit", {}, on_elicitation=bob)
        declined = await servers.call("kit", "elicit", {}, on_elicitation=decline)
        nobody = await servers.call("kit", "elicit", {})
        assert [each.text for each in (accepted, declined, nobody)] == [
            'elicited:{"action": "accept", "content": {"name": "Bob"}}',
            'elicited:{"action": "decline"}',
            'elicited:{"action": "cancel"}',
        ]

    with_servers(work, kit=FAKE)
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert asked == [ElicitationRequest("kit", "Your name?", "form", schema)]


def test_a_server_on_the_official_sdk() -> None:
    pids: list[int] = []

    async def work(servers: McpServers) -> None:
        assert (await servers.call("real", "add", {"a": 1, "b": 2})).structured == {"sum": 3}
        picture = await servers.call("real", "picture", {})
        assert [block["type"] for block in picture.content] == ["text", "image"]
        assert picture.text == "a picture:"
        assert (await servers.call("real", "nosuch", {})).is_error
        assert (await servers.call("real", "ask", {}, on_elicitation=bob)).text == "hello Bob"
        assert (await servers.call("real", "ask", {})).text == "nobody: cancel"
        pid, flavour, folder = (await servers.call("real", "pid", {})).text.split()
        pids.append(int(pid))
        assert (flavour, folder) == ("sour", str(HERE))

    with_servers(work, real=REAL)
    assert all(map(gone, pids))


def test_a_cancelled_call_leaves_the_server_usable() -> None:
    async def work(servers: McpServers) -> None:
        before = (await servers.call("real", "pid", {})).text
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await servers.call("real", "hang", {})
        assert (await servers.call("real", "pid", {})).text == before

    with_servers(work, real=REAL)


def test_a_server_that_dies_is_named_and_started_again() -> None:
    async def work(servers: McpServers) -> None:
        with pytest.raises(ServerUnavailable) as caught:
            await servers.call("real", "die", {})
        assert str(caught.value) == ("MCP server `real` closed the connection during tool `die`; it said: last words")
        first = int((await servers.call("real", "pid", {})).text.split()[0])
        os.kill(first, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert int((await servers.call("real", "pid", {})).text.split()[0]) != first

    with_servers(work, real=REAL)


def test_first_calls_at_once_start_one_process(tmp_path: Path) -> None:
    count = tmp_path / "count"
    counted = script(f"echo x >> {count}; exec {FAKE.command} {FAKE.args[0]}")

    async def work(servers: McpServers) -> None:
        calls = (servers.call("kit", "echo", {"text": str(n)}) for n in range(20))
        assert [each.text for each in await asyncio.gather(*calls)] == [f"echo:{n}" for n in range(20)]

    with_servers(work, kit=counted)
    assert count.read_text() == "x\n"


def test_a_caller_that_gives_up_does_not_stop_the_start(tmp_path: Path) -> None:
    count = tmp_path / "count"
    slow = script(f"echo x >> {count}; sleep 0.3; exec {FAKE.command} {FAKE.args[0]}")

    async def work(servers: McpServers) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await servers.call("slow", "echo", {"text": "hi"})
        assert (await servers.call("slow", "echo", {"text": "hi"})).text == "echo:hi"

    with_servers(work, slow=slow)
    assert count.read_text() == "x\n"


# ── servers that are not there ──


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (StdioServer("/no/such/program"), "could not be reached: No such file or directory: /no/such/program"),
        (script("echo no licence >&2; exit 1"), "could not be reached: Connection closed; it said: no licence"),
        (script("sleep 60"), "did not answer within 0.3 s (MCP_TIMEOUT)"),
        (script("trap '' TERM; while :; do sleep 0.1; done"), "did not answer within 0.3 s (MCP_TIMEOUT)"),
    ],
)
def test_a_server_that_does_not_start(server: StdioServer, expected: str) -> None:
    async def work(servers: McpServers) -> None:
        for _ in range(2):
            with pytest.raises(ServerUnavailable) as caught:
                await servers.call("broken", "x", {})
            assert str(caught.value) == f"MCP server `broken` {expected}"

    with_servers(work, timeout=300, broken=server)


def test_a_server_that_nobody_configured() -> None:
    async def work(servers: McpServers) -> None:
        with pytest.raises(
            ServerUnavailable, match=r"`kiit` is not configured \(configured: kit\). Did you mean `kit`"
        ):
            await servers.call("kiit", "x", {})

    with_servers(work, kit=FAKE)


def test_one_broken_server_does_not_hide_the_others() -> None:
    async def work(servers: McpServers) -> None:
        listing = await servers.list_tools()
        assert {tool.server for tool in listing.tools} == {"kit"}
        assert [type(each) for each in listing.failures] == [ServerUnavailable]
        assert servers.names == ("kit", "broken")

    with_servers(work, kit=FAKE, broken=StdioServer("/no/such/program"))


def test_after_the_end_nothing_is_started() -> None:
    async def main() -> None:
        servers = McpServers({"kit": FAKE}, env={}, cwd=str(HERE))
        await servers.aclose()
        with pytest.raises(ServerUnavailable, match="the session is over"):
            await servers.call("kit", "x", {})

    asyncio.run(main())


@pytest.mark.req("R-190")
def test_closing_ends_processes_that_do_not_want_to(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    stubborn = script(f"trap '' TERM; echo $$ > {pid}; {FAKE.command} {FAKE.args[0]}; while :; do sleep 0.1; done")

    async def work(servers: McpServers) -> None:
        assert (await servers.call("stubborn", "echo", {"text": "hi"})).text == "echo:hi"

    with_servers(work, stubborn=stubborn)
    assert gone(int(pid.read_text()))


def test_closing_ends_a_start_that_is_under_way(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def work(servers: McpServers) -> None:
        call = asyncio.ensure_future(servers.call("slow", "x", {}))
        while not pid.exists() or not pid.read_text():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    started = time.monotonic()
    with_servers(work, slow=script(f"echo $$ > {pid}; exec sleep 60"))
    assert time.monotonic() - started < 15
    assert gone(int(pid.read_text()))


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "hookwright.mcp._session", raising=False)
    servers = McpServers({"kit": FAKE}, env={}, cwd=str(HERE))
    with pytest.raises(MissingExtra, match=r"hookwright\[mcp\]"):
        asyncio.run(servers.call("kit", "x", {}))


# ── HTTP ──


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def serve(port: int) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    words = [sys.executable, str(HERE / "mcp_server.py"), "http", str(port)]
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
        else:
            return process
    raise AssertionError("the server did not come up")


@pytest.fixture(name="port")
def running_server() -> Iterator[int]:
    port = free_port()
    process = serve(port)
    yield port
    process.kill()
    process.wait()


def test_streamable_http(port: int) -> None:
    async def work(servers: McpServers) -> None:
        assert "mcp__web__echo" in {tool.full_name for tool in await servers.tools("web")}
        assert (await servers.call("web", "echo", {"text": "hi"})).text == "echo:hi"
        assert (await servers.call("web", "ask", {}, on_elicitation=bob)).text == "hello Bob"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await servers.call("web", "hang", {})
        assert (await servers.call("web", "echo", {"text": "again"})).text == "echo:again"
        for name in ("down", "wrong"):
            with pytest.raises(ServerUnavailable, match=f"`{name}` could not be reached"):
                await servers.call(name, "echo", {"text": "hi"})

    base = "http://127.0.0.1"
    with_servers(
        work,
        web=HttpServer(f"{base}:{port}/mcp"),
        down=HttpServer(f"{base}:{free_port()}/mcp"),
        wrong=HttpServer(f"{base}:{port}/elsewhere"),
    )


def test_a_web_server_that_went_away_and_came_back() -> None:
    port = free_port()

    async def work(servers: McpServers) -> None:
        process = serve(port)
        first = (await servers.call("web", "pid", {})).text
        process.kill()
        process.wait()
        with pytest.raises(ServerUnavailable, match="`web` closed the connection during tool `pid`"):
            await servers.call("web", "pid", {})
        process = serve(port)
        try:
            assert (await servers.call("web", "pid", {})).text != first
        finally:
            process.kill()
            process.wait()

    with_servers(work, web=HttpServer(f"http://127.0.0.1:{port}/mcp"))


def test_errors_are_of_one_family() -> None:
    assert issubclass(CallFailed, McpError)
    assert issubclass(ServerUnavailable, McpError)
