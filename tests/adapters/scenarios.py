"""What every adapter must do, once: each scenario runs against a real framework with a scripted model.

A driver runs a script in its framework and returns what happened; `CANNOT` names the scenarios that a framework cannot
express, with the reason. `adapters.ran` runs them and writes the tables of docs/adapters/README.md.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from hookwright import Hooks, Places
from support import hooks_for, settings


class ToolCall(msgspec.Struct, frozen=True):
    """A call that the scripted model makes."""

    name: str
    input: dict[str, Any]
    id: str


#: What the scripted model answers: a text, or calls.
Step = str | tuple[ToolCall, ...]


class Ran(msgspec.Struct):
    """What a run came to."""

    answer: str | None = None
    #: The message of the error with which the framework ended the run.
    error: str | None = None
    #: Each request of the model as one text.
    requests: list[str] = msgspec.field(default_factory=list)


class World:
    """A project with hooks, the tools of an agent, and what ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "project").mkdir()
        (folder / "home").mkdir()
        self.hooks = Hooks()
        self.events: list[Any] = []
        self.said: list[str] = []
        #: Tools of the agent besides those below.
        self.more: list[Callable[..., str]] = []
        #: The calls that tools ran, as (name, input).
        self.ran: list[tuple[str, dict[str, Any]]] = []

    @property
    def places(self) -> Places:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}
        return Places(project=str(self.folder / "project"), home=str(self.folder / "home"), env=env)

    @property
    def choices(self) -> dict[str, Any]:
        return {"hooks": self.hooks, "on_message": self.said.append}

    def answers(self, event: str, answer: Any, matcher: str | None = None) -> None:
        """Add a hook; `answer` may be a function of the event."""

        def hook(moment: Any) -> Any:
            self.events.append(moment)
            return answer(moment) if callable(answer) else answer

        self.hooks.on(event, matcher)(hook)

    def watch(self, *events: str) -> None:
        for event in events:
            self.answers(event, None)

    def script_hook(self, event: str, command: str, matcher: str | None = None, **fields: Any) -> None:
        """Add a hook that is a real process, in the user's settings."""
        handler = {"type": "command", "command": command, **fields}
        settings(self.folder / "home", hooks_for(event, handler, matcher=matcher))

    @property
    def names(self) -> list[str]:
        return [event.event_name for event in self.events]

    # ── the tools of the agent ──

    def shell(self, cmd: str) -> str:
        """Run a command."""
        self.ran.append(("shell", {"cmd": cmd}))
        return f"output of {cmd}"

    def write_file(self, path: str, content: str) -> str:
        """Write a file."""
        self.ran.append(("write_file", {"path": path, "content": content}))
        return "written"

    def apply_patch(self, patch: str) -> str:
        """Apply a patch."""
        self.ran.append(("apply_patch", {"patch": patch}))
        return "patched"

    def explode(self) -> str:
        """Fail."""
        self.ran.append(("explode", {}))
        raise ValueError("it exploded")

    def run_in_terminal(self, command: str) -> str:
        """Run a command, under a name that no table has."""
        self.ran.append(("run_in_terminal", {"command": command}))
        return "ran"

    @property
    def tools(self) -> list[Callable[..., str]]:
        return [self.shell, self.write_file, self.apply_patch, self.explode, *self.more]


class Driver(Protocol):
    """A framework in tests."""

    def run(self, world: World, script: Sequence[Step], form: str = "async", **choices: Any) -> Ran:
        """Run an agent on the prompt `go`; `form` is async, sync or stream."""

    def delegate(self, world: World, outer: Sequence[Step], inner: Sequence[Step]) -> Ran:
        """Run an agent with a tool `delegate` that runs the second agent, called reviewer."""

    def asked(self, world: World, script: Sequence[Step], approve: bool) -> Ran:
        """Run until a person is asked, answer, and run to the end."""

    def cancel(self, world: World, script: Sequence[Step], when: Callable[[], bool]) -> None:
        """Run, and cancel the run as soon as `when` is true."""

    def hosted(self, world: World, **choices: Any) -> Ran:
        """Run a model whose provider runs `web_search` itself, then calls `shell`, then answers."""


def call(name: str, id: str = "c1", **fields: Any) -> ToolCall:  # noqa: A002 - the word of every framework
    return ToolCall(name, fields, id)


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


#: A step at which the model's API fails, with this message.
BROKEN = "the service is overloaded"
LIST: tuple[ToolCall, ...] = (call("shell", cmd="ls"),)
DENY = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="not that")


# ── the scenarios ───────────────────────────────────────────────────────────


def deny(driver: Driver, world: World) -> None:
    """A hook denies a call: the tool does not run, and the model reads why."""
    world.answers("PreToolUse", DENY, "Bash")
    ran = driver.run(world, [LIST, "done"])
    assert (world.ran, ran.answer) == ([], "done")
    assert "not that" in ran.requests[1]
    assert world.events[0].tool_input == {"command": "ls"}


def deny_by_a_process(driver: Driver, world: World) -> None:
    """An unchanged command hook of a settings file denies by exit 2."""
    test = "grep -q '\"command\":\"rm ' && { echo 'no rm' >&2; exit 2; } || exit 0"
    world.script_hook("PreToolUse", test, "Bash")
    ran = driver.run(world, [(call("shell", cmd="rm -rf /"),), (call("shell", "c2", cmd="ls"),), "done"])
    assert world.ran == [("shell", {"cmd": "ls"})]
    assert "no rm" in ran.requests[1]


def rewrite(driver: Driver, world: World) -> None:
    """A hook rewrites the input: the tool runs with it, under its own names."""
    world.answers("PreToolUse", specific("PreToolUse", updatedInput={"command": "ls -l"}), "Bash")
    driver.run(world, [LIST, "done"])
    assert world.ran == [("shell", {"cmd": "ls -l"})]


def invalid_rewrite(driver: Driver, world: World) -> None:
    """A rewrite that does not fit the tool does not run."""
    world.answers("PreToolUse", specific("PreToolUse", updatedInput={"command": {"not": "text"}}), "Bash")
    driver.run(world, [LIST, "done"])
    assert world.ran == []


def paths(driver: Driver, world: World) -> None:
    """Hooks read an absolute path; the tool keeps the relative one that the model wrote."""
    world.watch("PreToolUse")
    driver.run(world, [(call("write_file", path="a.txt", content="x"),), "done"])
    assert world.events[0].tool_input == {"file_path": f"{world.folder}/project/a.txt", "content": "x"}
    assert world.ran == [("write_file", {"path": "a.txt", "content": "x"})]


def patch(driver: Driver, world: World) -> None:
    """A patch is one event per file: one denied file denies it, and an allowed one runs as it is."""
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["file_path"].endswith(".env") else None, "Write|Edit")
    world.watch("PostToolUse")
    begin, end = "*** Begin Patch\n*** Add File: a.txt\n+x\n", "*** End Patch"
    denied, allowed = f"{begin}*** Delete File: b.env\n{end}", f"{begin}*** Delete File: c.txt\n{end}"
    steps: list[Step] = [(call("apply_patch", patch=denied),), (call("apply_patch", "c2", patch=allowed),), "done"]
    ran = driver.run(world, steps)
    assert world.ran == [("apply_patch", {"patch": allowed})]
    assert "not that" in ran.requests[1]
    named = [(one.event_name[:3], one.tool_name, Path(one.tool_input["file_path"]).name) for one in world.events]
    assert named[:2] == [("Pre", "Write", "a.txt"), ("Pre", "Edit", "b.env")]
    assert named[4:] == [("Pos", "Write", "a.txt"), ("Pos", "Edit", "c.txt")]


def context(driver: Driver, world: World) -> None:
    """Context of hooks around a tool reaches the model with the result."""
    world.answers("PreToolUse", specific("PreToolUse", additionalContext="from before"))
    world.answers("PostToolUse", specific("PostToolUse", additionalContext="from after"))
    ran = driver.run(world, [LIST, "done"])
    assert "output of ls" in ran.requests[1]
    assert "from before" in ran.requests[1]
    assert "from after" in ran.requests[1]


def output_rewrite(driver: Driver, world: World) -> None:
    """A hook redacts the output: the model never reads the original."""
    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput={"stdout": "redacted", "stderr": ""}))
    ran = driver.run(world, [LIST, "done"])
    assert "redacted" in ran.requests[1]
    assert "output of ls" not in "".join(ran.requests)
    assert world.events[0].tool_response["stdout"] == "output of ls"


def failure(driver: Driver, world: World) -> None:
    """A tool that raises fires PostToolUseFailure and not PostToolUse."""
    world.watch("PostToolUse", "PostToolUseFailure")
    driver.run(world, [(call("explode"),), "done"])
    assert world.names == ["PostToolUseFailure"]
    assert "exploded" in world.events[0].error


def prompt_block(driver: Driver, world: World) -> None:
    """A refused prompt never reaches the model, and the caller learns why."""
    world.answers("UserPromptSubmit", {"decision": "block", "reason": "no secrets"})
    ran = driver.run(world, ["done"])
    assert ran.requests == []
    assert "no secrets" in (ran.error or "") + (ran.answer or "")


def stop(driver: Driver, world: World) -> None:
    """A Stop hook sends the agent back to work, with its reason."""
    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "test first"})
    ran = driver.run(world, ["first", "second"])
    assert ran.answer == "second"
    assert "test first" in ran.requests[1]
    assert [e.last_assistant_message for e in world.events] == ["first", "second"]


def end_run(driver: Driver, world: World) -> None:
    """`continue: false` ends the run without another model call."""
    world.answers("PostToolUse", {"continue": False, "stopReason": "enough"})
    ran = driver.run(world, [LIST, "never said"])
    assert len(ran.requests) == 1
    assert "enough" in (ran.answer or "") + (ran.error or "")


def session_start(driver: Driver, world: World) -> None:
    """Context of SessionStart reaches the model with the first request, and once."""
    world.answers("SessionStart", specific("SessionStart", additionalContext="the rules"))
    ran = driver.run(world, [LIST, "done"])
    assert ran.requests[0].count("the rules") == ran.requests[1].count("the rules") == 1
    assert world.events[0].source == "startup"


def subagents(driver: Driver, world: World) -> None:
    """An agent inside a tool call is a subagent: same conversation, its own id, its own events, the same guards."""
    world.watch("SubagentStart", "SubagentStop", "Stop")
    world.answers("PreToolUse", lambda e: DENY if e.tool_name == "Bash" else None)
    driver.delegate(world, [(call("delegate", task="review"),), "all done"], [LIST, "reviewed"])
    assert world.ran == []
    assert world.names == ["PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop", "Stop"]
    assert len({event.session_id for event in world.events}) == 1
    start, inner, end = world.events[1:4]
    assert start.agent_id == inner.agent_id == end.agent_id
    assert start.agent_type == "reviewer"
    assert not isinstance(world.events[4].agent_id, str)


def parallel(driver: Driver, world: World) -> None:
    """Of three calls of one answer, one is denied and two run; each context is next to its result."""
    world.answers("PreToolUse", lambda e: DENY if e.tool_input.get("command") == "b" else None)
    world.answers("PostToolUse", lambda e: specific("PostToolUse", additionalContext=f"saw {e.tool_input['command']}"))
    world.watch("PostToolBatch")
    calls = tuple(call("shell", f"c{word}", cmd=word) for word in "abc")
    ran = driver.run(world, [calls, "done"])
    assert sorted(given["cmd"] for _, given in world.ran) == ["a", "c"]
    assert all(text in ran.requests[1] for text in ("output of a", "output of c", "not that", "saw a", "saw c"))
    (batch,) = [event for event in world.events if event.event_name == "PostToolBatch"]
    assert sorted(one["tool_use_id"] for one in batch.tool_calls) == ["ca", "cb", "cc"]


ASK = specific(
    "PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?", updatedInput={"command": "ls -a"}
)


def ask_and_resume(driver: Driver, world: World) -> None:
    """A hook asks: the framework pauses, a person approves, the rewritten call runs; PreToolUse runs once."""
    world.answers("PreToolUse", ASK, "Bash")
    world.watch("PermissionRequest", "PostToolUse")
    ran = driver.asked(world, [LIST, "done"], approve=True)
    assert (world.ran, ran.answer) == ([("shell", {"cmd": "ls -a"})], "done")
    assert world.names == ["PreToolUse", "PermissionRequest", "PostToolUse"]


def ask_and_refuse(driver: Driver, world: World) -> None:
    """A hook asks, a person refuses: the tool does not run."""
    world.answers("PreToolUse", ASK, "Bash")
    ran = driver.asked(world, [LIST, "done"], approve=False)
    assert (world.ran, ran.answer, world.names) == ([], "done", ["PreToolUse"])


def sync(driver: Driver, world: World) -> None:
    """The same from code without an event loop."""
    world.answers("PreToolUse", DENY, "Bash")
    ran = driver.run(world, [LIST, "done"], form="sync")
    assert (world.ran, ran.answer) == ([], "done")


def streaming(driver: Driver, world: World) -> None:
    """The same in a stream: deny, context and redaction hold."""
    world.answers("PreToolUse", lambda e: DENY if e.tool_input["command"] == "rm" else None, "Bash")
    world.answers("PostToolUse", specific("PostToolUse", updatedToolOutput={"stdout": "redacted"}))
    ran = driver.run(world, [(call("shell", cmd="rm"),), (call("shell", "c2", cmd="ls"),), "done"], form="stream")
    assert (world.ran, ran.answer) == ([("shell", {"cmd": "ls"})], "done")
    assert "not that" in ran.requests[1]
    assert "redacted" in ran.requests[2]
    assert (world.names.count("PreToolUse"), world.names.count("PostToolUse")) == (2, 1)


def streaming_stop(driver: Driver, world: World) -> None:
    """A Stop hook sends the agent back to work in a stream."""
    world.answers("Stop", lambda e: None if e.stop_hook_active else {"decision": "block", "reason": "test first"})
    ran = driver.run(world, ["first", "second"], form="stream")
    assert ran.answer == "second"
    assert "test first" in ran.requests[1]


def cancel(driver: Driver, world: World) -> None:
    """Cancelling the run ends the process of the hook that runs."""
    mark = world.folder / "pid"
    world.script_hook("PreToolUse", f"echo $$ > {mark}; sleep 30")
    driver.cancel(world, [LIST, "done"], lambda: mark.exists() and mark.read_text().strip() != "")
    pid = Path("/proc", mark.read_text().strip())
    deadline = time.monotonic() + 5
    while pid.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not pid.exists()
    assert world.ran == []


def crash(driver: Driver, world: World) -> None:
    """A hook that crashes is reported and approves nothing; one that fails closed refuses the call."""
    world.script_hook("PreToolUse", "exit 7", "Bash")
    driver.run(world, [LIST, "done"])
    assert world.ran == [("shell", {"cmd": "ls"})]
    assert any("PreToolUse:Bash hook error" in text for text in world.said)
    world.script_hook("PreToolUse", "exit 7", "Bash", onFailure="block")
    driver.run(world, [LIST, "done"])
    assert len(world.ran) == 1


def hosted_tool(driver: Driver, world: World) -> None:
    """A tool that the provider runs itself is reported; strict, or a guard that fails closed, refuses the next call."""
    ran = driver.hosted(world)
    assert ran.answer == "done"
    assert sum("`web_search` ran without hooks" in text for text in world.said) == 1
    ran = driver.hosted(world, strict=True)
    assert "`web_search`" in (ran.error or "")
    world.hooks.on("PreToolUse", "WebSearch", on_failure="block")(lambda event: None)
    ran = driver.hosted(world)
    assert "`web_search`" in (ran.error or "")


def model_failure(driver: Driver, world: World) -> None:
    """An error of the model's API fires StopFailure instead of Stop, and reaches the caller."""
    world.watch("Stop", "StopFailure")
    ran = driver.run(world, [BROKEN])
    assert world.names == ["StopFailure"]
    assert BROKEN in world.events[0].error_details
    assert BROKEN in (ran.error or "")


def session_end(driver: Driver, world: World) -> None:
    """Closing the hooks fires SessionEnd, with the events of one session in order."""
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd")
    world.watch(*events)
    driver.run(world, [LIST, "done"])
    assert tuple(world.names) == events
    path = world.events[-1].transcript_path
    kinds = [json.loads(line)["type"] for line in Path(path).read_text().splitlines()]
    assert [kind for kind in kinds if kind != "attachment"] == ["user", "assistant", "user", "assistant"]


def unmapped_tool(driver: Driver, world: World) -> None:
    """A tool that looks like a shell and is not mapped is reported; strict refuses to start; a mapping settles both."""
    world.more = [world.run_in_terminal]
    ran = driver.run(world, ["done"])
    assert ran.answer == "done"
    assert sum("`run_in_terminal` looks like Bash and is not mapped" in text for text in world.said) == 1
    ran = driver.run(world, ["never said"], strict=True)
    assert ran.requests == []
    assert "`run_in_terminal` looks like Bash and is not mapped" in (ran.error or "")
    world.answers("PreToolUse", DENY, "Bash")
    calls = (call("run_in_terminal", command="ls"),)
    ran = driver.run(world, [calls, "done"], strict=True, tools={"run_in_terminal": "Bash"})
    assert (ran.answer, world.ran) == ("done", [])


def settings_change(driver: Driver, world: World) -> None:
    """Settings that are edited during a run fire ConfigChange and take effect with the next event."""
    world.script_hook("PreToolUse", "exit 0", "Bash")
    world.watch("ConfigChange")
    world.answers("PostToolUse", lambda e: world.script_hook("PreToolUse", "echo 'not any more' >&2; exit 2", "Bash"))
    ran = driver.run(world, [LIST, (call("shell", "c2", cmd="ls"),), "done"])
    assert world.ran == [("shell", {"cmd": "ls"})]
    assert "not any more" in ran.requests[2]
    assert world.names == ["PostToolUse", "ConfigChange"]
    assert world.events[1].source == "user_settings"


Scenario = Callable[[Driver, World], None]

SCENARIOS: dict[str, Scenario] = {
    one.__name__.replace("_", " "): one
    for one in (
        deny,
        deny_by_a_process,
        rewrite,
        invalid_rewrite,
        paths,
        patch,
        context,
        output_rewrite,
        failure,
        prompt_block,
        stop,
        end_run,
        session_start,
        subagents,
        parallel,
        ask_and_resume,
        ask_and_refuse,
        sync,
        streaming,
        streaming_stop,
        cancel,
        crash,
        hosted_tool,
        model_failure,
        session_end,
        unmapped_tool,
        settings_change,
    )
}


# ── the frameworks ──────────────────────────────────────────────────────────

#: Framework, as its driver is called → its name on the page.
FRAMEWORKS = {
    "pydantic_ai": "Pydantic AI",
    "agent_framework": "Agent Framework",
    "langchain": "LangChain",
    "google_adk": "Google ADK",
    "openai_agents": "OpenAI Agents SDK",
    "strands": "Strands",
}

#: The module of a framework, if it is not called as its driver is.
MODULES = {"google_adk": "google.adk", "openai_agents": "agents"}

#: Framework → scenario that it cannot express → why.
CANNOT: Mapping[str, Mapping[str, str]] = {
    "pydantic_ai": {},
    "agent_framework": {"sync": "the framework has no synchronous run"},
    "langchain": {},
    "google_adk": {},
    "openai_agents": {},
    "strands": {
        "hosted tool": "its messages do not name calls of the provider; tools of the provider are reported at the start"
    },
}
