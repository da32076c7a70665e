"""MCP tool handlers against a real server process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hookwright.executors.mcp_tool import McpToolExecutor, fill_in
from hookwright.interpret import interpret
from hookwright.mcp.servers import McpServers, StdioServer
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import McpToolHandler
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Block, Deny, Ending
from hookwright.protocol.replies import Exited, Failed, Failure, Reply
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event
from support import event

TESTS = Path(__file__).parents[1]
SERVERS = {
    "fake": StdioServer(sys.executable, (str(TESTS / "conformance" / "kit" / "fake_mcp.py"),)),
    "gone": StdioServer("/no/such/program"),
}


def job(fired: Event, server: str, tool: str, **fields: Any) -> Job:
    handler = McpToolHandler(source=Source(Scope.USER), server=server, tool=tool, input=fields)
    return Job(handler, fired, encode_event(fired), 0, "run-1", 10.0)


def ask(*jobs: Job) -> list[Reply]:
    async def main() -> list[Reply]:
        async with McpServers(SERVERS, env={"PATH": os.environ["PATH"]}, cwd=str(TESTS)) as servers:
            return [await McpToolExecutor(servers)(each) for each in jobs]

    return asyncio.run(main())


def test_text_is_read_like_stdout_at_exit_0() -> None:
    fired = event("PostToolUse", tool_input={"command": "ls $(x) ${tool_name}"})
    replies = ask(
        job(fired, "fake", "echo", text="ran ${tool_input.command} with ${tool_name}"),
        job(fired, "fake", "json"),
        job(fired, "fake", "echo", text="${tool_input.nothing}"),
    )
    assert replies == [
        Exited(0, b"echo:ran ls $(x) ${tool_name} with Bash"),
        Exited(0, json.dumps({"decision": "block", "reason": "REASON-from-mcp"}).encode()),
        Exited(0, b"echo:", notes=("input: ${tool_input.nothing} is not in this event; an empty string was used",)),
    ]
    verdict = interpret(replies[1], job(fired, "fake", "json").handler, fired)
    assert verdict.decision == Block("REASON-from-mcp")


def test_failures_block_nothing_and_name_the_server() -> None:
    fired = event("PreToolUse")
    jobs = [
        job(fired, "nosuch", "echo"),
        job(fired, "gone", "echo"),
        job(fired, "fake", "fail"),
        job(fired, "fake", "elicit"),
    ]
    replies = ask(*jobs)
    assert replies == [
        Failed(Failure.CONNECTION, "MCP server `nosuch` is not configured (configured: fake, gone)"),
        Failed(
            Failure.CONNECTION,
            "MCP server `gone` could not be reached: No such file or directory: /no/such/program",
        ),
        Failed(Failure.EXCEPTION, "MCP server `fake`, tool `fail` reported an error: MCP-BOOM", body="MCP-BOOM"),
        Exited(0, b'elicited:{"action": "cancel"}'),
    ]
    for asked, reply in zip(jobs[:3], replies, strict=False):
        verdict = interpret(reply, asked.handler, fired)
        assert (verdict.ending, isinstance(verdict.decision, Deny | Block)) == (Ending.ERROR, False)
        assert [each.code for each in verdict.diagnostics] == ["mcp-failed"]


def test_a_missing_sdk_is_a_failure_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "hookwright.mcp._session", raising=False)
    (reply,) = ask(job(event("PreToolUse"), "fake", "echo"))
    assert reply == Failed(Failure.LAUNCH, "an MCP server needs an optional dependency: pip install 'hookwright[mcp]'")


# ── placeholders ──

PAYLOAD = {
    "tool_name": "Edit",
    "tool_input": {"file_path": "/a b", "edits": [{"old": "x"}, {"old": "y"}], "n": 3, "all": True, "none": None},
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("${tool_name}", "Edit"),
        ("<${tool_input.file_path}>", "</a b>"),
        ("${tool_input.n}", "3"),
        ("${tool_input.all}", "true"),
        ("${tool_input.none}", "null"),
        ("${tool_input.edits.1.old}", "y"),
        ("${tool_input.edits.0}", '{"old":"x"}'),
        ("${tool_name}${tool_name}", "EditEdit"),
        ("$tool_name $5 ${", "$tool_name $5 ${"),
        ({"a": ["${tool_name}", 1, None]}, {"a": ["Edit", 1, None]}),
        (7, 7),
    ],
)
def test_placeholders(template: Any, expected: Any) -> None:
    assert fill_in({"v": template}, json.dumps(PAYLOAD).encode()) == ({"v": expected}, ())


@pytest.mark.parametrize(
    "path", ["nothing", "tool_input.x", "tool_input.edits.9", "tool_name.x", "", "tool_input.edits.-1"]
)
def test_a_missing_field_is_empty_and_told(path: str) -> None:
    filled, notes = fill_in({"v": f"[${{{path}}}][${{{path}}}]"}, json.dumps(PAYLOAD).encode())
    assert filled == {"v": "[][]"}
    assert len(notes) == 1


@pytest.mark.parametrize("hostile", ["${tool_name}", "${nothing}", "$(id)", "`id`", "a\u2028b\n"])
def test_what_was_put_in_is_not_looked_at_again(hostile: str) -> None:
    filled, notes = fill_in({"v": "${value}"}, json.dumps({"value": hostile, "tool_name": "Bash"}).encode())
    assert (filled, notes) == ({"v": hostile}, ())
