"""LangChain in tests: a chat model that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from adapters.driving import cancelled, ended
from adapters.scenarios import BROKEN, Ran, Step, World
from hookwright.adapters.langchain import HookwrightHooks
from hookwright.errors import HookwrightError


class Scripted(BaseChatModel):
    """A model whose answers are given."""

    steps: list[Any]
    ran: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if self.steps[0].content == BROKEN:
            raise ConnectionError(BROKEN)
        self.ran.requests.append("\n".join(str(one.content) for one in messages))
        return ChatResult(generations=[ChatGeneration(message=self.steps.pop(0))])


def answer(step: Step) -> AIMessage:
    if isinstance(step, str):
        return AIMessage(step)
    return AIMessage("", tool_calls=[{"name": one.name, "args": one.input, "id": one.id} for one in step])


def model(script: Sequence[Step], ran: Ran) -> Scripted:
    return Scripted(steps=[answer(step) for step in script], ran=ran)


def agent_of(world: World, scripted: Any, hooks: HookwrightHooks, **fields: Any) -> Any:
    tools = [*world.tools, *fields.pop("tools", ())]
    return create_agent(scripted, tools, middleware=[hooks], **fields)


PROMPT = {"messages": [{"role": "user", "content": "go"}]}


def run(world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    return settled(ran, hooks, forms(agent_of(world, model(script, ran), hooks))[form])


def forms(agent: Any) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        return last(await agent.ainvoke(PROMPT))

    async def streamed() -> Any:
        state = None
        async for mode, part in agent.astream(PROMPT, stream_mode=["values", "updates"]):
            state = part if mode == "values" else state
        return last(state)

    return {
        "async": lambda: asyncio.run(awaited()),
        "sync": lambda: last(agent.invoke(PROMPT)),
        "stream": lambda: asyncio.run(streamed()),
    }


def last(state: Any) -> str:
    return str(state["messages"][-1].text)


def settled(ran: Ran, hooks: HookwrightHooks, work: Callable[[], Any]) -> Ran:
    return ended(ran, work, hooks.close, HookwrightError, ValueError, ConnectionError)


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    reviewer = agent_of(world, model(inner, Ran()), hooks, name="reviewer")

    async def delegate(task: str) -> str:
        """Hand a task over."""
        return last(await reviewer.ainvoke({"messages": [{"role": "user", "content": task}]}))

    return settled(ran, hooks, forms(agent_of(world, model(outer, ran), hooks, tools=[delegate]))["async"])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, model(script, ran), hooks, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t1"}}

    async def main() -> Any:
        paused = await agent.ainvoke(PROMPT, thread)
        (wanted,) = paused["__interrupt__"]
        assert "sure?" in wanted.value["action_requests"][0]["description"]
        decision = {"type": "approve"} if approve else {"type": "reject", "message": "the person said no"}
        return last(await agent.ainvoke(Command(resume={"decisions": [decision]}), thread))

    return settled(ran, hooks, lambda: asyncio.run(main()))


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, model(script, Ran()), hooks)

    cancelled(lambda: agent.ainvoke(PROMPT), when)
    hooks.close()


def hosted(world: World, **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    search: Any = {"type": "server_tool_call", "id": "h1", "name": "web_search", "args": {"query": "x"}}
    calls: Any = [{"name": "shell", "args": {"cmd": "ls"}, "id": "c1"}]
    script = [AIMessage([search], tool_calls=calls), AIMessage("done")]
    return settled(ran, hooks, forms(agent_of(world, Scripted(steps=script, ran=ran), hooks))["async"])
