"""Options and requests of the Agent SDK: what they do, and what is refused."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ProcessError,
    ToolPermissionContext,
    create_sdk_mcp_server,
)

from sdk.bench import Bench, Guard, bash, text, tool, turn
from sdk.test_sdk_initialize import calculator

ALLOWED = ["Bash", "Agent"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ── requests ────────────────────────────────────────────────────────────────


def test_the_status_of_servers_names_their_tools_and_a_server_can_be_switched_off(bench: Bench) -> None:
    bench.play([tool("mcp__calc__add", a=1, b=1)], [text("end")], [tool("mcp__calc__add", a=1, b=1)], [text("end")])

    async def work(client: ClaudeSDKClient) -> Any:
        before = await client.get_mcp_status()
        await client.toggle_mcp_server("calc", False)
        off = await client.get_mcp_status()
        without = await turn(client, "one")
        await client.toggle_mcp_server("calc", True)
        await client.reconnect_mcp_server("calc")
        return before, off, without, await turn(client, "two")

    before, off, without, after = bench.talk(work, mcp_servers=calculator(), allowed_tools=["mcp__calc__add"])
    (server,) = before["mcpServers"]
    assert (server["name"], server["status"]) == ("calc", "connected")
    assert [one["name"] for one in server["tools"]] == ["add"]
    assert off["mcpServers"][0]["status"] == "disabled"
    assert "No such tool" in str(without.tool_results[0].content)
    assert "sum 2" in str(after.tool_results[0].content)


def test_a_server_that_is_not_there_is_an_error(bench: Bench) -> None:
    bench.play([text("end")])

    async def work(client: ClaudeSDKClient) -> None:
        with pytest.raises(Exception, match="Server not found: nope"):
            await client.reconnect_mcp_server("nope")

    bench.talk(work)


def test_the_context_usage_has_parts_and_a_total(bench: Bench) -> None:
    bench.play([text("end")])

    async def work(client: ClaudeSDKClient) -> Any:
        await turn(client, "hello")
        return await client.get_context_usage()

    usage = bench.talk(work)
    assert usage["totalTokens"] > 0
    assert {"System prompt", "Messages"} <= {part["name"] for part in usage["categories"]}


def test_a_background_task_can_be_stopped(bench: Bench) -> None:
    bench.play([bash("sleep 30", run_in_background=True)], [text("started")], [text("end")])

    async def work(client: ClaudeSDKClient) -> Any:
        first = await turn(client, "go")
        (started,) = first.system("task_started")
        await client.stop_task(started["task_id"])
        with pytest.raises(Exception, match="No task found"):
            await client.stop_task("nope")
        return [message async for message in client.receive_response()]

    messages = bench.talk(work, allowed_tools=ALLOWED)
    assert any(getattr(message, "status", None) == "stopped" for message in messages)


@pytest.mark.parametrize(("mode", "said"), [("bypassPermissions", "Cannot set"), ("nonsense", "nonsense")])
def test_a_mode_that_cannot_be_set_is_an_error(bench: Bench, mode: Any, said: str) -> None:
    bench.play([text("end")])

    async def work(client: ClaudeSDKClient) -> None:
        await client.set_permission_mode("acceptEdits")
        with pytest.raises(Exception, match=said):
            await client.set_permission_mode(mode)

    bench.talk(work)


def test_rewinding_files_is_refused(bench: Bench) -> None:
    bench.play([text("end")])

    async def work(client: ClaudeSDKClient) -> None:
        with pytest.raises(Exception, match="not checkpointed"):
            await client.rewind_files("some-id")

    bench.talk(work)


def test_an_interrupt_ends_the_turn_and_the_client_continues(bench: Bench) -> None:
    bench.play([bash("touch here.txt; sleep 30")], [text("again")])

    async def work(client: ClaudeSDKClient) -> Any:
        await client.query("go")
        while not bench.exists("here.txt"):
            await asyncio.sleep(0.02)
        await client.interrupt()
        first = [message async for message in client.receive_response()]
        return first, await turn(client, "more")

    first, second = bench.talk(work, allowed_tools=ALLOWED)
    assert first[-1].subtype == "error_during_execution"
    assert second.texts == ["again"]


def test_a_model_can_be_set(bench: Bench) -> None:
    bench.play([text("end")])

    async def work(client: ClaudeSDKClient) -> Any:
        await client.set_model("claude-haiku-4-5")
        return await turn(client, "go")

    assert bench.talk(work).system("init")[0]["model"] == "claude-haiku-4-5"


# ── permissions ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("allow", [True, False])
def test_can_use_tool_decides(bench: Bench, allow: bool) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    asked: list[str] = []

    async def decide(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        asked.append(f"{name} {given['command']} {context.tool_use_id is not None}")
        return PermissionResultAllow() if allow else PermissionResultDeny(message="no")

    bench.talk(lambda client: turn(client, "go"), can_use_tool=decide)
    assert asked == ["Bash touch ran.txt True"]
    assert bench.exists("ran.txt") is allow


def test_can_use_tool_is_asked_after_the_first_result(bench: Bench) -> None:
    bench.play([bash("sleep 0.5", run_in_background=True)], [text("started")], [bash("touch ran.txt")], [text("end")])
    asked: list[str] = []

    async def decide(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        asked.append(given["command"])
        return PermissionResultDeny(message="no") if "touch" in given["command"] else PermissionResultAllow()

    heard = bench.ask([{"type": "user", "message": {"role": "user", "content": "go"}}], can_use_tool=decide)
    assert asked == ["sleep 0.5", "touch ran.txt"]
    assert len(heard.results) == 2
    assert not bench.exists("ran.txt")


# ── options ─────────────────────────────────────────────────────────────────


def test_the_preset_of_tools_offers_all_and_an_empty_list_none(bench: Bench) -> None:
    bench.play([text("end")])
    preset = bench.ask("go", tools={"type": "preset", "preset": "claude_code"})
    assert {"Bash", "Read"} <= set(preset.system("init")[0]["tools"])
    assert bench.ask("go", tools=[]).system("init")[0]["tools"] == []


def test_a_disallowed_tool_is_not_offered(bench: Bench) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    heard = bench.ask("go", disallowed_tools=["Bash"], allowed_tools=["Bash"])
    assert "Bash" not in heard.system("init")[0]["tools"]
    assert not bench.exists("ran.txt")


def test_a_system_prompt_can_be_a_file(bench: Bench) -> None:
    path = bench.file("prompt.txt", "FROM-A-FILE")
    route = {"name": "r", "match": "FROM-A-FILE", "on": "system", "turns": [[text("saw it")]]}
    bench.play([text("missed it")], routes=[route])
    assert bench.ask("go", system_prompt={"type": "file", "path": str(path)}).texts == ["saw it"]


def test_thinking_effort_betas_and_fallback_are_taken(bench: Bench) -> None:
    bench.play([text("end")])
    heard = bench.ask(
        "go",
        thinking={"type": "enabled", "budget_tokens": 2000},
        effort="high",
        betas=["context-1m-2025-08-07"],
        fallback_model="claude-haiku-4-5",
    )
    assert heard.texts == ["end"]


def test_a_session_can_be_resumed_and_forked(bench: Bench) -> None:
    bench.play([text("one")])
    first = bench.ask("hello").result.session_id
    bench.play([{"when": "more"}, text("two")])
    assert bench.ask("more", resume=first).result.session_id == first
    assert bench.ask("more", resume=first, fork_session=True).result.session_id != first


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"sandbox": {"enabled": True}}, "cannot be run in a sandbox"),
        ({"permission_mode": "bogus"}, "--permission-mode bogus"),
        ({"disallowed_tools": ["Bash(ls *"]}, "--disallowedTools"),
        ({"tools": ["Nope"]}, "there is no tool Nope"),
        ({"max_budget_usd": 1.0, "model": "some-model"}, "the price of some-model is not known"),
        ({"task_budget": {"total": 1000}}, "--task-budget"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(bench: Bench, more: dict[str, Any], said: str) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    said_on_stderr: list[str] = []
    guard = Guard()
    with pytest.raises(ProcessError):
        bench.ask("go", allowed_tools=ALLOWED, hooks=guard.on("SessionStart"), stderr=said_on_stderr.append, **more)
    assert said in "\n".join(said_on_stderr)
    assert guard.asked == []
    assert not bench.exists("ran.txt")


def test_two_servers_of_the_host_and_one_process_work_side_by_side(bench: Bench) -> None:
    server = Path(__file__).parent.parent / "mcp_server.py"
    servers = {
        **calculator(),
        "empty": create_sdk_mcp_server("empty", "1.0.0", []),
        "real": {"type": "stdio", "command": sys.executable, "args": [str(server), "stdio"]},
    }
    bench.play([tool("mcp__calc__add", a=2, b=2)], [text("end")])
    heard = bench.ask("go", mcp_servers=servers, allowed_tools=["mcp__calc__add"])
    status = {one["name"]: one["status"] for one in heard.system("init")[0]["mcp_servers"]}
    assert status == {"calc": "connected", "empty": "connected", "real": "connected"}
    assert "sum 4" in str(heard.tool_results[0].content)
