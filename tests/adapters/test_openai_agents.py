"""What only the OpenAI Agents SDK does: agents as tools, handoffs, sessions, its own shells and patches."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    LocalShellTool,
    RunConfig,
    RunHooks,
    Runner,
    RunState,
    ShellTool,
    SQLiteSession,
    function_tool,
    handoff,
)
from agents.editor import ApplyPatchResult
from agents.mcp import MCPServerStdio
from agents.testing import assistant_message, function_call
from openai.types.responses import ResponseCustomToolCall
from openai.types.responses.response_output_item import LocalShellCall, LocalShellCallAction

from adapters.drive_openai_agents import CONFIG, agent_of, forms, model, scripted, search, settled
from adapters.scenarios import ASK, DENY, LIST, Ran, World, call, specific
from docpages import ROOT, blocks, run_block
from docpages import World as Reader
from hookwright.adapters.openai_agents import HookedRunner, install, uninstall
from hookwright.errors import HooksRefused


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def installed(world: World, **choices: Any) -> HookedRunner:
    return install(world.places, **world.choices, **choices)


def ran_with(world: World, agent: Agent[Any], **choices: Any) -> Ran:
    """Run an agent with the hooks installed."""
    return settled(Ran(), installed(world, **choices), forms(agent)["async"])


def as_tool(world: World, ran: Ran, kind: type[Any] = Agent, **fields: Any) -> Agent[Any]:
    """Return an agent that runs another one, called reviewer, as a tool; that one lists files."""
    inner = kind(name="reviewer", model=model([LIST, "reviewed"], ran), tools=[function_tool(world.shell)])
    tool = inner.as_tool("review", "Reviews.", run_config=CONFIG, **fields)
    return agent_of(world, model([(call("review", "r1", input="all"),), "done"], Ran()), tools=[tool])


# ── paths around the hooks ──


@pytest.mark.parametrize("form", ["async", "stream"])
@pytest.mark.parametrize("streamed_inside", [False, True])
def test_an_agent_as_a_tool_is_a_subagent_with_the_same_guards(world: World, form: str, streamed_inside: bool) -> None:
    world.watch("SubagentStart", "SubagentStop", "Stop")
    world.answers("PreToolUse", DENY, "Bash")
    inner = Ran()
    fields: dict[str, Any] = {"on_stream": lambda event: None} if streamed_inside else {}
    agent = as_tool(world, inner, **fields)
    ran = settled(Ran(), installed(world, strict=True), forms(agent)[form])
    assert (ran.answer, world.ran) == ("done", [])
    assert "not that" in inner.requests[1]
    assert world.names == ["SubagentStart", "PreToolUse", "SubagentStop", "Stop"]
    assert {one.agent_type for one in world.events[:3]} == {"reviewer"}


def test_an_agent_as_a_tool_is_guarded_without_changing_the_default_runner(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    runner = HookedRunner(world.places, **world.choices)
    asyncio.run(runner.run(as_tool(world, Ran()), "go", run_config=CONFIG))
    runner.close()
    assert (world.ran, world.names) == ([], ["PreToolUse"])


def test_a_plain_run_has_no_hooks_even_after_a_hooked_one(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    HookedRunner(world.places, **world.choices).close()
    asyncio.run(Runner.run(agent_of(world, model([LIST, "done"], Ran())), "go", run_config=CONFIG))
    assert (len(world.ran), world.names) == (1, [])


class Own(Agent[Any]):
    """An agent that finds its tools in its own way, past the one that hooks know."""

    async def get_all_tools(self, run_context: Any) -> list[Any]:
        return list(self.tools)


@pytest.mark.parametrize("reason", ["report", "strict", "guard"])
def test_a_tool_of_an_agent_as_a_tool_that_bypasses_the_hooks_is_reported(world: World, reason: str) -> None:
    if reason == "guard":
        world.hooks.on("PreToolUse", "Bash", on_failure="block")(lambda event: None)
    agent = as_tool(world, Ran(), Own, failure_error_function=None)
    ran = ran_with(world, agent, strict=reason == "strict")
    assert len(world.ran) == 1
    assert sum("`shell` ran without hooks (call c1)" in text for text in world.said) == 1
    assert (ran.answer == "done") == (reason == "report")
    assert ("`shell` ran without hooks" in (ran.error or "")) == (reason != "report")


@pytest.mark.parametrize("reason", ["report", "strict", "guard"])
def test_a_tool_that_bypasses_the_hooks_in_a_stream_is_reported(world: World, reason: str) -> None:
    if reason == "guard":
        world.hooks.on("PreToolUse", "Bash", on_failure="block")(lambda event: None)
    agent = Own(name="main", model=model([LIST, "done"], Ran()), tools=[function_tool(world.shell)])
    ran = settled(Ran(), installed(world, strict=reason == "strict"), forms(agent)["stream"])
    assert len(world.ran) == 1
    assert sum("`shell` ran without hooks (call c1)" in text for text in world.said) == 1
    assert (ran.answer == "done") == (reason == "report")


def test_a_hosted_tool_of_the_last_answer_is_reported(world: World) -> None:
    agent = agent_of(world, scripted([[search(), assistant_message("done")]], Ran()))
    assert ran_with(world, agent).answer == "done"
    assert sum("`web_search` ran without hooks" in text for text in world.said) == 1


# ── handoffs ──


@pytest.mark.parametrize("wrap", [lambda agent: agent, handoff])
def test_a_handoff_is_a_subagent_that_takes_over_and_stop_hooks_still_run(world: World, wrap: Any) -> None:
    world.watch("SubagentStart")
    world.answers("PreToolUse", DENY, "Bash")
    world.answers("SubagentStop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "check"})
    world.answers("Stop", None)
    taken = Ran()
    expert = agent_of(world, model([LIST, "first", "second"], taken), name="expert")
    agent = agent_of(world, model([(call("transfer_to_expert", "h1"),)], Ran()), handoffs=[wrap(expert)])
    ran = ran_with(world, agent, strict=True)
    assert (ran.error, ran.answer, world.ran) == (None, "second", [])
    assert world.names == ["SubagentStart", "PreToolUse", "SubagentStop", "SubagentStop", "Stop"]
    assert {one.agent_type for one in world.events[:4]} == {"expert"}
    assert "check" in taken.requests[2]
    assert not isinstance(world.events[4].agent_id, str)


# ── asking a person ──


def test_a_question_inside_an_agent_as_a_tool_pauses_and_resumes_once(world: World) -> None:
    world.answers("PreToolUse", lambda e: ASK if e.tool_name == "Bash" else None)
    world.watch("PostToolUse", "SubagentStart", "SubagentStop")
    hooks = installed(world)
    agent = as_tool(world, Ran())

    async def main() -> Any:
        paused = await Runner.run(agent, "go", run_config=CONFIG)
        (wanted,) = paused.interruptions
        assert "sure?" in str(hooks.question(wanted))
        state = paused.to_state()
        state.approve(wanted)
        return (await Runner.run(agent, state, run_config=CONFIG)).final_output

    ran = settled(Ran(), hooks, lambda: asyncio.run(main()))
    assert (ran.answer, world.ran) == ("done", [("shell", {"cmd": "ls -a"})])
    named = [(one.event_name, getattr(one, "tool_name", "")) for one in world.events]
    assert named == [
        ("PreToolUse", "review"),
        ("SubagentStart", ""),
        ("PreToolUse", "Bash"),
        ("PostToolUse", "Bash"),
        ("SubagentStop", ""),
        ("PostToolUse", "review"),
    ]


@pytest.mark.parametrize("same_process", [True, False])
def test_a_state_that_was_stored_resumes_with_the_input_that_hooks_wrote(world: World, same_process: bool) -> None:
    world.answers("PreToolUse", ASK, "Bash")
    hooks = installed(world)
    agent = agent_of(world, model([LIST, "done"], Ran()))

    async def main() -> Any:
        paused = await Runner.run(agent, "go", run_config=CONFIG)
        stored = paused.to_state().to_string()
        if not same_process:
            installed(world)
        state = await RunState.from_string(agent, stored)
        state.approve(state.get_interruptions()[0])
        return (await Runner.run(agent, state, run_config=CONFIG)).final_output

    ran = settled(Ran(), hooks, lambda: asyncio.run(main()))
    assert (ran.answer, world.ran) == ("done", [("shell", {"cmd": "ls -a"})])
    assert world.names == ["PreToolUse"] * (1 if same_process else 2)


def test_a_tool_with_its_own_approval_is_guarded_as_well(world: World) -> None:
    world.answers("PreToolUse", DENY, "Bash")
    agent = Agent(
        name="main",
        model=model([LIST, "done"], Ran()),
        tools=[function_tool(world.shell, needs_approval=True)],
    )
    assert ran_with(world, agent).answer == "done"
    assert world.ran == []


# ── tools ──


def test_a_tool_without_arguments_runs_and_broken_arguments_do_not(world: World) -> None:
    @function_tool
    def ping() -> str:
        """Answer."""
        world.ran.append(("ping", {}))
        return "pong"

    world.watch("PreToolUse")
    ran = Ran()
    script = [
        [function_call("ping", "", call_id="c1"), function_call("shell", '{"cmd": ', call_id="c2")],
        [assistant_message("done")],
    ]
    assert ran_with(world, agent_of(world, scripted(script, ran), tools=[ping])).answer == "done"
    assert (world.ran, [one.tool_name for one in world.events]) == ([("ping", {})], ["ping"])
    assert "not a JSON object" in ran.requests[1]


def test_a_tool_that_was_disabled_after_the_model_saw_it_does_not_run(world: World) -> None:
    answers = [True, False]
    tool = function_tool(world.shell, is_enabled=lambda context, agent: answers.pop(0) if answers else False)
    ran = ran_with(world, Agent(name="main", model=model([LIST, "done"], Ran()), tools=[tool]))
    assert world.ran == []
    assert "disabled" in str(ran.error)


@pytest.mark.parametrize("own", ["default", "explicit", "none"])
def test_a_failure_is_a_failure_whatever_the_tool_makes_of_it(world: World, own: str) -> None:
    handlers = {"default": {}, "explicit": {"failure_error_function": lambda c, e: "sorry"}}
    tool = function_tool(world.explode, **handlers.get(own, {"failure_error_function": None}))
    world.watch("PostToolUse", "PostToolUseFailure")
    agent = Agent(name="main", model=model([(call("explode"),), "done"], Ran()), tools=[tool])
    ran = ran_with(world, agent)
    assert world.names == ["PostToolUseFailure"]
    assert "it exploded" in world.events[0].error
    assert (ran.error is not None) == (own == "none")


def test_the_programs_own_configuration_is_kept(world: World) -> None:
    seen: list[str] = []

    class Watching(RunHooks[Any]):
        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            seen.append(tool.name)

    def own(data: Any) -> Any:
        seen.append(f"{len(data.model_data.input)} items")
        return data.model_data

    world.answers("SessionStart", specific("SessionStart", additionalContext="the rules"))
    hooks = installed(world)
    agent = agent_of(world, model([LIST, "done"], Ran()))
    config = RunConfig(tracing_disabled=True, call_model_input_filter=own)
    settled(Ran(), hooks, lambda: asyncio.run(Runner.run(agent, "go", run_config=config, hooks=Watching())))
    assert seen == ["2 items", "shell", "4 items"]


def shell_call(*commands: str) -> Any:
    from agents.items import TResponseOutputItem
    from pydantic import TypeAdapter

    action = {"commands": list(commands), "timeout_ms": 1000}
    item = {"type": "shell_call", "id": "s1", "call_id": "c1", "action": action, "status": "completed"}
    return TypeAdapter(TResponseOutputItem).validate_python(item)


@pytest.mark.parametrize("answer", ["deny", "rewrite"])
def test_the_shell_tool_of_the_sdk_is_bash(world: World, answer: str) -> None:
    wrote = specific("PreToolUse", updatedInput={"command": "ls -l"})
    world.answers("PreToolUse", DENY if answer == "deny" else wrote, "Bash")

    def execute(request: Any) -> str:
        world.ran.append(("shell", {"commands": request.data.action.commands}))
        return "output"

    script = [[shell_call("cd src", "ls")], [assistant_message("done")]]
    agent = Agent(name="main", model=scripted(script, Ran()), tools=[ShellTool(executor=execute)])
    assert ran_with(world, agent, strict=True).answer == "done"
    assert world.events[0].tool_input == {"command": "cd src\nls", "timeout": 1000}
    assert world.ran == ([] if answer == "deny" else [("shell", {"commands": ["ls -l"]})])


@pytest.mark.parametrize("when", ["at once", "stored", "elsewhere"])
@pytest.mark.parametrize("approve", [False, True])
def test_a_question_about_the_shell_tool_runs_what_hooks_wrote(world: World, when: str, approve: bool) -> None:
    world.answers("PreToolUse", ASK, "Bash")
    world.watch("PostToolUse")

    def execute(request: Any) -> str:
        world.ran.append(("shell", {"commands": request.data.action.commands}))
        return "output"

    hooks = installed(world, strict=True)
    script = [[shell_call("ls")], [assistant_message("done")]]
    agent = Agent(name="main", model=scripted(script, Ran()), tools=[ShellTool(executor=execute)])

    async def main() -> Any:
        paused = await Runner.run(agent, "go", run_config=CONFIG)
        assert "sure?" in str(hooks.question(paused.interruptions[0]))
        state = paused.to_state()
        if when != "at once":
            state = await RunState.from_string(agent, state.to_string())
        if when == "elsewhere":
            installed(world, strict=True)
        (wanted,) = state.get_interruptions()
        (state.approve if approve else state.reject)(wanted)
        return (await Runner.run(agent, state, run_config=CONFIG)).final_output

    ran = settled(Ran(), hooks, lambda: asyncio.run(main()))
    assert (ran.error, ran.answer) == (None, "done")
    assert world.ran == ([("shell", {"commands": ["ls -a"]})] if approve else [])
    again = ["PreToolUse"] if when == "elsewhere" and approve else []
    assert world.names == ["PreToolUse", *again, *(["PostToolUse"] if approve else [])]


@pytest.mark.parametrize("answer", ["deny", "rewrite", "ask"])
def test_the_local_shell_of_the_sdk_is_bash_and_a_question_refuses(world: World, answer: str) -> None:
    wrote = specific("PreToolUse", updatedInput={"command": "ls -l"})
    world.answers("PreToolUse", {"deny": DENY, "rewrite": wrote, "ask": ASK}[answer], "Bash")

    def execute(request: Any) -> str:
        world.ran.append(("local_shell", {"command": request.data.action.command}))
        return "output"

    action = LocalShellCallAction(command=["bash", "-lc", "ls"], env={}, type="exec")
    item = LocalShellCall(id="s1", call_id="c1", action=action, status="completed", type="local_shell_call")
    ran = Ran()
    agent = Agent(
        name="main", model=scripted([[item], [assistant_message("done")]], ran), tools=[LocalShellTool(execute)]
    )
    assert ran_with(world, agent, strict=True).answer == "done"
    assert world.events[0].tool_input == {"command": "ls"}
    assert world.ran == ([("local_shell", {"command": ["bash", "-lc", "ls -l"]})] if answer == "rewrite" else [])


class Editor:
    """An editor that writes down what it does."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _edit(self, operation: Any) -> ApplyPatchResult:
        self._world.ran.append((operation.type, {"path": operation.path}))
        return ApplyPatchResult(status="completed", output=f"did {operation.path}")

    create_file = update_file = delete_file = _edit


@pytest.mark.parametrize("path", ["b.txt", "b.env"])
def test_the_patch_tool_of_the_sdk_is_judged_file_by_file(world: World, path: str) -> None:
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["file_path"].endswith(".env") else None, "Write|Edit")
    operations = [
        {"type": "create_file", "path": "a.txt", "diff": "+x"},
        {"type": "update_file", "path": path, "diff": "@@\n-1\n+2"},
    ]
    arguments = json.dumps({"operations": operations})
    item = ResponseCustomToolCall(call_id="c1", input=arguments, name="apply_patch", type="custom_tool_call")
    ran = Ran()
    model_ = scripted([[item], [assistant_message("done")]], ran)
    agent = Agent(name="main", model=model_, tools=[ApplyPatchTool(editor=Editor(world))])
    assert ran_with(world, agent, strict=True).answer == "done"
    assert [one.tool_name for one in world.events] == ["Write", "Edit"]
    done = [("create_file", {"path": "a.txt"}), ("update_file", {"path": "b.txt"})]
    assert world.ran == (done if path == "b.txt" else [])
    assert ("not that" in ran.requests[1]) == (path == "b.env")


def test_a_custom_tool_with_a_patch_is_judged_file_by_file(world: World) -> None:
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["file_path"].endswith(".env") else None, "Write")
    patch = "*** Begin Patch\n*** Add File: b.env\n+x\n*** End Patch"
    item = ResponseCustomToolCall(call_id="c1", input=patch, name="apply_patch", type="custom_tool_call")
    tool = CustomTool(name="apply_patch", description="Patches.", on_invoke_tool=lambda ctx, text: world.shell(text))
    agent = Agent(name="main", model=scripted([[item], [assistant_message("done")]], Ran()), tools=[tool])
    assert ran_with(world, agent, strict=True).answer == "done"
    assert (world.ran, len(world.events)) == ([], 1)


SERVER = """
from mcp.server import MCPServer
server = MCPServer("files")
@server.tool()
def search(query: str) -> str:
    return "found " + query
server.run()
"""


@pytest.mark.parametrize("prefixed", [False, True])
def test_a_tool_of_an_mcp_server_is_called_as_in_claude_code(world: World, prefixed: bool) -> None:
    world.watch("PreToolUse")
    ran = Ran()

    async def main() -> Any:
        params: Any = {"command": sys.executable, "args": ["-c", SERVER]}
        async with MCPServerStdio(params=params, name="my files") as server:
            tool = (await server.list_tools())[0].name
            name = f"mcp_my_files__{tool}" if prefixed else tool
            agent = Agent(
                name="main",
                model=model([(call(name, query="x"),), "done"], ran),
                mcp_servers=[server],
                mcp_config={"include_server_in_tool_names": prefixed},
            )
            return (await Runner.run(agent, "go", run_config=CONFIG)).final_output

    got = settled(Ran(), installed(world), lambda: asyncio.run(main()))
    assert got.answer == "done", got.error
    assert [(one.tool_name, one.tool_input) for one in world.events] == [("mcp__my_files__search", {"query": "x"})]
    assert "found x" in ran.requests[1]


# ── many at once ──


def test_twenty_runs_at_once_keep_their_conversations_apart(world: World) -> None:
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["command"] == "7" else None, "Bash")
    hooks = installed(world)

    async def one(number: int) -> Any:
        agent = agent_of(world, model([(call("shell", f"c{number}", cmd=str(number)),), f"done {number}"], Ran()))
        config = RunConfig(tracing_disabled=True, group_id=f"g{number}")
        return (await Runner.run(agent, "go", run_config=config)).final_output

    async def main() -> str:
        return " ".join(await asyncio.gather(*map(one, range(20))))

    ran = settled(Ran(), hooks, lambda: asyncio.run(main()))
    assert ran.answer == " ".join(f"done {number}" for number in range(20))
    assert sorted(int(given["cmd"]) for _, given in world.ran) == [n for n in range(20) if n != 7]
    assert {event.session_id for event in world.events} == {f"g{number}" for number in range(20)}


# ── sessions ──


@pytest.mark.parametrize("form", ["async", "stream"])
def test_a_session_is_a_conversation_and_a_refused_prompt_is_not_stored(world: World, form: str) -> None:
    world.answers("UserPromptSubmit", lambda e: {"decision": "block", "reason": "no"} if e.prompt == "secret" else None)
    world.watch("SessionStart", "Stop")
    hooks = installed(world)
    session = SQLiteSession("s1")
    ran = Ran()
    agent = agent_of(world, model(["one", "two"], ran))

    async def one(prompt: str) -> Any:
        if form == "async":
            return (await Runner.run(agent, prompt, session=session, run_config=CONFIG)).final_output
        result = Runner.run_streamed(agent, prompt, session=session, run_config=CONFIG)
        async for _ in result.stream_events():
            pass
        return result.final_output

    async def main() -> Any:
        with pytest.raises(HooksRefused):
            await one("secret")
        assert "secret" not in str(await session.get_items())
        await one("first")
        return await one("second")

    settled(ran, hooks, lambda: asyncio.run(main()))
    session.close()
    assert ran.answer == "two"
    assert "first" in ran.requests[1]
    prompts = ["UserPromptSubmit", "Stop"] * 2
    assert world.names == ["SessionStart", "UserPromptSubmit", *prompts]
    assert {one.session_id for one in world.events} == {"s1"}


def test_stop_hooks_continue_the_session(world: World) -> None:
    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "test first"})
    hooks = installed(world)
    session = SQLiteSession("s1")
    ran = Ran()
    agent = agent_of(world, model(["one", "two"], ran))
    work = Runner.run(agent, "go", session=session, run_config=CONFIG)
    settled(Ran(), hooks, lambda: asyncio.run(_only(work)))
    session.close()
    assert [text in ran.requests[1] for text in ("go", "one", "test first")] == [True] * 3


async def _only(work: Any) -> Any:
    return (await work).final_output


# ── the page ──


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    shown = [one for one in blocks((ROOT / "docs/adapters/openai-agents.md").read_text()) if one.runnable]
    assert len(shown) == 2
    for block in shown:
        run_block(block, reader)
    uninstall()
