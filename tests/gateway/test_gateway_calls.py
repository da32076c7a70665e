"""The life of a tool call through the gateway, with real hooks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.rig import CAPABILITIES, NOTE, VERSION, Rig, answers, command, rig
from hookwright.adapters.gateway.gateway import Gateway
from hookwright.adapters.gateway.hooks import Hooks
from hookwright.session import HookSession, open_session
from processes import eventually, gone

TEXT = {"content": [{"type": "text", "text": "done"}]}
ASK = {"PreToolUse": [command(answers("PreToolUse", permissionDecision="ask", permissionDecisionReason="SURE?"))]}


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


def test_a_denied_call_never_reaches_the_server(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PreToolUse": [command("echo NO >&2; exit 2", "mcp__files__run")]}) as gate:
            await gate.call()
            result = await gate.result()
            assert result["isError"] is True
            assert texts(result) == ["PreToolUse:mcp__files__run hook error: [echo NO >&2; exit 2]: NO"]
            await gate.call("other", 2)
            assert (await gate.at_server())["params"]["name"] == "other"

    asyncio.run(body())


def test_hooks_see_the_call_rewrite_it_and_add_context(tmp_path: Path) -> None:
    hooks = {
        "PreToolUse": [command(answers("PreToolUse", updatedInput={"x": 2}, additionalContext="BEFORE"))],
        "PostToolUse": [command(answers("PostToolUse", additionalContext="AFTER"))],
    }

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.call(_meta={"progressToken": 7})
            sent = await gate.at_server()
            assert sent["params"] == {"name": "run", "arguments": {"x": 2}, "_meta": {"progressToken": 7}}
            await gate.reply({**TEXT, "_meta": {"k": 1}})
            result = await gate.result()
            assert texts(result) == [
                "done",
                "PreToolUse:mcp__files__run hook additional context: BEFORE",
                "PostToolUse:mcp__files__run hook additional context: AFTER",
            ]
            assert result["_meta"] == {"k": 1}
            before, after = gate.log()
            assert before["tool_name"] == "mcp__files__run"
            assert before["tool_input"] == {"x": 1}
            assert before["mcp_server"] == {"name": "files", "source": "dynamic"}
            assert (after["tool_input"], after["tool_response"]) == ({"x": 2}, TEXT["content"])
            assert before["tool_use_id"] == after["tool_use_id"]

    asyncio.run(body())


def test_an_answer_that_hooks_leave_alone_keeps_its_bytes(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PostToolUse": [command(NOTE)]}) as gate:
            call = b'{"id":1, "jsonrpc":"2.0","method":"tools/call","params":{"name":"run","arguments":{"n":1.50}}}\n'
            await gate.line(call)
            assert await gate.server.get() == call
            answer = b'{ "result":{"content":[],"n":12345678901234567890123}, "jsonrpc":"2.0","id":1 }\n'
            await gate.gateway.from_server(answer)
            assert await gate.client.get() == answer

    asyncio.run(body())


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("GONE", [{"type": "text", "text": "GONE"}]),
        ({"a": 1}, [{"type": "text", "text": '{"a":1}'}]),
        ([{"type": "image", "data": "", "mimeType": "image/png"}], None),
        ({"content": [{"type": "text", "text": "GONE"}], "structuredContent": {"safe": 1}}, None),
    ],
)
def test_a_rewritten_result_leaves_nothing_of_the_old_one(tmp_path: Path, output: Any, content: Any) -> None:
    old = {
        "content": [
            {"type": "text", "text": '{"key": "SECRET"}'},
            {"type": "resource", "resource": {"text": "SECRET"}},
        ],
        "structuredContent": {"key": "SECRET"},
        "_meta": {"trace": "SECRET", "io.modelcontextprotocol/serverInfo": {"name": "s"}},
        "other": "SECRET",
        "resultType": "complete",
    }

    async def body() -> None:
        async with rig(tmp_path, {"PostToolUse": [command(answers("PostToolUse", updatedToolOutput=output))]}) as gate:
            await gate.call()
            await gate.at_server()
            await gate.reply(old)
            result = await gate.result()
            assert "SECRET" not in json.dumps(result)
            assert result["content"] == (content or (output if isinstance(output, list) else output["content"]))
            assert result.get("structuredContent") == (
                output.get("structuredContent") if content is None and isinstance(output, dict) else None
            )
            assert result["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "s"}}
            (seen,) = gate.log()
            assert seen["tool_response"] == {key: old[key] for key in ("content", "structuredContent")}

    asyncio.run(body())


def test_only_tools_whose_output_may_change_lose_their_schema(tmp_path: Path) -> None:
    tools = [{"name": name, "inputSchema": {}, "outputSchema": {"type": "object"}} for name in ("run", "other")]

    async def body() -> None:
        async with rig(tmp_path, {"PostToolUse": [command(NOTE, "mcp__files__run")]}) as gate:
            await gate.ask("tools/list")
            await gate.at_server()
            await gate.reply({"tools": tools, "nextCursor": "n"})
            result = await gate.result()
            assert result == {"tools": [{"name": "run", "inputSchema": {}}, tools[1]], "nextCursor": "n"}

    asyncio.run(body())


def test_failures_fire_their_own_event(tmp_path: Path) -> None:
    hooks = {"PostToolUseFailure": [command(answers("PostToolUseFailure", additionalContext="HINT"))]}

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.call()
            await gate.at_server()
            await gate.reply({"content": [{"type": "text", "text": "BOOM"}], "isError": True})
            result = await gate.result()
            hint = "PostToolUseFailure:mcp__files__run hook additional context: HINT"
            assert (texts(result), result["isError"]) == (["BOOM", hint], True)
            await gate.call(id_=2)
            await gate.at_server()
            error = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "BAD", "data": 5}}
            await gate.gateway.from_server(json.dumps(error).encode())
            assert (await gate.at_client())["error"] == {"code": -32602, "message": f"BAD\n{hint}", "data": 5}
            assert [one["error"] for one in gate.log()] == ["BOOM", "BAD"]

    asyncio.run(body())


def test_session_start_speaks_in_the_instructions_and_the_session_ends_once(tmp_path: Path) -> None:
    hooks = {"SessionStart": [command(f"{NOTE}; echo HELLO")], "SessionEnd": [command(NOTE)]}

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            said = await gate.greet()
            assert said["instructions"] == "OWN\n\nSessionStart:startup hook success: HELLO"
            await gate.call()
            await gate.at_server()
        assert [one["hook_event_name"] for one in gate.log()] == ["SessionStart", "SessionEnd"]

    asyncio.run(body())


# ── asking ──────────────────────────────────────────────────────────────────


def test_a_client_that_cannot_ask_gets_a_refusal(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {**ASK, "PermissionRequest": [command(NOTE)]}) as gate:
            await gate.greet(elicitation={"url": {}})
            await gate.call()
            result = await gate.result()
            assert result["isError"] is True
            assert texts(result)[0].startswith("SURE?\nThis call needs the user's approval")
            assert len(gate.log()) == 1

    asyncio.run(body())


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        ({"action": "accept", "content": {"allow": True}}, True),
        ({"action": "accept", "content": {"allow": False}}, False),
        ({"action": "accept"}, False),
        ({"action": "accept", "content": {"allow": "true"}}, False),
        ({"action": "decline"}, False),
        (None, False),
    ],
)
def test_the_user_is_asked_by_elicitation(tmp_path: Path, answer: Any, runs: bool) -> None:
    async def body() -> None:
        async with rig(tmp_path, ASK) as gate:
            await gate.greet(elicitation={})
            await gate.call()
            asked = await gate.at_client()
            assert asked["method"] == "elicitation/create"
            assert asked["params"]["message"] == '[settings] SURE?\n\nmcp__files__run {"x":1}'
            await gate.line({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
            if runs:
                assert (await gate.at_server())["params"] == {"name": "run", "arguments": {"x": 1}}
            else:
                assert texts(await gate.result()) == ["The user denied this tool call."]
                assert await gate.quiet()

    asyncio.run(body())


def test_permission_hooks_answer_before_the_user_and_their_rewrite_is_judged(tmp_path: Path) -> None:
    guard = "grep -q evil && { echo EVIL >&2; exit 2; }; true"
    allow = {"behavior": "allow", "updatedInput": {"x": "evil"}}
    hooks = {
        "PreToolUse": [*ASK["PreToolUse"], command(guard)],
        "PermissionRequest": [
            command(answers("PermissionRequest", decision=allow), "mcp__files__evil"),
            command(answers("PermissionRequest", decision={"behavior": "allow"}), "mcp__files__good"),
            command(answers("PermissionRequest", decision={"behavior": "deny", "message": "NEVER"}), "mcp__files__bad"),
        ],
    }

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.greet(elicitation={})
            await gate.call("good", 2)
            assert (await gate.at_server())["params"]["name"] == "good"
            await gate.call("bad", 3)
            assert texts(await gate.result()) == ["NEVER"]
            await gate.call("evil", 4)
            assert "EVIL" in texts(await gate.result())[0]

    asyncio.run(body())


def modern(**more: Any) -> dict[str, Any]:
    return {"_meta": {VERSION: "2026-07-28", CAPABILITIES: {"elicitation": {"form": {}}}}, **more}


def test_without_requests_to_the_client_the_question_is_a_result(tmp_path: Path) -> None:
    """The newer protocol: the client repeats the call with the answer, and PreToolUse is not run again."""

    async def body() -> None:
        async with rig(tmp_path, ASK) as gate:
            for answer in ({"action": "accept", "content": {"allow": True}}, {"action": "cancel"}):
                await gate.call(**modern())
                asked = await gate.result()
                assert asked["resultType"] == "input_required"
                again = {"inputResponses": {"hookwright_permission": answer}, "requestState": asked["requestState"]}
                await gate.call(id_=2, **modern(**again))
                if answer["action"] == "accept":
                    assert (await gate.at_server())["params"] == {"name": "run", "arguments": {"x": 1}, **modern()}
                    await gate.reply(TEXT, 2)
                    assert await gate.result() == TEXT
                else:
                    result = await gate.result()
                    assert (texts(result), result["resultType"]) == (["The user denied this tool call."], "complete")
            assert len(gate.log()) == 2
            # A state that was used, and one with another input, approve nothing.
            for more in ({}, {"arguments": {"x": 9}}):
                await gate.call(id_=3, **modern(**again, **more))
                assert (await gate.result())["resultType"] == "input_required"

    asyncio.run(body())


def test_a_server_that_needs_input_is_called_again_without_asking_hooks_again(tmp_path: Path) -> None:
    hooks = {"PreToolUse": [command(answers("PreToolUse", updatedInput={"x": 2}))], "PostToolUse": [command(NOTE)]}

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.call(**modern())
            await gate.at_server()
            await gate.reply({"resultType": "input_required", "inputRequests": {}, "requestState": "s1"})
            await gate.result()
            await gate.call(id_=2, **modern(requestState="s1", inputResponses={"k": {}}))
            sent = (await gate.at_server())["params"]
            assert (sent["arguments"], sent["requestState"], sent["inputResponses"]) == ({"x": 2}, "s1", {"k": {}})
            await gate.reply(TEXT, 2)
            await gate.result()
            assert [one["hook_event_name"] for one in gate.log()] == ["PreToolUse", "PostToolUse"]
            await gate.call(id_=3, **modern(requestState="invented"))
            await gate.at_server()
            assert [one["hook_event_name"] for one in gate.log()][2:] == ["PreToolUse"]

    asyncio.run(body())


@pytest.mark.parametrize("state", ["s1", None])
def test_hooks_answer_the_questions_in_a_result(tmp_path: Path, state: str | None) -> None:
    """One question for the hooks, one for the user whose answer hooks replace, and both at once for the server."""
    secret = {"action": "accept", "content": {"name": "Ada"}}
    hooks = {
        "Elicitation": [command(f"if grep -q Name; then {answers('Elicitation', **secret)}; fi")],
        "ElicitationResult": [command("tee -a log >/dev/null; exit 2")],
    }
    name, age = ({"method": "elicitation/create", "params": {"message": text}} for text in ("Name?", "Age?"))

    async def body() -> None:
        async with rig(tmp_path, hooks) as gate:
            await gate.call(**modern())
            await gate.at_server()
            own = {} if state is None else {"requestState": state}
            await gate.reply({"resultType": "input_required", "inputRequests": {"n": name, "a": age}, **own})
            result = await gate.result()
            assert result["inputRequests"] == {"a": age}
            given = {"a": {"action": "accept", "content": {"age": 5}}}
            await gate.call(id_=2, **modern(requestState=result["requestState"], inputResponses=given))
            sent = (await gate.at_server())["params"]
            assert sent["inputResponses"] == {"n": secret, "a": {"action": "decline"}}
            assert sent.get("requestState") == state
            assert gate.log()[-1]["content"] == {"age": 5}

    asyncio.run(body())


def test_the_result_of_a_task_is_the_result_of_its_call(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PostToolUse": [command(answers("PostToolUse", updatedToolOutput="GONE"))]}) as gate:
            await gate.call(task={"ttl": 1000})
            await gate.at_server()
            await gate.reply({"task": {"taskId": "t1", "status": "working"}})
            assert (await gate.result())["task"]["taskId"] == "t1"
            for id_ in (2, 3):
                await gate.ask("tasks/result", id_, taskId="t1")
                await gate.at_server()
                await gate.reply({"content": [{"type": "text", "text": "SECRET"}]}, id_)
                assert texts(await gate.result()) == ["GONE"]

    asyncio.run(body())


def test_a_kind_of_result_that_hooks_cannot_see_is_withheld(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {}) as gate:
            await gate.call()
            await gate.at_server()
            await gate.reply({"resultType": "hologram", "content": []})
            result = await gate.result()
            assert result["isError"] is True
            assert "'hologram'" in texts(result)[0]

    asyncio.run(body())


# ── cancelled, many, failing ────────────────────────────────────────────────


def test_cancelling_a_call_kills_its_hook_and_the_server_never_hears_of_it(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PreToolUse": [command("echo $$ > pid; exec sleep 60")]}) as gate:
            await gate.call()
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                await asyncio.sleep(0.01)
            await gate.line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            assert await gate.quiet()
            assert gone(int((tmp_path / "pid").read_text()))

    asyncio.run(body())


def test_a_cancelled_call_fails_for_hooks_and_its_late_answer_is_dropped(tmp_path: Path) -> None:
    async def body() -> None:
        async with rig(tmp_path, {"PostToolUseFailure": [command(NOTE)]}) as gate:
            await gate.call()
            await gate.at_server()
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            await gate.line(cancel)
            assert await gate.at_server() == cancel
            assert await gate.quiet()
            assert [one["is_interrupt"] for one in gate.log()] == [True]
            await gate.reply(TEXT)
            await gate.reply(TEXT, "1")
            assert await gate.quiet()
            assert len(gate.said) == 2

    asyncio.run(body())


def test_twenty_calls_are_judged_at_once(tmp_path: Path) -> None:
    wait = "touch here.$$; while [ ! -e go ]; do sleep 0.05; done"

    async def body() -> None:
        async with rig(tmp_path, {"PreToolUse": [command(wait)]}) as gate:
            for number in range(20):
                await gate.call(id_=number, arguments={"n": number})
            found = await asyncio.to_thread(eventually, lambda: len(list(tmp_path.glob("here.*"))) == 20, 15)
            assert found, "every hook runs before any of them ends"
            (tmp_path / "go").touch()
            for _ in range(20):
                sent = await gate.at_server()
                assert sent["params"]["arguments"]["n"] == sent["id"]
                await gate.reply({"content": [], "n": sent["id"]}, sent["id"])
            got = [await gate.at_client() for _ in range(20)]
            assert sorted(one["id"] for one in got) == list(range(20))
            assert all(one["result"]["n"] == one["id"] for one in got)

    asyncio.run(body())


def test_if_the_engine_fails_the_call_is_refused_and_a_result_withheld(tmp_path: Path) -> None:
    """The session belongs to another event loop, so firing raises."""
    with asyncio.Runner() as other, asyncio.Runner() as runner:
        opened = open_session(str(tmp_path))
        session: HookSession = other.run(opened.__aenter__())

        async def body() -> None:
            gate = Rig(tmp_path)
            gate.gateway = Gateway(Hooks(session, "files", gate.said.append), gate.client.put, gate.server.put, print)
            await gate.call()
            result = await gate.result()
            assert result["isError"] is True
            assert "could not run the hooks for this call, so it was not made: SessionStart: " in texts(result)[0]
            assert await gate.quiet()

        runner.run(body())
        other.run(opened.__aexit__(None, None, None))
