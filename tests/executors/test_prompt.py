"""Prompt hooks against both API families, through the engine where its part matters."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hookwright import Hooks, Places, Powers, open_session
from hookwright.engine import HookEngine
from hookwright.executors._question import fill
from hookwright.executors.prompt import SCHEMA, PromptExecutor
from hookwright.hookset import HookSet
from hookwright.interpret import interpret
from hookwright.models import from_environment, prefetch
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import Model, Request, Response
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.handlers import Kind, MatcherGroup, PromptHandler
from hookwright.protocol.host import Host
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import NO_OPINION, Block, Deny, Ending, EndTurn, Outcome, Verdict
from hookwright.protocol.replies import Failed, Failure, Judged, Reply, Spent, TimedOut
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event
from servers import Answer, Server, call, chat_api, fail, messages_api, raw, say, slowly
from support import event

Api = Callable[..., AbstractContextManager[Server]]
both = pytest.mark.parametrize("api", [messages_api, chat_api], ids=["messages", "chat"])
USER = Source(Scope.USER)


def handler(prompt: str = "Is this fine? $ARGUMENTS", **fields: Any) -> PromptHandler:
    return PromptHandler(source=USER, prompt=prompt, **fields)


def job(asked: PromptHandler, name: str = "PreToolUse") -> Job:
    fired = event(name)
    return Job(asked, fired, encode_event(fired), 0, "run-1", None)


T = TypeVar("T")


def using(env: Mapping[str, str], work: Callable[[Model], Awaitable[T]]) -> T:
    async def main() -> T:
        model = from_environment(env)
        try:
            async with asyncio.timeout(20):
                return await work(model)
        finally:
            await model.close()

    return asyncio.run(main())


def ask(server: Server, asked: PromptHandler | None = None, name: str = "PreToolUse", **options: Any) -> Reply:
    """Run one prompt hook against a server."""
    return ask_with(server.env, asked if asked is not None else handler(), name, **options)


def ask_with(env: Mapping[str, str], asked: PromptHandler, name: str = "PreToolUse", **options: Any) -> Reply:
    """Run one prompt hook with the model that an environment names."""
    return using(env, lambda model: PromptExecutor(model, **options)(job(asked, name)))


def fire(env: Mapping[str, str], asked: PromptHandler, name: str) -> Outcome:
    """Fire an event at one prompt hook, engine and all."""
    hooks = HookSet.build([MatcherGroup(name, None, (asked,))])

    async def work(model: Model) -> Outcome:
        engine = HookEngine(
            hooks, host=Host(project_dir="/tmp", env={}), executors={Kind.PROMPT: PromptExecutor(model)}
        )
        return await engine.fire(event(name))

    return using(env, work)


def judged(reply: Reply) -> tuple[bool, str | None]:
    assert isinstance(reply, Judged), reply
    return reply.ok, reply.reason


# ── the question ────────────────────────────────────────────────────────────


@pytest.mark.req("R-118", "R-126", "R-375")
@both
def test_one_request_without_tools_and_without_thinking(api: Api) -> None:
    with api(say('{"ok": true, "reason": "", "impossible": false}')) as server:
        reply = ask(server)
    assert judged(reply) == (True, "")
    (request,) = server.requests
    assert "tools" not in request.body
    assert request.body.get("stream") is not True
    assert request.headers["x-hookwright-purpose"] == "prompt-hook"
    if api is messages_api:
        assert request.body["thinking"] == {"type": "disabled"}
        assert request.body["output_config"]["format"]["schema"] == SCHEMA
    else:
        assert request.body["reasoning_effort"] == "none"
        assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.req("R-119", "R-120")
@pytest.mark.parametrize(
    ("prompt", "filled"),
    [
        ("Check $ARGUMENTS now", 'Check {"a":1} now'),
        ("$ARGUMENTS and $ARGUMENTS", '{"a":1} and {"a":1}'),
        ("No placeholder", 'No placeholder\n\nARGUMENTS: {"a":1}'),
        (r"Costs \$1.00: $ARGUMENTS", 'Costs $1.00: {"a":1}'),
        (r"Literal \$ARGUMENTS", 'Literal $ARGUMENTS\n\nARGUMENTS: {"a":1}'),
        (r"Path C:\dir $ARGUMENTS", r'Path C:\dir {"a":1}'),
        ("", '\n\nARGUMENTS: {"a":1}'),
    ],
)
def test_the_event_is_put_into_the_prompt(prompt: str, filled: str) -> None:
    assert fill(prompt, b'{"a":1}\n') == filled


def test_placeholders_inside_the_event_are_left_alone() -> None:
    assert fill("$ARGUMENTS", rb'{"a":"$ARGUMENTS \$"}') == r'{"a":"$ARGUMENTS \$"}'


@pytest.mark.req("R-119", "R-120")
@both
def test_the_last_message_is_the_filled_prompt(api: Api) -> None:
    with api(say('{"ok": true}')) as server:
        ask(server, handler("PROMPTHOOK $ARGUMENTS"))
        ask(server, handler("PROMPTHOOK"))
    body = encode_event(event("PreToolUse")).decode().rstrip("\n")
    last = [request.body["messages"][-1] for request in server.requests]
    assert last[0] == {"role": "user", "content": f"PROMPTHOOK {body}"}
    assert last[1] == {"role": "user", "content": f"PROMPTHOOK\n\nARGUMENTS: {body}"}


@pytest.mark.req("R-021", "R-121")
def test_the_model_is_the_handlers_own_else_the_small_one_else_the_main_one() -> None:
    with messages_api(say('{"ok": true}')) as server:
        small = {**server.env, "ANTHROPIC_SMALL_FAST_MODEL": "claude-haiku-4-5"}
        ask_with(server.env, handler())
        ask_with(small, handler())
        ask_with(small, handler(model="claude-opus-5"))
        ask_with(small, handler(), default_model=lambda: "claude-sonnet-5")
    names = [request.body["model"] for request in server.requests]
    assert names == ["claude-haiku-5-5", "claude-haiku-4-5", "claude-opus-5", "claude-sonnet-5"]


CONVERSATION = [
    {"role": "user", "content": "Fix the bug"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "SECRET-THOUGHT", "signature": "s"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "TOOL-OUTPUT"}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "SECRET-THOUGHT", "signature": "s"}]},
    {"role": "assistant", "content": "It is fixed."},
]


@pytest.mark.req("R-127")
@both
@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_at_the_end_of_a_turn_the_conversation_goes_ahead(api: Api, name: str) -> None:
    with api(say('{"ok": true}')) as server:
        ask(server, handler("TESTS-RAN $ARGUMENTS"), name, messages=lambda: CONVERSATION)
    messages = server.requests[0].body["messages"]
    assert messages[-1]["role"] == "user"
    assert "TESTS-RAN {" in messages[-1]["content"]
    ahead = json.dumps(messages[:-1])
    for part in ("Fix the bug", "make", "TOOL-OUTPUT", "It is fixed."):
        assert part in ahead
    assert "SECRET-THOUGHT" not in ahead
    assert "tools" not in server.requests[0].body


@pytest.mark.req("R-127")
def test_other_events_are_judged_without_the_conversation() -> None:
    with messages_api(say('{"ok": true}')) as server:
        ask(server, messages=lambda: CONVERSATION)
    assert len(server.requests[0].body["messages"]) == 1


# ── the answer ──────────────────────────────────────────────────────────────


@pytest.mark.req("R-122", "R-124")
@both
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"ok": true}', Judged(True)),
        ('{"ok": false, "reason": "R"}', Judged(False, "R")),
        ('{"ok": false}', Judged(False)),
        ('{"ok": false, "reason": null, "extra": 1}', Judged(False)),
        ('{"ok": false, "reason": "R", "impossible": true}', Judged(False, "R", True)),
        ('```json\n{"ok": true}\n```', Judged(True)),
        ('```\n{"ok": false, "reason": "R"}\n```', Judged(False, "R")),
        ('Here you are:\n```json\n{"ok": true}\n```\nDone.', Judged(True)),
        ('```{"ok": true}```', Judged(True)),
        ('{"decision": "approve"}', Judged(True)),
        ('{"decision": "block", "reason": "R"}', Judged(False, "R")),
        (
            '{"decision": "block", "reason": "R", "stopReason": "S", "systemMessage": "M"}',
            Judged(False, "R", stop_reason="S", system_message="M"),
        ),
        (
            '{"decision": "approve", "continue": false, "stopReason": "S"}',
            Judged(False, "S", impossible=True, stop_reason="S"),
        ),
    ],
)
def test_answers(api: Api, text: str, expected: Judged) -> None:
    with api(say(text)) as server:
        reply = ask(server)
    spent = Spent(next(iter(model for key, model in server.env.items() if key.endswith("MODEL"))), 1, 105, 10)
    assert isinstance(reply, Judged)
    assert reply.spent == spent
    assert (reply.ok, reply.reason, reply.impossible) == (expected.ok, expected.reason, expected.impossible)
    assert (reply.stop_reason, reply.system_message) == (expected.stop_reason, expected.system_message)


@pytest.mark.req("R-131")
@both
@pytest.mark.parametrize(
    ("text", "which"),
    [
        ("yes", "is not JSON (Expecting value"),
        ('{"ok": tr', "is not JSON"),
        ("", "is not JSON"),
        ("[true]", "has the wrong shape: expected an object"),
        ('{"ok": "maybe"}', "has the wrong shape: `ok` must be true or false, not 'maybe'"),
        ('{"fine": true}', "has the wrong shape: `ok` is missing"),
        ('{"ok": true, "reason": 5}', "has the wrong shape: `reason` must be a string, not 5"),
        ('{"ok": true, "impossible": "no"}', "`impossible` must be true or false, not 'no'"),
        ('{"decision": "allow"}', "`decision` must be approve or block, not 'allow'"),
        ('{"decision": "block", "reason": 1}', "`reason` must be a string, not 1"),
        ('{"decision": "approve", "continue": "yes"}', "`continue` must be true or false, not 'yes'"),
    ],
)
def test_an_unusable_answer_is_an_error_that_says_which(api: Api, text: str, which: str) -> None:
    with api(say(text)) as server:
        reply = ask(server)
    assert isinstance(reply, Failed)
    assert reply.why is Failure.ANSWER
    assert which in reply.message
    assert interpret(reply, handler(), event("PreToolUse")).ending is Ending.ERROR


@both
def test_an_answer_that_was_cut_off_says_so(api: Api) -> None:
    with api(say('{"ok": tr', stop="max_tokens")) as server:
        reply = ask(server)
    assert isinstance(reply, Failed)
    assert reply.message.endswith("(the model stopped because of: max_tokens)")


@pytest.mark.req("R-131")
@both
@pytest.mark.parametrize(
    ("answer", "requests", "status"),
    [
        (fail(401, "bad key"), 1, 401),
        (fail(400, "bad request"), 1, 400),
        (fail(500, "broken"), 3, 500),
        (raw(b'{"half": '), 1, None),
    ],
)
def test_a_failing_call_is_an_error_that_says_which(
    api: Api, answer: Answer, requests: int, status: int | None
) -> None:
    with api(answer) as server:
        reply = ask(server)
    assert isinstance(reply, Failed)
    assert (reply.why, reply.status) == (Failure.MODEL, status)
    assert status is None or str(status) in reply.message
    verdict = interpret(reply, handler(), event("PreToolUse"))
    assert (verdict.ending, verdict.decision) == (Ending.ERROR, NO_OPINION)
    assert len(server.requests) == requests


@pytest.mark.req("R-131")
def test_a_client_that_raises_is_an_error() -> None:
    class Broken(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            raise ZeroDivisionError("oops")

    reply = asyncio.run(PromptExecutor(Broken(parse_script([])))(job(handler())))
    assert isinstance(reply, Failed)
    assert (reply.why, reply.message) == (Failure.MODEL, "the model call failed: oops")


@both
def test_a_rate_limit_passes(api: Api) -> None:
    with api(fail(429), say('{"ok": true}')) as server:
        assert judged(ask(server)) == (True, None)
    assert len(server.requests) == 2


@both
def test_a_tool_call_instead_of_an_answer_is_an_error(api: Api) -> None:
    with api(call("Bash", {"command": "ls"})) as server:
        reply = ask(server)
    assert isinstance(reply, Failed)
    assert reply.why is Failure.ANSWER
    assert len(server.requests) == 1


# ── the effect ──────────────────────────────────────────────────────────────


@pytest.mark.req("R-132")
@both
def test_a_slow_model_is_given_up_and_its_connection_closed(api: Api) -> None:
    with api(slowly(30, say('{"ok": false}'))) as server:
        loading = prefetch(server.env)
        assert loading is not None
        loading.join()
        outcome = fire(server.env, handler(timeout=0.3), "PreToolUse")
        # On a very busy machine the time may be over before the request is out.
        assert not server.requests or server.hung_up.wait(10)
    (run,) = outcome.runs
    assert run.reply == TimedOut(0.3)
    assert (run.label, run.verdict.ending, outcome.decision) == ("cancelled", Ending.CANCELLED, NO_OPINION)


@pytest.mark.req("R-128")
@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_yes_is_a_success_and_grants_nothing(name: str) -> None:
    assert interpret(Judged(True, "fine"), handler(), event(name)) == Verdict()


def verdict_of(text: str, name: str, **fields: Any) -> Verdict:
    asked = handler("JUDGE $ARGUMENTS", **fields)
    model = ScriptedModel(parse_script({"routes": [{"match": "JUDGE", "turns": [[{"text": text}]]}]}))
    reply = asyncio.run(PromptExecutor(model)(job(asked, name)))
    return interpret(reply, asked, event(name))


NO = '{"ok": false, "reason": "R"}'
TEXT = "Prompt hook condition was not met: R"


@pytest.mark.req("R-129", "R-130")
@pytest.mark.parametrize(
    ("name", "fields", "decision", "stop"),
    [
        ("PreToolUse", {}, Deny(TEXT), EndTurn("R")),
        ("PreToolUse", {"continue_on_block": True}, Deny(TEXT), None),
        ("PostToolUse", {}, NO_OPINION, EndTurn("R")),
        ("PostToolUse", {"continue_on_block": True}, Block(TEXT), None),
        ("PostToolBatch", {}, NO_OPINION, EndTurn("R")),
        ("UserPromptSubmit", {}, NO_OPINION, EndTurn("R")),
        ("UserPromptExpansion", {}, NO_OPINION, EndTurn("R")),
        ("Stop", {}, Block(TEXT), None),
        ("SubagentStop", {}, Block(TEXT), None),
        ("PermissionDenied", {}, NO_OPINION, None),
    ],
)
def test_no_has_the_events_own_effect(name: str, fields: dict[str, Any], decision: Any, stop: EndTurn | None) -> None:
    verdict = verdict_of(NO, name, **fields)
    assert (verdict.decision, verdict.stop) == (decision, stop)


@pytest.mark.req("R-123")
def test_no_without_a_reason_blocks_with_a_default_text() -> None:
    assert verdict_of('{"ok": false}', "PreToolUse").decision == Deny(
        "Prompt hook condition was not met: no reason given"
    )


@pytest.mark.req("R-124")
def test_the_older_form_has_the_same_effect() -> None:
    assert verdict_of('{"decision": "block", "reason": "R"}', "PreToolUse").decision == Deny(TEXT)
    assert verdict_of('{"decision": "approve"}', "PreToolUse") == Verdict()


@pytest.mark.parametrize("decision", ["approve", "block"])
def test_continue_false_ends_the_turn_on_every_event(decision: str) -> None:
    text = json.dumps({"decision": decision, "reason": "R", "continue": False, "stopReason": "S"})
    assert verdict_of(text, "PreToolUse").stop == EndTurn("S")
    assert verdict_of(text, "Stop").decision == NO_OPINION


def test_the_impossible_lets_the_agent_stop() -> None:
    text = '{"ok": false, "reason": "R", "impossible": true}'
    assert verdict_of(text, "Stop").decision == NO_OPINION
    assert verdict_of(text, "PreToolUse").decision == Deny(TEXT)


@pytest.mark.req("R-133")
def test_a_host_may_answer_without_a_model() -> None:
    async def local(prompt: str, fired: Event) -> Judged | None:
        return Judged(True, f"done locally at {fired.event_name}") if prompt.startswith("/local") else None

    with messages_api(say('{"ok": false, "reason": "R"}')) as server:
        assert judged(ask(server, handler("/local $ARGUMENTS"), judge=local)) == (True, "done locally at PreToolUse")
        assert server.requests == []
        assert judged(ask(server, handler("ask $ARGUMENTS"), judge=local)) == (False, "R")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("yes", "must return Judged or None, not str"),
        (True, "must return Judged or None, not bool"),
        (ValueError("x"), "raised"),
    ],
)
def test_a_judge_that_fails_is_not_a_yes(answer: object, said: str) -> None:
    async def broken(prompt: str, fired: Event) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with messages_api(say('{"ok": true}')) as server:
        reply = ask(server, handler(), judge=broken)
        assert server.requests == []
    assert isinstance(reply, Failed)
    assert said in reply.message


@pytest.mark.req("R-118", "R-375")
def test_one_hook_is_one_call_through_the_engine() -> None:
    with messages_api(say(NO)) as server:
        outcome = fire(server.env, handler(), "PreToolUse")
    assert outcome.decision == Deny(TEXT)
    assert len(server.requests) == 1


@pytest.mark.req("R-135", "R-030")
@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_prompt_hooks_run_on_the_events_that_support_them(name: str, tmp_path: Path) -> None:
    """One run for each event: thirteen ask the model, the others report an error and ask nobody."""
    asked: list[Request] = []

    class Recording(ScriptedModel):
        async def complete(self, request: Request) -> Response:
            asked.append(request)
            return await super().complete(request)

    script = parse_script({"routes": [{"name": "p", "match": ".", "turns": [[{"text": '{"ok": true}'}]]}]})
    hooks = Hooks()
    hooks.add(name, PromptHandler(source=Source(Scope.PROGRAM), prompt="fine?"))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HOOKWRIGHT_MANAGED_SETTINGS": str(tmp_path / "none")}

    async def main() -> Outcome:
        powers = Powers(model=Recording(script), messages=list)
        async with open_session(Places(project=str(tmp_path), env=env), hooks=hooks, powers=powers) as session:
            return await session.fire(sample(name, cwd=str(tmp_path)))

    outcome = asyncio.run(main())
    supported = name in {
        "PermissionDenied",
        "PermissionRequest",
        "PostToolBatch",
        "PostToolUse",
        "PostToolUseFailure",
        "PreToolUse",
        "Stop",
        "SubagentStop",
        "TaskCompleted",
        "TaskCreated",
        "TeammateIdle",
        "UserPromptExpansion",
        "UserPromptSubmit",
    }
    fails = name in ("WorktreeCreate", "WorktreeRemove")
    assert len(asked) == (1 if supported else 0)
    assert (outcome.errors, outcome.blocked) == (0 if supported or fails else 1, fails)
