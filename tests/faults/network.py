"""Hostile endpoints: what an HTTP server, an MCP server and a model API may do to whoever asks them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from faults.hostile import DENY, LONG, NONE, SHORT
from faults.world import SIBLING, World, codes, command, word
from hookwright.mcp.servers import McpServers, StdioServer
from hookwright.wiring import Powers

TESTS = Path(__file__).parent.parent
OVER = 2.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which a server answers, and what must come of it."""

    name: str
    #: What the server does: a mode of `endpoint`, or a tool of the MCP server.
    mode: str
    code: str
    expires: bool = False
    want: str = NONE
    memory: int = 64
    quick: bool = True

    @property
    def limit(self) -> float:
        """Tell the hook's time limit in seconds."""
        return SHORT if self.expires else LONG


HTTP = (
    Answer(name="HTTP: never answers", mode="hang", code="timeout", expires=True),
    Answer(name="HTTP: hangs in the head", mode="hang_in_head", code="timeout", expires=True, quick=False),
    Answer(name="HTTP: hangs in the body", mode="hang_in_body", code="timeout", expires=True, quick=False),
    Answer(name="HTTP: drips a byte at a time", mode="drip", code="timeout", expires=True),
    Answer(name="HTTP: drips headers", mode="drip_head", code="timeout", expires=True, quick=False),
    Answer(name="HTTP: closes without a word", mode="close", code="http-failed"),
    Answer(name="HTTP: resets", mode="reset", code="http-failed"),
    Answer(name="HTTP: resets in the body", mode="reset_in_body", code="http-failed"),
    Answer(name="HTTP: redirects to a denial", mode="redirect", code="http-failed"),
    Answer(name="HTTP: gigabytes", mode="gigabytes", code="invalid-answer"),
    Answer(name="HTTP: gigabytes, and says so", mode="declared_gigabytes", code="invalid-answer"),
    Answer(name="HTTP: chunks of a byte without end", mode="chunks", code="invalid-answer"),
    Answer(name="HTTP: headers without end", mode="head_without_end", code="invalid-answer"),
    Answer(name="HTTP: interim answers without end", mode="interim_without_end", code="invalid-answer"),
    Answer(name="HTTP: gzip bomb", mode="gzip_bomb", code="invalid-answer"),
    Answer(name="HTTP: deflate bomb", mode="deflate_bomb", code="invalid-answer"),
    Answer(name="HTTP: another protocol", mode="garbage", code="invalid-answer"),
    Answer(name="HTTP: half an answer", mode="broken_json", code="invalid-answer"),
    Answer(name="HTTP: 100,000 nested brackets", mode="deep_json", code="invalid-answer"),
    Answer(name="HTTP: 500 with a denial", mode="failing", code="http-failed"),
    Answer(name="HTTP: nobody listens", mode="", code="http-failed"),
)

MCP = (
    Answer(name="MCP: the server dies in a call", mode="die", code="mcp-failed", memory=128),
    Answer(name="MCP: the server never answers", mode="hang", code="timeout", expires=True, memory=128),
    Answer(name="MCP: the tool reports an error", mode="fail", code="mcp-failed", memory=128, quick=False),
    Answer(name="MCP: no such tool", mode="nowhere", code="mcp-failed", memory=128, quick=False),
)

#: MCP servers that never come up, by the command that stands for them.
BROKEN = {
    "MCP: the server cannot start": ("exit 1", "mcp-failed"),
    "MCP: the server closes its stdout": ("exec >&-; sleep 60", "mcp-failed"),
    "MCP: the server speaks no JSON": ("while echo hello; do sleep 0.05; done", "timeout"),
    "MCP: the server is silent": ("sleep 60", "timeout"),
    "MCP: the server prints lines without end": ("yes", "timeout"),
    "MCP: the server prints a line without end": ("cat /dev/zero", "timeout"),
}

MODEL = (
    Answer(
        name="model: stalls in the middle of its answer", mode="model_stalls", code="timeout", expires=True, memory=128
    ),
    Answer(name="model: never answers", mode="hang", code="timeout", expires=True, memory=128),
    Answer(name="model: an answer without end", mode="model_gigabytes", code="timeout", expires=True, memory=256),
    Answer(name="model: resets", mode="reset", code="model-failed", memory=128),
    Answer(name="model: speaks another protocol", mode="garbage", code="model-failed", memory=128),
)


@asynccontextmanager
async def endpoint() -> AsyncIterator[str]:
    """Run the hostile server; give its URL."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TESTS)}
    server = subprocess.Popen(
        [sys.executable, "-m", "faults.endpoint"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.stdin.close()
        server.stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(5)
        server.kill()
        server.wait()


async def try_handler(world: World, handler: dict[str, Any], answer: Answer, **more: Any) -> None:
    """Try a handler alone, beside a hook that denies and failing closed, each time after a good one if there is one."""
    handler = {**handler, "timeout": answer.limit}
    good, servers = more.pop("good", None), more.pop("servers", None)
    closed = {**handler, "onFailure": "block"}
    groups = [("Alone", [handler]), ("Beside", [command(SIBLING), handler]), ("Closed", [closed])]
    if good is not None:
        groups.append(("Good", [{**good, "timeout": LONG}]))
    async with world.session(*groups, **more) as session:
        if good is not None:
            outcome = await session.fire(world.event("Good"))
            world.check(word(outcome) == DENY, "before the fault", outcome)
            world.begin()
        for tool, want in {"Alone": answer.want, "Beside": DENY, "Closed": DENY}.items():
            outcome = await world.fire(session, world.event(tool), answer.limit if answer.expires else None)
            world.check(word(outcome) == want, f"{tool}: {want} wanted", outcome)
            world.check(answer.code in codes(outcome), f"{tool}: {answer.code} not named", outcome)
            await world.next_works(session)
            if good is not None:
                outcome = await session.fire(world.event("Good"))
                world.check(word(outcome) == DENY, f"{tool}: the good handler afterwards", outcome)
        if servers is None:
            await world.settle()
    if servers is not None:
        await servers.aclose()  # a server is the session's: it may come up after the hook that asked it was ended
        await world.settle()
    world.check(world.over <= OVER, f"{world.over:.2f} s over the limit, {OVER} allowed")
    world.check(world.peak <= answer.memory, f"{world.peak:.0f} MB over the baseline, {answer.memory} allowed")


async def run_http(world: World, answer: Answer) -> None:
    """Ask a hostile HTTP server."""
    async with endpoint() as url:
        target = f"{url}/{answer.mode}" if answer.mode else "http://127.0.0.1:9/"
        good = {"type": "http", "url": f"{url}/deny"}
        await try_handler(world, {"type": "http", "url": target}, answer, good=good)


async def run_mcp(world: World, answer: Answer) -> None:
    """Ask a hostile MCP server; a server that died is there again for the next call."""
    server = StdioServer(command=sys.executable, args=(str(TESTS / "mcp_server.py"), "stdio"))
    env = {**world.env, "MCP_TIMEOUT": "30000"}
    async with McpServers({"tests": server}, env=env, cwd=str(world.project)) as servers:
        await servers.tools("tests")  # the SDK takes a second to import, and the server another to start
        handler = {"type": "mcp_tool", "server": "tests", "tool": answer.mode, "input": {}}
        await try_handler(world, handler, answer, powers=Powers(servers=servers), servers=servers)


async def run_broken_mcp(world: World, name: str) -> None:
    """Ask an MCP server that never comes up."""
    text, code = BROKEN[name]
    server = StdioServer(command="/bin/sh", args=("-c", text))
    env = {**world.env, "MCP_TIMEOUT": "30000"}
    handler = {"type": "mcp_tool", "server": "tests", "tool": "echo", "input": {}}
    answer = Answer(name=name, mode="", code=code, expires=code == "timeout", memory=128)
    async with McpServers({"tests": server}, env=env, cwd=str(world.project)) as servers:
        with contextlib.suppress(Exception, TimeoutError):
            await servers._session("tests")  # imports the SDK
        await servers.aclose()
    async with McpServers({"tests": server}, env=env, cwd=str(world.project)) as servers:
        await try_handler(world, handler, answer, powers=Powers(servers=servers), servers=servers)


async def run_model(world: World, answer: Answer) -> None:
    """Ask a hostile model API, after a well-behaved one."""
    async with endpoint() as url:
        env = {**world.env, "ANTHROPIC_BASE_URL": f"{url}/{answer.mode}", "ANTHROPIC_API_KEY": "key"}
        await _import_sdk()
        await try_handler(world, {"type": "prompt", "prompt": "is it fine?"}, answer, env=env)


async def _import_sdk() -> None:
    from hookwright.models import anthropic

    anthropic.load()
