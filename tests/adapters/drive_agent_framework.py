"""Microsoft Agent Framework in tests: a chat client that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from agent_framework.exceptions import ChatClientException

from adapters.driving import cancelled, ended
from adapters.scenarios import BROKEN, Ran, Step, World
from hookwright.adapters.agent_framework import HookwrightHooks
from hookwright.errors import HookwrightError


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A client whose answers are given."""

    def __init__(self, script: Sequence[Sequence[Content]], ran: Ran) -> None:
        super().__init__()
        self._script = list(script)
        self._ran = ran

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        said = [str(c.text or c.result or c.arguments or "") for m in messages for c in m.contents]
        self._ran.requests.append("\n".join(said))
        contents = list(self._script.pop(0))
        if contents[0].text == BROKEN:
            raise ChatClientException(BROKEN)
        name = f"message-{len(self._script)}"
        if not stream:
            return _settled(ChatResponse(messages=[Message("assistant", contents)]))

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for one in contents:
                yield ChatResponseUpdate(role="assistant", contents=[one], message_id=name)

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


async def _settled(response: ChatResponse[Any]) -> ChatResponse[Any]:
    return response


def contents(step: Step) -> list[Content]:
    if isinstance(step, str):
        return [Content.from_text(step)]
    return [Content.from_function_call(call_id=one.id, name=one.name, arguments=one.input) for one in step]


def agent_of(world: World, script: Sequence[Step], ran: Ran, hooks: HookwrightHooks, **fields: Any) -> Agent[Any]:
    return made(world, [contents(step) for step in script], ran, hooks, **fields)


def made(world: World, script: Any, ran: Ran, hooks: HookwrightHooks, **fields: Any) -> Agent[Any]:
    tools = [*world.tools, *fields.pop("tools", ())]
    return Agent(client=Client(script, ran), tools=tools, middleware=hooks.middleware, **fields)


def run(world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    return settled(ran, hooks, _forms(agent_of(world, script, ran, hooks))[form])


def _forms(agent: Agent[Any]) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        response = await agent.run("go")
        return response.messages[-1].text

    async def streamed() -> Any:
        stream = agent.run("go", stream=True)
        async for _ in stream:
            pass
        return (await stream.get_final_response()).messages[-1].text

    return {"async": awaited, "stream": streamed}


def settled(ran: Ran, hooks: HookwrightHooks, work: Callable[[], Any]) -> Ran:
    return ended(ran, lambda: asyncio.run(work()), hooks.close, HookwrightError, ChatClientException)


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    reviewer = agent_of(world, inner, Ran(), hooks, name="reviewer")

    async def delegate(task: str) -> str:
        """Hand a task over."""
        return str((await reviewer.run(task)).text)

    return settled(ran, hooks, _forms(agent_of(world, outer, ran, hooks, tools=[delegate]))["async"])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, script, ran, hooks)

    async def main() -> Any:
        session = agent.create_session()
        paused = await agent.run("go", session=session)
        (wanted,) = paused.user_input_requests
        assert "sure?" in wanted.additional_properties["reason"]
        answer = wanted.to_function_approval_response(approve)
        return (await agent.run(Message("user", [answer]), session=session)).messages[-1].text

    return settled(ran, hooks, main)


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = HookwrightHooks(world.places, **world.choices)
    agent = agent_of(world, script, Ran(), hooks)

    cancelled(lambda: agent.run("go"), when)
    hooks.close()


def hosted(world: World, **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    script = [
        [
            Content.from_search_tool_call("h1", tool_name="web_search", arguments={"query": "x"}),
            Content.from_function_call(call_id="c1", name="shell", arguments={"cmd": "ls"}),
        ],
        [Content.from_text("done")],
    ]
    return settled(ran, hooks, _forms(made(world, script, ran, hooks))["async"])
