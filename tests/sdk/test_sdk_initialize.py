"""What the Agent SDK sends in `initialize`: agents, servers inside the host, skills, and hooks from the start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import AgentDefinition, ClaudeSDKClient, create_sdk_mcp_server
from claude_agent_sdk import tool as sdk_tool

from sdk.bench import Bench, Guard, bash, decides, text, tool, turn


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@sdk_tool("add", "Add two numbers.", {"a": int, "b": int})
async def add(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["a"] < 0:
        raise ValueError("negative")
    await asyncio.sleep(0)
    return {"content": [{"type": "text", "text": f"sum {arguments['a'] + arguments['b']}"}]}


def calculator() -> dict[str, Any]:
    return {"calc": create_sdk_mcp_server("calc", "1.0.0", [add])}


def test_a_tool_of_a_server_inside_the_host_is_called(bench: Bench) -> None:
    bench.play([tool("mcp__calc__add", a=2, b=3)], [text("end")])
    heard = bench.ask("go", mcp_servers=calculator(), allowed_tools=["mcp__calc__add"])
    (result,) = heard.tool_results
    assert "sum 5" in str(result.content)
    assert heard.system("init")[0]["mcp_servers"] == [{"name": "calc", "status": "connected"}]


def test_the_error_of_a_tool_inside_the_host_is_a_result(bench: Bench) -> None:
    bench.play([tool("mcp__calc__add", a=-1, b=3)], [text("end")])
    heard = bench.ask("go", mcp_servers=calculator(), allowed_tools=["mcp__calc__add"])
    (result,) = heard.tool_results
    assert result.is_error
    assert "negative" in str(result.content)


def test_a_guard_of_the_host_decides_about_a_tool_of_the_host(bench: Bench) -> None:
    bench.play([tool("mcp__calc__add", a=2, b=3)], [text("end")])
    guard = Guard(decides("deny", permissionDecisionReason="no sums"))
    heard = bench.ask(
        "go", mcp_servers=calculator(), allowed_tools=["mcp__calc__add"], hooks=guard.on("PreToolUse", "mcp__calc__.*")
    )
    assert "no sums" in str(heard.tool_results[0].content)


def test_agents_of_the_host_can_be_started(bench: Bench) -> None:
    task = tool("Agent", description="d", prompt="SUB", subagent_type="reviewer")
    sub = {"name": "sub", "match": "Review strictly", "on": "system", "turns": [[text("reviewed")]]}
    bench.play([task], [text("end")], routes=[sub])
    reviewer = AgentDefinition(description="Reviews.", prompt="Review strictly.", tools=["Read"])
    heard = bench.ask("go", agents={"reviewer": reviewer}, allowed_tools=["Agent"])
    (result,) = heard.tool_results
    assert "reviewed" in str(result.content)
    assert "reviewer" in heard.system("init")[0]["agents"]


def test_a_session_start_callback_runs_and_its_context_reaches_the_model(bench: Bench) -> None:
    bench.play([{"when": "CONTEXT-1"}, text("saw it")], [text("missed it")])
    context = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT-1"}}
    guard = Guard(context)
    heard = bench.ask("go", hooks=guard.on("SessionStart"))
    assert [asked["source"] for asked in guard.asked] == ["startup"]
    assert heard.texts == ["saw it"]


def test_only_the_named_skills_are_offered(bench: Bench) -> None:
    for name in ("one", "two"):
        bench.file(f".claude/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n---\nDo {name}.\n")
    bench.play([tool("Skill", skill="one")], [{"when": "Do one."}, tool("Skill", skill="two")], [text("end")])
    heard = bench.ask("go", skills=["one"], setting_sources=["project"])
    assert [result.is_error for result in heard.tool_results] == [None, True]
    assert "two" in str(heard.tool_results[1].content)
    assert heard.system("init")[0]["skills"] == ["one"]


def test_the_server_info_names_commands_agents_and_models(bench: Bench) -> None:
    bench.play([text("end")])

    async def info(client: ClaudeSDKClient) -> Any:
        found = await client.get_server_info()
        await turn(client, "go")
        return found

    found = bench.talk(info)
    assert {agent["name"] for agent in found["agents"]} >= {"general-purpose", "Explore"}
    assert found["commands"] == []
    assert found["models"]


def test_a_wrong_agent_is_refused_when_the_host_connects(bench: Bench) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    wrong = AgentDefinition(description="Reviews.", prompt=7)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="agents: reviewer: expected an object with `description` and `prompt`"):
        bench.ask("go", agents={"reviewer": wrong}, allowed_tools=["Bash"])
    assert not bench.exists("ran.txt")
