"""What is measured: each scenario sets something up and yields the one thing to do again and again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from hookwright.aggregate import aggregate
from hookwright.background import Background
from hookwright.config.locations import Surroundings
from hookwright.engine import HookEngine
from hookwright.executors.callback import run_callback
from hookwright.executors.command import CommandExecutor
from hookwright.executors.http import HttpExecutor
from hookwright.hookset import HookSet
from hookwright.interpret import interpret
from hookwright.observers import Observer
from hookwright.observers.journal import Journal
from hookwright.protocol.events import Event, PreToolUse
from hookwright.protocol.handlers import CallbackHandler, CommandHandler, Handler, HttpHandler, Kind, MatcherGroup
from hookwright.protocol.job import Executor
from hookwright.protocol.outcome import Outcome, Run, Timing
from hookwright.protocol.replies import Exited
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope, Source

Once = Callable[[], Awaitable[object]]
Scenario = Callable[..., AbstractAsyncContextManager[Once]]

#: Handlers of a program are never taken for duplicates of each other.
PROGRAM = Source(Scope.PROGRAM)
MB = 1024 * 1024
#: Prompts with tool calls that one agent is asked; without calls the last answer is repeated.
MOST_PROMPTS = 20


def event(size: int = 1024) -> Event:
    """Make an event whose JSON is about so many bytes long."""
    return sample("PreToolUse", cwd=os.getcwd(), tool_input={"command": "x" * max(1, size - 330)})


def engine(
    groups: Sequence[MatcherGroup], executors: dict[Kind, Executor] | None = None, observers: Sequence[Observer] = ()
) -> HookEngine:
    """Make an engine as a session does."""
    host = Surroundings.here(None, None, None).host(os.getcwd())
    background = Background()
    known: dict[Kind, Executor] = {Kind.COMMAND: CommandExecutor(host, background), Kind.CALLBACK: run_callback}
    return HookEngine(
        HookSet.build(groups),
        host=host,
        executors={**known, **(executors or {})},
        background=background,
        observers=observers,
    )


def group(*handlers: Handler, matcher: str | None = None) -> MatcherGroup:
    """Make a group for PreToolUse."""
    return MatcherGroup("PreToolUse", matcher, handlers)


async def nothing(event: Event) -> None:
    """Answer nothing."""


# ── in the process ──────────────────────────────────────────────────────────


@asynccontextmanager
async def no_match() -> AsyncIterator[Once]:
    """Fire an event for which nothing is configured."""
    ready, moment = engine([MatcherGroup("Stop", None, (CommandHandler(source=PROGRAM, command="true"),))]), event()
    yield lambda: ready.fire(moment)


@asynccontextmanager
async def other_tool(number: str) -> AsyncIterator[Once]:
    """Fire an event whose handlers are all for other tools."""
    ready, moment = engine(others(int(number))), event()
    yield lambda: ready.fire(moment)


def others(number: int) -> list[MatcherGroup]:
    """Make handlers of which each has its own tool."""
    return [
        group(CommandHandler(source=PROGRAM, command=f"guard {index}"), matcher=f"Tool{index}")
        for index in range(number)
    ]


@asynccontextmanager
async def select(number: str) -> AsyncIterator[Once]:
    """Select one handler among many."""
    chosen = group(CommandHandler(source=PROGRAM, command="true"), matcher="Bash|Write")
    made, moment = engine([*others(int(number) - 1), chosen]), event()

    async def once() -> None:
        for _ in range(100):
            made.select(moment)

    yield once


@asynccontextmanager
async def callback() -> AsyncIterator[Once]:
    """Fire at one callback."""
    ready, moment = engine([group(CallbackHandler(source=PROGRAM, function=nothing))]), event()
    yield lambda: ready.fire(moment)


@asynccontextmanager
async def callback_among(number: str) -> AsyncIterator[Once]:
    """Fire at one callback among many handlers for other tools."""
    chosen = group(CallbackHandler(source=PROGRAM, function=nothing), matcher="Bash|Write")
    ready, moment = engine([*others(int(number) - 1), chosen]), event()
    yield lambda: ready.fire(moment)


@asynccontextmanager
async def thread_callback() -> AsyncIterator[Once]:
    """Fire at one plain function, which runs in a thread."""

    def plain(event: Event) -> None:
        """Answer nothing."""

    ready, moment = engine([group(CallbackHandler(source=PROGRAM, function=plain))]), event()
    yield lambda: ready.fire(moment)


@asynccontextmanager
async def journal() -> AsyncIterator[Once]:
    """Fire at one callback and write it into the journal."""
    with tempfile.TemporaryDirectory() as folder:
        observer = Journal(folder)
        ready = engine([group(CallbackHandler(source=PROGRAM, function=nothing))], observers=[observer])
        moment = event()
        yield lambda: ready.fire(moment)


ANSWER = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}


@asynccontextmanager
async def interpretation() -> AsyncIterator[Once]:
    """Interpret the answer of a process and aggregate it."""
    moment, handler = event(), CommandHandler(source=PROGRAM, command="guard")
    ANSWER["hookSpecificOutput"]["permissionDecisionReason"] = "not here"
    reply = Exited(0, json.dumps(ANSWER).encode() + b"\n")

    async def once() -> Outcome:
        verdict = interpret(reply, handler, moment)
        return aggregate(moment, [Run(handler, reply, verdict, Timing(0.0, 0.0), "")])

    yield once


@asynccontextmanager
async def tool_call(hooks: str) -> AsyncIterator[Once]:
    """Go from a tool call to the verdict, the making of the event included, as the peers do."""
    number = int(hooks)
    handlers = [CommandHandler(source=PROGRAM, command=f"true # {index}") for index in range(max(number, 1))]
    ready = engine([group(*handlers, matcher="Bash" if number else "Write")])
    cwd, tool_input = os.getcwd(), {"command": "x" * 700}

    async def once() -> None:
        moment = PreToolUse(
            session_id="s",
            transcript_path="/tmp/t.jsonl",
            cwd=cwd,
            tool_name="Bash",
            tool_input=tool_input,
            tool_use_id="toolu_1",
        )
        outcome = await ready.fire(moment)
        assert len(outcome.runs) == number, outcome
        assert not outcome.errors, outcome

    yield once


# ── processes ───────────────────────────────────────────────────────────────


@asynccontextmanager
async def command(number: str = "1", ballast_mb: str = "0", form: str = "sh") -> AsyncIterator[Once]:
    """Fire at so many command hooks that do nothing, all of one event."""
    ballast = bytearray(int(ballast_mb) * MB)
    ballast[::4096] = b"x" * len(ballast[::4096])  # touch every page
    args = None if form == "sh" else ()
    text = "true" if form == "sh" else "/bin/true"
    handler = CommandHandler(source=PROGRAM, command=text, args=args)
    ready, moment = engine([group(*[handler] * int(number))]), event()

    outcome: Outcome | None = None

    async def once() -> None:
        nonlocal outcome
        outcome = await ready.fire(moment)

    yield once
    assert outcome is None or all(run.label == "success" for run in outcome.runs), outcome


READ_ALL = "cat > /dev/null"


@asynccontextmanager
async def sized(size: str) -> AsyncIterator[Once]:
    """Fire an event of a certain size at a hook that reads all of it."""
    ready = engine([group(CommandHandler(source=PROGRAM, command=READ_ALL))])
    moment = event(int(size))

    async def once() -> None:
        outcome = await ready.fire(moment)
        assert outcome.runs[0].label == "success", outcome

    yield once


@asynccontextmanager
async def sized_run(size: str) -> AsyncIterator[Once]:
    """Give the same bytes to the same command with `subprocess.run`, and nothing else."""
    data = b"x" * int(size)

    async def once() -> None:
        subprocess.run(["/bin/sh", "-c", READ_ALL], input=data, capture_output=True, start_new_session=True, check=True)

    yield once


# ── HTTP ────────────────────────────────────────────────────────────────────

SERVER = """
import asyncio
async def serve(reader, writer):
    while True:
        head = await reader.readuntil(b"\\r\\n\\r\\n")
        length = next(int(line[15:]) for line in head.split(b"\\r\\n") if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextlib.contextmanager
def _server() -> object:
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@asynccontextmanager
async def http_hook() -> AsyncIterator[Once]:
    """Fire at one HTTP handler on this machine."""
    with _server() as port:
        executor = HttpExecutor({}, None, None)
        handler = HttpHandler(source=PROGRAM, url=f"http://127.0.0.1:{port}/hook")
        ready, moment = engine([group(handler)], {Kind.HTTP: executor}), event()

        async def once() -> None:
            outcome = await ready.fire(moment)
            assert outcome.runs[0].label == "success", outcome

        yield once
        await executor.aclose()


@asynccontextmanager
async def http_bare() -> AsyncIterator[Once]:
    """POST the same bytes with the standard library's client over one connection."""
    with _server() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        data = b"x" * 1024

        async def once() -> None:
            connection.request("POST", "/hook", data, {"Content-Type": "application/json"})
            connection.getresponse().read()

        yield once
        connection.close()


# ── Python hooks ────────────────────────────────────────────────────────────

PLAIN_HOOK = """import json, sys
event = json.load(sys.stdin)
if "rm -rf /" in event["tool_input"]["command"]:
    print(json.dumps({"decision": "block", "reason": "no"}))
"""
AUTHOR_HOOK = """from hookwright.author import deny, hook

@hook.pre_tool_use("Bash")
def guard(event):
    if "rm -rf /" in event.tool_input["command"]:
        return deny("no")

hook.run()
"""


@asynccontextmanager
async def python_hook(worker: str, python: str = sys.executable, kind: str = "plain") -> AsyncIterator[Once]:
    """Fire at a Python hook: cold, warm or resident."""
    from hookwright.warm.executor import WorkerExecutor
    from hookwright.warm.workers import Workers

    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "hook.py")
        script.write_text(PLAIN_HOOK if kind == "plain" else AUTHOR_HOOK)
        commands, workers = CommandExecutor(Surroundings.here(None, None, None).host(folder), Background()), Workers()
        executor: Executor = commands if worker == "cold" else WorkerExecutor(commands, workers)
        chosen = None if worker == "cold" else worker
        handler = CommandHandler(source=PROGRAM, command=python, args=(str(script),), worker=chosen)
        ready, moment = engine([group(handler)], {Kind.COMMAND: executor}), event()

        async def once() -> None:
            outcome = await ready.fire(moment)
            assert outcome.runs[0].label == "success", outcome
            assert not outcome.diagnostics, outcome

        await once()
        await workers.interpreters.settled()
        try:
            yield once
        finally:
            await workers.aclose()


# ── the agent ───────────────────────────────────────────────────────────────


@asynccontextmanager
async def agent_turn(calls: str = "0", hooks: str = "0") -> AsyncIterator[Once]:
    """Have the reference agent answer a prompt from a script: so many tool calls, so many hooks before each."""
    from hookwright.agent import AgentOptions, open_agent
    from hookwright.models.script import parse_script
    from hookwright.models.scripted import ScriptedModel

    call = {"tool": "Bash", "input": {"command": "true", "description": "do nothing"}}
    handlers = [{"type": "command", "command": f"true # {number}"} for number in range(int(hooks))]
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "HOOKWRIGHT_MANAGED_SETTINGS": f"{folder}/none"}
        prompt = [*[[call]] * int(calls), [{"text": "Done."}]]
        script = parse_script({"turns": prompt * (MOST_PROMPTS if int(calls) else 1), "repeat": True})
        options = AgentOptions(
            cwd=folder, env=env, home=folder, allowed_tools=("Bash",), settings=(json.dumps(settings),)
        )
        async with open_agent(options, model=ScriptedModel(script)) as agent:

            async def once() -> None:
                result = await agent.run("hello")
                assert (result.text, result.tool_calls) == ("Done.", int(calls)), result.text

            yield once


SCENARIOS: dict[str, Scenario] = {
    "no-match": no_match,
    "other-tool": other_tool,
    "select": select,
    "callback": callback,
    "callback-among": callback_among,
    "thread-callback": thread_callback,
    "journal": journal,
    "interpretation": interpretation,
    "command": command,
    "sized": sized,
    "sized-run": sized_run,
    "http": http_hook,
    "http-bare": http_bare,
    "python": python_hook,
    "agent-turn": agent_turn,
    "tool-call": tool_call,
}
