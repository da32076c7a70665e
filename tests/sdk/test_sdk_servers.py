"""`mcp_servers=` of the Agent SDK: inside the host, and over stdio, HTTP and SSE; and a tool that gives permission."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import create_sdk_mcp_server

from sdk.bench import Bench, Heard, bash, text, tool, works
from sdk.test_sdk_initialize import calculator

SERVER = str(Path(__file__).parent.parent / "mcp_server.py")


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


@pytest.fixture(scope="module")
def ports() -> Iterator[tuple[int, int]]:
    """Start a server over HTTP and over SSE."""
    http, sse = free_ports()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, SERVER, "both", str(http), str(sse)], stdout=quiet, stderr=quiet)
    deadline = time.monotonic() + 30
    for port in (http, sse):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < deadline, "the server did not come up"
                time.sleep(0.05)
    yield http, sse
    process.kill()
    process.wait()


class Served:
    """A prompt whose calls go to a server of every kind, and whose other calls need a permission."""

    def __init__(self, bench: Bench, ports: tuple[int, int]) -> None:
        self.bench = bench
        bench.file(".mcp.json", '{"mcpServers": {"project": {"command": "/nonexistent"}}}')
        servers: dict[str, Any] = {
            **calculator(),
            "empty": create_sdk_mcp_server("empty", "1.0.0", []),
            "local": {"type": "stdio", "command": sys.executable, "args": [SERVER, "stdio"]},
            "http": {"type": "http", "url": f"http://127.0.0.1:{ports[0]}/mcp"},
            "sse": {"type": "sse", "url": f"http://127.0.0.1:{ports[1]}/sse"},
        }
        names = [f"mcp__{name}__echo" for name in ("local", "http", "sse")]
        bench.play(
            [tool("mcp__calc__add", a=2, b=2), *(tool(name, text="hello") for name in names)],
            [bash(f"touch {name}.txt") for name in ("good", "bad", "strange", "other")],
            [text("end")],
        )
        self.heard: Heard = bench.ask(
            "go",
            mcp_servers=servers,
            strict_mcp_config=True,
            allowed_tools=["mcp__calc__add", *names],
            permission_prompt_tool_name="mcp__http__permit",
        )
        self.results = [str(result.content) for result in self.heard.tool_results]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int]) -> Served:
    return Served(Bench(tmp_path_factory.mktemp("served")), ports)


@works("mcp-sdk", "strict-mcp-config")
def test_servers_of_the_host_and_others_work_side_by_side(served: Served) -> None:
    status = {one["name"]: one["status"] for one in served.heard.system("init")[0]["mcp_servers"]}
    assert status == dict.fromkeys(["calc", "empty", "local", "http", "sse"], "connected")
    assert "sum 4" in served.results[0]


@works("mcp-stdio")
def test_a_server_over_stdio_is_called(served: Served) -> None:
    assert "echo:hello" in served.results[1]


@works("mcp-http")
def test_a_server_over_http_is_called(served: Served) -> None:
    assert "echo:hello" in served.results[2]


@works("mcp-sse")
def test_a_server_over_sse_is_called(served: Served) -> None:
    assert "echo:hello" in served.results[3]


@works("permission-prompt-tool")
def test_a_tool_of_a_server_answers_permission_questions_and_nothing_else_is_a_yes(served: Served) -> None:
    made = [served.bench.exists(f"{name}.txt") for name in ("good", "bad", "strange", "other", "changed")]
    assert made == [True, False, False, False, True]
    assert "Bash toolu_" in served.results[5]
    assert "did not decide: it answered 'yes, of course'" in served.results[6]
