"""What transcripts of Claude Code become: parallel calls, subagents, forks, compaction, and events that never were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookwright.protocol.wire import payload
from hookwright.replay.past import Coverage, Fate, Provenance
from hookwright.replay.transcripts.fates import CallResult, fate_of
from replay.histories import CWD, REJECTED, call, error, line, past, progress, prompt, result, says, shown, write

HISTORY = Path(__file__).parents[2] / "examples" / "history"


def test_the_history_of_the_examples() -> None:
    coverage = Coverage()
    events = past(HISTORY, coverage=coverage)
    before = [one for one in events if one.event.event_name == "PreToolUse"]
    assert (coverage.files, coverage.sessions, coverage.calls, coverage.never_started) == (3, 2, 43, 3)
    assert (coverage.unreadable, coverage.refused, coverage.repeats, coverage.without_mode) == (0, 0, 0, 0)
    assert len(before) == 40
    assert {one.fate for one in before} == set(Fate) - {Fate.NEVER_STARTED}


def test_parallel_calls_keep_their_order_and_their_results(tmp_path: Path) -> None:
    lines = [
        prompt("go", 1),
        call("a", 2),
        call("b", 3),
        result("b", 4, "of b"),
        error("a", 5, "Exit code 3"),
        says("end", 6),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == [
        "UserPromptSubmit go",
        "PreToolUse a FAILED",
        "PreToolUse b SUCCEEDED",
        "PostToolUse b",
        "PostToolUseFailure a",
        "Stop end",
    ]
    assert payload(events[3].event)["tool_response"] == {"stdout": "of b"}
    assert payload(events[4].event)["error"] == "Exit code 3"
    assert [one.place.line for one in events] == [1, 2, 3, 4, 5, 6]


def test_several_results_in_one_line(tmp_path: Path) -> None:
    both = result("a", 4)
    both["message"]["content"].append({"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True})
    for wanted in ({"PreToolUse"}, set()):
        path = write(tmp_path / "s1.jsonl", [prompt("go", 1), call("a", 2), call("b", 3), both])
        events = past(path, events=frozenset(wanted))
        fates = [one.fate for one in events if one.event.event_name == "PreToolUse"]
        assert fates == [Fate.SUCCEEDED, Fate.FAILED]
    path = write(tmp_path / "s1.jsonl", [prompt("go", 1), call("a", 2, tool="Read"), call("b", 3), both])
    events = past(path, wanted=lambda event, tool: tool == "Bash")
    assert shown(events) == ["PreToolUse b FAILED", "PostToolUseFailure b"]


def test_events_that_never_were(tmp_path: Path) -> None:
    rejects = {"permissionDecision": {"decision": "reject", "source": "hook"}}
    lines = [
        prompt("go", 1),
        call("unknown", 2, tool="Nope"),
        error("unknown", 3, "<tool_use_error>Error: No such tool available: Nope</tool_use_error>"),
        call("denied", 4),
        error("denied", 5, "PreToolUse:Bash hook error: no", **rejects),
        call("person", 6),
        error("person", 7, REJECTED, toolDenialKind="user-rejected"),
        prompt("[Request interrupted by user for tool use]", 8, None),
        line("user", 9, message={"content": "This session is being continued"}, isCompactSummary=True, promptId="c"),
        prompt("<command-name>/clear</command-name>", 10, None),
        prompt("a task ended", 11, origin={"kind": "task-notification"}),
        prompt("a wake-up", 12, promptSource="system"),
        prompt("a caveat", 13, None, isMeta=True),
        prompt("typed", 14, origin={"kind": "human"}, promptSource="typed"),
    ]
    coverage = Coverage()
    events = past(write(tmp_path / "s1.jsonl", lines), coverage=coverage)
    assert shown(events) == [
        "UserPromptSubmit go",
        "PreToolUse denied REFUSED_BY_HOOK",
        "PreToolUse person REJECTED",
        "UserPromptSubmit typed",
    ]
    assert (coverage.calls, coverage.never_started) == (3, 1)


@pytest.mark.parametrize(
    ("fate", "fields"),
    [
        (Fate.SUCCEEDED, {"is_error": False}),
        (Fate.INTERRUPTED, {"is_error": False, "interrupted": True}),
        (Fate.FAILED, {"text": "Exit code 1\nThis command requires nothing"}),
        (Fate.FAILED, {"text": "bash: permission denied"}),
        (Fate.NEVER_STARTED, {"text": "<tool_use_error>InputValidationError: …</tool_use_error>"}),
        (Fate.NEVER_STARTED, {"text": "<tool_use_error>denied</tool_use_error>", "decision": {"decision": "reject"}}),
        (Fate.REFUSED_BY_HOOK, {"text": "<tool_use_error>PreToolUse:Bash hook error: no</tool_use_error>"}),
        (Fate.REFUSED_BY_HOOK, {"text": "Bash operation blocked by hook:\n- no"}),
        (Fate.REFUSED_BY_HOOK, {"text": "no", "decision": {"decision": "reject", "source": "hook"}}),
        (Fate.REFUSED_BY_RULE, {"text": "no", "decision": {"decision": "reject", "source": "config"}}),
        # Without a person, Claude Code 2.1.325 writes `user-rejected` for what a rule refused.
        (
            Fate.REFUSED_BY_RULE,
            {"text": "no", "denial": "user-rejected", "decision": {"decision": "reject", "source": "config"}},
        ),
        (Fate.REFUSED_BY_RULE, {"text": "Permission to use Bash has been denied."}),
        (Fate.REFUSED_BY_RULE, {"text": "Claude requested permissions to use Bash, but you haven't granted it yet."}),
        (Fate.REFUSED_BY_RULE, {"text": "This command requires approval"}),
        (Fate.REFUSED_BY_RULE, {"text": "no", "denial": "permission-rule"}),
        (Fate.REJECTED, {"text": REJECTED}),
        (Fate.REJECTED, {"text": "because", "response": "User rejected tool use"}),
        (Fate.REJECTED, {"text": "no", "denial": "user-rejected"}),
        (Fate.REJECTED, {"text": "no", "decision": {"decision": "reject", "source": "user_reject"}}),
        (Fate.INTERRUPTED, {"text": "[Request interrupted by user for tool use]"}),
        (Fate.INTERRUPTED, {"text": "The user doesn't want to take this action right now. STOP"}),
        (Fate.FAILED, {"text": "the test requires approval of QA", "decision": {"decision": "accept"}}),
    ],
)
def test_the_law_of_fates(fate: Fate, fields: dict[str, Any]) -> None:
    assert fate_of(CallResult(**{"is_error": True, "text": "", **fields})) is fate


def test_repairs(tmp_path: Path) -> None:
    given = {"file_path": "src/../a.py", "old_string": "x", "new_string": "y"}
    lines = [
        prompt("go", 1),
        call("edit", 2, tool="Edit", given=given),
        call("task", 3, tool="Task", given={"prompt": "p"}),
        call("bash", 4, given={"command": "ls"}),
        call("mcp", 5, tool="mcp__db__query", given={"file_path": "b.sql"}),
    ]
    edit, task, shell, mcp = past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"PreToolUse"}))
    assert payload(edit.event)["tool_input"] == {**given, "file_path": f"{CWD}/a.py", "replace_all": False}
    assert edit.provenance["tool_input"] is Provenance.DERIVED
    assert (payload(task.event)["tool_name"], task.provenance["tool_name"]) == ("Agent", Provenance.DERIVED)
    assert "tool_input" not in shell.provenance
    assert payload(mcp.event)["tool_input"] == {"file_path": f"{CWD}/b.sql"}
    assert mcp.provenance["mcp_server"] is Provenance.UNKNOWN


def test_what_is_in_force_and_what_is_unknown(tmp_path: Path) -> None:
    lines = [
        call("before", 1),
        prompt("one", 2, "plan"),
        call("planned", 3, effort="high"),
        {"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": "s1"},
        call("after", 4),
    ]
    coverage = Coverage()
    path = write(tmp_path / "s1.jsonl", lines)
    before, planned, after = past(path, events=frozenset({"PreToolUse"}), coverage=coverage)
    assert "permission_mode" not in payload(before.event)
    assert {name for name, sure in before.provenance.items() if sure is Provenance.UNKNOWN} == {
        "permission_mode",
        "prompt_id",
        "effort",
    }
    read = payload(planned.event)
    assert (read["permission_mode"], read["prompt_id"], read["effort"]) == ("plan", "p2", {"level": "high"})
    assert payload(after.event)["permission_mode"] == "acceptEdits"
    assert coverage.without_mode == 1


AGENT = [
    {**prompt("search", 3, None, promptId="p1"), "isSidechain": True, "agentId": "x1"},
    {**call("inner", 4), "isSidechain": True, "agentId": "x1"},
    {**result("inner", 5, "found"), "isSidechain": True, "agentId": "x1"},
    {**says("sub end", 6), "isSidechain": True, "agentId": "x1"},
]


def test_subagents_in_their_own_files(tmp_path: Path) -> None:
    lines = [prompt("go", 1, "plan"), call("outer", 2, tool="Agent"), result("outer", 7), says("end", 8)]
    path = write(tmp_path / "s1.jsonl", lines)
    inner = [{key: value for key, value in one.items() if key != "toolUseResult"} for one in AGENT]
    agent = write(tmp_path / "s1" / "subagents" / "agent-x1.jsonl", inner)
    agent.with_suffix(".meta.json").write_text('{"agentType": "Explore"}')
    events = past(path)
    assert shown(events) == [
        "UserPromptSubmit go",
        "PreToolUse outer SUCCEEDED",
        "SubagentStart x1",
        "PreToolUse inner SUCCEEDED",
        "PostToolUse inner",
        "SubagentStop sub end",
        "PostToolUse outer",
        "Stop end",
    ]
    read = payload(events[3].event)
    assert (read["agent_id"], read["agent_type"], read["permission_mode"]) == ("x1", "Explore", "plan")
    assert (read["transcript_path"], read["prompt_id"]) == (str(path), "p1")
    assert events[3].provenance["permission_mode"] is Provenance.ASSUMED
    assert payload(events[4].event)["tool_response"] == "found"
    assert events[4].provenance["tool_response"] is Provenance.ASSUMED
    assert payload(events[5].event)["agent_transcript_path"] == str(agent)
    agent.with_suffix(".meta.json").unlink()
    assert past(path)[3].provenance["agent_type"] is Provenance.ASSUMED


def test_subagents_inside_their_session_as_older_versions_wrote_them(tmp_path: Path) -> None:
    inner = [progress(one, "x1", "outer") for one in AGENT]
    lines = [
        prompt("go", 1, None),
        call("outer", 2, tool="Task", given={"subagent_type": "Explore", "prompt": "search"}),
        *inner,
        result("outer", 7),
        says("end", 8, None),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == [
        "UserPromptSubmit go",
        "PreToolUse outer SUCCEEDED",
        "SubagentStart x1",
        "PreToolUse inner SUCCEEDED",
        "PostToolUse inner",
        "SubagentStop sub end",
        "PostToolUse outer",
        "Stop end",
    ]
    read = payload(events[3].event)
    assert (read["agent_id"], read["agent_type"], read["cwd"]) == ("x1", "Explore", CWD)
    assert events[3].provenance["agent_type"] is Provenance.DERIVED
    assert events[5].provenance["agent_transcript_path"] is Provenance.UNKNOWN


def test_the_same_subagent_in_both_formats_is_once(tmp_path: Path) -> None:
    long = [json.loads(json.dumps(one).replace('"inner"', '"toolu_01inner0000000000"')) for one in AGENT]
    lines = [call("outer", 2, tool="Task"), *(progress(one, "x1", "outer") for one in long), result("outer", 7)]
    write(tmp_path / "s1.jsonl", lines)
    write(tmp_path / "s1" / "subagents" / "agent-x1.jsonl", long)
    coverage = Coverage()
    events = past(tmp_path, coverage=coverage)
    assert (coverage.calls, coverage.repeats) == (2, 1)
    assert len(shown(events)) == len(set(shown(events)))


def test_a_fork_repeats_nothing(tmp_path: Path) -> None:
    first = [prompt("go", 1), call("a", 2), result("a", 3), says("end", 4)]
    origin = {"sessionId": "s1", "messageUuid": "u"}
    copies = [{**one, "sessionId": "s2", "uuid": f"new{at}", "forkedFrom": origin} for at, one in enumerate(first)]
    more = [{**one, "sessionId": "s2"} for one in (prompt("more", 5), call("b", 6), result("b", 7), says("end 2", 8))]
    write(tmp_path / "b" / "s1.jsonl", first)
    write(tmp_path / "a" / "s2.jsonl", [*copies, *more])
    coverage = Coverage()
    events = past(tmp_path, coverage=coverage)
    assert [(one.event.session_id, text) for one, text in zip(events, shown(events), strict=True)] == [
        ("s1", "UserPromptSubmit go"),
        ("s1", "PreToolUse a SUCCEEDED"),
        ("s1", "PostToolUse a"),
        ("s1", "Stop end"),
        ("s2", "UserPromptSubmit more"),
        ("s2", "PreToolUse b SUCCEEDED"),
        ("s2", "PostToolUse b"),
        ("s2", "Stop end 2"),
    ]
    assert (coverage.calls, coverage.repeats, coverage.sessions) == (2, 1, 2)


def test_ids_of_a_counter_do_not_join_two_sessions(tmp_path: Path) -> None:
    write(tmp_path / "s1.jsonl", [call("call_1", 1), result("call_1", 2)])
    write(tmp_path / "s2.jsonl", [call("call_1", 11, session="s2"), result("call_1", 12, session="s2")])
    assert len(past(tmp_path, events=frozenset({"PreToolUse"}))) == 2


def test_compaction_and_resume(tmp_path: Path) -> None:
    boundary = line("system", 4, subtype="compact_boundary", compactMetadata={"trigger": "manual"})
    resumed = {"type": "hook_success", "hookName": "SessionStart:resume", "hookEvent": "SessionStart"}
    lines = [
        prompt("go", 1),
        says("end", 2),
        boundary,
        line("user", 5, message={"content": "summary"}, isCompactSummary=True),
        line("attachment", 6, attachment={**resumed, "toolUseID": "h1"}),
        line("attachment", 7, attachment={**resumed, "toolUseID": "h1", "type": "hook_additional_context"}),
        prompt("again", 8),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == [
        "UserPromptSubmit go",
        "Stop end",
        "PreCompact manual",
        "SessionStart compact",
        "SessionStart resume",
        "UserPromptSubmit again",
    ]
    assert events[2].provenance["custom_instructions"] is Provenance.ASSUMED
    assert payload(events[3].event)["model"] == "claude-opus-5-5"


def test_stops(tmp_path: Path) -> None:
    lines = [
        prompt("go", 1),
        says("thinking", 2, None),
        call("a", 3),
        result("a", 4),
        says("first", 5, None),
        line("user", 6, message={"content": "Stop hook feedback:\nmore"}, isMeta=True),
        says("second", 7),
        prompt("next", 8),
        says("cut", 9, None),
        prompt("[Request interrupted by user]", 10, None),
        prompt("last", 11),
        says("API Error", 12, None, isApiErrorMessage=True),
        prompt("really last", 13),
        says("done", 14),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"Stop"}))
    assert shown(events) == ["Stop first", "Stop second", "Stop done"]
    assert [payload(one.event)["stop_hook_active"] for one in events] == [False, True, False]


def test_two_texts_and_a_call_of_one_message_are_one_message(tmp_path: Path) -> None:
    one, two, three = says("a", 2), says("b", 3), call("c", 4)
    for part in (one, two, three):
        part["message"]["id"] = "m"
    lines = [prompt("go", 1), one, two, three, result("c", 5), says("d", 6)]
    assert shown(past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"Stop"}))) == ["Stop d"]
    lines = [prompt("go", 1), one, two]
    assert shown(past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"Stop"}))) == ["Stop a\nb"]


def test_a_request_that_repeats_calls_has_none(tmp_path: Path) -> None:
    blob = {"type": "api-request-blob", "sessionId": "s1", "message": call("a", 2)["message"]}
    coverage = Coverage()
    past(write(tmp_path / "s1.jsonl", [blob, call("a", 2), blob]), coverage=coverage)
    assert (coverage.calls, coverage.repeats) == (1, 0)


def test_a_command_that_became_a_prompt_and_one_that_did_not(tmp_path: Path) -> None:
    became = "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n"
    own = "<command-name>/compact</command-name>\n<command-message>compact</command-message>"
    lines = [
        prompt(f"{became}<command-args>Bob</command-args>", 1),
        prompt("Say hello to Bob", 2, None, isMeta=True),
        prompt(became, 3),
        prompt(own.replace("compact", "context"), 4),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == ["UserPromptSubmit /greet Bob", "UserPromptSubmit /greet"]
    assert events[0].provenance["prompt"] is Provenance.DERIVED


def test_a_prompt_that_a_hook_refused(tmp_path: Path) -> None:
    text = "UserPromptSubmit operation blocked by hook:\n[guard.sh]: no\n\n\nOriginal prompt: a secret"
    lines = [prompt("go", 1), line("system", 2, subtype="informational", content=text, level="warning")]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == ["UserPromptSubmit go", "UserPromptSubmit a secret"]
    assert "prompt_id" not in payload(events[1].event)


def test_a_command_that_a_hook_refused_before_it_became_a_prompt(tmp_path: Path) -> None:
    text = "UserPromptExpansion operation blocked by hook:\nno\n\nOriginal prompt: /greet"
    lines = [line("system", 2, subtype="informational", content=text, level="warning")]
    assert shown(past(write(tmp_path / "s1.jsonl", lines))) == ["UserPromptSubmit /greet"]


def test_a_prompt_that_waited_for_the_turn_before_it(tmp_path: Path) -> None:
    waited = {"type": "queued_command", "prompt": "and this", "commandMode": "prompt"}
    blocks = {**waited, "prompt": [{"type": "text", "text": "and that"}]}
    told = {**waited, "prompt": "<task-notification>", "commandMode": "task-notification"}
    other = {**waited, "commandMode": "bash"}
    lines = [
        prompt("go", 1, "plan"),
        *(line("attachment", 2 + at, attachment=a) for at, a in enumerate((waited, blocks, told, other))),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert [payload(one.event)["prompt"] for one in events] == ["go", "and this", "and that", "<task-notification>"]
    read = payload(events[1].event)
    assert (read["prompt_id"], read["permission_mode"]) == ("p1", "plan")


@pytest.mark.parametrize(
    ("written", "instructions", "sure"),
    [
        ("<command-args>keep <names></command-args>", "keep <names>", Provenance.DERIVED),
        ("<command-args></command-args>", None, Provenance.DERIVED),
        (None, None, Provenance.ASSUMED),
    ],
)
def test_the_prompt_and_the_instructions_of_a_compaction_are_in_the_lines_after_it(
    tmp_path: Path, written: str | None, instructions: str | None, sure: Provenance
) -> None:
    command = f"<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n  {written}"
    lines = [
        prompt("go", 1),
        line("system", 4, subtype="compact_boundary", compactMetadata={"trigger": "manual"}),
        line("user", 5, message={"content": "summary"}, isCompactSummary=True, promptId="c"),
        *([prompt(command, 6, None, promptId="c")] if written is not None else []),
        prompt("again", 8),
    ]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events)[1:] == ["PreCompact manual", "SessionStart compact", "UserPromptSubmit again"]
    compact, start = payload(events[1].event), payload(events[2].event)
    assert (compact["prompt_id"], start["prompt_id"], compact["custom_instructions"]) == ("c", "c", instructions)
    assert events[1].provenance["custom_instructions"] is sure
    assert events[1].provenance["prompt_id"] is Provenance.DERIVED


def test_a_command_that_found_too_little_to_compact(tmp_path: Path) -> None:
    command = "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n"
    lines = [prompt("go", 1), prompt(f"{command}<command-args>names</command-args>", 2, None, promptId="c")]
    events = past(write(tmp_path / "s1.jsonl", lines))
    assert shown(events) == ["UserPromptSubmit go", "PreCompact manual"]
    assert payload(events[1].event)["custom_instructions"] == "names"


@pytest.mark.parametrize("tools", [frozenset(), frozenset({"Write"})])
def test_an_input_that_a_hook_rewrote_is_that_of_the_events_after_the_call(
    tmp_path: Path, tools: frozenset[str]
) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": "b"}}}
    record = {"type": "hook_success", "hookEvent": "PreToolUse", "toolUseID": "a", "stdout": json.dumps(answer)}
    lines = [
        prompt("go", 1),
        call("a", 2, tool="Write", given={"file_path": "a"}),
        line("attachment", 3, attachment=record),
        result("a", 4),
    ]
    before, after = past(write(tmp_path / "s1.jsonl", lines), tools=tools, wanted=lambda event, tool: bool(tool))
    assert payload(before.event)["tool_input"] == {"file_path": f"{CWD}/a"}
    assert payload(after.event)["tool_input"] == {"file_path": f"{CWD}/b"}
    assert after.provenance["tool_input"] is Provenance.DERIVED


def test_an_answer_that_was_not_used_rewrites_nothing(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": "b"}}}
    record = {"hookEvent": "PreToolUse", "toolUseID": "a", "stdout": json.dumps(answer)}
    refused = line("attachment", 3, attachment={**record, "type": "hook_non_blocking_error"})
    lines = [call("a", 2, tool="Write", given={"file_path": "/a"}), refused, result("a", 4)]
    _, after = past(write(tmp_path / "s1.jsonl", lines), wanted=lambda event, tool: bool(tool))
    assert payload(after.event)["tool_input"] == {"file_path": "/a"}


@pytest.mark.parametrize(
    ("record", "sure"),
    [
        ({"type": "hook_success", "stdout": '{"hookSpecificOutput": {"updatedToolOutput": "x"}}'}, Provenance.ASSUMED),
        ({"type": "hook_blocking_error"}, Provenance.ASSUMED),
        ({"type": "hook_success", "stdout": '{"hookSpecificOutput": {"additionalContext": "x"}}'}, None),
        ({"type": "hook_blocking_error", "toolUseID": "other"}, None),
    ],
)
def test_an_output_that_a_hook_may_have_changed_is_not_certain(
    tmp_path: Path, record: dict[str, Any], sure: Provenance | None
) -> None:
    attachment = {"hookEvent": "PostToolUse", "toolUseID": "a", **record}
    lines = [call("a", 2), result("a", 3), line("attachment", 4, attachment=attachment), call("b", 5), result("b", 6)]
    events = past(write(tmp_path / "s1.jsonl", lines), wanted=lambda event, tool: bool(tool))
    assert shown(events) == ["PreToolUse a SUCCEEDED", "PostToolUse a", "PreToolUse b SUCCEEDED", "PostToolUse b"]
    assert [one.provenance.get("tool_response") for one in events] == [None, sure, None, None]


def test_the_end_of_a_background_task_is_a_prompt(tmp_path: Path) -> None:
    text = "<task-notification>done</task-notification>"
    told = prompt(text, 2, promptSource="system", origin={"kind": "task-notification"})
    other = prompt("<other>", 3, promptSource="system", origin={"kind": "channel"})
    events = past(write(tmp_path / "s1.jsonl", [prompt("go", 1), told, other]))
    assert shown(events) == ["UserPromptSubmit go", f"UserPromptSubmit {text}"]


def test_only_the_shell_moves(tmp_path: Path) -> None:
    moved = {"cwd": f"{CWD}/sub"}
    lines = [
        call("cd", 1),
        call("glob", 2, tool="Glob"),
        {**result("glob", 3), **moved},
        {**result("cd", 4), **moved},
    ]
    events = past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"PostToolUse"}))
    assert [one.event.cwd for one in events] == [CWD, f"{CWD}/sub"]
    assert [one.provenance["cwd"] for one in events] == [Provenance.DERIVED] * 2
    lines[1] = call("glob", 2)
    events = past(write(tmp_path / "s1.jsonl", lines), events=frozenset({"PostToolUse"}))
    assert {one.provenance["cwd"] for one in events} == {Provenance.ASSUMED}


def test_subagents_beside_their_session_as_older_versions_put_them(tmp_path: Path) -> None:
    write(tmp_path / "s1.jsonl", [prompt("go", 1), call("outer", 2, tool="Task"), result("outer", 7)])
    write(tmp_path / "agent-x1.jsonl", AGENT)
    events = past(tmp_path)
    inner = next(one for one in events if getattr(one.event, "tool_use_id", "") == "inner")
    assert (inner.event.session_id, inner.event.agent_id) == ("s1", "x1")
    assert inner.event.transcript_path == str(tmp_path / "s1.jsonl")
    assert inner.provenance["agent_type"] is Provenance.ASSUMED
    write(tmp_path / "agent-x1.jsonl", [{**one, "sessionId": "../../etc/s1"} for one in AGENT])
    events = past(tmp_path / "agent-x1.jsonl")
    assert {one.event.transcript_path for one in events} == {str(tmp_path / "agent-x1.jsonl")}
