"""Strands in tests: a model that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from strands import Agent, tool
from strands.models import Model

from adapters.driving import cancelled, ended
from adapters.scenarios import BROKEN, Ran, Step, World
from hookwright.adapters.strands import HookwrightHooks
from hookwright.errors import HookwrightError


class Scripted(Model):
    """A model whose answers are given."""

    def __init__(self, script: Sequence[Step], ran: Ran, **config: Any) -> None:
        self.steps = list(script)
        self.ran = ran
        self.config = config

    def update_config(self, **model_config: Any) -> None:
        self.config.update(model_config)

    def get_config(self) -> Any:
        return self.config

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.ran.requests.append("\n".join(text(block) for one in messages for block in one["content"]))
        step = self.steps.pop(0)
        if step == BROKEN:
            raise ConnectionError(BROKEN)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks(step):
            for event in block:
                yield event
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(step, str) else "tool_use"}}


def blocks(step: Step) -> list[list[Any]]:
    stop: Any = {"contentBlockStop": {}}
    if isinstance(step, str):
        return [[{"contentBlockStart": {"start": {}}}, {"contentBlockDelta": {"delta": {"text": step}}}, stop]]
    return [
        [
            {"contentBlockStart": {"start": {"toolUse": {"name": one.name, "toolUseId": one.id}}}},
            {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(one.input)}}}},
            stop,
        ]
        for one in step
    ]


def text(block: Any) -> str:
    if "toolResult" in block:
        return "\n".join(str(one.get("text", one)) for one in block["toolResult"]["content"])
    return str(block.get("text") or block)


def agent_of(world: World, model: Any, hooks: Any, **fields: Any) -> Agent:
    tools = [*(tool(one) for one in world.tools), *fields.pop("tools", ())]
    return Agent(model=model, tools=tools, hooks=hooks, callback_handler=None, **fields)


def run(world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    return settled(ran, hooks, forms(agent_of(world, Scripted(script, ran), [hooks]))[form])


def forms(agent: Agent) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        return last(await agent.invoke_async("go"))

    async def streamed() -> Any:
        result = None
        async for event in agent.stream_async("go"):
            result = event.get("result", result)
        return last(result)

    return {
        "async": lambda: asyncio.run(awaited()),
        "sync": lambda: last(agent("go")),
        "stream": lambda: asyncio.run(streamed()),
    }


def last(result: Any) -> str:
    return str(result).strip()


def settled(ran: Ran, hooks: HookwrightHooks, work: Callable[[], Any]) -> Ran:
    return ended(ran, work, hooks.close, HookwrightError, ConnectionError)


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    reviewer = agent_of(world, Scripted(inner, Ran()), [hooks], name="reviewer")

    @tool
    async def delegate(task: str) -> str:
        """Hand a task over."""
        return last(await reviewer.invoke_async(task))

    return settled(ran, hooks, forms(agent_of(world, Scripted(outer, ran), [hooks], tools=[delegate]))["async"])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, Scripted(script, ran), [hooks])

    async def main() -> Any:
        paused = await agent.invoke_async("go")
        assert paused.stop_reason == "interrupt"
        (wanted,) = paused.interrupts
        assert "sure?" in wanted.reason["question"]
        answer: Any = {"interruptResponse": {"interruptId": wanted.id, "response": approve}}
        return last(await agent.invoke_async([answer]))

    return settled(ran, hooks, lambda: asyncio.run(main()))


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, Scripted(script, Ran()), [hooks])

    cancelled(lambda: agent.invoke_async("go"), when)
    hooks.close()
