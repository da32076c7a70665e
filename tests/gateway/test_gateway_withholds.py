"""What a hook took out of a result does not reach the client, whatever the result looks like, and in no other field."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.rig import Rig
from hookwright import Hooks as CodeHooks
from hookwright import Places
from hookwright.adapters.gateway.calls import WITHHELD
from hookwright.adapters.gateway.gateway import Gateway
from hookwright.adapters.gateway.hooks import Hooks
from hookwright.protocol.events import Event, PostToolUse, PostToolUseFailure
from hookwright.protocol.outcome import Outcome
from hookwright.session import HookSession, open_session

SECRET = "s3cr3t"
#: Names of fields that mean something in a result, and others.
NAMES = st.sampled_from(["content", "structuredContent", "_meta", "text", "type", "data", "result", "uri", "x", SECRET])
LEAVES = st.sampled_from([SECRET, f"a {SECRET} b", "text", "", 0, None, True])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image", "resource", "resource_link", "audio", "other"])},
        optional={"text": LEAVES, "data": LEAVES, "resource": VALUES, "annotations": VALUES, "_meta": VALUES},
    ),
    max_size=3,
)
RESULTS = st.fixed_dictionaries(
    {"content": BLOCKS | VALUES},
    optional={
        "structuredContent": VALUES,
        "_meta": st.dictionaries(NAMES, VALUES, max_size=2),
        "other": VALUES,
        SECRET: VALUES,
        "nextCursor": LEAVES,
        "isError": st.just(False),
    },
)
CLEAN = st.sampled_from(
    [
        "GONE",
        "",
        None,
        7,
        [],
        [1, "two"],
        {"safe": 1},
        {"content": "not blocks"},
        [{"type": "text", "text": "GONE"}],
        {"content": [{"type": "text", "text": "GONE"}]},
        {"content": [], "structuredContent": {"safe": 1}},
        {"content": [{"no": "type"}], "structuredContent": {"safe": 1}},
    ]
)


@asynccontextmanager
async def opened(folder: Path, hooks: CodeHooks) -> AsyncIterator[tuple[Rig, HookSession]]:
    gate = Rig(folder)
    places = Places(project=str(folder), home=str(folder / "home"))
    async with open_session(places, hooks=hooks) as session:
        own = Hooks(session, "files", gate.said.append)
        gate.gateway = Gateway(own, gate.client.put, gate.server.put, gate.said.append)
        yield gate, session
        await gate.gateway.close()
        await own.end()


def test_nothing_of_a_rewritten_result_is_left(tmp_path: Path) -> None:
    """Through the whole gateway, for a result and for that of a task, with results and rewrites of any shape."""
    output: Any = None
    numbers = itertools.count(1)
    hooks = CodeHooks()

    @hooks.on("PostToolUse")
    def redact(event: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}

    async def one(gate: Rig, result: Any, way: str) -> None:
        id_ = next(numbers)
        await gate.call(id_=id_)
        await gate.at_server()
        if way == "task":
            await gate.reply({"task": {"taskId": "t"}}, id_)
            await gate.at_client()
            id_ = next(numbers)
            await gate.ask("tasks/result", id_, taskId="t")
            await gate.at_server()
        await gate.reply(result, id_)
        got = await asyncio.wait_for(gate.client.get(), 5)
        assert SECRET.encode() not in got
        assert "content" in json.loads(got)["result"]

    with asyncio.Runner() as runner:
        open_one = opened(tmp_path, hooks)
        gate, _ = runner.run(open_one.__aenter__())

        @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(result=RESULTS, new=CLEAN.filter(lambda value: value is not None), way=st.sampled_from(["call", "task"]))
        def law(result: Any, new: Any, way: str) -> None:
            nonlocal output
            output = new
            runner.run(one(gate, result, way))

        law()
        runner.run(open_one.__aexit__(None, None, None))


class TwoSessions:
    """Fires what happens after a call in a session of another event loop, which refuses it."""

    def __init__(self, here: HookSession, elsewhere: HookSession) -> None:
        self.here = here
        self.elsewhere = elsewhere

    def __getattr__(self, name: str) -> Any:
        return getattr(self.here, name)

    async def fire(self, kind: type[Event], /, **fields: Any) -> Outcome:
        after = kind in (PostToolUse, PostToolUseFailure)
        return await (self.elsewhere if after else self.here).fire(kind, **fields)


@pytest.mark.parametrize("way", ["result", "failure", "task", "error"])
def test_if_the_engine_fails_after_the_call_its_result_is_withheld(tmp_path: Path, way: str) -> None:
    with asyncio.Runner() as other, asyncio.Runner() as runner:
        elsewhere = open_session(str(tmp_path))
        broken = other.run(elsewhere.__aenter__())

        async def body() -> None:
            async with opened(tmp_path, CodeHooks()) as (gate, session):
                split: Any = TwoSessions(session, broken)
                gate.gateway = Gateway(Hooks(split, "files", print), gate.client.put, gate.server.put, print)
                id_ = 1
                await gate.call()
                assert (await gate.at_server())["params"]["arguments"] == {"x": 1}
                if way == "task":
                    await gate.reply({"task": {"taskId": "t"}})
                    await gate.at_client()
                    id_ = 2
                    await gate.ask("tasks/result", id_, taskId="t")
                    await gate.at_server()
                if way == "error":
                    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": SECRET}}
                    await gate.gateway.from_server(json.dumps(error).encode() + b"\n")
                else:
                    block = {"type": "text", "text": SECRET}
                    await gate.reply(
                        {"content": [block], "structuredContent": {"x": SECRET}, "isError": way == "failure"}, id_
                    )
                result = await gate.result()
                assert SECRET not in json.dumps(result)
                assert result["isError"] is True
                assert result["content"][0]["text"].startswith(f"{WITHHELD}PostToolUse")

        runner.run(body())
        other.run(elsewhere.__aexit__(None, None, None))
