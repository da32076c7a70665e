"""The gateway with a second client that is not the SDK's: FastMCP's. `make adapter-mcp` installs it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastmcp")

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from gateway.listening import listening
from gateway.test_gateway_clients import HOOKS, SERVER, ends, gateway
from processes import gone
from support import settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    settings(tmp_path, {"hooks": HOOKS})
    return tmp_path


def said(result: Any) -> list[str]:
    return [block.text for block in result.content if block.type == "text"]


async def talk(place: Any) -> int:
    """Call tools; return the process of the server."""
    asked: list[str] = []

    async def agree(message: str, *rest: Any) -> Any:
        asked.append(message)
        return {"allow": True}

    async with Client(place, elicitation_handler=agree) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"echo", "add", "fail", "pid"} <= tools
        denied = await client.call_tool("fail", {}, raise_on_error=False)
        assert denied.is_error
        assert "NOT-THIS" in said(denied)[0]
        hidden = await client.call_tool("add", {"a": 1, "b": 2})
        assert (said(hidden), hidden.structured_content) == (["REDACTED"], None)
        echoed = await client.call_tool("echo", {"text": "x"})
        assert said(echoed) == ["echo:x", "PostToolUse:mcp__files__echo hook additional context: NOTED"]
        many = await asyncio.gather(*(client.call_tool("echo", {"text": str(n)}) for n in range(8)))
        assert [said(one)[0] for one in many] == [f"echo:{n}" for n in range(8)]
        assert said(await client.call_tool("ask", {})) == ["hello Ada"], "a hook answered the server's question"
        pid = int(said(await client.call_tool("pid", {}))[0].split()[0])
        (question,) = asked
        assert "SURE?" in question
    return pid


def test_over_http(project: Path) -> None:
    with listening(project, *SERVER) as found:
        pid = asyncio.run(talk(found.url))
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(20) == 0
    assert gone(pid)
    found_ends = ends(project)  # a client that asks for the newest protocol and does not wait falls back to a session
    assert found_ends.count("start") == found_ends.count("end") > 0


def test_on_stdio(project: Path) -> None:
    command, *args = gateway(*SERVER)
    env = {**os.environ, "HOME": str(project / "home")}
    pid = asyncio.run(talk(StdioTransport(command, args, env=env, cwd=str(project), keep_alive=False)))
    assert gone(pid)
    assert ends(project) == ["start", "end"]
