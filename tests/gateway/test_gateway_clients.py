"""The whole command between real clients and a real server: the SDK's client in two protocols, and one by hand."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from gateway.rig import answers, command
from processes import alive, children, eventually, gone
from support import settings

SERVER = [sys.executable, str(Path(__file__).parent.parent / "mcp_server.py"), "stdio"]
LIGHT = [sys.executable, "-I", "-S", str(Path(__file__).parent / "light_server.py")]
HOOKS = {
    "SessionStart": [command("echo start >> ends; echo HELLO")],
    "SessionEnd": [command("echo end >> ends")],
    "PreToolUse": [
        command("echo NOT-THIS >&2; exit 2", "mcp__files__fail"),
        command(answers("PreToolUse", permissionDecision="ask", permissionDecisionReason="SURE?"), "mcp__files__pid"),
    ],
    "Elicitation": [command(answers("Elicitation", action="accept", content={"name": "Ada"}), "files")],
    "PostToolUse": [
        command(answers("PostToolUse", updatedToolOutput="REDACTED"), "mcp__files__add"),
        command(answers("PostToolUse", additionalContext="NOTED"), "mcp__files__echo"),
    ],
}


def gateway(*server: str, trust: bool = True) -> list[str]:
    more = ["--trust"] if trust else []
    return [sys.executable, "-m", "hookwright.cli", "mcp", "--name", "files", *more, "--", *server]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    settings(tmp_path, {"hooks": HOOKS})
    return tmp_path


def env(project: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(project / "home")}


def said(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_sdk(project: Path, mode: str) -> None:
    """The newer protocol without a handshake, and the one before it."""
    asked: list[str] = []

    async def agree(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    async def body() -> None:
        command, *args = gateway(*SERVER)
        parameters = StdioServerParameters(command=command, args=args, env=env(project), cwd=project)
        async with Client(stdio_client(parameters), mode=mode, elicitation_callback=agree) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["add"].output_schema is None
            assert tools["pid"].output_schema is not None
            denied = await client.call_tool("fail", {})
            assert denied.is_error
            assert "NOT-THIS" in said(denied)[0]
            hidden = await client.call_tool("add", {"a": 1, "b": 2})
            assert (said(hidden), hidden.structured_content) == (["REDACTED"], None)
            echoed = await client.call_tool("echo", {"text": "x"})
            assert said(echoed) == ["echo:x", "PostToolUse:mcp__files__echo hook additional context: NOTED"]
            assert echoed.structured_content == {"result": "echo:x"}
            pid = int(said(await client.call_tool("pid", {}))[0].split()[0])
            assert len(asked) == 1
            assert "SURE?" in asked[0]
            many = await asyncio.gather(*(client.call_tool("echo", {"text": str(n)}) for n in range(20)))
            assert [said(one)[0] for one in many] == [f"echo:{n}" for n in range(20)]
            assert said(await client.call_tool("ask", {})) == ["hello Ada"], "a hook answered the server's question"
            assert len(asked) == 1
            picture = await client.call_tool("picture", {})
            assert [block.type for block in picture.content] == ["text", "image"]
            assert client.instructions == "SessionStart:startup hook success: HELLO"
        assert gone(pid)

    asyncio.run(body())
    assert (project / "ends").read_text().split() == ["start", "end"]


class Plain:
    """A client by hand: lines of JSON, and nothing else."""

    def __init__(self, project: Path, *server: str, trust: bool = True) -> None:
        self.process = subprocess.Popen(
            gateway(*server, trust=trust),
            cwd=project,
            env=env(project),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout

    def greet(self) -> Plain:
        """Shake hands, without elicitation."""
        info = {"name": "plain", "version": "1"}
        self.ask("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        assert self.next()["id"] == 0
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def send(self, value: Any) -> None:
        """Write a line."""
        self.stdin.write(json.dumps(value).encode() + b"\n")
        self.stdin.flush()

    def ask(self, method: str, id_: int, **params: Any) -> None:
        """Write a request."""
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def call(self, tool: str, id_: int = 1, **arguments: Any) -> None:
        """Write a tool call."""
        self.ask("tools/call", id_, name=tool, arguments=arguments)

    def next(self) -> dict[str, Any]:
        """Read a line."""
        return dict(json.loads(self.stdout.readline()))

    def end(self) -> tuple[int, str]:
        """Close stdin and wait for the end; return the exit status and what was printed to stderr."""
        with self.process:
            _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err.decode()


@pytest.fixture
def plain(project: Path) -> Iterator[Plain]:
    client = Plain(project, *LIGHT)
    yield client.greet()
    client.process.kill()
    with client.process:
        pass


def ends(project: Path) -> list[str]:
    return (project / "ends").read_text().split()


def test_a_client_by_hand_leaves_and_nothing_stays(project: Path) -> None:
    """With the server of the SDK; the tests below need no more than a light one."""
    plain = Plain(project, *SERVER).greet()
    text = "x" * 5_000_000
    plain.call("echo", 1, text=text)
    assert plain.next()["result"]["content"][0]["text"] == f"echo:{text}"
    plain.call("pid", 2)
    refused = plain.next()["result"]
    assert refused["isError"] is True
    assert "SURE?\nThis call needs the user's approval" in refused["content"][0]["text"]
    plain.ask("resources/list", 3)
    assert plain.next()["result"] == {"resources": []}
    plain.call("hang", 4)
    below = children(plain.process.pid)
    assert len(below) >= 2, "the server and the watchdog"
    plain.stdout.close()
    assert plain.end()[0] == 0
    assert ends(project) == ["start", "end"]
    assert all(gone(pid) for pid in below)


def test_a_server_that_dies_is_an_error_for_every_request(project: Path, plain: Plain) -> None:
    plain.call("hang", 1)
    plain.call("die", 2)
    found = {one["id"]: one for one in (plain.next(), plain.next())}
    assert {one["error"]["message"] for one in found.values()} == {"the MCP server `files` exited with 3"}
    status, err = plain.end()
    assert status == 3
    assert "last words" in err, "the server's stderr is passed through"
    assert "hookwright: the MCP server `files` exited with 3" in err
    assert ends(project) == ["start", "end"]


def test_a_signal_ends_the_session_and_the_server(project: Path, plain: Plain) -> None:
    plain.call("hang", 1)
    below = children(plain.process.pid)
    plain.process.send_signal(signal.SIGTERM)
    assert plain.process.wait(20) == 128 + signal.SIGTERM
    assert ends(project) == ["start", "end"]
    assert all(gone(pid) for pid in below)


STUBBORN = "trap '' TERM; sleep 60 & echo $$ $! > pid; while :; do sleep 0.1; done"


def stubborn(project: Path) -> tuple[Plain, list[int]]:
    """Start a server that ignores the end of its input and SIGTERM, and has a child."""
    client = Plain(project, "sh", "-c", STUBBORN)
    path = project / "pid"
    assert eventually(lambda: path.exists() and path.read_text(), 15)
    return client, [int(pid) for pid in path.read_text().split()]


def test_a_gateway_that_is_killed_takes_a_stubborn_server_with_it(project: Path) -> None:
    client, pids = stubborn(project)
    client.process.kill()
    client.end()
    assert all(gone(pid, 10) for pid in pids)


def test_a_stubborn_server_is_killed_when_the_client_leaves(project: Path) -> None:
    client, pids = stubborn(project)
    began = time.monotonic()
    assert client.end()[0] == 0
    assert time.monotonic() - began < 6
    assert not any(alive(pid) for pid in pids)


def test_without_trust_the_hooks_are_off_and_stderr_says_so_once(project: Path) -> None:
    client = Plain(project, "sed", "-u", "2q", trust=False)
    client.call("fail", 1)
    assert client.next()["params"]["name"] == "fail"
    client.stdin.write(b"not a message\n")
    client.stdin.flush()
    assert client.stdout.readline() == b"not a message\n"
    status, err = client.end()
    assert status == 0
    assert err.count("hookwright trust") == 1


def test_a_server_that_cannot_start_is_named(project: Path) -> None:
    status, err = Plain(project, "no-such-server").end()
    reason = "the MCP server `no-such-server` cannot be started: No such file or directory"
    assert (status, err) == (1, f"hookwright: {reason}\n")


# ── a server over HTTP ──────────────────────────────────────────────────────


@pytest.fixture
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*SERVER[:2], "http", str(port)], stdout=quiet, stderr=quiet) as process:
        assert eventually(lambda: _listens(port), 20)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_a_server_over_http(project: Path, url: str) -> None:
    """Both protocols, one server."""
    argv = [*gateway()[:-1], "--url", url, "--header", "X-Key=${HOME}"]

    async def body(mode: str) -> None:
        command, *args = argv
        parameters = StdioServerParameters(command=command, args=args, env=env(project), cwd=project)
        async with Client(stdio_client(parameters), mode=mode) as client:
            denied = await client.call_tool("fail", {})
            assert denied.is_error
            assert "NOT-THIS" in said(denied)[0]
            hidden = await client.call_tool("add", {"a": 1, "b": 2})
            assert (said(hidden), hidden.structured_content) == (["REDACTED"], None)
            assert said(await client.call_tool("echo", {"text": "x" * 2_000_000}))[0] == "echo:" + "x" * 2_000_000

    for mode in ("auto", "legacy"):
        asyncio.run(body(mode))
    assert ends(project) == ["start", "end"] * 2


def test_a_url_where_nothing_listens_is_an_error(project: Path) -> None:
    argv = [*gateway()[:-1], "--url", "http://127.0.0.1:9/mcp"]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}
    line = json.dumps(hello).encode() + b"\n"
    ran = subprocess.run(argv, input=line, cwd=project, env=env(project), capture_output=True, timeout=30, check=False)
    assert "at http://127.0.0.1:9/mcp cannot be reached" in json.loads(ran.stdout)["error"]["message"]
    assert ran.returncode == 1
