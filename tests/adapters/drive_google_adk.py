"""Google ADK in tests: a model that follows a script."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, TypeAlias

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from adapters.scenarios import BROKEN, Ran, Step, ToolCall, World
from hookwright.adapters.google_adk import HookwrightHooks

#: What the model says: a step, or a response of the framework.
Said: TypeAlias = Step | LlmResponse


class Model(BaseLlm):
    """A model whose answers are given."""

    script: list[Any]
    ran: Any

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.ran.requests.append("\n".join(map(text_of, llm_request.contents)))
        step = self.script.pop(0)
        if step == BROKEN:
            raise ConnectionError(BROKEN)
        if stream and isinstance(step, str):
            for word in step.split():
                yield LlmResponse(content=content_of(word), partial=True)
        yield step if isinstance(step, LlmResponse) else LlmResponse(content=content_of(step))


def content_of(step: Step) -> types.Content:
    if isinstance(step, str):
        return types.Content(role="model", parts=[types.Part(text=step)])
    calls = [types.FunctionCall(id=one.id, name=one.name, args=one.input) for one in step]
    return types.Content(role="model", parts=[types.Part(function_call=one) for one in calls])


def text_of(content: types.Content) -> str:
    parts = content.parts or []
    return "\n".join(str(one.text or one.function_response or one.function_call or "") for one in parts)


def agent_of(world: World, script: Sequence[Said], ran: Ran, **fields: Any) -> LlmAgent:
    tools = [*world.tools, *fields.pop("tools", ())]
    model = fields.pop("model", None) or Model(model="m", script=[*script], ran=ran)
    return LlmAgent(name=fields.pop("name", "main"), model=model, tools=tools, **fields)


def runner_of(agent: Any, hooks: HookwrightHooks) -> InMemoryRunner:
    return InMemoryRunner(app=App(name="tests", root_agent=agent, plugins=[hooks]))


def message(text: str = "go") -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def last_text(events: Sequence[Event]) -> str | None:
    said = [event for event in events if event.is_final_response() and event.content and not event.partial]
    texts = [part.text for event in said for part in event.content.parts or [] if part.text]  # type: ignore[union-attr]
    return texts[-1] if texts else None


async def sent(runner: InMemoryRunner, text: str | types.Content = "go", **fields: Any) -> list[Event]:
    """Send a message to the session s1; return the events."""
    if await runner.session_service.get_session(app_name="tests", user_id="u", session_id="s1") is None:
        await runner.session_service.create_session(app_name="tests", user_id="u", session_id="s1")
    new = message(text) if isinstance(text, str) else text
    return [one async for one in runner.run_async(user_id="u", session_id="s1", new_message=new, **fields)]


def run(world: World, script: Sequence[Said], form: str = "async", **choices: Any) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices, **choices)
    runner = runner_of(agent_of(world, script, ran), hooks)
    return settled(ran, hooks, _forms(runner)[form])


def _forms(runner: InMemoryRunner) -> dict[str, Callable[[], Any]]:
    async def awaited() -> Any:
        return last_text(await sent(runner))

    async def streamed() -> Any:
        return last_text(await sent(runner, run_config=RunConfig(streaming_mode=StreamingMode.SSE)))

    async def threaded() -> Any:
        await runner.session_service.create_session(app_name="tests", user_id="u", session_id="s1")
        found = await asyncio.to_thread(lambda: [*runner.run(user_id="u", session_id="s1", new_message=message())])
        return last_text(found)

    return {"async": awaited, "stream": streamed, "sync": threaded}


def settled(ran: Ran, hooks: HookwrightHooks, work: Callable[[], Any]) -> Ran:
    async def main() -> None:
        try:
            ran.answer = await work()
        except Exception as error:  # the framework wraps what a plugin raises
            ran.error = str(error)
        finally:
            await hooks.close()

    asyncio.run(main())
    return ran


def delegate(world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    reviewer = agent_of(world, inner, Ran(), name="reviewer", description="reviews")

    class Delegate(AgentTool):
        """The framework names such a tool after its agent."""

        def __init__(self) -> None:
            super().__init__(reviewer)
            self.name = "delegate"

    agent = agent_of(world, outer, ran, tools=[Delegate()])
    with warnings.catch_warnings():  # the framework's own tool uses an argument that the framework deprecates
        warnings.filterwarnings("ignore", "The `plugins` argument is deprecated", DeprecationWarning)
        return settled(ran, hooks, _forms(runner_of(agent, hooks))["async"])


def confirmation(events: Sequence[Event], approve: bool) -> types.Content:
    """Answer the question in these events."""
    (wanted,) = [c for one in events for c in one.get_function_calls() if c.name == "adk_request_confirmation"]
    assert "sure?" in wanted.args["toolConfirmation"]["hint"]  # type: ignore[index]
    answer = types.FunctionResponse(id=wanted.id, name=wanted.name, response={"confirmed": approve})
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


def asked(world: World, script: Sequence[Step], approve: bool) -> Ran:
    ran = Ran()
    hooks = HookwrightHooks(world.places, **world.choices)
    runner = runner_of(agent_of(world, script, ran), hooks)

    async def main() -> Any:
        return last_text(await sent(runner, confirmation(await sent(runner), approve)))

    return settled(ran, hooks, main)


def cancel(world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
    hooks = HookwrightHooks(world.places, **world.choices)
    runner = runner_of(agent_of(world, script, Ran()), hooks)

    async def main() -> None:
        task = asyncio.ensure_future(sent(runner))
        while not when():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        await hooks.close()

    asyncio.run(main())


def hosted(world: World, **choices: Any) -> Ran:
    """`web_search` is what the provider calls it in other frameworks; here it is Google's own search."""
    found = types.GroundingMetadata(web_search_queries=["x"])
    step = content_of((ToolCall("shell", {"cmd": "ls"}, "c1"),))
    return run(world, [LlmResponse(content=step, grounding_metadata=found), "done"], **choices)
