"""No translation weakens a decision."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.dialects.incoming import Translated, translate
from hookwright.dialects.model import AnswerEffect, Dialect, Moment
from hookwright.dialects.native import NativeAnswer, form_of, obeyed, read_before_call
from hookwright.dialects.outgoing import join, refused_for_failure, settle, speak
from hookwright.dialects.table import dialect, dialects
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.outcome import (
    NO_OPINION,
    Allow,
    Ask,
    Block,
    Decision,
    Defer,
    Deny,
    EndTurn,
    Outcome,
    strictness,
)

EXPORTED = [table for table in dialects() if table.exported]
GATES = ("UserPromptSubmit", "PermissionRequest", "PreToolUse")


def a_call(table: Dialect, moment: Moment, patched: bool = False) -> Translated:
    """Return an ordinary call of the shell, or of a patch with two files, at a moment of the agent."""
    tool = next(tool for tool in table.tools if tool.claude == "Bash")
    sent: dict[str, Any] = {"session_id": "s", "cwd": "/w", "hook_event_name": moment.name, "prompt": "hi"}
    sent |= {"tool_name": tool.name, "tool_input": {"command": "ls", "description": "d"}}
    if patched:
        text = "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"
        sent |= {"tool_name": "apply_patch", "tool_input": {"command": text}}
    found = translate(table, sent)
    assert isinstance(found, Translated), (table.name, moment.name, found)
    return found


_text = st.text(max_size=10)
_decisions: st.SearchStrategy[Decision] = st.one_of(
    st.just(NO_OPINION),
    st.builds(Allow, st.none() | _text),
    st.builds(Ask, _text),
    st.builds(Defer, st.none() | _text),
    st.builds(Deny, _text, st.booleans()),
    st.builds(Block, _text),
)
_inputs = st.dictionaries(st.sampled_from(["command", "description", "timeout"]), _text, max_size=3)


@st.composite
def outcomes(draw: st.DrawFn, event: str) -> Outcome:
    decision = draw(_decisions)
    reason = getattr(decision, "reason", None)
    return Outcome(
        event=event,
        decision=decision,
        reasons=(reason,) if reason else (),
        stop=draw(st.none() | st.builds(EndTurn, st.none() | _text)),
        context=tuple(draw(st.lists(_text, max_size=1))),
        plain=tuple(draw(st.lists(_text, max_size=1))),
        system_messages=tuple(draw(st.lists(_text, max_size=1))),
        updated_input=draw(st.none() | _inputs) if CATALOGUE[event].rules.permission else None,
        updated_output=draw(st.none() | _text) if event == "PostToolUse" else None,
    )


DECISIONS: tuple[Decision, ...] = (
    NO_OPINION,
    Allow(),
    Ask("sure?"),
    Ask(""),
    Defer(),
    Defer("later"),
    Deny("no"),
    Deny(""),
    Deny("no", True),
    Block("no"),
)
REWRITES: tuple[dict[str, str] | None, ...] = (
    None,
    {"command": "ls", "description": "d"},
    {"command": "true", "description": "d"},
    {"command": "true"},
    {"description": "d"},
    {"command": "true", "timeout": "1"},
    {},
)
STOPS = (None, EndTurn(), EndTurn("enough"))


@pytest.mark.parametrize("patched", [False, True])
@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
def test_what_claude_code_would_not_run_does_not_run(table: Dialect, patched: bool) -> None:
    if patched and table.name != "codex":
        return
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    call = a_call(table, moment, patched)
    for decision, rewrite, stop in itertools.product(DECISIONS, REWRITES, STOPS):
        outcome = Outcome(event="PreToolUse", decision=decision, updated_input=rewrite, stop=stop)
        answer = speak(table, moment, settle(table, call, outcome))
        effect = read_before_call(table, answer).effect
        said = (decision, rewrite, stop, answer)
        if outcome.blocked or stop is not None or isinstance(decision, Defer):
            assert effect in (AnswerEffect.REFUSED, AnswerEffect.ENDS), said
            assert obeyed(moment, answer), said
        elif isinstance(decision, Ask):
            assert effect in (AnswerEffect.REFUSED, AnswerEffect.ASKS), said
        elif rewrite is not None and (patched or rewrite != call.given):
            assert effect in (AnswerEffect.REFUSED, AnswerEffect.REWRITTEN), said
            if effect is AnswerEffect.REWRITTEN:
                assert runs_as_rewritten(table, call, answer, rewrite), said
        else:
            assert effect is AnswerEffect.RUNS, said


def runs_as_rewritten(table: Dialect, call: Translated, answer: NativeAnswer, rewrite: dict[str, str]) -> bool:
    """Return whether the call that the agent then runs is the one that the hook wrote, but for a description."""
    sent = rewrite_in(table, answer)
    runs = {**call.given, **sent} if table.answers.rewrite_merges else sent
    return len(call.events) == 1 and {**runs, "description": ""} == {**rewrite, "description": ""}


def test_a_rewrite_comes_back_in_the_agents_own_keys() -> None:
    table = dialect("opencode")
    sent = {"session_id": "s", "cwd": "/w", "hook_event_name": "tool.execute.before", "tool_name": "write"}
    call = translate(table, {**sent, "tool_input": {"filePath": "a", "content": "1"}})
    assert isinstance(call, Translated)
    new = {"file_path": "/w/b", "content": "2"}
    settled = settle(table, call, Outcome(event="PreToolUse", updated_input=new))
    assert settled.rewrite == {"filePath": "/w/b", "content": "2"}


def rewrite_in(table: Dialect, answer: NativeAnswer) -> Any:
    body = json.loads(answer.stdout)
    return body.get("hookSpecificOutput", body)[table.answers.rewrite]


@settings(max_examples=60)
@given(st.sampled_from(EXPORTED), st.sampled_from(GATES), st.data())
def test_a_refusal_has_a_form_that_the_agent_obeys_or_is_reported(
    table: Dialect, event: str, data: st.DataObject
) -> None:
    moment = table.moment_of(event)
    if moment is None:
        return
    outcome = data.draw(outcomes(event))
    answer = speak(table, moment, settle(table, a_call(table, moment), outcome))
    if outcome.blocked or (outcome.stop is not None and CATALOGUE[event].rules.stops):
        if moment.refused_by:
            assert obeyed(moment, answer)
        else:
            assert f"cannot refuse at {moment.name}" in answer.stderr
    elif event == "UserPromptSubmit":
        assert form_of(answer) is None


@settings(max_examples=60)
@given(st.sampled_from(EXPORTED), st.sampled_from(["Stop", "SubagentStop", "PostToolUse"]), st.data())
def test_feedback_reaches_the_model_or_is_reported(table: Dialect, event: str, data: st.DataObject) -> None:
    moment = table.moment_of(event)
    if moment is None:
        return
    outcome = data.draw(outcomes(event))
    answer = speak(table, moment, settle(table, a_call(table, moment), outcome))
    if outcome.blocked:
        assert obeyed(moment, answer) or "cannot refuse" in answer.stderr
    elif event != "PostToolUse":
        assert form_of(answer) is None
    if outcome.updated_output is not None and event == "PostToolUse":
        assert obeyed(moment, answer) or "cannot replace a tool's output" in answer.stderr


@settings(max_examples=60)
@given(st.sampled_from(EXPORTED), st.data())
def test_an_approval_is_never_made_up(table: Dialect, data: st.DataObject) -> None:
    for event in ("PreToolUse", "PermissionRequest"):
        moment = table.moment_of(event)
        outcome = data.draw(outcomes(event))
        if moment is None or isinstance(outcome.decision, Allow) or outcome.updated_input is not None:
            continue
        answer = speak(table, moment, settle(table, a_call(table, moment), outcome))
        assert '"allow"' not in answer.stdout


@settings(max_examples=60)
@given(st.lists(outcomes("PreToolUse"), min_size=1, max_size=4))
def test_the_events_of_one_call_are_joined_by_the_strictest(found: list[Outcome]) -> None:
    joined = join(found)
    assert strictness(joined.decision) == max(strictness(each.decision) for each in found)
    assert (joined.stop is None) == all(each.stop is None for each in found)
    assert (joined.updated_input is None) == all(each.updated_input is None for each in found)


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
def test_our_own_failure_refuses_whatever_can_be_refused_and_says_how_to_switch_it_off(table: Dialect) -> None:
    for moment in (None, *(each for each in table.moments if each.claude)):
        answer = refused_for_failure(table, moment, "it broke", returning=False)
        assert f"hookwright export --to {table.name} --remove" in answer.stdout + answer.stderr
        if moment is None:
            assert form_of(answer) is not None
        elif moment.refused_by:
            assert obeyed(moment, answer), moment.name
        else:
            assert answer.status == 1
        if moment is not None and moment.claude == "PreToolUse":
            assert read_before_call(table, answer).effect is AnswerEffect.REFUSED


def test_an_agent_that_was_sent_back_once_may_stop_when_we_fail() -> None:
    moment = dialect("codex").moment_of("Stop")
    assert refused_for_failure(dialect("codex"), moment, "it broke", returning=True).status == 1


def test_context_is_carried_or_its_loss_is_reported() -> None:
    outcome = Outcome(event="PreToolUse", context=("read this",))
    for table in EXPORTED:
        moment = table.moment_of("PreToolUse")
        assert moment is not None
        answer = speak(table, moment, settle(table, a_call(table, moment), outcome))
        assert ("read this" in answer.stdout) == moment.context
        assert ("context for the model was dropped" in answer.stderr) == (not moment.context)


def test_feedback_on_a_call_is_context_where_the_agent_reads_no_refusal_after_it() -> None:
    table = dialect("qwen")
    moment = table.moment_of("PostToolUse")
    assert moment is not None
    outcome = Outcome(event="PostToolUse", decision=Block("run the tests"), reasons=("run the tests",))
    answer = speak(table, moment, settle(table, a_call(table, moment), outcome))
    assert json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"] == "run the tests"
    assert "Qwen Code cannot refuse at PostToolUse, so the model reads this as context" in answer.stderr
