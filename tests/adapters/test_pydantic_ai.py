"""What only Pydantic AI has: another stream, structured output, results with further content, its own approvals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolReturn
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import Tool

from adapters.drive_pydantic_ai import Scripted
from adapters.scenarios import DENY, LIST, Ran, Step, World, call, specific
from hookwright.adapters.pydantic_ai import HookwrightHooks


def scripted(world: World, *steps: Step, **fields: Any) -> tuple[Agent[None, Any], HookwrightHooks, Ran]:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    fields.setdefault("tools", [world.shell])
    model: FunctionModel = Scripted(steps, ran).model
    return Agent(model, capabilities=[hooks], **fields), hooks, ran


def test_run_stream_obeys_hooks_and_tells_stop_hooks(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.answers("PreToolUse", DENY, "Bash")
    world.answers("Stop", {"decision": "block", "reason": "more"})
    agent, hooks, ran = scripted(world, LIST, "done")

    async def main() -> str:
        async with agent.run_stream("go") as stream:
            return str(await stream.get_output())

    assert asyncio.run(main()) == "done"
    hooks.close()
    assert (world.ran, world.names) == ([], ["PreToolUse", "Stop"])
    assert "not that" in ran.requests[1]


class Answer(BaseModel):
    text: str


def test_an_output_tool_is_not_a_tool_call_and_is_not_reported(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.watch("PreToolUse")
    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "again"})
    steps = [(call("final_result", f"o{n}", text=f"answer {n}"),) for n in range(2)]
    agent, hooks, ran = scripted(world, *steps, output_type=Answer)
    assert asyncio.run(agent.run("go")).output == Answer(text="answer 1")
    hooks.close()
    assert world.names == ["Stop", "Stop"]
    assert "again" in ran.requests[1]
    assert not any("without hooks" in text for text in world.said)


def test_a_redacted_result_leaves_no_further_content(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput={"stdout": "redacted"}))

    def shell(cmd: str) -> ToolReturn:
        return ToolReturn(return_value="secret", content=["secret again"])

    agent, hooks, ran = scripted(world, LIST, "done", tools=[shell])
    asyncio.run(agent.run("go"))
    hooks.close()
    assert "redacted" in ran.requests[1]
    assert "secret" not in "".join(ran.requests)


def test_a_tool_with_the_frameworks_own_approval_is_guarded_as_well(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.answers("PreToolUse", DENY, "Bash")
    tools = [Tool(world.shell, requires_approval=True)]
    agent, hooks, _ = scripted(world, LIST, "done", tools=tools, output_type=[str, DeferredToolRequests])

    async def main() -> Any:
        paused = await agent.run("go")
        if not isinstance(paused.output, DeferredToolRequests):
            return paused.output
        approvals: dict[str, Any] = {one.tool_call_id: True for one in paused.output.approvals}
        results = DeferredToolResults(approvals=approvals)
        return (await agent.run(message_history=paused.all_messages(), deferred_tool_results=results)).output

    assert asyncio.run(main()) == "done"
    hooks.close()
    assert world.ran == []


def test_a_conversation_continues_with_its_history(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.watch("SessionStart", "UserPromptSubmit")
    agent, hooks, _ = scripted(world, "one", "two")

    async def main() -> None:
        first = await agent.run("first")
        await agent.run("second", message_history=first.all_messages())

    asyncio.run(main())
    hooks.close()
    assert world.names == ["SessionStart", "UserPromptSubmit", "UserPromptSubmit"]
    assert len({event.session_id for event in world.events}) == 1


def test_an_unmapped_shell_is_reported_before_the_model_is_called_and_strict_refuses(tmp_path: Path) -> None:
    world = World(tmp_path)

    def run_in_terminal(cmd: str) -> str:
        return cmd

    agent, hooks, _ = scripted(world, "done", tools=[run_in_terminal])
    asyncio.run(agent.run("go"))
    hooks.close()
    assert sum("`run_in_terminal` looks like Bash" in text for text in world.said) == 1
    ran = Ran()
    strict = HookwrightHooks(world.places, **world.choices, strict=True)
    refused: Agent[None, str] = Agent(Scripted(["done"], ran).model, capabilities=[strict], tools=[run_in_terminal])
    with pytest.raises(Exception, match="run_in_terminal"):
        asyncio.run(refused.run("go"))
    strict.close()
    assert ran.requests == []
