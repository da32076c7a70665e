"""What only LangChain, LangGraph and Deep Agents do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("deepagents")

import deepagents
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from pydantic import BaseModel

from adapters.drive_langchain import PROMPT, agent_of, last, model
from adapters.scenarios import ASK, DENY, LIST, Ran, Step, World, call, specific
from docpages import ROOT, blocks, run_block
from docpages import World as Reader
from hookwright.adapters.deepagents import create_deep_agent
from hookwright.adapters.langchain import HookwrightHooks
from hookwright.errors import ConfigError, HooksRefused

THREAD: Any = {"configurable": {"thread_id": "t1"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def hooks_of(world: World, **choices: Any) -> HookwrightHooks:
    return HookwrightHooks(world.places, **world.choices, **choices)


def task(kind: str = "general-purpose") -> tuple[Any, ...]:
    return (call("task", "t1", description="write it", subagent_type=kind),)


ENV = (call("write_file", "w1", file_path="/x.env", content="secret"),)
#: The main agent delegates, the subagent writes, both answer; one model speaks for both.
DELEGATED: list[Step] = [task(), ENV, "written", "done"]


# ── Deep Agents ──


def test_plain_middleware_does_not_reach_the_subagent_and_reconciliation_says_so(world: World) -> None:
    world.answers("PreToolUse", DENY, "Write")
    hooks = hooks_of(world)
    agent = deepagents.create_deep_agent(model(DELEGATED, Ran()), middleware=[hooks])
    state = agent.invoke(PROMPT)
    assert "/x.env" in state["files"]
    assert sum("`write_file` ran without hooks (call w1)" in text for text in world.said) == 1
    assert not any("`task` ran without hooks" in text for text in world.said)
    hooks.close()


@pytest.mark.parametrize("reason", ["strict", "guard"])
def test_a_guard_that_fails_closed_refuses_the_model_call_after_an_open_subagent(world: World, reason: str) -> None:
    if reason == "guard":
        world.hooks.on("PreToolUse", "Write", on_failure="block")(lambda event: None)
    hooks = hooks_of(world, strict=reason == "strict")
    agent = deepagents.create_deep_agent(model(DELEGATED, Ran()), middleware=[hooks])
    with pytest.raises(HooksRefused, match="`write_file` ran without hooks"):
        asyncio.run(agent.ainvoke(PROMPT))
    hooks.close()


@pytest.mark.parametrize("kind", ["general-purpose", "writer"])
@pytest.mark.parametrize("form", ["sync", "async"])
def test_every_agent_of_our_deep_agent_has_the_hooks(world: World, kind: str, form: str) -> None:
    world.watch("SubagentStart", "SubagentStop", "Stop")
    world.answers("PreToolUse", DENY, "Write")
    hooks = hooks_of(world, strict=True)
    ran = Ran()
    writer = {"name": "writer", "description": "writes", "system_prompt": "write"}
    script: list[Step] = [task(kind), ENV, "not written", "done"]
    agent = create_deep_agent(model(script, ran), hooks=hooks, subagents=[writer])
    state = agent.invoke(PROMPT) if form == "sync" else asyncio.run(agent.ainvoke(PROMPT))
    assert last(state) == "done"
    assert not state.get("files")
    assert "not that" in ran.requests[2]
    assert world.names == ["SubagentStart", "PreToolUse", "SubagentStop", "Stop"]
    assert {one.agent_type for one in world.events[:3]} == {kind}
    assert len({one.agent_id for one in world.events[:3]}) == 1
    assert not any("ran without hooks" in text for text in world.said)
    hooks.close()


def test_subagents_out_of_reach_are_named(world: World) -> None:
    remote = {"name": "remote", "description": "far away", "graph_id": "g", "url": "http://localhost:1"}
    open_graph = {"name": "open", "description": "x", "runnable": create_agent(model([], Ran()))}
    hooks = hooks_of(world)
    guarded = {"name": "safe", "description": "x", "runnable": create_agent(model([], Ran()), middleware=[hooks])}
    subagents = [remote, open_graph, guarded]
    create_deep_agent(model([], Ran()), hooks=hooks, subagents=subagents)
    assert [text.split("`")[1] for text in world.said] == ["remote", "open"]
    hooks.close()
    with pytest.raises(ConfigError, match="`open` is a compiled graph without these hooks"):
        create_deep_agent(model([], Ran()), hooks=hooks_of(world, strict=True), subagents=subagents)


def test_a_question_inside_a_subagent_pauses_and_resumes_once(world: World) -> None:
    world.answers("PreToolUse", specific("PreToolUse", permissionDecision="ask"), "Write")
    world.watch("PreToolUse", "PostToolUse", "SubagentStart")
    hooks = hooks_of(world)
    agent = create_deep_agent(model(DELEGATED, Ran()), hooks=hooks, checkpointer=InMemorySaver())
    paused = agent.invoke(PROMPT, THREAD)
    (wanted,) = paused["__interrupt__"]
    assert wanted.value["action_requests"][0]["name"] == "write_file"
    state = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert last(state) == "done"
    assert "/x.env" in state["files"]
    named = [(one.event_name, getattr(one, "tool_name", "")) for one in world.events]
    assert named == [
        ("PreToolUse", "Agent"),
        ("SubagentStart", ""),
        ("PreToolUse", "Write"),
        ("PreToolUse", "Write"),  # two hooks, each once
        ("PostToolUse", "Write"),
        ("PostToolUse", "Agent"),
    ]
    hooks.close()


# ── LangChain ──


def test_a_refused_prompt_leaves_the_thread(world: World) -> None:
    world.answers("UserPromptSubmit", lambda e: {"decision": "block", "reason": "no"} if e.prompt == "go" else None)
    world.watch("Stop")
    ran = Ran()
    hooks = hooks_of(world)
    agent = agent_of(world, model(["done"], ran), hooks, checkpointer=InMemorySaver())
    agent.invoke(PROMPT, THREAD)
    agent.invoke({"messages": [HumanMessage("another")]}, THREAD)
    assert "go" not in ran.requests[0].splitlines()
    assert world.names == ["UserPromptSubmit", "UserPromptSubmit", "Stop"]
    assert {one.session_id for one in world.events} == {"t1"}
    hooks.close()


@pytest.mark.parametrize(
    ("decision", "ran"),
    [
        ({"type": "edit", "edited_action": {"name": "shell", "args": {"cmd": "pwd"}}}, [("shell", {"cmd": "pwd"})]),
        ({"type": "edit", "edited_action": {"name": "shell", "args": {"cmd": "rm"}}}, []),
        ({"type": "edit", "edited_action": {"name": "write_file", "args": {"cmd": "pwd"}}}, []),
        ({"type": "something else"}, []),
        ("yes", []),
    ],
)
def test_only_an_approval_runs_the_call_and_an_edited_one_is_judged_again(
    world: World, decision: Any, ran: Any
) -> None:
    def judge(event: Any) -> Any:
        return {"pwd": None, "rm": DENY}.get(event.tool_input["command"], ASK)

    world.answers("PreToolUse", judge, "Bash")
    hooks = hooks_of(world)
    agent = agent_of(world, model([LIST, "done"], Ran()), hooks, checkpointer=InMemorySaver())
    agent.invoke(PROMPT, THREAD)
    answer = {"decisions": [decision]} if isinstance(decision, dict) else decision
    assert last(agent.invoke(Command(resume=answer), THREAD)) == "done"
    assert world.ran == ran
    hooks.close()


def test_another_process_judges_a_paused_call_again(world: World) -> None:
    world.answers("PreToolUse", ASK, "Bash")
    saver = InMemorySaver()
    first, second = hooks_of(world), hooks_of(world)
    agent_of(world, model([LIST], Ran()), first, checkpointer=saver).invoke(PROMPT, THREAD)
    first.close()
    agent = agent_of(world, model(["done"], Ran()), second, checkpointer=saver)
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert world.ran == [("shell", {"cmd": "ls -a"})]
    assert world.names == ["PreToolUse", "PreToolUse"]
    second.close()


def test_a_result_in_a_command_is_rewritten_and_its_artifact_goes(world: World) -> None:
    @tool
    def lookup() -> Command[Any]:
        """Look up."""
        return Command(update={"messages": [ToolMessage("secret", tool_call_id="c1", artifact="secret")]})

    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput="redacted", additionalContext="note"))
    hooks = hooks_of(world)
    state = agent_of(world, model([(call("lookup"),), "done"], Ran()), hooks, tools=[lookup]).invoke(PROMPT)
    (result,) = [one for one in state["messages"] if isinstance(one, ToolMessage)]
    assert world.events[0].tool_response == "secret"
    assert result.content.startswith("redacted\n\n")
    assert "note" in result.content
    assert result.artifact is None
    hooks.close()


def test_structured_output_and_calls_that_a_person_rejected_are_not_reported(world: World) -> None:
    class Report(BaseModel):
        text: str

    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "again"})
    report = (call("Report", "r1", text="x"),)
    hooks = hooks_of(world, strict=True)
    script = [LIST, report, (call("Report", "r2", text="y"),)]
    asking = HumanInTheLoopMiddleware({"shell": True})
    agent = create_agent(
        model(script, Ran()),
        [world.shell],
        middleware=[hooks, asking],
        response_format=ToolStrategy(Report),
        checkpointer=InMemorySaver(),
    )
    agent.invoke(PROMPT, THREAD)
    state = agent.invoke(Command(resume={"decisions": [{"type": "reject"}]}), THREAD)
    assert state["structured_response"] == Report(text="y")
    assert world.ran == []
    assert not any("ran without hooks" in text for text in world.said)
    hooks.close()


# ── LangGraph ──


@pytest.mark.parametrize("form", ["sync", "async"])
def test_the_tools_of_a_plain_graph_have_hooks(world: World, form: str) -> None:
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["command"] == "rm" else None, "Bash")
    world.watch("SessionStart", "PostToolUse")
    hooks = hooks_of(world)
    node = ToolNode([world.shell], wrap_tool_call=hooks.wrap_tool_call, awrap_tool_call=hooks.awrap_tool_call)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    calls: Any = [{"name": "shell", "args": {"cmd": word}, "id": word, "type": "tool_call"} for word in ("rm", "ls")]
    given: Any = {"messages": [AIMessage("", tool_calls=calls)]}
    state = graph.invoke(given, THREAD) if form == "sync" else asyncio.run(graph.ainvoke(given, THREAD))
    assert world.ran == [("shell", {"cmd": "ls"})]
    assert [one.status for one in state["messages"][1:]] == ["error", "success"]
    assert sorted(world.names) == ["PostToolUse", "PreToolUse", "PreToolUse", "SessionStart"]
    hooks.close()


# ── the page ──


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    page = (ROOT / "docs/adapters/langchain.md").read_text()
    shown = [block for block in blocks(page) if block.runnable]
    assert len(shown) == 4
    for block in shown:
        run_block(block, reader)
