"""The OpenAI Agents SDK in tests: its own scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.exceptions import AgentsException
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFunctionWebSearch
from openai.types.responses.response_function_web_search import ActionSearch

from adapters.driving import blocking, cancelled, ended
from adapters.scenarios import BROKEN, Ran, Step, World
from hookwright.adapters.openai_agents import HookedRunner, install, uninstall
from hookwright.errors import HookwrightError

#: Without a key there is nowhere to send traces.
CONFIG = RunConfig(tracing_disabled=True)


def output(step: Step) -> list[Any]:
    if isinstance(step, str):
        return [assistant_message(step)]
    return [function_call(one.name, json.dumps(one.input), call_id=one.id) for one in step]


def model(script: Sequence[Step], ran: Ran) -> ScriptedModel:
    return scripted([output(step) for step in script], ran)


def scripted(script: Sequence[list[Any]], ran: Ran) -> ScriptedModel:
    """Return a model whose answers are given, and which writes down what it reads."""

    def step(answer: list[Any]) -> ModelStep:
        def respond(call: Any) -> Any:
            ran.requests.append("\n".join(text(one) for one in call.input))
            if answer[0].type == "message" and answer[0].content[0].text == BROKEN:
                return ConnectionError(BROKEN)
            return answer

        return ModelStep.respond(respond)

    return ScriptedModel([step(answer) for answer in script])


def text(item: Any) -> str:
    found = item.get("content") or item.get("output") or item.get("arguments") or ""
    if isinstance(found, list):
        return "\n".join(str(part.get("text")) for part in found)
    return str(found)


def agent_of(world: World, scripted: Any, **fields: Any) -> Agent[Any]:
    tools = [*(function_tool(one) for one in world.tools), *fields.pop("tools", ())]
    return Agent(**{"name": "main", **fields}, model=scripted, tools=tools)


def run(world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = install(world.places, **world.choices, **choices)
    return settled(ran, hooks, forms(agent_of(world, model(script, ran)))[form])


def forms(agent: Agent[Any]) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        return (await Runner.run(agent, "go", run_config=CONFIG)).final_output

    async def streamed() -> Any:
        result = Runner.run_streamed(agent, "go", run_config=CONFIG)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return {
        "async": lambda: asyncio.run(awaited()),
        "sync": lambda: blocking(lambda: Runner.run_sync(agent, "go", run_config=CONFIG).final_output),
        "stream": lambda: asyncio.run(streamed()),
    }


def _close(hooks: HookedRunner) -> None:
    uninstall()
    hooks.close()


def settled(ran: Ran, hooks: HookedRunner, work: Callable[[], Any]) -> Ran:
    return ended(ran, work, partial(_close, hooks), HookwrightError, AgentsException, ConnectionError)


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = install(world.places, **world.choices)
    reviewer = agent_of(world, model(inner, Ran()), name="reviewer")

    @function_tool
    async def delegate(task: str) -> str:
        """Hand a task over."""
        return str((await Runner.run(reviewer, task, run_config=CONFIG)).final_output)

    return settled(ran, hooks, forms(agent_of(world, model(outer, ran), tools=[delegate]))["async"])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = install(world.places, **world.choices)
    agent = agent_of(world, model(script, ran))

    async def main() -> Any:
        paused = await Runner.run(agent, "go", run_config=CONFIG)
        (wanted,) = paused.interruptions
        assert "sure?" in str(hooks.question(wanted))
        state = paused.to_state()
        if approve:
            state.approve(wanted)
        else:
            state.reject(wanted, rejection_message="the person said no")
        return (await Runner.run(agent, state, run_config=CONFIG)).final_output

    return settled(ran, hooks, lambda: asyncio.run(main()))


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = install(world.places, **world.choices)
    agent = agent_of(world, model(script, Ran()))

    cancelled(lambda: Runner.run(agent, "go", run_config=CONFIG), when)
    _close(hooks)


def search(call_id: str = "h1") -> ResponseFunctionWebSearch:
    action = ActionSearch(type="search", query="x")
    return ResponseFunctionWebSearch(id=call_id, action=action, status="completed", type="web_search_call")


def hosted(world: World, **choices: Any) -> Ran:
    ran = Ran()
    hooks = install(world.places, **world.choices, **choices)
    script = [[search(), function_call("shell", json.dumps({"cmd": "ls"}), call_id="c1")], [assistant_message("done")]]
    return settled(ran, hooks, forms(agent_of(world, scripted(script, ran)))["async"])
