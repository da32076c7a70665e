"""Agent hooks: their turns, tools and answers, against both API families."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hookwright.engine import HookEngine
from hookwright.executors.agent import AGENT_PREFIX, TURNS, AgentExecutor, transcript_of
from hookwright.executors.toolbox import ReadResult, ReadTools, ToolUse
from hookwright.hookset import HookSet
from hookwright.interpret import interpret
from hookwright.models import from_environment
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import Message, Model, Request, Response, ToolDefinition
from hookwright.projects.lookup import Search
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import AgentHandler, Kind, MatcherGroup
from hookwright.protocol.host import Host
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import NO_OPINION, Block, Deny, Ending
from hookwright.protocol.replies import Failed, Failure, Judged, NoAnswer, Reply, TimedOut
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event
from servers import Answer, Server, call, chat_api, fail, messages_api, say, slowly
from support import event, open_fds

Api = Callable[..., AbstractContextManager[Server]]
both = pytest.mark.parametrize("api", [messages_api, chat_api], ids=["messages", "chat"])
USER = Source(Scope.USER)
YES = call("StructuredOutput", {"ok": True})
NO = call("StructuredOutput", {"ok": False, "reason": "R"})


def handler(prompt: Any = "AGENTHOOK $ARGUMENTS", **fields: Any) -> AgentHandler:
    return AgentHandler(source=USER, prompt=prompt, **fields)


def job(asked: AgentHandler, fired: Event) -> Job:
    return Job(asked, fired, encode_event(fired), 0, "run-1", None)


T = TypeVar("T")


def using(server: Server, work: Callable[[Model], Awaitable[T]]) -> T:
    async def main() -> T:
        model = from_environment(server.env)
        try:
            async with asyncio.timeout(30):
                return await work(model)
        finally:
            await model.close()

    return asyncio.run(main())


def verify(server: Server, asked: AgentHandler | None = None, fired: Event | None = None, **options: Any) -> Reply:
    """Run one agent hook against a server."""
    task = job(asked if asked is not None else handler(), fired if fired is not None else event("Stop"))
    return using(server, lambda model: AgentExecutor(model, **options)(task))


def judged(reply: Reply) -> tuple[bool, str | None]:
    assert isinstance(reply, Judged), reply
    return reply.ok, reply.reason


def results(server: Server, number: int) -> list[dict[str, Any]]:
    """List the tool results in a request, in the words of the Messages API."""
    found = []
    for message in server.requests[number].body["messages"]:
        if message["role"] == "tool":
            found.append({"content": message["content"], "is_error": message["content"].startswith("Error: ")})
        elif isinstance(message["content"], list):
            found += [block for block in message["content"] if block.get("type") == "tool_result"]
    return found


def tool_names(server: Server, number: int = 0) -> list[str]:
    return [tool.get("name") or tool["function"]["name"] for tool in server.requests[number].body["tools"]]


# ── turns and answers ───────────────────────────────────────────────────────


@pytest.mark.req("R-136", "R-137", "R-138")
@both
def test_it_reads_a_file_before_it_answers(api: Api, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("FILE-CONTENT\n")
    with api(call("Read", {"file_path": "notes.txt"}), NO) as server:
        reply = verify(server, fired=event("Stop", cwd=str(tmp_path)))
    assert judged(reply) == (False, "R")
    assert tool_names(server) == ["Read", "Grep", "Glob", "StructuredOutput"]
    assert len(server.requests) == 2
    (result,) = results(server, 1)
    assert "FILE-CONTENT" in result["content"]
    assert result["is_error"] is False
    assert "AGENTHOOK" in json.dumps(next(m for m in server.requests[0].body["messages"] if m["role"] == "user"))


@pytest.mark.req("R-138")
@both
def test_the_first_valid_answer_ends_it(api: Api) -> None:
    both_calls = Answer(calls=(("Read", {"file_path": "/nowhere"}), ("StructuredOutput", {"ok": True})))
    with api(both_calls) as server:
        assert judged(verify(server)) == (True, None)
    assert len(server.requests) == 1


@pytest.mark.req("R-139")
@both
@pytest.mark.parametrize("bad", [{}, {"ok": "yes"}, {"ok": True, "reason": 5}])
def test_an_invalid_answer_does_not_end_it(api: Api, bad: dict[str, Any]) -> None:
    with api(call("StructuredOutput", bad), YES) as server:
        assert judged(verify(server)) == (True, None)
    (result,) = results(server, 1)
    assert result["is_error"] is True
    assert "not a valid answer" in result["content"]


@pytest.mark.req("R-140")
@both
def test_text_alone_gets_a_reminder(api: Api) -> None:
    with api(say("I think it is fine."), YES) as server:
        assert judged(verify(server)) == (True, None)
    last = server.requests[1].body["messages"][-1]
    assert last["role"] == "user"
    assert "StructuredOutput" in last["content"]


@pytest.mark.req("R-140", "R-142")
@both
@pytest.mark.parametrize("answer", [say("I am done."), say()])
def test_who_never_answers_is_given_up(api: Api, answer: Answer) -> None:
    with api(answer) as server:
        reply = verify(server)
    assert isinstance(reply, NoAnswer)
    assert "without calling StructuredOutput" in reply.message
    assert len(server.requests) < 10


@pytest.mark.req("R-141", "R-142")
@both
def test_after_fifty_turns_it_is_cancelled(api: Api) -> None:
    with api(call("Unknown", {})) as server:
        reply = verify(server)
    assert isinstance(reply, NoAnswer)
    assert len(server.requests) == TURNS == 50
    assert reply.spent is not None
    assert (reply.spent.requests, reply.spent.input_tokens) == (50, 50 * 105)
    verdict = interpret(reply, handler(), event("Stop"))
    assert (verdict.ending, verdict.decision) == (Ending.CANCELLED, NO_OPINION)


@pytest.mark.req("R-141")
def test_the_fiftieth_turn_may_still_answer() -> None:
    with messages_api(*[call("Unknown", {})] * 49, YES) as server:
        assert judged(verify(server)) == (True, None)
    assert len(server.requests) == 50


@pytest.mark.req("R-146")
@both
def test_it_asks_the_small_model_without_thinking(api: Api) -> None:
    with api(YES) as server:
        server.env["ANTHROPIC_SMALL_FAST_MODEL"] = "claude-haiku-4-5"
        verify(server)
        verify(server, handler(model="special"))
        verify(server, default_model=lambda: "chosen")
    names = [request.body["model"] for request in server.requests]
    assert names[0] in ("claude-haiku-4-5", server.env.get("OPENAI_MODEL"))
    assert names[1:] == ["special", "chosen"]
    body = server.requests[0].body
    assert body.get("thinking") == {"type": "disabled"} or body.get("reasoning_effort") == "none"
    assert server.requests[0].headers["x-hookwright-purpose"] == "agent-hook"


@pytest.mark.req("R-147")
def test_the_prompt_is_filled_and_may_be_a_function() -> None:
    seen: list[Sequence[Message]] = []

    def ask_about(messages: list[dict[str, Any]]) -> str:
        seen.append(messages)
        return f"After {len(messages)} messages: $ARGUMENTS"

    with messages_api(YES) as server:
        verify(server, handler("CHECK $ARGUMENTS"))
        verify(server, handler(ask_about), messages=lambda: [{"role": "user", "content": "hi"}])
        verify(server, handler(ask_about))
    body = encode_event(event("Stop")).decode().rstrip("\n")
    asked = [request.body["messages"][0]["content"] for request in server.requests]
    assert asked == [f"CHECK {body}", f"After 1 messages: {body}", f"After 0 messages: {body}"]
    assert seen == [[{"role": "user", "content": "hi"}], []]


def test_a_prompt_function_that_raises_is_an_error() -> None:
    def broken(messages: list[dict[str, Any]]) -> str:
        raise KeyError("x")

    with messages_api(YES) as server:
        reply = verify(server, handler(broken))
    assert isinstance(reply, Failed)
    assert (reply.why, server.requests) == (Failure.EXCEPTION, [])


@pytest.mark.req("R-149")
@both
def test_a_failing_call_is_an_error(api: Api) -> None:
    with api(call("Unknown", {}), fail(401, "bad key")) as server:
        reply = verify(server)
    assert isinstance(reply, Failed)
    assert (reply.why, reply.status) == (Failure.MODEL, 401)
    assert reply.spent is not None
    assert reply.spent.requests == 1
    assert interpret(reply, handler(), event("Stop")).ending is Ending.ERROR


@pytest.mark.req("R-148")
def test_no_blocks_and_does_not_end_the_turn() -> None:
    text = "Agent hook condition was not met: R"
    denied = interpret(Judged(False, "R"), handler(), event("PreToolUse"))
    assert (denied.decision, denied.stop) == (Deny(text), None)
    kept = interpret(Judged(False, "R"), handler(), event("Stop"))
    assert (kept.decision, kept.stop) == (Block(text), None)
    assert interpret(Judged(True), handler(), event("Stop")).decision == NO_OPINION


# ── its surroundings ────────────────────────────────────────────────────────


@pytest.mark.req("R-143")
def test_it_is_told_the_transcript_and_may_read_it(tmp_path: Path) -> None:
    transcript = tmp_path / "elsewhere" / "t.jsonl"
    transcript.parent.mkdir()
    transcript.write_text('{"type": "user", "message": "SAID-BEFORE"}\n')
    project = tmp_path / "project"
    project.mkdir()
    with messages_api(call("Read", {"file_path": str(transcript)}), YES) as server:
        verify(server, fired=event("Stop", cwd=str(project), transcript_path=str(transcript)))
    assert str(transcript) in server.requests[0].body["system"]
    assert "SAID-BEFORE" in results(server, 1)[0]["content"]


@pytest.mark.req("R-143")
def test_inside_a_subagent_it_is_told_the_subagents_transcript(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    own = tmp_path / "s" / "subagents" / "agent-a7.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert transcript_of(event("SubagentStop", agent_transcript_path="/t/own.jsonl")) == "/t/own.jsonl"
    assert transcript_of(event("PreToolUse", transcript_path=str(session), agent_id="a7")) == str(own)
    assert transcript_of(event("PreToolUse", transcript_path=str(session), agent_id="b8")) == str(session)
    assert transcript_of(event("PreToolUse", transcript_path=str(session))) == str(session)


class HostTools:
    """Tools as a host lends them: Bash runs, Write is not allowed, Crash breaks."""

    def __init__(self) -> None:
        self.uses: list[ToolUse] = []

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        return [
            ToolDefinition(name, "d", {"type": "object"}) for name in ("Bash", "Write", "Crash", "StructuredOutput")
        ]

    async def call(self, use: ToolUse) -> ReadResult:
        self.uses.append(use)
        if use.name == "Crash":
            raise ZeroDivisionError("oops")
        if use.name == "Write":
            return ReadResult("Permission to use Write has been denied.", True)
        return ReadResult("RAN")


@pytest.mark.req("R-137", "R-144")
@both
def test_a_hosts_tools_are_used_under_its_own_rules(api: Api) -> None:
    box = HostTools()
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Bash", {"command": "make"}),
        ("Write", {}),
        ("Crash", {}),
        ("Unlisted", {}),
    )
    with api(Answer(calls=calls), YES) as server:
        assert judged(verify(server, tools=box)) == (True, None)
    assert tool_names(server) == ["Bash", "Write", "Crash", "StructuredOutput"]
    found = results(server, 1)
    assert [result["is_error"] for result in found] == [False, True, True, True]
    texts = [result["content"].removeprefix("Error: ") for result in found]
    assert texts == [
        "RAN",
        "Permission to use Write has been denied.",
        "Crash failed: ZeroDivisionError: oops",
        "There is no tool Unlisted here.",
    ]
    # A tool that is not offered never reaches the host, so nobody can be asked about it.
    assert [use.name for use in box.uses] == ["Bash", "Write", "Crash", "StructuredOutput"]


@pytest.mark.req("R-145")
def test_every_agent_has_an_id_of_its_own() -> None:
    box = HostTools()
    with messages_api(call("Bash", {}), YES, call("Bash", {}), YES) as server:
        replies = [verify(server, tools=box), verify(server, tools=box)]
    ids = [reply.spent.agent_id for reply in replies if isinstance(reply, Judged) and reply.spent is not None]
    assert list(dict.fromkeys(use.agent_id for use in box.uses)) == ids
    assert len(set(ids)) == 2
    assert all(str(agent_id).startswith(AGENT_PREFIX) for agent_id in ids)


@pytest.mark.req("R-142", "R-150")
def test_a_slow_agent_is_given_up_and_nothing_stays() -> None:
    asked = handler(timeout=0.5)
    with messages_api(call("Unknown", {}), slowly(30, YES)) as server:

        async def work(model: Model) -> Any:
            await model.complete(Request(messages=[{"role": "user", "content": "warm up"}]))
            before = len(asyncio.all_tasks())
            engine = HookEngine(
                HookSet.build([MatcherGroup("Stop", None, (asked,))]),
                host=Host(project_dir="/tmp", env={}),
                executors={Kind.AGENT: AgentExecutor(model)},
            )
            outcome = await engine.fire(event("Stop"))
            assert await asyncio.to_thread(server.hung_up.wait, 10)
            assert len(asyncio.all_tasks()) == before
            return outcome

        outcome = using(server, work)
    (run,) = outcome.runs
    assert run.reply == TimedOut(0.5)
    assert (run.label, outcome.decision) == ("cancelled", NO_OPINION)


@pytest.mark.req("R-150")
def test_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whatever way a run ends, the next one starts from the same place."""
    script = {
        "routes": [
            {
                "match": "AGENTHOOK",
                "turns": [
                    [{"tool": "Glob", "input": {"pattern": "*"}}],
                    [{"tool": "StructuredOutput", "input": {"ok": True}}],
                    [{"error": 500}],
                    [{"tool": "StructuredOutput", "input": {"ok": False}}],
                ],
            }
        ]
    }

    async def main() -> None:
        model = Recording(script)
        execute = AgentExecutor(model)
        task = job(handler(), event("Stop", cwd=str(tmp_path)))
        await ReadTools(str(tmp_path)).call(ToolUse("t", "Glob", {"pattern": "*"}, ""))  # the loop keeps one descriptor
        tasks, fds = len(asyncio.all_tasks()), open_fds()
        kinds = [type(await execute(task)) for _ in range(3)]
        assert kinds == [Judged, Failed, Judged]
        assert (len(asyncio.all_tasks()), open_fds()) == (tasks, fds)
        assert [len(request.messages) for request in model.requests] == [1, 3, 1, 1]

    asyncio.run(main())


class Recording(ScriptedModel):
    """A scripted model that remembers what it was asked."""

    def __init__(self, script: Any) -> None:
        super().__init__(parse_script(script))
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Response:
        self.requests.append(request)
        return await super().complete(request)


# ── the tools that read ─────────────────────────────────────────────────────


def use(cwd: Path, name: str, /, within: float = 20.0, **arguments: Any) -> ReadResult:
    return asyncio.run(ReadTools(str(cwd), Search(limit=within)).call(ToolUse("t", name, arguments, "hook-agent-1")))


def tree(root: Path) -> Path:
    files = {
        "src/a.py": "import os\nTODO = 1\n",
        "src/b.txt": "todo later\nnothing\n",
        ".git/config": "TODO inside git\n",
        ".hidden/c.py": "TODO hidden\n",
        "binary": "TODO\0x",
    }
    for number, (name, text) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (number, number))
    return root


@pytest.mark.req("R-137")
def test_read_numbers_lines_and_pages(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {i}\n" for i in range(1, 6)))
    assert use(tmp_path, "Read", file_path="f", offset=2, limit=2) == ReadResult(
        "2\tline 2\n3\tline 3\n(more lines follow; continue with offset 4)"
    )
    assert use(tmp_path, "Read", file_path=str(tmp_path / "f"), offset=5).text == "5\tline 5\n6\t"
    assert use(tmp_path, "Read", file_path="f", offset=9).text == "(the file has 6 lines)"


@pytest.mark.req("R-137")
def test_grep_finds_lines(tmp_path: Path) -> None:
    root = tree(tmp_path)
    hit = f"{root}/src/a.py:2:TODO = 1"
    assert use(root, "Grep", pattern="TODO", path="src").text == hit
    assert use(root, "Grep", pattern="todo", path="src", ignore_case=True).text.splitlines() == [
        hit,
        f"{root}/src/b.txt:1:todo later",
    ]
    assert use(root, "Grep", pattern="TODO", glob="*.py").text.splitlines() == [
        f"{root}/.hidden/c.py:1:TODO hidden",
        hit,
    ]
    assert use(root, "Grep", pattern="ABSENT").text == "(no matches)"
    assert use(root, "Grep", pattern="later", path="src/b.txt").text == f"{root}/src/b.txt:1:todo later"


@pytest.mark.req("R-137")
def test_glob_lists_files_newest_first(tmp_path: Path) -> None:
    root = tree(tmp_path)
    assert use(root, "Glob", pattern="**/*.py").text.splitlines() == [f"{root}/.hidden/c.py", f"{root}/src/a.py"]
    assert use(root, "Glob", pattern="*.txt", path="src").text == f"{root}/src/b.txt"
    assert use(root, "Glob", pattern="*.rs").text == "(no files)"


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("Read", {"file_path": "absent"}, "File does not exist"),
        ("Read", {"file_path": "."}, "it is a directory"),
        ("Read", {}, "`file_path` must be a string, not None"),
        ("Read", {"unreadable_arguments": "{x"}, "`file_path` must be a string"),
        ("Read", {"file_path": "f", "offset": "2"}, "`offset` must be a whole number, not '2'"),
        ("Read", {"file_path": "a\0b"}, "null byte"),
        ("Grep", {"pattern": "("}, "pattern is not a regular expression"),
        ("Grep", {"pattern": "x", "path": "absent"}, "does not exist"),
        ("Write", {"file_path": "f"}, "There is no tool Write; use Read, Grep or Glob."),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_told(
    tmp_path: Path, name: str, arguments: dict[str, Any], says: str
) -> None:
    (tmp_path / "f").write_text("x\n")
    result = use(tmp_path, name, **arguments)
    assert result.is_error
    assert says in result.text


def test_an_exploding_pattern_is_ended(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 60 + "!\n")
    started = time.monotonic()
    result = use(tmp_path, "Grep", within=0.5, pattern=r"(a+)+$")
    assert result == ReadResult("Grep took over 0.5 seconds. Use a simpler pattern or a smaller folder.", True)
    assert time.monotonic() - started < 15


def children() -> set[str]:
    """List the living child processes of this one."""
    return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


def test_a_search_that_is_given_up_is_killed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 60 + "!\n")

    async def main() -> None:
        before = children()
        search = ToolUse("t", "Grep", {"pattern": r"(a+)+$"}, "hook-agent-1")
        task = asyncio.create_task(ReadTools(str(tmp_path)).call(search))
        async with asyncio.timeout(10):
            while children() == before:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children() == before

    asyncio.run(main())


def test_what_is_read_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 100_000 + "\n" + "y\n" * 5000)
    assert len(use(tmp_path, "Read", file_path="long").text) < 31_000
    hits = use(tmp_path, "Grep", pattern="y").text.splitlines()
    assert hits[-1] == "(200 of 5000 matches; narrow the search)"
    assert len(hits) == 201
