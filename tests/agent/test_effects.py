"""What a hook's answer does in the agent: the effect itself, and both halves of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.runs import Place, bash, route, seen, tool
from agent.test_agent_library import Recording, options, run
from hookwright.agent import Permission, PermissionQuestion, Person, open_agent
from hookwright.models.types import Delta, Request, Response
from support import child_processes


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def configured(place: Place, **settings: Any) -> None:
    """Write the hooks and settings of the place."""
    place.file(".claude/settings.json", json.dumps({"hooks": place.hooks, **settings}))


class Asked:
    """A person who allows everything, and what the person was asked."""

    def __init__(self) -> None:
        self.questions: list[PermissionQuestion] = []

    async def permit(self, question: PermissionQuestion) -> Permission:
        self.questions.append(question)
        return Permission(allow=True)


def decided(behavior: str, **fields: Any) -> dict[str, Any]:
    decision = {"behavior": behavior, **fields}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


# ── permissions ─────────────────────────────────────────────────────────────


@pytest.mark.req("R-261")
@pytest.mark.parametrize(
    ("answer", "runs", "read"),
    [(decided("allow"), True, "OUT"), (decided("deny", message="NOT-HERE"), False, "NOT-HERE")],
)
def test_a_permission_hook_answers_for_the_user(place: Place, answer: dict[str, Any], runs: bool, read: str) -> None:
    place.answer("PermissionRequest", answer)
    configured(place)
    person, model = Asked(), Recording([[bash("touch ran; echo OUT")], [{"text": "end"}]])
    result = asyncio.run(run(options(place, allowed_tools=()), model, person=Person(person.permit)))
    assert person.questions == []
    assert (place.project / "ran").exists() is runs
    assert read in model.texts(1)
    assert result.text == "end"


@pytest.mark.req("R-247")
@pytest.mark.parametrize(("fields", "requests"), [({"interrupt": True}, 1), ({"interrupt": False}, 2), ({}, 2)])
def test_an_interrupt_of_a_permission_hook_aborts_the_run(place: Place, fields: dict[str, Any], requests: int) -> None:
    place.answer("PermissionRequest", decided("deny", message="NOT-HERE", **fields))
    configured(place)
    model = Recording([[bash("touch ran"), bash("touch too")], [{"text": "end"}]])
    result = asyncio.run(run(options(place, allowed_tools=()), model))
    assert (len(model.requests), result.success) == (requests, requests == 2)
    assert not (place.project / "ran").exists()
    assert not (place.project / "too").exists()


@pytest.mark.req("R-253")
@pytest.mark.parametrize(("rules", "asks"), [({}, 0), ({"ask": ["Bash(touch:*)"]}, 1)])
def test_an_allow_spares_the_question_unless_an_ask_rule_applies(
    place: Place, rules: dict[str, Any], asks: int
) -> None:
    allow = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    place.answer("PreToolUse", allow)
    configured(place, permissions=rules)
    person, model = Asked(), Recording([[bash("touch ran")], [{"text": "end"}]])
    asyncio.run(run(options(place, allowed_tools=()), model, person=Person(person.permit)))
    assert [question.tool_name for question in person.questions] == ["Bash"] * asks
    assert (place.project / "ran").exists()


# ── prompts, agents and ends ────────────────────────────────────────────────


@pytest.mark.req("R-055")
@pytest.mark.parametrize("blocked", [True, False])
def test_a_prompt_is_seen_by_hooks_before_the_model_and_can_be_blocked(place: Place, blocked: bool) -> None:
    place.hook("UserPromptSubmit", f"touch {place.root}/hooked; exit {2 if blocked else 0}")
    configured(place)
    before: list[bool] = []

    class Watching(Recording):
        async def complete(self, request: Request) -> Response:
            before.append((place.root / "hooked").exists())
            response: Response = await super().complete(request)
            return response

    asyncio.run(run(options(place), Watching([[{"text": "end"}]])))
    assert before == ([] if blocked else [True])
    assert (place.root / "hooked").exists()


@pytest.mark.req("R-072")
@pytest.mark.parametrize("body", ["echo NO >&2; exit 2", 'echo \'{"decision": "block", "reason": "NO"}\''])
def test_the_start_of_a_subagent_cannot_be_blocked(place: Place, body: str) -> None:
    place.hook("SubagentStart", body)
    starts = tool("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose", run_in_background=False)
    routes = [route("sub", "SUBTASK", [[{"text": "SUB-DID-IT"}]])]
    ran = place.run({"turns": [[starts], *seen("SUB-DID-IT")], "routes": routes}, "--allowedTools", "Agent")
    assert len(place.got("SubagentStart")) == 1
    assert ran.text == "SAW"


@pytest.mark.req("R-268")
def test_a_block_of_stop_in_json_continues_with_its_reason(place: Place) -> None:
    answer = json.dumps({"decision": "block", "reason": "RUN-THE-TESTS"})
    place.hook("Stop", f"grep -q 'stop_hook_active\":true' <<< \"$payload\" || echo '{answer}'")
    configured(place)
    model = Recording([[{"text": "first"}], [{"text": "second"}]])
    result = asyncio.run(run(options(place), model))
    assert (len(model.requests), result.text) == (2, "second")
    assert "Stop hook feedback:\\nRUN-THE-TESTS" in model.texts(1)
    assert "RUN-THE-TESTS" not in model.texts(0)


# ── later ───────────────────────────────────────────────────────────────────


@pytest.mark.req("R-170")
def test_what_an_async_hook_says_is_in_the_next_request_and_in_no_earlier_one(place: Place) -> None:
    said = {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "ASYNC-CTX"},
        "systemMessage": "ASYNC-MSG",
        "decision": "block",
        "reason": "ASYNC-REASON",
    }
    asynchronous: Any = {"async": True}
    until = f"while ! test -e {place.root}/go; do sleep 0.02; done"
    body = f"echo $$ > {place.root}/.pid; mv {place.root}/.pid {place.root}/pid\n{until}\necho '{json.dumps(said)}'"
    place.hook("PostToolUse", body, None, **asynchronous)
    configured(place)
    model = Recording([[bash("echo OUT")], [{"text": "one"}], [{"text": "two"}]])

    async def both() -> None:
        async with open_agent(options(place), model=model) as agent:
            await agent.run("FIRST")
            (place.root / "go").touch()
            while not (place.root / "pid").exists() or int((place.root / "pid").read_text()) in child_processes():
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.1)  # the end of the process becomes the end of the hook
            await agent.run("SECOND")

    asyncio.run(both())
    assert [("ASYNC-CTX" in model.texts(n), "ASYNC-MSG" in model.texts(n)) for n in range(3)] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert "ASYNC-REASON" not in model.texts(2)


class Thinking(Recording):
    """A model that thinks before its first answer."""

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        thought = {"type": "thinking", "thinking": "HIDDEN-THOUGHT", "signature": "s"}
        async for delta in super().stream(request):
            if isinstance(delta, Response) and len(self.requests) == 1:
                yield msgspec.structs.replace(delta, content=(thought, *delta.content))
            else:
                yield delta


@pytest.mark.req("R-317")
def test_the_agent_writes_thinking_tool_use_and_results_to_the_transcript(place: Place) -> None:
    configured(place)
    asyncio.run(run(options(place), Thinking([[bash("echo OUT")], [{"text": "end"}]])))
    written = [line["message"] for line in place.transcript() if line["type"] in ("assistant", "user")]
    blocks = [block for message in written if isinstance(message["content"], list) for block in message["content"]]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use", "tool_result", "text"]
    thought, use, result, _ = blocks
    assert (thought["thinking"], thought["signature"]) == ("HIDDEN-THOUGHT", "s")
    assert use["id"] == result["tool_use_id"]
    assert "OUT" in str(result["content"])
