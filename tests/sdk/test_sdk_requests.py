"""Requests of a `ClaudeSDKClient`: what they do, and what is an error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKClient

from sdk.bench import Bench, bash, refused, text, tool, turn, works
from sdk.test_sdk_initialize import calculator

ALLOWED = ["Bash", "mcp__calc__add"]


class Requests:
    """A client that asks for everything in turn; `found` has what came back, by request."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.found: dict[str, Any] = {}
        add = tool("mcp__calc__add", a=1, b=1)
        bench.play(
            [add],
            [text("end")],
            [add],
            [text("end")],
            [bash("sleep 30", run_in_background=True)],
            [text("started")],
            [text("stopped")],
            [bash("touch here.txt; sleep 30")],
            [text("again")],
        )
        bench.talk(self._talk, mcp_servers=calculator(), allowed_tools=ALLOWED)

    async def _talk(self, client: ClaudeSDKClient) -> None:
        found = self.found
        found["info"] = await client.get_server_info()
        found["before"] = await client.get_mcp_status()
        await client.toggle_mcp_server("calc", False)
        found["off"] = await client.get_mcp_status()
        found["without"] = await turn(client, "one")
        await client.toggle_mcp_server("calc", True)
        await client.reconnect_mcp_server("calc")
        found["with"] = await turn(client, "two")
        found["usage"] = await client.get_context_usage()
        found["started"] = await turn(client, "three")
        (started,) = found["started"].system("task_started")
        await client.stop_task(started["task_id"])
        found["stopped"] = [message async for message in client.receive_response()]
        await client.set_model("claude-haiku-4-5")
        await client.query("four")
        while not self.bench.exists("here.txt"):
            await asyncio.sleep(0.02)
        await client.interrupt()
        found["interrupted"] = [message async for message in client.receive_response()]
        found["again"] = await turn(client, "five")
        for name, request in {
            "no server": client.reconnect_mcp_server("nope"),
            "no task": client.stop_task("nope"),
            "rewind": client.rewind_files("some-id"),
        }.items():
            with pytest.raises(Exception) as error:  # noqa: PT011 - the SDK raises a plain Exception
                await request
            found[name] = str(error.value)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return Requests(Bench(tmp_path_factory.mktemp("requests"))).found


@works("server-info")
def test_the_server_info_names_commands_agents_and_models(asked: dict[str, Any]) -> None:
    info = asked["info"]
    assert {agent["name"] for agent in info["agents"]} >= {"general-purpose", "Explore"}
    assert info["commands"] == []
    assert info["models"]


@works("mcp-status", "mcp-sdk")
def test_the_status_of_servers_names_their_tools(asked: dict[str, Any]) -> None:
    (server,) = asked["before"]["mcpServers"]
    assert (server["name"], server["status"]) == ("calc", "connected")
    assert [one["name"] for one in server["tools"]] == ["add"]


@works("mcp-toggle", "mcp-reconnect")
def test_a_server_can_be_switched_off_and_on(asked: dict[str, Any]) -> None:
    assert asked["off"]["mcpServers"][0]["status"] == "disabled"
    assert "No such tool" in str(asked["without"].tool_results[0].content)
    assert "sum 2" in str(asked["with"].tool_results[0].content)
    assert "Server not found: nope" in asked["no server"]


@works("context-usage")
def test_the_context_usage_has_parts_and_a_total(asked: dict[str, Any]) -> None:
    usage = asked["usage"]
    assert usage["totalTokens"] > 0
    assert {"System prompt", "Messages"} <= {part["name"] for part in usage["categories"]}


@works("stop-task")
def test_a_background_task_can_be_stopped(asked: dict[str, Any]) -> None:
    assert any(getattr(message, "status", None) == "stopped" for message in asked["stopped"])
    assert "No task found" in asked["no task"]


@works("interrupt")
def test_an_interrupt_ends_the_turn_and_the_client_continues(asked: dict[str, Any]) -> None:
    assert asked["interrupted"][-1].subtype == "error_during_execution"
    assert asked["again"].texts == ["again"]


@works("set-model")
def test_a_model_can_be_set(asked: dict[str, Any]) -> None:
    assert asked["again"].system("init")[0]["model"] == "claude-haiku-4-5"


@refused("rewind-files")
def test_rewinding_files_is_refused(asked: dict[str, Any]) -> None:
    assert "files are not checkpointed here; use git" in asked["rewind"]
