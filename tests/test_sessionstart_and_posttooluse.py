"""The two events that most hooks are written for, end to end through the engine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookwright.protocol.outcome import NO_OPINION, Block, EndTurn, Outcome
from support import command
from test_engine import at, engine, group


def start(folder: Path, *commands: str, source: str = "startup", matcher: str | None = None) -> Outcome:
    made = engine(folder, group("SessionStart", *(command(text) for text in commands), matcher=matcher))
    return asyncio.run(made.fire(at("SessionStart", folder, source=source)))


def post(folder: Path, *commands: str, tool: str = "Write", matcher: str | None = None) -> Outcome:
    made = engine(folder, group("PostToolUse", *(command(text) for text in commands), matcher=matcher))
    return asyncio.run(made.fire(at("PostToolUse", folder, tool_name=tool)))


def printed(value: Any) -> str:
    return f"printf '%s' '{json.dumps(value)}'"


def context(text: str) -> str:
    return printed({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": text}})


@pytest.mark.req("R-387")
def test_session_start_matcher_filter(tmp_path: Path) -> None:
    assert start(tmp_path, "echo x", matcher="startup").plain == ("x",)
    assert start(tmp_path, "echo x", matcher="resume").plain == ()
    assert start(tmp_path, "echo x", matcher="st.*").plain == ("x",)
    assert start(tmp_path, "echo x", matcher="st").plain == ()


@pytest.mark.req("R-387", "R-296")
def test_session_start_order_and_joining(tmp_path: Path) -> None:
    outcome = start(tmp_path, "sleep 0.2; echo one", "echo two", "printf ''")
    assert outcome.plain == ("one", "two")
    assert "\n".join(outcome.plain) == "one\ntwo"


@pytest.mark.req("R-387", "R-297", "R-053")
def test_session_start_failure_and_no_block(tmp_path: Path) -> None:
    outcome = start(tmp_path, "echo bad; exit 1", "echo blocked; exit 2", "echo good", printed({"decision": "block"}))
    assert (outcome.plain, outcome.decision, outcome.stop) == (("good",), NO_OPINION, None)


@pytest.mark.req("R-387")
def test_session_start_without_hooks(tmp_path: Path) -> None:
    assert start(tmp_path) == Outcome(event="SessionStart", matched="startup")


@pytest.mark.req("R-388", "R-038")
def test_post_tool_use_regex_match(tmp_path: Path) -> None:
    assert len(post(tmp_path, "true", tool="NotebookEdit", matcher="Notebook.*").runs) == 1
    assert len(post(tmp_path, "true", tool="filesystem_write_file", matcher="^filesystem_").runs) == 1
    assert len(post(tmp_path, "true", tool="Bash", matcher="Notebook.*").runs) == 0


@pytest.mark.req("R-388", "R-294", "R-295")
def test_post_tool_use_order_contexts_and_messages(tmp_path: Path) -> None:
    outcome = post(
        tmp_path,
        "sleep 0.2; " + context("a"),
        context("b"),
        printed({"systemMessage": "m1"}),
        printed({"systemMessage": "m2"}),
    )
    assert (outcome.context, outcome.system_messages) == (("a", "b"), ("m1", "m2"))


@pytest.mark.req("R-388", "R-063", "R-262")
def test_post_tool_use_json_block_keeps_the_result(tmp_path: Path) -> None:
    outcome = post(tmp_path, printed({"decision": "block", "reason": "fix it"}))
    assert (outcome.decision, outcome.updated_output, outcome.stop) == (Block("fix it"), None, None)


@pytest.mark.req("R-388", "R-264")
def test_post_tool_use_stop(tmp_path: Path) -> None:
    outcome = post(tmp_path, printed({"continue": False, "stopReason": "red", "decision": "block", "reason": "r"}))
    assert outcome.stop == EndTurn("red")


@pytest.mark.req("R-388", "R-226")
def test_post_tool_use_mixed_output(tmp_path: Path) -> None:
    outcome = post(tmp_path, "echo log; " + context("lost"), context("kept"), "echo plain", "echo err >&2; exit 1")
    assert outcome.context == ("kept",)
    assert [run.label for run in outcome.runs] == ["success", "success", "success", "error"]


@pytest.mark.req("R-388", "R-231")
def test_post_tool_use_suppress_output(tmp_path: Path) -> None:
    specific = {"hookEventName": "PostToolUse", "additionalContext": "c"}
    outcome = post(tmp_path, printed({"suppressOutput": True, "hookSpecificOutput": specific}))
    assert outcome.context == ("c",)
    assert outcome.runs[0].verdict.suppress_output


@pytest.mark.req("R-215")
def test_stderr_is_never_parsed_as_json(tmp_path: Path) -> None:
    outcome = post(tmp_path, printed({"decision": "block"}) + " >&2", printed({"continue": False}) + " >&2; exit 1")
    assert (outcome.decision, outcome.stop) == (NO_OPINION, None)


@pytest.mark.req("R-226")
def test_the_exit_code_path_and_the_json_path_exclude_each_other(tmp_path: Path) -> None:
    by_code = post(tmp_path, "echo ignored; echo reason >&2; exit 2")
    assert by_code.reasons == ("[echo ignored; echo reason >&2; exit 2]: reason",)
    by_json = post(tmp_path, printed({"decision": "block", "reason": "json"}) + "; echo noise >&2; exit 2")
    assert by_json.reasons == ("json",)
