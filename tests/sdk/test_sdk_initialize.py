"""What the Agent SDK sends in `initialize`: agents, servers inside the host and skills."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import AgentDefinition, create_sdk_mcp_server
from claude_agent_sdk import tool as sdk_tool

from sdk.bench import Bench, Guard, Heard, bash, decides, refused, text, tool, works


@sdk_tool("add", "Add two numbers.", {"a": int, "b": int})
async def add(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["a"] < 0:
        raise ValueError("negative")
    await asyncio.sleep(0)
    return {"content": [{"type": "text", "text": f"sum {arguments['a'] + arguments['b']}"}]}


def calculator() -> dict[str, Any]:
    return {"calc": create_sdk_mcp_server("calc", "1.0.0", [add])}


def no_nine(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return decides("deny", permissionDecisionReason="no sums of 9") if given["tool_input"]["a"] == 9 else {}


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """A session with a server, an agent and a skill of the host; its calls in the order of the tests below."""
    bench = Bench(tmp_path_factory.mktemp("initialize"))
    for name in ("one", "two"):
        bench.file(f".claude/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n---\nDo {name}.\n")
    sub = {"name": "sub", "match": "Review strictly", "on": "system", "turns": [[text("reviewed")]]}
    bench.play(
        [tool("mcp__calc__add", a=2, b=3)],
        [tool("mcp__calc__add", a=-1, b=3)],
        [tool("mcp__calc__add", a=9, b=3)],
        [tool("Agent", description="d", prompt="SUB", subagent_type="reviewer", run_in_background=False)],
        [tool("Skill", skill="one")],
        [{"when": "Do one."}, tool("Skill", skill="two")],
        [text("end")],
        routes=[sub],
    )
    reviewer = AgentDefinition(description="Reviews.", prompt="Review strictly.", tools=["Read"])
    return bench.ask(
        "go",
        mcp_servers=calculator(),
        agents={"reviewer": reviewer},
        skills=["one"],
        setting_sources=["project"],
        allowed_tools=["mcp__calc__add", "Agent"],
        hooks=Guard(no_nine).on("PreToolUse", "mcp__calc__.*"),
    )


@works("mcp-sdk")
def test_a_tool_inside_the_host_is_called_and_its_error_is_a_result(heard: Heard) -> None:
    right, wrong = heard.tool_results[:2]
    assert "sum 5" in str(right.content)
    assert wrong.is_error
    assert "negative" in str(wrong.content)


@works("mcp-sdk-hooks")
def test_a_guard_of_the_host_decides_about_a_tool_of_the_host(heard: Heard) -> None:
    assert "no sums of 9" in str(heard.tool_results[2].content)


@works("agents")
def test_agents_of_the_host_can_be_started(heard: Heard) -> None:
    assert "reviewed" in str(heard.tool_results[3].content)
    assert "reviewer" in heard.system("init")[0]["agents"]


@works("skills")
def test_only_the_named_skills_are_offered(heard: Heard) -> None:
    assert [result.is_error for result in heard.tool_results[4:]] == [None, True]
    assert "two" in str(heard.tool_results[5].content)
    assert heard.system("init")[0]["skills"] == ["one"]


@refused("agents-invalid")
def test_a_wrong_agent_is_refused_when_the_host_connects(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.play([bash("touch ran.txt")], [text("end")])
    wrong = AgentDefinition(description="Reviews.", prompt=7)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="agents: reviewer: expected an object with `description` and `prompt`"):
        bench.ask("go", agents={"reviewer": wrong}, allowed_tools=["Bash"])
    assert not bench.exists("ran.txt")
