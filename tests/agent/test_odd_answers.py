"""Answers that Claude Code 2.1.325 was recorded with, and what it made of them: rules, rewrites, resumes, inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, tool
from agent.test_as_recorded import END, Model, lines, of
from hookwright.agent.state.options import ContinueLatest

ALLOW = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def rule(place: Place, behavior: str, *texts: str) -> None:
    place.file(".claude/settings.local.json", f'{{"permissions": {{"{behavior}": {list(texts)!r}}}}}'.replace("'", '"'))


def test_an_allow_of_a_permission_request_answers_the_question_of_an_ask_rule(place: Place) -> None:
    rule(place, "ask", "Bash(echo *)")
    place.answer("PermissionRequest", ALLOW)
    model = Model([[bash("echo RAN")], END])
    found = lines(place, model)
    assert "RAN" in str(model.requests[1].messages[-1])
    assert found[-1]["permission_denials"] == []


def test_a_rewrite_of_a_permission_request_is_held_by_an_ask_rule(place: Place) -> None:
    rule(place, "ask", "Bash(touch *)")
    decision = {"behavior": "allow", "updatedInput": {"command": "touch made"}}
    place.answer("PermissionRequest", specific("PermissionRequest", decision=decision))
    lines(place, Model([[bash("mkdir d")], END]), allowed_tools=())
    assert not (place.project / "made").exists()


def test_what_hooks_of_a_permission_request_say_or_fail_to_say_has_no_line(place: Place) -> None:
    place.answer("PermissionRequest", {**ALLOW, "systemMessage": "SAYS"})
    place.hook("PermissionRequest", "exit 127")
    found = lines(place, Model([[bash("mkdir d")], END]), allowed_tools=())
    assert of(found, "informational") == []
    assert (place.project / "d").exists()


def test_denials_list_the_input_that_was_refused(place: Place) -> None:
    rule(place, "deny", "Bash(rm *)")
    place.answer("PreToolUse", specific("PreToolUse", updatedInput={"command": "rm -rf x"}))
    found = lines(place, Model([[bash("echo a")], END]))
    assert [one["tool_input"] for one in found[-1]["permission_denials"]] == [{"command": "rm -rf x"}]
    assert len(of(found, "permission_denied")) == 1


def test_a_rule_that_refuses_what_a_hook_allowed_has_no_line_of_its_own(place: Place) -> None:
    rule(place, "deny", "Bash(rm *)")
    place.answer("PreToolUse", specific("PreToolUse", permissionDecision="allow"))
    found = lines(place, Model([[bash("rm -rf x")], END]))
    assert len(found[-1]["permission_denials"]) == 1
    assert of(found, "permission_denied") == []


def test_numbers_as_text_reach_hooks_and_tools_as_numbers(place: Place) -> None:
    place.hook("PreToolUse")
    place.file("f.txt", "a\nb\n")
    calls = [tool("Read", file_path="f.txt", limit="1"), tool("Bash", command="echo RAN", timeout="x")]
    model = Model([calls, END])
    lines(place, model)
    assert [payload["tool_input"].get("limit") for payload in place.got("PreToolUse")] == [1]
    first, second = model.requests[1].messages[-1]["content"]
    assert "b" not in first["content"]
    assert "The parameter `timeout` type is expected as `number` but provided as `string`" in second["content"]


def test_a_rewrite_that_does_not_fit_is_told_in_claude_codes_words(place: Place) -> None:
    place.answer("PreToolUse", specific("PreToolUse", updatedInput={"command": 5}))
    model = Model([[bash("echo a")], END])
    lines(place, model)
    assert model.requests[1].messages[-1]["content"][0]["content"] == (
        "PreToolUse hook for Bash returned updatedInput that failed schema validation: "
        "Bash failed due to the following issue:\n"
        "The parameter `command` type is expected as `string` but provided as `number`\n"
        "The tool input from the model was valid; the hook's rewrite of it was not."
    )


def test_plain_text_that_a_resumed_conversation_has_is_not_added_again_and_other_text_is(place: Place) -> None:
    place.hook("SessionStart", "echo SAME")
    place.hook("SessionStart", "echo NEW", matcher="resume")
    lines(place, Model([END]), "first")
    model = Model([END])
    lines(place, model, "second", start=ContinueLatest())
    sent = str(model.requests[0].messages)
    assert (sent.count("SAME"), sent.count("SessionStart:resume hook success: NEW")) == (1, 1)


def test_the_context_of_an_expansion_comes_before_that_of_its_prompt(place: Place) -> None:
    place.file(".claude/commands/greet.md", "Say hello\n")
    place.answer("UserPromptSubmit", specific("UserPromptSubmit", additionalContext="OF-PROMPT"))
    place.answer("UserPromptExpansion", specific("UserPromptExpansion", additionalContext="OF-EXPANSION"))
    model = Model([END])
    lines(place, model, "/greet")
    sent = str(model.requests[0].messages)
    assert 0 < sent.index("OF-EXPANSION") < sent.index("OF-PROMPT")


def test_a_cleared_session_begins_without_a_prompt(place: Place) -> None:
    place.hook("SessionStart")
    lines(place, Model([END]), "one", "/clear")
    started, cleared = place.got("SessionStart")
    assert (cleared["source"], "prompt_id" in cleared, "prompt_id" in started) == ("clear", False, False)


SUMMARY = {"name": "compact", "match": "summary", "on": "last", "turns": [[{"text": "SUM"}]], "repeat": True}


def test_what_precompact_hooks_print_is_asked_of_the_summary_and_every_end_is_told(place: Place) -> None:
    spoken = place.hook("PreCompact", "echo KEEP-NAMES")
    failed = place.hook("PreCompact", "echo NOT-THIS; echo WHY >&2; exit 1")
    late = place.hook("PostCompact", "sleep 20", timeout=0.2)
    model = Model([END, END], [SUMMARY])
    lines(place, model, "one", "/compact keep it", "two")
    asked, sent = str(model.requests[1].messages[-1]), str(model.requests[2].messages)
    assert "keep it\\n\\nKEEP-NAMES" in asked
    assert "NOT-THIS" not in asked
    told = [
        f"[{spoken}] completed successfully: KEEP-NAMES",
        f"[{failed}] failed: WHY",
        f"[{late}] failed: Hook cancelled",
    ]
    assert all(text in sent for text in told), sent


def test_a_refused_compaction_is_told_as_an_error_of_the_command(place: Place) -> None:
    name = place.hook("PreCompact", "echo NO >&2; exit 2")
    model = Model([END, END], [SUMMARY])
    lines(place, model, "one", "/compact", "two")
    text = f"<local-command-stderr>Compaction blocked by PreCompact hook: [{name}]: NO</local-command-stderr>"
    assert text in str(model.requests[1].messages).replace("\\n", "")
