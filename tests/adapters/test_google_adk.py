"""What only Google ADK does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.base_llm_connection import BaseLlmConnection
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types
from pydantic import BaseModel

from adapters.drive_google_adk import (
    Model,
    agent_of,
    confirmation,
    content_of,
    last_text,
    message,
    run,
    runner_of,
    sent,
    settled,
)
from adapters.scenarios import ASK, DENY, LIST, Ran, World, call, specific
from docpages import ROOT, blocks, run_block
from docpages import World as Reader
from hookwright.adapters.google_adk import REFUSED_PROMPT, HookwrightHooks
from hookwright.adapters.google_adk_values import CONTINUE


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def hooks_of(world: World, **choices: Any) -> HookwrightHooks:
    return HookwrightHooks(world.places, **world.choices, **choices)


def talked(world: World, agent: Any, ran: Ran, *messages: Any, **choices: Any) -> Ran:
    """Send messages to an agent, one after another; the answer is the last one."""
    hooks = hooks_of(world, **choices)
    runner = runner_of(agent, hooks)

    async def main() -> Any:
        events: list[Any] = []
        for one in messages or ("go",):
            events = await sent(runner, one)
        return last_text(events)

    return settled(ran, hooks, main)


# ── what runs without hooks ──


@pytest.mark.parametrize("strict", [False, True])
def test_an_agent_tool_without_plugins_is_named_and_strict_refuses_it(world: World, strict: bool) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    ran = Ran()
    inner = agent_of(world, [LIST, "reviewed"], Ran(), name="reviewer")
    tool = AgentTool(inner, include_plugins=False)
    agent = agent_of(world, [(call("reviewer", request="x"),), "done"], ran, tools=[tool])
    talked(world, agent, ran, strict=strict)
    text = "the agent `reviewer` runs without hooks: its AgentTool has include_plugins=False"
    if strict:
        assert text in (ran.error or "")
        assert (world.ran, ran.requests) == ([], [])
    else:
        assert sum(text in one for one in world.said) == 1
        assert world.ran == [("shell", {"cmd": "ls"})], "the hole that is reported"


@pytest.mark.parametrize("guard", [False, True])
def test_code_that_the_provider_runs_is_reported(world: World, guard: bool) -> None:
    if guard:
        world.hooks.on("PreToolUse", "Bash", on_failure="block")(lambda event: None)
    code = types.Part(executable_code=types.ExecutableCode(code="rm()", language=types.Language.PYTHON))
    result = types.Part(
        code_execution_result=types.CodeExecutionResult(output="gone", outcome=types.Outcome.OUTCOME_OK)
    )
    step = content_of(LIST)
    first = LlmResponse(content=types.Content(role="model", parts=[code, result, *(step.parts or [])]))
    ran = run(world, [first, "done"], tools={"code_execution": "Bash"} if guard else {})
    assert sum("`code_execution` ran without hooks" in text for text in world.said) == 1
    assert ("`code_execution` ran without hooks" in (ran.error or "")) is guard
    assert (ran.answer == "done") is not guard


class Live(BaseLlmConnection):
    """A connection that calls a tool and ends."""

    def __init__(self, heard: list[str]) -> None:
        self.heard = heard
        self.answered = asyncio.Event()

    async def send_history(self, history: list[types.Content]) -> None:
        return None

    async def send_content(self, content: types.Content) -> None:
        self.heard.append(str(content))
        if any(part.function_response for part in content.parts or []):
            self.answered.set()

    async def send_realtime(self, input: Any) -> None:  # noqa: A002 - the framework's name
        return None

    async def receive(self) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=content_of(LIST))
        await self.answered.wait()
        yield LlmResponse(content=content_of("done"), turn_complete=True)
        await asyncio.sleep(3600)

    async def close(self) -> None:
        return None


class LiveModel(Model):
    """A model with a live connection."""

    @asynccontextmanager
    async def connect(self, llm_request: LlmRequest) -> AsyncIterator[BaseLlmConnection]:
        yield Live(self.ran.requests)


def test_a_live_conversation_has_the_hooks_of_tools(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    ran = Ran()
    agent = agent_of(world, [], ran, model=LiveModel(model="m", script=[], ran=ran))
    hooks = hooks_of(world)
    runner = runner_of(agent, hooks)

    async def main() -> Any:
        session = await runner.session_service.create_session(app_name="tests", user_id="u", session_id="s1")
        queue = LiveRequestQueue()
        queue.send_content(message())
        async for event in runner.run_live(user_id="u", session_id=session.id, live_request_queue=queue):
            if event.turn_complete:
                queue.close()
                return last_text([event]) or "done"
        return None

    settled(ran, hooks, main)
    assert (world.ran, ran.error) == ([], None)
    assert "not that" in "".join(ran.requests)


def test_the_late_result_of_a_long_running_tool_passes_the_hooks(world: World) -> None:
    def approve(amount: int) -> None:
        """Ask the manager; the answer comes later."""
        world.ran.append(("approve", {"amount": amount}))

    world.answers("PreToolUse", None)
    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput={"state": "redacted"}), "approve")
    ran = Ran()
    agent = agent_of(
        world, [(call("approve", amount=5),), "waiting", "done"], ran, tools=[LongRunningFunctionTool(approve)]
    )
    answer = types.FunctionResponse(id="c1", name="approve", response={"state": "secret"})
    late = types.Content(role="user", parts=[types.Part(function_response=answer)])
    talked(world, agent, ran, "go", late)
    assert world.names == ["PreToolUse", "PostToolUse"]
    assert world.events[1].tool_input == {"amount": 5}
    assert world.events[1].tool_response == {"state": "secret"}
    assert "secret" not in "".join(ran.requests)
    assert "redacted" in ran.requests[-1]
    assert not any("ran without hooks" in text for text in world.said)


def test_an_agent_that_takes_over_has_the_same_hooks(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    world.watch("Stop")
    ran = Ran()
    expert = agent_of(world, [LIST, "expert answer"], ran, name="expert", description="knows")
    agent = agent_of(world, [(call("transfer_to_agent", agent_name="expert"),)], ran, sub_agents=[expert])
    talked(world, agent, ran)
    assert (world.ran, ran.answer, ran.error) == ([], "expert answer", None)
    assert world.names == ["PreToolUse", "Stop"]
    assert not any("ran without hooks" in text for text in world.said)


@pytest.mark.parametrize("matcher", ["Agent", "reviewer"])
def test_an_agent_tool_is_an_agent_to_hooks_under_either_name(world: World, matcher: str) -> None:
    world.answers("PreToolUse", DENY, matcher)
    ran = Ran()
    inner = agent_of(world, [LIST, "reviewed"], Ran(), name="reviewer")
    agent = agent_of(world, [(call("reviewer", request="look"),), "done"], ran, tools=[AgentTool(inner)])
    talked(world, agent, ran, strict=True)
    assert (ran.answer, world.ran) == ("done", [])
    (event,) = world.events
    assert (event.tool_name, event.tool_input) == ("Agent", {"prompt": "look"})


# ── Stop ──


def test_what_a_stop_hook_says_is_a_message_and_its_tool_is_never_offered(world: World) -> None:
    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "test first"})
    offered: list[Any] = []
    shown: list[Any] = []

    class Watched(Model):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            offered.append(str(llm_request.config.tools))
            shown.append([part for one in llm_request.contents for part in one.parts or []])
            async for one in super().generate_content_async(llm_request, stream):
                yield one

    ran = Ran()
    agent = agent_of(world, [], ran, model=Watched(model="m", script=["first", "second", "third", "fourth"], ran=ran))
    talked(world, agent, ran, "go", "more")
    assert ran.answer == "fourth"
    assert CONTINUE not in "".join(offered)
    assert not any(part.function_call or part.function_response for part in shown[-1])
    said = [part.text for part in shown[-1] if part.text and "test first" not in part.text]
    assert said == ["go", "first", "second", "more", "third"]


def test_an_answer_with_a_schema_is_a_final_answer(world: World) -> None:
    class Report(BaseModel):
        text: str

    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "again"})
    ran = Ran()
    script = [(call("set_model_response", "r1", text="x"),), (call("set_model_response", "r2", text="y"),)]
    agent = agent_of(world, script, ran, output_schema=Report, output_key="report")
    talked(world, agent, ran)
    assert ran.error is None
    assert world.names == ["Stop", "Stop"]
    assert "'y'" in world.events[1].last_assistant_message
    assert "again" in ran.requests[1]
    assert not any("ran without hooks" in text for text in world.said)


# ── sessions, prompts, questions ──


def test_a_refused_prompt_is_not_in_the_session(world: World) -> None:
    world.answers("UserPromptSubmit", lambda e: {"decision": "block", "reason": "no"} if "secret" in e.prompt else None)
    ran = Ran()
    talked(world, agent_of(world, ["done"], ran), ran, "the secret", "another")
    assert (ran.answer, len(ran.requests)) == ("done", 1)
    assert "the secret" not in ran.requests[0]
    assert REFUSED_PROMPT in ran.requests[0]


def test_another_process_judges_a_paused_call_again(world: World) -> None:
    world.answers("PreToolUse", ASK, "Bash")
    ran = Ran()
    first, second = hooks_of(world), hooks_of(world)
    before = runner_of(agent_of(world, [LIST, "done"], ran), first)
    after = runner_of(before.agent, second)
    after.session_service = before.session_service

    async def main() -> Any:
        paused = await sent(before)
        await first.close()
        return last_text(await sent(after, confirmation(paused, True)))

    settled(ran, second, main)
    assert (world.ran, ran.answer) == ([("shell", {"cmd": "ls -a"})], "done")
    assert world.names == ["PreToolUse", "PreToolUse"]


def test_a_stream_with_several_agents_at_once(world: World) -> None:
    """Ten sessions in one runner: each has its own events."""
    world.watch("UserPromptSubmit", "PreToolUse", "Stop")
    ran = Ran()
    hooks = hooks_of(world)
    agent = LlmAgent(name="main", model=Echo(model="m", script=[], ran=ran), tools=[world.shell])
    runner = runner_of(agent, hooks)

    async def one(number: int) -> Any:
        name = f"s{number}"
        await runner.session_service.create_session(app_name="tests", user_id="u", session_id=name)
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        events = [
            event
            async for event in runner.run_async(
                user_id="u", session_id=name, new_message=message(name), run_config=config
            )
        ]
        return last_text(events)

    async def main() -> Any:
        return await asyncio.gather(*map(one, range(10)))

    settled(ran, hooks, main)
    assert ran.error is None
    for number in range(10):
        own = [event for event in world.events if event.session_id == f"s{number}"]
        assert [event.event_name for event in own] == ["UserPromptSubmit", "PreToolUse", "Stop"]
        assert own[1].tool_input == {"command": f"s{number}"}


class Echo(Model):
    """Calls the shell with the prompt, then answers with it."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said = (llm_request.contents[0].parts or [])[0].text or ""
        step: Any = (call("shell", f"c-{said}", cmd=said),) if len(llm_request.contents) == 1 else said
        yield LlmResponse(content=content_of(step))


# ── the page ──


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    page = (ROOT / "docs/adapters/google-adk.md").read_text()
    shown = [block for block in blocks(page) if block.runnable]
    assert len(shown) == 2
    for block in shown:
        run_block(block, reader)
