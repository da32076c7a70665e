"""The life of a turn and of a tool call, through `hookwright run`: who sees what, what stops what, what goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, route, seen, tool

ALLOW = ("--allowedTools", "Bash,Agent,Skill,Write,Read")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def decide(decision: str, event: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    """Make the answer of a PreToolUse hook."""
    return {"hookSpecificOutput": {"hookEventName": event, "permissionDecision": decision, **fields}}


# ── before the tool ─────────────────────────────────────────────────────────


@pytest.mark.req("R-258")
def test_a_stop_before_the_tool_keeps_it_from_running_and_the_other_call_runs(place: Place) -> None:
    place.hook("PreToolUse", 'grep -q ONE <<< "$payload" && echo \'{"continue": false, "stopReason": "HALT"}\'')
    place.hook("PostToolBatch")
    ran = place.run({"turns": [[bash("touch ONE"), bash("touch TWO")], [{"text": "never"}]]}, *ALLOW)
    assert (ran.results[0]["terminal_reason"], ran.code, ran.text) == ("hook_stopped", 0, "")
    assert not (place.project / "ONE").exists()
    assert (place.project / "TWO").exists()
    assert place.got("PostToolBatch") == []


def test_nobody_is_asked_about_a_call_that_a_hook_stopped(place: Place) -> None:
    place.answer("PreToolUse", {"continue": False, "stopReason": "HALT"})
    place.hook("PermissionRequest")
    ran = place.run({"turns": [[bash("touch ONE")], [{"text": "never"}]]})
    assert ran.results[0]["terminal_reason"] == "hook_stopped"
    assert place.got("PermissionRequest") == []


@pytest.mark.req("R-259", "R-065")
def test_a_rewrite_is_what_rules_the_tool_and_later_hooks_see(place: Place) -> None:
    place.answer("PreToolUse", decide("allow", updatedInput={"command": "echo NEW"}))
    place.hook("PostToolUse")
    ran = place.run({"turns": [[bash("echo OLD")], *seen("NEW")]})
    assert place.got("PostToolUse")[0]["tool_input"] == {"command": "echo NEW"}
    assert ran.text == "SAW"
    denied = place.run({"turns": [[bash("echo OLD")], *seen("denied")]}, "--disallowedTools", "Bash(echo NEW)")
    assert denied.text == "SAW"


def test_a_rewrite_that_does_not_fit_the_tool_is_told_to_the_model(place: Place) -> None:
    place.answer("PreToolUse", decide("allow", updatedInput={"cmd": "x"}))
    wanted = "PreToolUse hook for Bash returned updatedInput that failed schema validation"
    assert place.run({"turns": [[bash("echo OLD")], *seen(wanted)]}).text == "SAW"


@pytest.mark.req("R-253", "R-255", "R-256", "R-257", "R-260")
@pytest.mark.parametrize(
    ("answer", "flags", "wanted"),
    [
        (decide("allow"), (), "RAN"),
        (decide("allow"), ("--disallowedTools", "Bash(echo:*)"), "denied by the rule"),
        (decide("deny"), ("--permission-mode", "bypassPermissions"), "PreToolUse:Bash hook error: Blocked by hook"),
        (decide("ask", permissionDecisionReason="SURE"), ("--allowedTools", "Bash"), "SURE"),
        ({}, (), "requires approval"),
        ({}, ("--allowedTools", "Bash"), "RAN"),
    ],
)
def test_what_a_decision_does(place: Place, answer: dict[str, Any], flags: tuple[str, ...], wanted: str) -> None:
    place.answer("PreToolUse", answer)
    ran = place.run({"turns": [[bash("echo RAN > ran.txt; cat ran.txt")], *seen(wanted)]}, *flags)
    assert ran.text == "SAW"
    assert (place.project / "ran.txt").exists() is (wanted == "RAN")


def test_denials_are_in_the_result(place: Place) -> None:
    place.answer("PreToolUse", decide("deny"))
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]})
    (denial,) = ran.results[0]["permission_denials"]
    assert (denial["tool_name"], denial["tool_use_id"]) == ("Bash", "toolu_S001")


def test_a_deferred_call_is_taken_up_again(place: Place) -> None:
    body = f"test -e {place.root}/go && echo '{json.dumps(decide('allow'))}' || echo '{json.dumps(decide('defer'))}'"
    place.hook("PreToolUse", body, matcher="Bash")
    place.hook("Stop")
    script = {"turns": [[bash("echo LATER"), tool("Read", file_path=str(place.file("f.txt", "NOW")))]]}
    first = place.run(script, *ALLOW)
    assert first.results[0]["terminal_reason"] == "tool_deferred"
    assert first.results[0]["deferred_tool_use"]["id"] == "toolu_S001"
    assert place.got("Stop") == []
    (place.root / "go").touch()
    second = place.run({"turns": seen("LATER", "NOW")}, "--continue", prompt="")
    assert second.text == "SAW"
    assert [payload["tool_use_id"] for payload in place.got("PreToolUse")] == ["toolu_S001", "toolu_S001"]


def test_calls_that_cannot_be_made_reach_no_hook_but_the_batch(place: Place) -> None:
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"):
        place.hook(event)
    turns = [[tool("Bash", description="no command")], [tool("NoSuchTool")], [{"text": "end"}]]
    place.run({"turns": turns}, *ALLOW)
    assert place.order == ["PostToolBatch", "PostToolBatch"]


# ── after the tool ──────────────────────────────────────────────────────────


@pytest.mark.req("R-323", "R-317")
def test_a_result_is_on_disk_before_its_hooks_run(place: Place) -> None:
    path = '$(sed -n \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/p\' <<< "$payload")'
    place.hook("PostToolUse", f"grep -q '\"toolUseResult\".*OUT-PUT' {path} && echo yes > {place.root}/found")
    place.run({"turns": [[bash("echo OUT-PUT")], [{"text": "end"}]]}, *ALLOW)
    assert (place.root / "found").read_text() == "yes\n"


@pytest.mark.req("R-330")
def test_hooks_run_once_for_each_call(place: Place) -> None:
    place.hook("PostToolUse")
    place.run({"turns": [[bash("sleep 0.4; echo A"), bash("echo B")], [{"text": "end"}]]}, *ALLOW)
    assert [payload["tool_use_id"] for payload in place.got("PostToolUse")] == ["toolu_S001", "toolu_S002"]


def test_calls_that_change_something_run_one_after_the_other_and_see_each_other(place: Place) -> None:
    (place.project / "sub").mkdir()
    place.hook("PreToolUse", "sleep 0.2")
    place.hook("PostToolUse")
    place.run({"turns": [[bash("cd sub"), bash("pwd > where"), bash("cat where")], [{"text": "end"}]]}, *ALLOW)
    assert (place.project / "sub" / "where").read_text() == f"{place.project}/sub\n"
    assert place.got("PostToolUse")[2]["tool_response"]["stdout"] == f"{place.project}/sub"


def test_a_stop_after_the_tool_lets_the_other_calls_run_and_ends_the_turn_without_a_batch(place: Place) -> None:
    place.hook("PostToolUse", 'grep -q ONE <<< "$payload" && echo \'{"continue": false, "stopReason": "HALT"}\'')
    place.hook("PostToolBatch")
    ran = place.run({"turns": [[bash("touch ONE"), bash("touch TWO")], [{"text": "never"}]]}, *ALLOW)
    assert ran.results[0]["terminal_reason"] == "hook_stopped"
    assert (place.project / "TWO").exists()
    assert place.got("PostToolBatch") == []


def test_context_beside_a_rewrite_that_does_not_fit_is_dropped(place: Place) -> None:
    place.answer("PreToolUse", decide("allow", updatedInput={"command": 5}, additionalContext="CTX-beside"))
    turns = [[bash("touch ONE")], [{"when": "CTX-beside"}, {"text": "SAW"}], [{"text": "end"}]]
    ran = place.run({"turns": turns}, *ALLOW)
    assert "failed schema validation" in str(ran.tool_results()[0]["content"])
    assert "CTX-beside" not in ran.text
    assert not (place.project / "ONE").exists()


def test_a_deny_rule_for_reading_covers_changes_before_any_hook(place: Place) -> None:
    (place.project / "secret").mkdir()
    (place.project / "secret" / "a").write_text("a")
    place.hook("PreToolUse")
    calls = [
        tool("Write", file_path="secret/b", content="x"),
        tool("Edit", file_path="secret/a", old_string="a", new_string="b"),
        tool("Read", file_path="secret/a"),
    ]
    deny = ("--disallowedTools", "Read(./secret/**)", "--permission-mode", "acceptEdits")
    ran = place.run({"turns": [calls, [{"text": "end"}]]}, *deny)
    covered = "covered by a Read deny rule"
    said = [str(result["content"]) for result in ran.tool_results()]
    assert [covered in said[0], covered in said[1], "denied by your permission settings" in said[2]] == [True] * 3
    assert place.got("PreToolUse") == []
    assert not (place.project / "secret" / "b").exists()


def test_a_request_the_api_calls_invalid_is_sent_once_more(place: Place) -> None:
    place.hook("StopFailure")
    assert place.run({"turns": [[{"error": 400}], [{"text": "end"}]]}).text == "end"
    assert place.run({"turns": [[{"error": 400}], [{"error": 400}], [{"text": "end"}]]}).code == 1
    assert len(place.got("StopFailure")) == 1


def test_calls_that_only_read_run_together(place: Place) -> None:
    (place.project / "one").write_text("1")
    (place.project / "two").write_text("2")
    place.hook("PreToolUse", 'case "$payload" in *one*) sleep 0.8;; esac')
    place.hook("PostToolUse")
    calls = [{"tool": "Read", "input": {"file_path": "one"}}, bash("cat two")]
    place.run({"turns": [calls, [{"text": "end"}]]}, *ALLOW)
    assert [payload["tool_name"] for payload in place.got("PostToolUse")] == ["Bash", "Read"]


@pytest.mark.req("R-333")
def test_context_after_a_tool_is_in_the_very_next_request(place: Place) -> None:
    specific = {"hookEventName": "PostToolUse", "additionalContext": "CTX"}
    place.answer("PostToolUse", {"hookSpecificOutput": specific})
    ran = place.run(
        {"turns": [[bash("echo OUT")], *seen("OUT", "PostToolUse:Bash hook additional context: CTX")]}, *ALLOW
    )
    assert ran.text == "SAW"


def test_a_rewritten_output_must_have_the_shape_of_the_tool(place: Place) -> None:
    def rewrite(value: Any) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": value}}

    place.answer("PostToolUse", rewrite({"stdout": "CLEANED", "stderr": "", "interrupted": False}))
    turns = [[bash("echo SECRET")], [{"when": "SECRET"}, {"text": "LEAKED"}], *seen("CLEANED")]
    assert place.run({"turns": turns}, *ALLOW).text == "SAW"
    place.hooks.clear()
    place.answer("PostToolUse", rewrite("just text"))
    ran = place.run({"turns": [[bash("echo KEPT")], *seen("KEPT")]}, *ALLOW)
    assert ran.text == "SAW"
    assert any("updatedToolOutput is not used" in line["content"] for line in ran.of("system", "informational"))


@pytest.mark.req("R-095")
def test_the_directory_follows_cd(place: Place) -> None:
    (place.project / "sub").mkdir()
    place.hook("PreToolUse", 'pwd >> "$CLAUDE_PROJECT_DIR/where"')
    ran = place.run({"turns": [[bash("cd sub")], [bash("pwd")], *seen("/project/sub")]}, *ALLOW)
    project = str(place.project)
    assert [payload["cwd"] for payload in place.got("PreToolUse")] == [project, f"{project}/sub"]
    assert (place.project / "where").read_text().split() == [project, f"{project}/sub"]
    assert ran.text == "SAW"


# ── the end of a turn ───────────────────────────────────────────────────────


@pytest.mark.req("R-272")
@pytest.mark.parametrize(("env", "asked"), [({}, 9), ({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}, 3)])
def test_endless_blocking_is_overridden(place: Place, env: dict[str, str], asked: int) -> None:
    place.hook("Stop", "echo AGAIN >&2; exit 2")
    ran = place.run({"turns": [[{"text": str(number)}] for number in range(20)]}, **env)
    last = ran.of("assistant")[-1]["message"]["content"][0]["text"]
    assert (last, ran.text, ran.code) == (str(asked - 1), "", 0)
    active = [payload["stop_hook_active"] for payload in place.got("Stop")]
    assert active == [False] + [True] * (asked - 1)
    assert any("overriding and ending turn" in line["content"] for line in ran.of("system", "informational"))


@pytest.mark.req("R-272")
def test_a_tool_call_in_between_counts_as_progress(place: Place) -> None:
    place.hook("Stop", "echo AGAIN >&2; exit 2")
    turns: list[Any] = [
        [{"text": "a"}],
        [{"text": "b"}],
        [bash("echo x")],
        [{"text": "c"}],
        [{"text": "d"}],
        [{"text": "e"}],
    ]
    ran = place.run({"turns": turns}, *ALLOW, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="2")
    assert ran.of("assistant")[-1]["message"]["content"] == [{"type": "text", "text": "e"}]


@pytest.mark.req("R-270")
def test_a_stop_overrides_a_block_at_the_end(place: Place) -> None:
    place.answer("Stop", {"continue": False, "stopReason": "DONE", "decision": "block", "reason": "more"})
    ran = place.run({"turns": [[{"text": "first"}], [{"text": "second"}]]})
    assert (ran.results[0]["terminal_reason"], ran.text) == ("stop_hook_prevented", "first")


def test_context_at_the_end_makes_the_agent_go_on(place: Place) -> None:
    specific = {"hookEventName": "Stop", "additionalContext": "CTX-more"}
    body = (
        f"grep -q 'stop_hook_active\":true' <<< \"$payload\" || echo '{json.dumps({'hookSpecificOutput': specific})}'"
    )
    place.hook("Stop", body)
    assert place.run({"turns": [[{"text": "first"}], *seen("Stop hook additional context: CTX-more")]}).text == "SAW"


# ── prompts ─────────────────────────────────────────────────────────────────


@pytest.mark.req("R-055", "R-266")
def test_a_blocked_prompt_never_reaches_the_model(place: Place) -> None:
    place.hook("UserPromptSubmit", 'grep -q FIRST <<< "$payload" && { echo NO >&2; exit 2; } || echo CTX')
    turns = [[{"when": "FIRST"}, {"text": "LEAKED"}], *seen("SECOND", "CTX")]
    ran = place.talk({"turns": turns}, ["FIRST", "SECOND"])
    assert "blocked by hook" in ran.results[0]["result"]
    assert ran.text == "SAW"


def test_a_stopped_prompt_is_kept_for_the_next_one(place: Place) -> None:
    stop = json.dumps({"continue": False, "stopReason": "WAIT"})
    place.hook("UserPromptSubmit", f"grep -q FIRST <<< \"$payload\" && echo '{stop}' || true")
    ran = place.talk({"turns": seen("FIRST", "Operation stopped by hook: WAIT", "SECOND")}, ["FIRST", "SECOND"])
    assert ran.results[0]["result"] == "Operation stopped by hook: WAIT"
    assert ran.text == "SAW"


# ── agents and skills ───────────────────────────────────────────────────────


@pytest.mark.req("R-010", "R-098", "R-341", "R-354")
def test_hooks_of_an_agent_hold_inside_it_alone(place: Place) -> None:
    inside = place.hook("PreToolUse")
    at_end = place.hook("SubagentStop")
    place.hooks.clear()
    head = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": inside}]}],
        "Stop": [{"hooks": [{"type": "command", "command": at_end}]}],
    }
    place.file(
        ".claude/agents/rev.md", f"---\nname: rev\ndescription: d\nhooks: {json.dumps(head)}\n---\nYou review.\n"
    )
    starts = tool("Agent", description="d", prompt="SUBTASK", subagent_type="rev", run_in_background=False)
    routes = [route("rev", "SUBTASK", [[bash("echo IN")], [{"text": "sub"}]])]
    place.run({"turns": [[bash("echo A")], [starts], [bash("echo B")], [{"text": "end"}]], "routes": routes}, *ALLOW)
    (call,), (stop,) = place.got("PreToolUse"), place.got("SubagentStop")
    assert call["tool_input"]["command"] == "echo IN"
    assert call["agent_type"] == stop["agent_type"] == "rev"
    assert call["agent_id"] == stop["agent_id"]


@pytest.mark.req("R-010", "R-353", "R-352", "R-355")
def test_hooks_of_a_skill_hold_from_its_call_on(place: Place) -> None:
    command = place.hook("PreToolUse")
    place.hooks.clear()
    (place.project / "scripts").mkdir()
    (place.project / "scripts" / "check.sh").symlink_to(command)
    head = (
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n"
        "        - type: command\n          command: ./scripts/check.sh\n"
    )
    place.file(".claude/skills/sk/SKILL.md", f"---\nname: sk\ndescription: d\n{head}---\nSKILL-BODY\n")
    turns = [[bash("echo A")], [tool("Skill", skill="sk")], [{"when": "SKILL-BODY"}, bash("echo B")], [{"text": "end"}]]
    place.run({"turns": turns}, *ALLOW)
    assert [payload["tool_input"]["command"] for payload in place.got("PreToolUse")] == ["echo B"]


def test_a_background_agent_reports_when_it_is_done(place: Place) -> None:
    place.hook("UserPromptSubmit")
    place.hook("Stop")
    starts = tool("Agent", description="look", prompt="SUBTASK", run_in_background=True)
    routes = [route("sub", "SUBTASK", [[bash("sleep 0.3; echo x")], [{"text": "REPORT"}]])]
    turns = [[starts], [{"text": "waiting"}], *seen("task-notification[\\s\\S]*completed[\\s\\S]*REPORT")]
    ran = place.run({"turns": turns, "routes": routes}, *ALLOW)
    assert [result["result"] for result in ran.results] == ["waiting", "SAW"]
    assert "<task-notification>" in place.got("UserPromptSubmit")[1]["prompt"]
    (task,) = place.got("Stop")[0]["background_tasks"]
    assert (task["type"], task["status"], task["description"]) == ("subagent", "running", "look")
