"""Callbacks and functions: Python hooks registered in code."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hookwright import Allow, Answer, Ask, Deny, Hooks, PostToolUse, PreToolUse, Stop, UserPromptSubmit
from hookwright.engine import HookEngine, time_limit
from hookwright.executors.callback import CallbackContext
from hookwright.hookset import HookSet
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import FunctionHandler
from hookwright.protocol.outcome import Block, Ending, Outcome
from hookwright.protocol.outcome import EndTurn as StopTurn
from hookwright.protocol.wire import payload
from hookwright.visibility import Reader, for_reader
from support import event
from test_engine import at, engine


def fire(folder: Path, hooks: Hooks, moment: Any, **options: Any) -> Outcome:
    made: HookEngine = engine(folder, *hooks.groups, **options)
    return asyncio.run(made.fire(moment))


@pytest.mark.req("R-152", "R-102")
def test_a_callback_gets_what_its_signature_asks_for(tmp_path: Path) -> None:
    got: list[Any] = []
    hooks = Hooks()

    @hooks.on(PreToolUse)
    def none() -> None:
        got.append(())

    @hooks.on(PreToolUse)
    async def one(moment: PreToolUse) -> None:
        got.append(moment)

    @hooks.on(PreToolUse)
    async def two(moment: PreToolUse, context: CallbackContext) -> None:
        got.append((moment, context.index, context.tool_use_id, context.signal.aborted))

    @hooks.on(PreToolUse)
    async def sdk(wire: dict[str, Any], tool_use_id: str, context: CallbackContext) -> dict[str, Any]:
        got.append((wire, tool_use_id))
        return {}

    @hooks.on(PreToolUse)
    async def older(wire: dict[str, Any], tool_use_id: str, signal: Any, index: int) -> None:
        got.append((wire["tool_name"], signal.aborted, index))

    moment = at("PreToolUse", tmp_path)
    fire(tmp_path, hooks, moment)
    assert () in got
    assert moment in got
    assert (moment, 2, "toolu_sample", False) in got
    assert (payload(moment), "toolu_sample") in got
    assert ("Bash", False, 4) in got


@pytest.mark.req("R-153")
@pytest.mark.parametrize(
    ("value", "decision"),
    [
        (Deny("no"), Deny("no")),
        (Ask("sure?"), Ask("sure?")),
        (Allow("fine"), Allow("fine")),
        (Answer(decision=Deny("no"), context="c"), Deny("no")),
        ({"decision": "block", "reason": "no"}, Deny("no")),
        (
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}},
            Deny("Blocked by hook"),
        ),
    ],
)
def test_answers_typed_and_in_wire_form(value: Any, decision: Any, tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse)(lambda moment: value)
    assert fire(tmp_path, hooks, at("PreToolUse", tmp_path)).decision == decision


@pytest.mark.req("R-153")
def test_python_spellings_of_keys(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PostToolUse)(lambda moment: {"continue_": False, "stopReason": "why"})
    assert fire(tmp_path, hooks, at("PostToolUse", tmp_path)).stop == StopTurn("why")


def test_a_typed_answer_reaches_every_field(tmp_path: Path) -> None:
    hooks = Hooks()
    answer = Answer(
        decision=Block("b"), context="c", system_message="m", stop=StopTurn("s"), updated_output={"stdout": "x"}
    )
    hooks.on(PostToolUse)(lambda moment: answer)
    outcome = fire(tmp_path, hooks, at("PostToolUse", tmp_path))
    assert (outcome.decision, outcome.context, outcome.system_messages) == (Block("b"), ("c",), ("m",))
    assert (outcome.stop, outcome.updated_output) == (StopTurn("s"), {"stdout": "x"})


def test_permission_request_answers(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on("PermissionRequest")(lambda moment: Answer(decision=Allow(), updated_input={"command": "y"}))
    outcome = fire(tmp_path, hooks, at("PermissionRequest", tmp_path))
    assert (outcome.decision, outcome.updated_input) == (Allow(), {"command": "y"})


def test_an_answer_without_meaning_on_the_event_is_the_callbacks_failure(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PostToolUse)(lambda moment: Ask("?"))
    outcome = fire(tmp_path, hooks, at("PostToolUse", tmp_path))
    assert outcome.errors == 1
    assert "no meaning on PostToolUse" in (outcome.runs[0].verdict.error or "")


@pytest.mark.req("R-154")
def test_an_async_answer_is_a_success_without_effect(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse)(lambda moment: {"async_": True})
    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert [run.label for run in outcome.runs] == ["success"]


@pytest.mark.req("R-156")
def test_its_label_is_callback(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse)(lambda moment: {"decision": "block"})
    assert fire(tmp_path, hooks, at("PreToolUse", tmp_path)).runs[0].handler.label == "callback"


@pytest.mark.req("R-156")
def test_its_name_in_messages_is_callback(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolUse)
    def refuse(moment: PreToolUse) -> Deny:
        return Deny("no")

    @hooks.on(PreToolUse)
    def fail(moment: PreToolUse) -> None:
        raise ValueError("boom")

    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert [message.text for message in for_reader(outcome, Reader.MODEL)] == ["PreToolUse:Callback hook error: no"]
    assert "PreToolUse:Callback hook error: ValueError: boom" in [
        message.text for message in for_reader(outcome, Reader.USER)
    ]


@pytest.mark.req("R-158", "R-157", "R-160")
@pytest.mark.parametrize("unit", [{"timeout": 0.1}, {"timeout_ms": 100}])
def test_both_units_and_the_signal(unit: dict[str, Any], tmp_path: Path) -> None:
    hooks = Hooks()
    signals: list[Any] = []

    @hooks.on(PreToolUse, **unit)
    async def slow(moment: PreToolUse, context: CallbackContext) -> None:
        signals.append(context.signal)
        await asyncio.sleep(20)

    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert [run.label for run in outcome.runs] == ["cancelled"]
    assert isinstance(outcome.decision, Deny)
    assert "timed out" in outcome.decision.reason
    assert signals[0].aborted


@pytest.mark.req("R-157")
def test_a_plain_function_is_timed_too_and_sees_the_signal(tmp_path: Path) -> None:
    hooks = Hooks()
    left: list[bool] = []

    @hooks.on(PostToolUse, timeout=0.1)
    def slow(moment: PostToolUse, context: CallbackContext) -> None:
        end = time.monotonic() + 10
        while not context.signal.aborted and time.monotonic() < end:
            time.sleep(0.01)
        left.append(context.signal.aborted)

    started = time.monotonic()
    outcome = fire(tmp_path, hooks, at("PostToolUse", tmp_path))
    assert outcome.runs[0].label == "cancelled"
    assert time.monotonic() - started < 5
    assert left == [True]


@pytest.mark.req("R-159")
@pytest.mark.parametrize("closed", [False, True])
def test_an_exception_is_the_callbacks_failure_alone(closed: bool, tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.on(PreToolUse, on_failure="block" if closed else "continue")
    def broken(moment: PreToolUse) -> None:
        raise RuntimeError("boom")

    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert outcome.blocked == closed
    assert "RuntimeError: boom" in str(outcome.runs[0].verdict)


@pytest.mark.req("R-155")
@pytest.mark.parametrize("closed", [False, True])
def test_a_callback_that_names_another_event_is_an_error_and_decides_nothing(closed: bool, tmp_path: Path) -> None:
    hooks = Hooks()
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "CTX"}, "decision": "approve"}
    hooks.on(PreToolUse, on_failure="block" if closed else "continue")(lambda moment: answer)
    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert (outcome.context, outcome.blocked, isinstance(outcome.decision, Allow)) == ((), closed, False)
    said = "Hook returned incorrect event name: expected 'PreToolUse' but got 'PostToolUse'"
    assert said in str(outcome.runs[0].verdict)
    assert any(said in message.text for message in for_reader(outcome, Reader.USER))


def test_a_wrong_return_type_is_named(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse)(lambda moment: 7)
    outcome = fire(tmp_path, hooks, at("PreToolUse", tmp_path))
    assert "not int" in (outcome.runs[0].verdict.error or "")


def test_a_matcher_that_can_never_match_is_refused_where_it_is_written() -> None:
    hooks = Hooks()
    with pytest.raises(ValueError, match=r"the matcher `Bash\(` is not valid: "):
        hooks.on("PreToolUse", "Bash(")
    with pytest.raises(ValueError, match="Did you mean `PreToolUse`"):
        hooks.on("PreTooluse")
    assert hooks.groups == ()


def test_registration_checks_the_event_name() -> None:
    with pytest.raises(ValueError, match="is not an event"):
        Hooks().on("PreTool")


def test_matchers_filter_callbacks(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse, "Write")(lambda moment: Deny("no"))
    assert fire(tmp_path, hooks, at("PreToolUse", tmp_path)).runs == ()


# ── functions ──

MESSAGES = [{"role": "user", "content": "hi"}]


@pytest.mark.req("R-161", "R-162", "R-164")
@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_a_function_sees_the_messages_and_decides(name: str, tmp_path: Path) -> None:
    seen: list[Any] = []
    hooks = Hooks()

    @hooks.until("run the tests first", event=name)
    def done(messages: list[Any], signal: Any) -> bool:
        seen.append((messages, signal.aborted))
        return len(seen) > 1

    made = engine(tmp_path, *hooks.groups, messages=lambda: MESSAGES)
    first = asyncio.run(made.fire(at(name, tmp_path)))
    second = asyncio.run(made.fire(at(name, tmp_path)))
    assert (first.decision, second.blocked) == (Block("run the tests first"), False)
    assert seen[0] == (MESSAGES, False)


@pytest.mark.req("R-163")
def test_a_function_needs_its_message() -> None:
    with pytest.raises(ValueError, match="error_message is required"):
        Hooks().until("")


@pytest.mark.req("R-165")
@pytest.mark.parametrize("name", ["PreToolUse", "UserPromptSubmit", "SessionEnd"])
def test_outside_the_end_of_a_turn_it_is_an_error_and_not_asked(name: str, tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.until("m", event=name)(lambda messages, signal: pytest.fail("was asked"))
    outcome = fire(tmp_path, hooks, at(name, tmp_path), messages=lambda: MESSAGES)
    assert (outcome.errors, outcome.blocked) == (1, False)


@pytest.mark.req("R-165")
def test_without_messages_it_is_an_error(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.until("m")(lambda messages, signal: False)
    assert fire(tmp_path, hooks, at("Stop", tmp_path)).errors == 1


@pytest.mark.req("R-166")
def test_the_time_limit_of_a_function_is_in_milliseconds_and_its_default_is_that_of_callbacks() -> None:
    hooks = Hooks()
    hooks.until("m", timeout_ms=1500)(lambda messages, signal: True)
    hooks.until("m")(lambda messages, signal: True)
    limits = [
        time_limit(handler, CATALOGUE[name].rules, {})
        for name in ("Stop", "SubagentStop")
        for group in hooks.groups
        for handler in group.handlers
    ]
    assert limits == [1.5, 60.0, 1.5, 60.0]


@pytest.mark.req("R-167")
def test_a_function_of_a_firing_that_is_already_aborted_is_not_called(tmp_path: Path) -> None:
    hooks = Hooks()
    hooks.until("m")(lambda messages, signal: pytest.fail("was asked"))

    async def aborted() -> bool:
        made = engine(tmp_path, *hooks.groups, messages=lambda: MESSAGES)
        firing = asyncio.create_task(made.fire(at("Stop", tmp_path)))
        firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled()

    assert asyncio.run(aborted())


@pytest.mark.req("R-167")
def test_an_abort_in_the_middle_of_a_function_sets_its_signal(tmp_path: Path) -> None:
    hooks, seen = Hooks(), []

    async def aborted() -> bool:
        asked = asyncio.Event()

        @hooks.until("m")
        async def slow(messages: list[Any], signal: Any) -> bool:
            seen.append(signal)
            asked.set()
            await asyncio.sleep(20)
            return False

        made = engine(tmp_path, *hooks.groups, messages=lambda: MESSAGES)
        firing = asyncio.create_task(made.fire(at("Stop", tmp_path)))
        await asked.wait()
        firing.cancel()
        await asyncio.wait([firing])
        return firing.cancelled()

    assert asyncio.run(aborted())
    assert [signal.aborted for signal in seen] == [True]


@pytest.mark.req("R-166", "R-167")
def test_a_slow_function_ends_as_cancelled(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.until("m", timeout_ms=100)
    async def slow(messages: list[Any], signal: Any) -> bool:
        await asyncio.sleep(20)
        return False

    outcome = fire(tmp_path, hooks, at("Stop", tmp_path), messages=lambda: MESSAGES)
    assert (outcome.runs[0].verdict.ending, outcome.blocked) == (Ending.CANCELLED, False)


@pytest.mark.req("R-168")
def test_a_functions_exception_carries_its_text(tmp_path: Path) -> None:
    hooks = Hooks()

    @hooks.until("m")
    def broken(messages: list[Any], signal: Any) -> bool:
        raise ValueError("no such file: tests.log")

    outcome = fire(tmp_path, hooks, at("Stop", tmp_path), messages=lambda: MESSAGES)
    assert "no such file: tests.log" in (outcome.runs[0].verdict.error or "")


@pytest.mark.req("R-011", "R-016")
def test_programmatic_hooks_are_part_of_a_hookset() -> None:
    hooks = Hooks()
    hooks.on(UserPromptSubmit)(lambda moment: None)
    hooks.until("m", event=Stop)(lambda messages, signal: True)
    entries = list(HookSet.build(hooks.groups))
    assert [entry.event for entry in entries] == ["UserPromptSubmit", "Stop"]
    assert isinstance(entries[1].handler, FunctionHandler)
    assert event("Stop").event_name == "Stop"
