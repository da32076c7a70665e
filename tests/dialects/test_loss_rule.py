"""The loss rule, attacked: what stops in Claude Code never leaves the bridge as something that an agent lets pass.

Replies of hooks are generated as processes leave them, the engine's own laws read and combine them, and the table of
each agent says what that agent does with the answer of the bridge.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.aggregate import aggregate
from hookwright.dialects.incoming import Translated, UnreadablePayload, translate
from hookwright.dialects.model import AnswerEffect, Dialect, Moment
from hookwright.dialects.native import NativeAnswer
from hookwright.dialects.outgoing import join, refused_for_failure, settle, speak
from hookwright.dialects.reading.running import read_answer
from hookwright.dialects.table import dialects
from hookwright.interpret import interpret
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.outcome import Ask, Defer, Outcome, Run, Timing
from hookwright.protocol.replies import Exited
from support import command

EXPORTED = [table for table in dialects() if table.exported]

_text = st.sampled_from(["", "no", "línea\nzwei", "x" * 40])
_input = st.dictionaries(st.sampled_from(["command", "file_path", "content", "description", "more"]), _text, max_size=3)
_permission = {
    "permissionDecision": st.sampled_from(["allow", "deny", "ask", "defer", "maybe"]),
    "permissionDecisionReason": _text,
    "updatedInput": _input,
    "additionalContext": _text,
    "extra": st.just(1),
}
_behavior = st.fixed_dictionaries(
    {"behavior": st.sampled_from(["allow", "deny"])},
    optional={"message": _text, "interrupt": st.booleans(), "updatedInput": _input},
)


def specific(event: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return the part of an answer that belongs to an event: an intent as people write it, or any mixture of keys."""
    named = {"hookEventName": st.just(event)}
    said = {"permissionDecision": _permission["permissionDecision"]}
    return st.one_of(
        st.fixed_dictionaries(named | said, optional={"permissionDecisionReason": _text}),
        st.fixed_dictionaries(named | said | {"updatedInput": _input}),
        st.fixed_dictionaries(named | {"updatedInput": _input}),
        st.fixed_dictionaries(named | {"decision": _behavior}),
        st.fixed_dictionaries(named | {"updatedToolOutput": _text}),
        st.fixed_dictionaries({}, optional={**_permission, "hookEventName": st.sampled_from(["Stop", event])}),
    )


def answers(event: str) -> st.SearchStrategy[str]:
    top = {
        "continue": st.booleans(),
        "stopReason": _text,
        "suppressOutput": st.booleans(),
        "systemMessage": _text,
        "decision": st.sampled_from(["block", "approve", "allow", "deny", "ask"]),
        "reason": _text,
        "extra": st.just(1),
    }
    inner = {"hookSpecificOutput": specific(event)}
    bodies = st.one_of(
        st.fixed_dictionaries(inner),
        st.fixed_dictionaries({"decision": top["decision"]}, optional={"reason": _text}),
        st.fixed_dictionaries({}, optional=top | inner),
    )
    return st.one_of(bodies.map(json.dumps), st.sampled_from(["", "plain text", '{"decision": "bl']))


def replies(event: str) -> st.SearchStrategy[list[Exited]]:
    """Return what one to three hooks of an event leave."""
    one = st.builds(
        lambda status, out, err: Exited(status, out.encode(), err.encode()),
        st.sampled_from([0, 0, 0, 0, 0, 1, 2, 3, 137]),
        answers(event),
        _text,
    )
    return st.lists(one, min_size=1, max_size=3)


PATCHES = (
    "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: b\n*** Move to: c\n@@\n-1\n+2\n*** End Patch",
    "*** Begin Patch\n*** Delete File: a\n*** End Patch",
    "*** Begin Patch\n*** Add File: a\n1\n*** End Patch",
    "rm -rf /",
)


@st.composite
def payloads(draw: st.DrawFn, table: Dialect, moment: Moment) -> dict[str, Any]:
    """Draw a payload of the agent with one of its tools, a tool of an MCP server or a patch, broken ones among them."""
    tool = draw(st.sampled_from([*table.tools, None]))
    back = {claude: name for name, claude in tool.keys} if tool is not None else {}
    given_input: dict[str, Any] = {"command": "ls", "file_path": "a", "content": "1", "pattern": "*"}
    given_input = {back.get(key, key): value for key, value in given_input.items()}
    if tool is not None and tool.patch:
        given_input = {"command": draw(st.sampled_from(PATCHES))}
    for key in draw(st.sets(st.sampled_from(sorted(given_input)), max_size=1)):
        del given_input[key]
    called = {"tool_name": tool.name if tool is not None else "mcp__a__b_c", "tool_input": given_input}
    common = {"session_id": "s", "cwd": "/w", "hook_event_name": moment.name, "prompt": "hi"}
    return {**common, **called, "tool_response": "done", "tool_output": "done", "tool_result": "done"}


def outcome_of(event: Event, left: list[Exited]) -> Outcome:
    """Return what the engine's laws make of replies."""
    handlers = [command(f"hook-{number}") for number in range(len(left))]
    read = [(handler, reply, interpret(reply, handler, event)) for handler, reply in zip(handlers, left, strict=True)]
    return aggregate(event, [Run(handler, reply, verdict, Timing(0.0, 0.0)) for handler, reply, verdict in read])


def bridged(table: Dialect, call: Translated, data: st.DataObject) -> tuple[list[Outcome], NativeAnswer]:
    """Let hooks answer each event of a call in their own way; return the outcomes, and the answer of the bridge."""
    outcomes = [outcome_of(event, data.draw(replies(event.event_name))) for event in call.events]
    return outcomes, speak(table, call.moment, settle(table, call, join(outcomes)))


def must_stop(outcome: Outcome) -> bool:
    """Return whether Claude Code refuses the action, defers it or ends the turn before it."""
    stops = outcome.stop is not None and CATALOGUE[outcome.event].rules.stops
    return outcome.blocked or stops or isinstance(outcome.decision, Defer)


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_stops_a_call_in_claude_code_stops_it_in_every_agent(table: Dialect, data: st.DataObject) -> None:
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    call = translate(table, data.draw(payloads(table, moment)))
    if isinstance(call, UnreadablePayload):
        refused = refused_for_failure(table, moment, call.reason, returning=False)
        assert read_answer(table, moment, refused).effect is AnswerEffect.REFUSED
        return
    outcomes, answer = bridged(table, call, data)
    effect = read_answer(table, moment, answer).effect
    given_inputs = [call.given] if len(outcomes) == 1 else [None]
    if any(map(must_stop, outcomes)):
        assert effect in (AnswerEffect.REFUSED, AnswerEffect.ENDS), (outcomes, answer)
    elif any(isinstance(outcome.decision, Ask) for outcome in outcomes):
        assert effect in (AnswerEffect.REFUSED, AnswerEffect.ASKS), (outcomes, answer)
    elif any(outcome.updated_input not in (None, *given_inputs) for outcome in outcomes):
        assert effect in (AnswerEffect.REFUSED, AnswerEffect.REWRITTEN), (outcomes, answer)
    else:
        assert effect is AnswerEffect.RUNS, (outcomes, answer)


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_at_every_other_event_a_refusal_is_obeyed_or_the_user_reads_that_it_is_not(
    table: Dialect, data: st.DataObject
) -> None:
    others = [each for each in table.moments if each.claude not in ("", "PreToolUse") and each.exported]
    moment = data.draw(st.sampled_from(others))
    call = translate(table, data.draw(payloads(table, moment)))
    if isinstance(call, UnreadablePayload):
        refused = refused_for_failure(table, moment, call.reason, returning=False)
        effect = read_answer(table, moment, refused).effect
        assert effect is (AnswerEffect.REFUSED if moment.refused_by else AnswerEffect.RUNS)
        assert refused.status != 0 or effect is AnswerEffect.REFUSED
        return
    if not call.events:
        return
    outcomes, answer = bridged(table, call, data)
    refused_there = read_answer(table, moment, answer).effect is AnswerEffect.REFUSED
    if any(outcome.blocked for outcome in outcomes) and moment.refused_by:
        assert refused_there, (moment.name, outcomes, answer)
    elif any(outcome.blocked for outcome in outcomes):
        assert f"{table.title} cannot refuse at {moment.name}" in answer.stderr, (moment.name, answer)
    elif not any(map(_changes, outcomes)):
        assert not refused_there or CATALOGUE[moment.claude].rules.permission, (moment.name, outcomes, answer)


def _changes(outcome: Outcome) -> bool:
    return outcome.stop is not None or outcome.updated_output is not None or outcome.updated_input is not None
