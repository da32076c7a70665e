"""Pydantic AI in tests: a `FunctionModel` that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from adapters.driving import blocking, cancelled, ended
from adapters.scenarios import BROKEN, Ran, Step, World
from hookwright.adapters.pydantic_ai import HookwrightHooks
from hookwright.errors import HookwrightError


class Scripted:
    """The steps of a model, and what it read."""

    def __init__(self, script: Sequence[Step], ran: Ran) -> None:
        self.steps = list(script)
        self.ran = ran

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self.next(messages)
        if step == BROKEN:
            raise ModelAPIError("scripted", BROKEN)
        if isinstance(step, str):
            return ModelResponse([TextPart(step)])
        return ModelResponse([ToolCallPart(one.name, one.input, one.id) for one in step])

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        step = self.next(messages)
        if isinstance(step, str):
            yield step
        else:
            for index, one in enumerate(step):
                yield {index: DeltaToolCall(name=one.name, json_args=json.dumps(one.input), tool_call_id=one.id)}

    def next(self, messages: list[ModelMessage]) -> Step:
        self.ran.requests.append("\n".join(str(getattr(p, "content", p)) for m in messages for p in m.parts))
        return self.steps.pop(0)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self.stream)


def agent_of(world: World, model: Any, hooks: HookwrightHooks, **fields: Any) -> Agent[None, Any]:
    tools = [*world.tools, *fields.pop("tools", ())]
    return Agent(model, tools=tools, capabilities=[hooks], **fields)


def run(world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    agent = agent_of(world, Scripted(script, ran).model, hooks)
    return _settled(ran, hooks, lambda: _forms(agent)[form]())


def _forms(agent: Agent[None, Any]) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        return (await agent.run("go")).output

    async def streamed() -> Any:
        output = None
        async with agent.run_stream_events("go") as events:
            async for event in events:
                result = getattr(event, "result", None)
                output = getattr(result, "output", output)
        return output

    return {
        "async": lambda: asyncio.run(awaited()),
        "sync": lambda: blocking(lambda: agent.run_sync("go").output),
        "stream": lambda: asyncio.run(streamed()),
    }


def _settled(ran: Ran, hooks: HookwrightHooks, work: Callable[[], Any]) -> Ran:
    return ended(ran, work, hooks.close, HookwrightError, ModelAPIError, ValueError)


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    reviewer = agent_of(world, Scripted(inner, Ran()).model, hooks, name="reviewer")

    async def delegate(task: str) -> str:
        """Hand a task over."""
        return str((await reviewer.run(task)).output)

    agent = agent_of(world, Scripted(outer, ran).model, hooks, tools=[delegate])
    return _settled(ran, hooks, _forms(agent)["async"])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, Scripted(script, ran).model, hooks, output_type=[str, DeferredToolRequests])

    async def main() -> Any:
        paused = await agent.run("go")
        assert isinstance(paused.output, DeferredToolRequests)
        (wanted,) = paused.output.approvals
        assert "sure?" in paused.output.metadata[wanted.tool_call_id]["reason"]
        answer = True if approve else ToolDenied("the person said no")
        results = DeferredToolResults(approvals={wanted.tool_call_id: answer})
        return (await agent.run(message_history=paused.all_messages(), deferred_tool_results=results)).output

    return _settled(ran, hooks, lambda: asyncio.run(main()))


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, Scripted(script, Ran()).model, hooks)

    cancelled(lambda: agent.run("go"), when)
    hooks.close()


def hosted(world: World, **choices: Any) -> Ran:
    ran = Ran()
    steps: list[list[Any]] = [
        [
            NativeToolCallPart("web_search", {"query": "x"}, "h1"),
            NativeToolReturnPart("web_search", "found", "h1"),
            ToolCallPart("shell", {"cmd": "ls"}, "c1"),
        ],
        [TextPart("done")],
    ]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(steps.pop(0))

    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    return _settled(ran, hooks, _forms(agent_of(world, FunctionModel(answer), hooks))["async"])
