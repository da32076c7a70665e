"""What only Strands does: agents as tools, its executors, sessions and direct calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.hooks import BeforeToolCallEvent
from strands.session.file_session_manager import FileSessionManager
from strands.tools.executors import SequentialToolExecutor

from adapters.drive_strands import Scripted, agent_of, forms, last, settled
from adapters.scenarios import ASK, DENY, LIST, Ran, Step, World, call, specific
from docpages import ROOT, blocks, run_block
from docpages import World as Reader
from hookwright.adapters.strands import HookwrightHooks
from hookwright.errors import ConfigError


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def hooks_of(world: World, **choices: Any) -> HookwrightHooks:
    return HookwrightHooks(world.places, **world.choices, **choices)


def as_tool(world: World, hooks: HookwrightHooks, inner: list[HookwrightHooks], **fields: Any) -> Agent:
    """Return an agent that runs another one, called reviewer, as a tool; that one lists files."""
    reviewer = agent_of(world, Scripted([LIST, "reviewed"], Ran()), inner, name="reviewer")
    script: list[Step] = [(call("reviewer", "r1", input="all"),), "done"]
    return agent_of(world, Scripted(script, Ran()), [hooks], tools=[reviewer.as_tool()], **fields)


@pytest.mark.parametrize("form", ["async", "sync", "stream"])
@pytest.mark.parametrize("executor", [None, SequentialToolExecutor()])
def test_an_agent_as_a_tool_with_the_hooks_is_a_subagent(world: World, form: str, executor: Any) -> None:
    world.watch("SubagentStart", "SubagentStop", "Stop")
    world.answers("PreToolUse", DENY, "Bash")
    hooks = hooks_of(world, strict=True)
    agent = as_tool(world, hooks, [hooks], tool_executor=executor)
    ran = settled(Ran(), hooks, forms(agent)[form])
    assert (ran.error, ran.answer, world.ran) == (None, "done", [])
    assert world.names == ["SubagentStart", "PreToolUse", "SubagentStop", "Stop"]
    assert {one.agent_type for one in world.events[:3]} == {"reviewer"}


def test_an_agent_as_a_tool_without_the_hooks_is_reported_and_strict_refuses(world: World) -> None:
    hooks = hooks_of(world)
    settled(Ran(), hooks, forms(as_tool(world, hooks, []))["async"])
    assert len(world.ran) == 1
    assert sum("the tool `reviewer` does not have these hooks" in text for text in world.said) == 1
    strict = hooks_of(world, strict=True)
    with pytest.raises(ConfigError, match="`reviewer` does not have these hooks"):
        asyncio.run(as_tool(world, strict, []).invoke_async("go"))
    strict.close()
    assert len(world.ran) == 1


def test_tools_of_the_provider_are_reported_at_the_start_and_strict_refuses(world: World) -> None:
    def agent(hooks: HookwrightHooks) -> Agent:
        offered = [{"type": "web_search_20250305", "name": "web_search"}]
        return agent_of(world, Scripted(["done"], Ran(), anthropic_tools=offered), [hooks])

    hooks = hooks_of(world)
    assert settled(Ran(), hooks, forms(agent(hooks))["async"]).answer == "done"
    assert sum("the provider runs the tool `web_search` itself" in text for text in world.said) == 1
    strict = hooks_of(world, strict=True)
    assert "`web_search`" in str(settled(Ran(), strict, forms(agent(strict))["async"]).error)


def test_a_question_inside_an_agent_as_a_tool_pauses_and_resumes_once(world: World) -> None:
    world.answers("PreToolUse", lambda e: ASK if e.tool_name == "Bash" else None)
    world.watch("PostToolUse", "SubagentStart")
    hooks = hooks_of(world)
    agent = as_tool(world, hooks, [hooks])

    async def main() -> Any:
        paused = await agent.invoke_async("go")
        (wanted,) = paused.interrupts
        answer: Any = {"interruptResponse": {"interruptId": wanted.id, "response": "approve"}}
        return last(await agent.invoke_async([answer]))

    ran = settled(Ran(), hooks, lambda: asyncio.run(main()))
    assert (ran.error, ran.answer, world.ran) == (None, "done", [("shell", {"cmd": "ls -a"})])
    named = [(one.event_name, getattr(one, "tool_name", "")) for one in world.events]
    assert named == [
        ("PreToolUse", "reviewer"),
        ("SubagentStart", ""),
        ("PreToolUse", "Bash"),
        ("PostToolUse", "Bash"),
        ("PostToolUse", "reviewer"),
    ]


@pytest.mark.parametrize(
    ("answer", "runs"), [(True, 1), ("Yes", 1), ({"approved": True}, 1), (False, 0), ("not now", 0), ({"ok": 1}, 0)]
)
def test_only_an_approval_runs_the_call(world: World, answer: Any, runs: int) -> None:
    world.answers("PreToolUse", ASK, "Bash")
    hooks = hooks_of(world)
    agent = agent_of(world, Scripted([LIST, "done"], Ran()), [hooks])
    (wanted,) = agent("go").interrupts
    assert last(agent([{"interruptResponse": {"interruptId": wanted.id, "response": answer}}])) == "done"
    hooks.close()
    assert (len(world.ran), world.names) == (runs, ["PreToolUse"])


def test_a_refused_prompt_does_not_reach_the_messages(world: World) -> None:
    world.answers("UserPromptSubmit", lambda e: {"decision": "block", "reason": "no"} if e.prompt == "secret" else None)
    world.watch("SessionStart", "Stop")
    hooks = hooks_of(world)
    agent = agent_of(world, Scripted(["one", "two"], Ran()), [hooks])
    assert "no" in last(agent("secret"))
    assert "secret" not in str(agent.messages)
    assert [last(agent(text)) for text in ("first", "second")] == ["one", "two"]
    hooks.close()
    assert world.names == ["SessionStart", "UserPromptSubmit", *["UserPromptSubmit", "Stop"] * 2]
    assert len({one.session_id for one in world.events}) == 1


def test_a_session_manager_names_the_conversation_and_stores_what_hooks_made_of_a_result(world: World) -> None:
    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput={"stdout": "redacted"}))
    hooks = hooks_of(world)
    store = world.folder / "sessions"
    manager = FileSessionManager("s1", storage_dir=str(store))
    agent = agent_of(world, Scripted([LIST, "done"], Ran()), [hooks], session_manager=manager)
    assert last(agent("go")) == "done"
    hooks.close()
    stored = "".join(path.read_text() for path in store.rglob("*.json"))
    assert "redacted" in stored
    assert "output of ls" not in stored
    assert world.events[0].session_id == "s1"


def test_a_call_that_another_hook_of_the_program_cancels_is_over(world: World) -> None:
    def cancel(event: BeforeToolCallEvent) -> None:
        event.cancel_tool = "not today"

    world.watch("PreToolUse", "PostToolUse", "PostToolBatch")
    hooks = hooks_of(world)
    agent = agent_of(world, Scripted([LIST, "done"], Ran()), [hooks])
    agent.hooks.add_callback(BeforeToolCallEvent, cancel)
    assert last(agent("go")) == "done"
    hooks.close()
    assert (world.ran, world.names) == ([], ["PreToolUse", "PostToolBatch"])


def test_a_tool_that_the_program_calls_itself_is_guarded(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    hooks = hooks_of(world)
    agent = agent_of(world, Scripted([], Ran()), [hooks])
    result = agent.tool.shell(cmd="ls")
    hooks.close()
    assert (world.ran, result["status"]) == ([], "error")


def test_an_agent_that_starts_after_a_tool_call_is_not_a_subagent(world: World) -> None:
    world.watch("SessionStart", "SubagentStart")
    hooks = hooks_of(world)

    @tool
    def note() -> str:
        """Note."""
        return "noted"

    async def main() -> None:
        for _ in range(2):
            model = Scripted([(call("note"),), "done"], Ran())
            agent = agent_of(world, model, [hooks], tools=[note], tool_executor=SequentialToolExecutor())
            await agent.invoke_async("go")

    asyncio.run(main())
    hooks.close()
    assert world.names == ["SessionStart", "SessionStart"]


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    shown = [one for one in blocks((ROOT / "docs/adapters/strands.md").read_text()) if one.runnable]
    assert len(shown) == 3
    for block in shown:
        run_block(block, reader)
