"""Lines through the gateway: bytes that stay, arrays, lines that hide a call, questions of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.rig import NOTE, Rig, answers, command, rig
from hookwright.adapters.gateway.streams import lines

DENY = {"PreToolUse": [command("echo NO >&2; exit 2")]}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run", "arguments": {}}}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
IDS = st.integers() | st.text() | st.none()
METHODS = st.sampled_from(("ping", "resources/read", "notifications/progress", "logging/setLevel", "x/Tools/Call"))
SINGLE = st.one_of(
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": METHODS}, optional={"id": IDS, "params": VALUES}),
    st.fixed_dictionaries({"id": IDS, "result": VALUES}),
    st.fixed_dictionaries({"id": IDS, "error": VALUES}),
)
MESSAGES = st.builds(
    lambda value, spaces, ascii_: json.dumps(value, separators=spaces, ensure_ascii=ascii_),
    SINGLE | st.lists(SINGLE, min_size=1, max_size=3) | VALUES,
    st.sampled_from(((",", ":"), (", ", " : "))),
    st.booleans(),
).map(lambda text: text.encode("utf-8", "surrogatepass"))
LINES = st.lists((MESSAGES | st.binary()).filter(lambda line: b"\n" not in line), max_size=8)


@given(client=LINES, server=LINES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_the_gateway_does_not_own_keep_their_bytes_and_their_order(
    tmp_path: Path, client: Sequence[bytes], server: Sequence[bytes]
) -> None:
    async def body() -> None:
        async with rig(tmp_path, {**DENY, "PostToolUse": [command(NOTE)]}) as gate:
            for line in client:
                await gate.gateway.from_client(line + b"\n")
            for line in server:
                await gate.gateway.from_server(line + b"\n")
            assert [gate.server.get_nowait() for _ in client] == [line + b"\n" for line in client]
            assert [gate.client.get_nowait() for _ in server] == [line + b"\n" for line in server]
            assert await gate.quiet()

    asyncio.run(body())


@given(chunks=st.lists(st.binary(max_size=9).map(lambda data: data.replace(b"\x00", b"\n"))))
def test_lines_of_any_length_are_the_chunks_again(chunks: list[bytes]) -> None:
    async def arriving() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def body() -> list[bytes]:
        return [line async for line in lines(arriving())]

    found = asyncio.run(body())
    assert b"".join(found) == b"".join(chunks)
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in found[:-1])


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"x":NaN}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"x":"\xff"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools\\/call","params":{"name":"run","arguments":{}}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{}}}',
    ],
)
def test_a_call_in_lenient_json_is_judged(tmp_path: Path, line: bytes) -> None:
    async def body() -> None:
        async with rig(tmp_path, DENY) as gate:
            await gate.line(line + b"\n")
            assert (await gate.result())["isError"] is True
            assert await gate.quiet()

    asyncio.run(body())


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1,"method":"tools/call","method":"ping"}',
        b'[{"id":1,"method":"tools/call","method":"ping"}]',
        b'{"id":1,"method":"tools/call","params":{"name":"run","arguments":{"x":1,"x":2}}}',
        b'{"x":\r{"id":1,"method":"tools/call","params":{"name":"run"}}\r}',
        b'ping\r{"id":1,"method":"tools/call","params":{"name":"run"}}',
        b'{"id":1,"method":"\\u0074ools/call",}',
        b'{"method":"tools/call","params":{"name":"run"}}',
    ],
)
def test_a_line_that_another_reader_takes_for_a_call_is_held_back(tmp_path: Path, line: bytes) -> None:
    async def body() -> None:
        async with rig(tmp_path, DENY) as gate:
            await gate.line(line + b"\n")
            await gate.gateway.settled()
            assert gate.server.empty()
            assert len(gate.said) == 1
            assert "held back" in gate.said[0]

    asyncio.run(body())


def test_a_batch_is_answered_as_one(tmp_path: Path) -> None:
    """A denied call, one that runs, a ping and a notification in one array."""
    hooks = {"PreToolUse": [command("echo NO >&2; exit 2", "mcp__files__bad")]}
    bad = {**CALL, "id": 2, "params": {"name": "bad"}}
    note, ping = {"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 3, "method": "ping"}

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.line([CALL, bad, note, ping])
            sent = [await gate.at_server() for _ in range(3)]
            assert sorted(map(json.dumps, sent)) == sorted(map(json.dumps, [CALL, note, ping]))
            pongs: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": id_, "result": {}} for id_ in (3, 1)]
            await gate.gateway.from_server(json.dumps(pongs).encode() + b"\n")
            got = await gate.at_client()
            assert [one["id"] for one in got] == [1, 2, 3]
            assert got[1]["result"]["isError"] is True
            assert await gate.quiet()

    asyncio.run(body())


def test_a_cancelled_call_leaves_its_batch(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PreToolUse": [command("exec sleep 60")]}) as gate:
            await gate.line([CALL, {"jsonrpc": "2.0", "id": 3, "method": "ping"}])
            await gate.at_server()
            await gate.reply({}, 3)
            await gate.line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            assert await gate.at_client() == [{"jsonrpc": "2.0", "id": 3, "result": {}}]

    asyncio.run(body())


def test_the_id_of_a_call_in_flight_cannot_be_used_again(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {}) as gate:
            await gate.call()
            await gate.at_server()
            await gate.call(id_="1")
            assert (await gate.at_client())["error"]["code"] == -32600
            assert gate.server.empty()

    asyncio.run(body())


# ── questions of the server ─────────────────────────────────────────────────


async def asked(gate: Rig, **params: Any) -> bytes:
    value = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "Name?", **params}}
    line = json.dumps(value).encode() + b"\n"
    await gate.gateway.from_server(line)
    return line


def test_hooks_answer_a_question_of_the_server(tmp_path: Path) -> None:
    hooks = {"Elicitation": [command(answers("Elicitation", action="accept", content={"name": "Ada"}))]}

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await asked(gate, requestedSchema={"type": "object"})
            assert (await gate.at_server())["result"] == {"action": "accept", "content": {"name": "Ada"}}
            assert gate.log()[0]["requested_schema"] == {"type": "object"}
            assert await gate.quiet()

    asyncio.run(body())


@pytest.mark.parametrize(
    ("hook", "read"),
    [
        (NOTE, {"action": "accept", "content": {"name": "Bob"}}),
        (
            answers("ElicitationResult", action="accept", content={"name": "Ada"}),
            {"action": "accept", "content": {"name": "Ada"}},
        ),
        (f"{NOTE}; exit 2", {"action": "decline"}),
    ],
)
def test_hooks_see_the_answer_of_the_user(tmp_path: Path, hook: str, read: Any) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"ElicitationResult": [command(hook)]}) as gate:
            line = await asked(gate)
            assert await gate.client.get() == line
            await gate.line({"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {"name": "Bob"}}})
            assert (await gate.at_server())["result"] == read
            assert gate.log()[0]["content"] == {"name": "Bob"}

    asyncio.run(body())
