"""The laws of interpret, clause by clause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright import Places, Reader, fire_sync, messages
from hookwright.interpret import interpret, interpret_late
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import AgentHandler, CallbackHandler, CommandHandler, FunctionHandler, PromptHandler
from hookwright.protocol.job import Job
from hookwright.protocol.matched import canonical_model
from hookwright.protocol.outcome import NO_OPINION, Allow, Ask, Block, Defer, Deny, Ending, EndTurn, Late, Verdict
from hookwright.protocol.replies import (
    Answered,
    Backgrounded,
    Exited,
    Failed,
    Failure,
    Judged,
    NoAnswer,
    Reply,
    TimedOut,
)
from hookwright.protocol.sources import Plugin, Scope, Source
from support import command, event, exited, failing_closed, specific

ALL = sorted(CATALOGUE)
#: Written out, not read from the catalogue: a changed rule must fail here instead of moving its event.
REFUSING = (
    *("ConfigChange", "Elicitation", "ElicitationResult", "PermissionRequest", "PostToolBatch", "PostToolUse"),
    *("PostToolUseFailure", "PreCompact", "PreModelSwitch", "PreToolUse", "Stop", "SubagentStop", "TaskCompleted"),
    *("TaskCreated", "TeammateIdle", "UserPromptExpansion", "UserPromptSubmit", "WorktreeCreate", "WorktreeRemove"),
)
SILENT = (
    *("CwdChanged", "DirectoryAdded", "FileChanged", "InstructionsLoaded", "MessageDisplay", "Notification"),
    *("PermissionDenied", "PostCompact", "PostModelSwitch", "SessionEnd", "SessionStart", "Setup", "StopFailure"),
    "SubagentStart",
)
#: Exit 2 refuses on these whatever the process printed.
ALWAYS = ("PermissionRequest", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse")
PROMPT = PromptHandler(source=Source(Scope.USER), prompt="is it fine?")
AGENT = AgentHandler(source=Source(Scope.USER), prompt="verify")


def verdict(name: str, status: int = 0, stdout: str | dict[str, Any] = "", stderr: str = "", **changes: Any) -> Verdict:
    return interpret(exited(status, stdout, stderr), command("guard.sh"), event(name, **changes))


def refused(v: Verdict) -> bool:
    return isinstance(v.decision, Deny | Block) or v.stop is not None


# ── exit codes ──


def test_every_event_is_in_one_of_the_lists() -> None:
    assert sorted((*REFUSING, *SILENT)) == ALL


@pytest.mark.req("R-193", "R-216", "R-225")
@pytest.mark.parametrize("name", [n for n in ALL if n != "WorktreeCreate"])
def test_exit_0_is_a_success_and_stderr_has_no_effect(name: str) -> None:
    v = verdict(name, 0, "", '{"decision": "block"}')
    assert v == Verdict()


@pytest.mark.req("R-194", "R-201", "R-203", "R-204", "R-206", "R-207", "R-208", "R-209", "R-213")
@pytest.mark.parametrize("name", REFUSING)
def test_exit_2_refuses_with_stderr(name: str) -> None:
    v = verdict(name, 2, "", "no way")
    reason = v.decision.reason if isinstance(v.decision, Deny | Block) else v.stop.reason if v.stop else ""
    assert (v.ending, refused(v)) == (Ending.BLOCKING, True)
    assert reason is not None
    assert "no way" in reason


@pytest.mark.req("R-198")
def test_exit_2_text_names_the_command() -> None:
    assert verdict("PreToolUse", 2, "", "no way").decision == Deny("[guard.sh]: no way")


@pytest.mark.req("R-199")
@pytest.mark.parametrize("name", [n for n in REFUSING if not n.startswith("Worktree")])
def test_exit_2_with_empty_stderr_still_refuses(name: str) -> None:
    v = verdict(name, 2)
    assert refused(v)
    assert "No stderr output" in str(v)


@pytest.mark.req("R-205", "R-210", "R-211", "R-212")
@pytest.mark.parametrize("name", SILENT)
def test_exit_2_changes_nothing_where_nothing_can_be_blocked_and_is_reported(name: str) -> None:
    v = verdict(name, 2, "", "no")
    assert (v.decision, v.stop, v.ending) == (NO_OPINION, None, Ending.ERROR)
    assert [d.code for d in v.diagnostics] == ["exit-2-no-effect"]


@pytest.mark.req("R-210")
def test_only_the_user_reads_the_stderr_of_exit_2_at_the_start(tmp_path: Path) -> None:
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo ONLY-USER >&2; exit 2"}]}]}}
    places = Places(project=str(tmp_path), settings=(json.dumps(hooks),), sources=())
    outcome = fire_sync(event("SessionStart", cwd=str(tmp_path)), places)
    readers = {message.reader for message in messages(outcome) if "ONLY-USER" in message.text}
    assert (outcome.blocked, outcome.stop) == (False, None)
    assert Reader.USER in readers
    assert Reader.MODEL not in readers


@pytest.mark.req("R-202")
def test_exit_2_denies_a_permission_request() -> None:
    assert isinstance(verdict("PermissionRequest", 2, "", "no").decision, Deny)


@pytest.mark.req("R-195", "R-200")
@pytest.mark.parametrize("status", [1, 3, 64, 126, 127, 128, 137, 143, 255])
def test_other_statuses_are_non_blocking_errors(status: int) -> None:
    v = verdict("PreToolUse", status, "text", "oops\nmore")
    assert (v.ending, v.decision) == (Ending.ERROR, NO_OPINION)
    assert v.error == "Failed with non-blocking status code: oops\nmore"


@pytest.mark.req("R-196")
@pytest.mark.parametrize("status", [1, 3, 137])
def test_valid_json_is_obeyed_at_every_other_status(status: int) -> None:
    deny = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="r")
    assert verdict("PreToolUse", status, deny).decision == Deny("r")
    rewrite = specific("PreToolUse", updatedInput={"command": "x"})
    assert verdict("PreToolUse", status, rewrite).updated_input == {"command": "x"}


@pytest.mark.req("R-197")
def test_exit_2_json_cannot_lift_the_block_but_gives_its_own_reason_and_context() -> None:
    allow = specific("PreToolUse", permissionDecision="allow", additionalContext="ctx")
    v = verdict("PreToolUse", 2, allow, "err")
    assert (v.decision, v.context) == (Deny("[guard.sh]: err"), "ctx")
    deny = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="mine")
    assert verdict("PreToolUse", 2, deny, "err").decision == Deny("mine")
    assert verdict("PreToolUse", 2, {"decision": "block", "reason": "old"}, "err").decision == Deny("old")


@pytest.mark.req("R-269", "R-255")
@pytest.mark.parametrize("answer", [{"decision": "block"}, {"decision": "block", "reason": ""}])
def test_a_stop_block_without_a_reason_goes_on_with_a_default_text(answer: dict[str, Any]) -> None:
    assert verdict("Stop", 0, answer).decision == Block("Blocked by hook")


def test_exit_2_with_an_invalid_answer_blocks_with_stderr() -> None:
    assert verdict("PreToolUse", 2, specific("PreToolUse", permissionDecision=7), "err").decision == Deny(
        "[guard.sh]: err"
    )


@pytest.mark.req("R-218")
@pytest.mark.parametrize("name", ["Stop", "SubagentStop", "TaskCompleted"])
def test_a_missing_script_does_not_trap_the_session(name: str) -> None:
    v = verdict(name, 2, "", "sh: x.sh: No such file or directory")
    assert (v.ending, v.decision) == (Ending.ERROR, NO_OPINION)


def test_a_missing_script_still_blocks_a_tool_and_says_why() -> None:
    v = verdict("PreToolUse", 2, "", "python3: can't open file '/x.py': [Errno 2] No such file or directory")
    assert isinstance(v.decision, Deny)
    assert [d.code for d in v.diagnostics] == ["accidental-exit-2"]


@pytest.mark.req("R-214")
def test_a_policy_change_cannot_be_blocked() -> None:
    assert isinstance(verdict("ConfigChange", 2).decision, Block)
    assert verdict("ConfigChange", 2, source="policy_settings").decision == NO_OPINION
    assert verdict("ConfigChange", 0, {"decision": "block"}, source="policy_settings").decision == NO_OPINION


# ── parsing ──


@pytest.mark.req("R-219", "R-220", "R-221", "R-222", "R-285")
@pytest.mark.parametrize(
    ("printed", "plain", "error"),
    [
        ("hello\n", "hello", False),
        ("  \n hello \n\n", "hello", False),
        ('["a"]', '["a"]', False),
        ('"text"', '"text"', False),
        ('banner\n{"systemMessage": "m"}', 'banner\n{"systemMessage": "m"}', False),
        ('{"systemMessage": "m"} trailing', '{"systemMessage": "m"} trailing', False),
        ('{"truncated": ', '{"truncated":', False),
        ("{garbage}", None, True),
        ('{"a":1}{"b":2}', None, True),
        ('{"a":1,}', None, True),
        ('{"a":1}\n{"b":2}', '{"a":1}\n{"b":2}', False),
        ('{"a":1}\n{"reason":"x"}', None, True),
        ('{"foreign": 1}', None, False),
        ("", None, False),
        ('\ufeff{"systemMessage": "m"}', None, False),
    ],
)
def test_classification_of_stdout(printed: str, plain: str | None, error: bool) -> None:
    v = verdict("SessionStart", 0, printed)
    assert (v.plain, v.error is not None) == (plain, error)


@pytest.mark.req("R-285", "R-225")
@pytest.mark.parametrize("name", [n for n in ALL if n != "WorktreeCreate"])
def test_plain_text_reaches_the_model_on_four_events_only(name: str) -> None:
    v = verdict(name, 0, "text")
    takes = {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"}
    assert (v.plain is not None) == (name in takes)
    assert v.ending is Ending.SUCCESS


@pytest.mark.req("R-223", "R-224", "R-234", "R-236", "R-239", "R-240", "R-233")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"continue": "no"}, "continue: expected boolean, got string"),
        ({"systemMessage": None}, "systemMessage: expected string, got null"),
        ({"decision": "allow"}, 'decision: "allow" is not "approve" or "block"'),
        ({"reason": 5}, "reason: expected string, got number"),
        ({"hookSpecificOutput": "deny"}, "hookSpecificOutput: expected an object, got string"),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, 'missing required field "hookEventName"'),
        (specific("PreToolUse", permissionDecision="block"), "Did you mean `deny`?"),
        (specific("PreToolUse", permissionDecision="alow"), "Did you mean `allow`?"),
        (specific("PreToolUse", updatedInput="x"), "updatedInput: expected object, got string"),
        (specific("PreToolUse", permissionDecisionReason=3), "permissionDecisionReason: expected string, got number"),
        ({"hookSpecificOutput": {"hookEventName": "PreTool"}}, "is not an event. Did you mean `PreToolUse`?"),
        ({"continue": 1, "reason": []}, "continue: expected boolean, got number; reason: expected string, got array"),
    ],
)
def test_one_wrong_field_voids_the_answer_and_is_named(answer: dict[str, Any], says: str) -> None:
    v = verdict("PreToolUse", 0, answer)
    assert (v.ending, v.decision) == (Ending.ERROR, NO_OPINION)
    assert v.error is not None
    assert says in v.error
    assert v.error.startswith("Hook JSON output validation failed")


@pytest.mark.req("R-233")
@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact"])
def test_deny_at_the_top_level_refuses_like_block(event: str) -> None:
    denied, blocked = (verdict(event, 0, {"decision": word, "reason": "R"}) for word in ("deny", "block"))
    assert denied == blocked
    assert denied.ending is Ending.BLOCKING


@pytest.mark.parametrize("name", ["PreToolUse", "UserPromptSubmit", "PostToolUse", "Stop"])
def test_exit_2_beside_json_for_another_event_refuses(name: str) -> None:
    v = verdict(name, 2, specific("SessionStart", additionalContext="C"), "WHY")
    assert refused(v)
    assert isinstance(v.decision, Deny | Block)
    assert "WHY" in v.decision.reason


@pytest.mark.parametrize(("plugin", "blocks"), [(None, True), (Plugin("p", "/p", "/d"), False)])
def test_a_missing_script_of_a_plugin_does_not_block_every_prompt(plugin: Plugin | None, blocks: bool) -> None:
    handler = CommandHandler(source=Source(Scope.PLUGIN, plugin=plugin), command="x")
    reply = exited(2, "", "python3: can't open file 'x': [Errno 2] No such file or directory")
    found = interpret(reply, handler, event("UserPromptSubmit"))
    assert (isinstance(found.decision, Block), found.error is None) == (blocks, blocks)


@pytest.mark.req("R-237")
def test_the_name_of_another_event_voids_the_answer_and_names_both() -> None:
    answer = specific("PostToolUse", additionalContext="x")
    for v in (verdict("PreToolUse", 0, answer), interpret(Answered(answer), command(), event("PreToolUse"))):
        assert v.ending is Ending.ERROR
        assert v.error == "Hook returned incorrect event name: expected 'PreToolUse' but got 'PostToolUse'"


@pytest.mark.req("R-223")
def test_unknown_and_misplaced_keys_are_ignored_and_reported() -> None:
    v = verdict("PreToolUse", 0, {"permissionDecision": "deny", "sytemMessage": "x", "systemMessage": "m"})
    assert (v.decision, v.system_message) == (NO_OPINION, "m")
    assert [d.message for d in v.diagnostics] == [
        "`permissionDecision` found at top level, must be under `hookSpecificOutput`",
        "`sytemMessage` is ignored. Did you mean `systemMessage`?",
    ]


def test_broken_json_names_the_offset() -> None:
    v = verdict("PreToolUse", 0, '{"reason":"said "no""}')
    assert v.error is not None
    assert "offset 17" in v.error


@pytest.mark.req("R-227")
def test_a_pure_json_answer_survives_three_megabytes() -> None:
    v = verdict("PreToolUse", 0, specific("PreToolUse", additionalContext="x" * 3_000_000))
    assert v.context is not None
    assert len(v.context) == 3_000_000


@pytest.mark.req("R-111")
def test_invalid_utf8_never_loses_a_verdict() -> None:
    assert isinstance(interpret(Exited(2, b"\xff\xfe", b"\xff no"), command(), event("PreToolUse")).decision, Deny)
    answer = json.dumps(specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="@")).encode()
    assert interpret(Exited(0, answer.replace(b"@", b"\xff"), b""), command(), event("PreToolUse")).decision == Deny(
        "\ufffd"
    )


# ── fields ──


@pytest.mark.req("R-239", "R-254", "R-255", "R-256", "R-241", "R-242")
@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        ({"permissionDecision": "allow"}, Allow()),
        ({"permissionDecision": "deny", "permissionDecisionReason": "r"}, Deny("r")),
        ({"permissionDecision": "deny"}, Deny("Blocked by hook")),
        ({"permissionDecision": "deny", "permissionDecisionReason": ""}, Deny("Blocked by hook")),
        ({"permissionDecision": "ask", "permissionDecisionReason": "r"}, Ask("r")),
        ({"permissionDecision": "ask"}, Ask("Hook PreToolUse:Bash asked for confirmation for this tool")),
        ({"permissionDecision": "defer"}, Defer()),
        ({"updatedInput": {"command": "x"}}, NO_OPINION),
    ],
)
def test_permission_decisions(fields: dict[str, Any], decision: object) -> None:
    v = verdict("PreToolUse", 0, specific("PreToolUse", additionalContext="c", **fields))
    assert v.decision == decision
    assert v.context == (None if decision == Defer() else "c")


ASKED = "Hook PreToolUse:Bash asked for confirmation for this tool"


@pytest.mark.req("R-233", "R-235", "R-303")
@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"decision": "approve", "reason": "r"}, Allow("r")),
        ({"decision": "block", "reason": "r"}, Deny("r")),
        ({"reason": "r"}, NO_OPINION),
        ({"decision": "block", "reason": "l", **specific("PreToolUse", permissionDecision="allow")}, Deny("l")),
        (
            {
                "decision": "approve",
                **specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="n"),
            },
            Deny("n"),
        ),
        (
            {
                "decision": "block",
                "reason": "l",
                **specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="n"),
            },
            Deny("n"),
        ),
        (
            {
                "decision": "block",
                **specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="n"),
            },
            Deny("n"),
        ),
        ({"decision": "block", "reason": "l", **specific("PreToolUse", permissionDecision="deny")}, Deny("l")),
        ({"reason": "l", **specific("PreToolUse", permissionDecision="deny")}, Deny("l")),
        ({"reason": "l", **specific("PreToolUse", permissionDecision="ask")}, Ask(ASKED)),
        ({"decision": "block", "reason": "l", **specific("PreToolUse", permissionDecision="ask")}, Deny("l")),
    ],
)
def test_legacy_decisions(answer: dict[str, Any], decision: object) -> None:
    assert verdict("PreToolUse", 0, answer).decision == decision


def test_a_newer_refusal_of_a_switch_is_the_one_that_is_told() -> None:
    newer = specific("PreModelSwitch", permissionDecision="deny", permissionDecisionReason="n")
    assert verdict("PreModelSwitch", 0, {"decision": "block", "reason": "l", **newer}).decision == Block("n")


def test_a_rewritten_output_beside_exit_2_is_used() -> None:
    answer = specific("PostToolUse", updatedToolOutput="NEW")
    v = verdict("PostToolUse", 2, answer, "E")
    assert (v.updated_output, v.decision) == ("NEW", Block("[guard.sh]: E"))


def test_a_failure_without_words_refuses_without_an_empty_line() -> None:
    v = interpret(Failed(Failure.EXCEPTION, ""), failing_closed("guard.sh"), event("PreToolUse"))
    assert v.decision == Deny('[guard.sh]: failed; blocking because onFailure is "block"')


@pytest.mark.parametrize(
    ("stderr", "blocks"),
    [
        ("x: No such file", False),
        ("NO SUCH FILE OR DIRECTORY", False),
        ("python3: can't open file '/x.py'", False),
        ("cannot open file x", True),
        ("sh: 1: /x.sh: not found", True),
        ("Error: Cannot find module '/x.js'", True),
    ],
)
def test_what_says_that_a_script_is_missing(stderr: str, blocks: bool) -> None:
    assert (verdict("Stop", 2, "", stderr).ending is Ending.BLOCKING) is blocks


@pytest.mark.req("R-243", "R-244", "R-245", "R-246", "R-247")
def test_permission_request_decisions() -> None:
    update = {"type": "setMode", "mode": "plan", "destination": "session"}
    allow = {"behavior": "allow", "updatedInput": {"command": "y"}, "updatedPermissions": [update]}
    v = verdict("PermissionRequest", 0, specific("PermissionRequest", decision=allow))
    assert (v.decision, v.updated_input) == (Allow(), {"command": "y"})
    assert v.fields == {"updated_permissions": (update,)}
    same = specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {}})
    assert verdict("PermissionRequest", 0, same).updated_input is None
    deny = {"behavior": "deny", "message": "m", "interrupt": True}
    assert verdict("PermissionRequest", 0, specific("PermissionRequest", decision=deny)).decision == Deny("m", True)
    bare = specific("PermissionRequest", decision={"behavior": "deny"})
    assert verdict("PermissionRequest", 0, bare).decision == Deny("Permission denied by hook")
    assert verdict("PermissionRequest", 0, {"continue": False}).stop is None


@pytest.mark.req("R-228")
def test_continue_false_ends_the_turn_where_it_counts() -> None:
    effective = {n for n in ALL if verdict_of_stop(n).stop is not None}
    assert effective == {
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "TeammateIdle",
    }
    assert verdict("TaskCompleted", 0, {"continue": False}, teammate_name="n").stop == EndTurn()


def verdict_of_stop(name: str) -> Verdict:
    return interpret(Answered({"continue": False, "stopReason": "why"}), command(), event(name))


@pytest.mark.req("R-229")
def test_the_stop_reason_goes_with_the_stop() -> None:
    assert verdict_of_stop("PostToolUse").stop == EndTurn("why")


@pytest.mark.req("R-252", "R-263", "R-274")
@pytest.mark.parametrize("name", ["Notification", "SessionEnd", "SessionStart", "PostCompact", "CwdChanged", "Setup"])
def test_decisions_are_ignored_where_the_event_reads_none(name: str) -> None:
    v = verdict(name, 0, {"decision": "block", "reason": "r", "continue": False})
    assert (v.decision, v.stop, v.ending) == (NO_OPINION, None, Ending.SUCCESS)


@pytest.mark.req("R-263")
def test_post_tool_use_has_no_approve() -> None:
    assert verdict("PostToolUse", 0, {"decision": "approve"}).decision == NO_OPINION


@pytest.mark.req("R-248", "R-250", "R-251")
def test_additional_context_counts_where_the_event_takes_it() -> None:
    def context(name: str) -> str | None:
        return interpret(Answered(specific(name, additionalContext="c")), command(), event(name)).context

    takes = {n for n in ALL if n != "WorktreeCreate" and context(n) is not None}
    assert takes == {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "SessionStart",
        "SubagentStart",
        "Stop",
        "SubagentStop",
        "PostModelSwitch",
    }


@pytest.mark.req("R-249")
def test_the_mcp_rewrite_is_for_mcp_tools_only() -> None:
    old = specific("PostToolUse", updatedMCPToolOutput="new")
    assert verdict("PostToolUse", 0, old).updated_output is None
    assert verdict("PostToolUse", 0, old, tool_name="mcp__a__b").updated_output == "new"
    both = specific("PostToolUse", updatedMCPToolOutput="old", updatedToolOutput={"a": 1})
    assert verdict("PostToolUse", 0, both, tool_name="mcp__a__b").updated_output == {"a": 1}


@pytest.mark.req("R-230", "R-231")
def test_suppress_output_keeps_the_decision() -> None:
    v = verdict("PreToolUse", 0, {"suppressOutput": True, **specific("PreToolUse", permissionDecision="deny")})
    assert (v.suppress_output, isinstance(v.decision, Deny)) == (True, True)


@pytest.mark.req("R-238", "R-154")
@pytest.mark.parametrize("name", [n for n in ALL if n != "WorktreeCreate"])
def test_an_async_answer_has_no_effect(name: str) -> None:
    answer = Answered({"async": True, "asyncTimeout": 5, "decision": "block"})
    assert interpret(answer, command(), event(name)) == Verdict()


@pytest.mark.req("R-084", "R-085", "R-273")
def test_worktree_creation_takes_the_last_line_and_fails_on_any_status() -> None:
    v = verdict("WorktreeCreate", 0, "log\n\x1b[32m/tmp/w\x1b[0m\n\n")
    assert v.fields == {"worktree_path": "/tmp/w"}
    for status in (1, 2, 3):
        assert isinstance(verdict("WorktreeCreate", status, "/tmp/w").decision, Block)
        assert isinstance(verdict("WorktreeRemove", status).decision, Block)
    assert isinstance(verdict("WorktreeCreate", 0, "").decision, Block)


def test_elicitation_fields_count_at_exit_0_only() -> None:
    answer = specific("Elicitation", action="accept", content={"name": "n"})
    assert verdict("Elicitation", 0, answer).fields == {"action": "accept", "content": {"name": "n"}}
    assert verdict("Elicitation", 1, answer).fields == {}


# ── models, timeouts, failures ──


@pytest.mark.req("R-128", "R-129", "R-130")
@pytest.mark.parametrize(
    ("name", "denies", "blocks", "stops"),
    [
        ("PreToolUse", True, False, True),
        ("PostToolUse", False, False, True),
        ("PostToolBatch", False, False, True),
        ("UserPromptSubmit", False, False, True),
        ("UserPromptExpansion", False, False, True),
        ("TeammateIdle", False, False, True),
        ("Stop", False, True, False),
        ("SubagentStop", False, True, False),
        ("PostToolUseFailure", False, True, False),
        ("TaskCreated", False, True, False),
        ("TaskCompleted", False, True, False),
        ("PermissionRequest", True, False, False),
        ("PermissionDenied", False, False, False),
    ],
)
def test_a_prompt_hooks_no_by_event(name: str, denies: bool, blocks: bool, stops: bool) -> None:
    v = interpret(Judged(False, "R"), PROMPT, event(name))
    assert (isinstance(v.decision, Deny), isinstance(v.decision, Block), v.stop is not None) == (denies, blocks, stops)
    if denies or blocks:
        assert "Prompt hook condition was not met: R" in str(v.decision)
    if stops:
        assert v.stop == EndTurn("R")
    yes = interpret(Judged(True), PROMPT, event(name))
    assert yes == Verdict()


def test_continue_on_block_feeds_back_instead() -> None:
    handler = PromptHandler(source=Source(Scope.USER), prompt="p", continue_on_block=True)
    for name, kind in (("PreToolUse", Deny), ("PostToolUse", Block), ("TeammateIdle", Block)):
        v = interpret(Judged(False, "R"), handler, event(name))
        assert (type(v.decision), v.stop) == (kind, None)


@pytest.mark.req("R-122")
def test_impossible_lets_the_agent_stop_and_nothing_else() -> None:
    no = Judged(False, "R", impossible=True)
    assert interpret(no, PROMPT, event("Stop")) == Verdict()
    assert isinstance(interpret(no, PROMPT, event("PreToolUse")).decision, Deny)


@pytest.mark.req("R-123")
def test_a_no_without_reason_blocks_with_a_default_text() -> None:
    assert "no reason given" in str(interpret(Judged(False), PROMPT, event("PreToolUse")).decision)


@pytest.mark.req("R-148")
def test_an_agents_no_is_an_ordinary_refusal() -> None:
    v = interpret(Judged(False, "R"), AGENT, event("PreToolUse"))
    assert (v.decision, v.stop) == (Deny("Agent hook condition was not met: R"), None)
    assert isinstance(interpret(Judged(False, "R"), AGENT, event("Stop")).decision, Block)


@pytest.mark.req("R-162")
def test_a_functions_no_blocks_with_its_message() -> None:
    handler = FunctionHandler(source=Source(Scope.PROGRAM), function=bool, error_message="tests fail")
    assert interpret(Judged(False, "tests fail"), handler, event("Stop")).decision == Block("tests fail")


@pytest.mark.req("R-184", "R-142", "R-132", "R-287")
@pytest.mark.parametrize("name", [n for n in ALL if n not in ("PreModelSwitch", "WorktreeCreate", "WorktreeRemove")])
@pytest.mark.parametrize("reply", [TimedOut(1.0), NoAnswer("no answer")])
def test_a_timeout_decides_nothing_and_is_reported(name: str, reply: TimedOut | NoAnswer) -> None:
    v = interpret(reply, command(), event(name))
    assert (v.ending, v.decision, v.stop) == (Ending.CANCELLED, NO_OPINION, None)
    assert len(v.diagnostics) == 1


@pytest.mark.req("R-184", "R-084")
@pytest.mark.parametrize("name", ["PreModelSwitch", "WorktreeCreate", "WorktreeRemove"])
def test_a_timeout_blocks_a_model_switch_and_fails_a_worktree(name: str) -> None:
    assert isinstance(interpret(TimedOut(1.0), command(), event(name)).decision, Block)


@pytest.mark.req("R-160")
@pytest.mark.parametrize("name", ALL)
def test_a_callbacks_timeout_blocks_three_events(name: str) -> None:
    handler = CallbackHandler(source=Source(Scope.PROGRAM), function=print)
    always = ("PreModelSwitch", "WorktreeCreate", "WorktreeRemove")
    blocks = name in ("PreToolUse", "UserPromptSubmit", "UserPromptExpansion", *always)
    assert refused(interpret(TimedOut(1.0), handler, event(name))) == blocks


@pytest.mark.parametrize("name", ALL)
def test_a_callback_that_cannot_be_asked_blocks_where_its_silence_would(name: str) -> None:
    handler = CallbackHandler(source=Source(Scope.PROGRAM), function=print)
    gone = Failed(Failure.CONNECTION, "The host is gone.")
    verdict = interpret(gone, handler, event(name))
    silent = ("PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove")
    assert refused(verdict) == (name in silent)
    raised = interpret(Failed(Failure.EXCEPTION, "ValueError: x"), handler, event(name))
    assert refused(raised) == (name in ("WorktreeCreate", "WorktreeRemove"))


@pytest.mark.req("R-217", "R-287")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("why", [why for why in Failure if why is not Failure.GUARD])
def test_a_failure_decides_nothing_unless_the_event_fails(name: str, why: Failure) -> None:
    v = interpret(Failed(why, "broken"), command(), event(name))
    assert refused(v) == (name in ("WorktreeCreate", "WorktreeRemove"))
    assert v.error == "broken" or "broken" in str(v.decision)


@pytest.mark.parametrize("name", ALL)
def test_a_guard_that_changed_refuses_where_failing_closed_does(name: str) -> None:
    closed = interpret(Failed(Failure.LAUNCH, "broken"), failing_closed(), event(name))
    assert refused(interpret(Failed(Failure.GUARD, "broken"), command(), event(name))) == refused(closed)


FAILURES = [
    exited(1, "", "boom"),
    exited(127, "", "not found"),
    exited(1, specific("PreToolUse", permissionDecision="allow"), "boom"),
    exited(0, "{broken}"),
    exited(0, {"continue": "no"}),
    TimedOut(1.0),
    Failed(Failure.LAUNCH, "no such program"),
    Failed(Failure.STATUS, "HTTP 500"),
    NoAnswer("51 turns"),
]


@pytest.mark.req("R-159", "R-217")
@pytest.mark.parametrize("reply", FAILURES)
def test_on_failure_block_turns_every_failure_into_a_refusal(reply: Any) -> None:
    v = interpret(reply, failing_closed("guard.sh"), event("PreToolUse"))
    word = "timed out" if isinstance(reply, TimedOut) else "failed"
    assert isinstance(v.decision, Deny)
    assert v.decision.reason.startswith(f'[guard.sh]: {word}; blocking because onFailure is "block"')


@pytest.mark.parametrize("reply", [exited(0), exited(0, "plain"), exited(0, {"systemMessage": "m"}), Backgrounded("x")])
def test_on_failure_block_leaves_a_working_hook_alone(reply: Any) -> None:
    assert interpret(reply, failing_closed("guard.sh"), event("PreToolUse")).decision == NO_OPINION


@pytest.mark.req("R-217")
@pytest.mark.parametrize("name", ALL)
def test_on_failure_counts_on_blocking_events_but_four(name: str) -> None:
    exempt = name in ("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle")
    assert refused(interpret(exited(1), failing_closed(), event(name))) == (name in REFUSING and not exempt)


# ── properties ──

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=12), children, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["continue", "stopReason", "decision", "reason", "systemMessage", "hookSpecificOutput", "async", "suppressOutput"]
)
ANSWERS = st.dictionaries(KEYS | st.text(max_size=8), JSON, max_size=6)


@given(name=st.sampled_from(ALL), status=st.integers(0, 255), stdout=st.binary(max_size=200), stderr=st.binary())
def test_any_bytes_give_a_verdict(name: str, status: int, stdout: bytes, stderr: bytes) -> None:
    v = interpret(Exited(status, stdout, stderr), command(), event(name))
    if status == 2 and name in ALWAYS:
        assert refused(v)


@given(name=st.sampled_from(ALL), answer=ANSWERS, status=st.sampled_from([0, 1, 2]))
def test_any_object_gives_a_verdict_and_never_lifts_exit_2(name: str, answer: dict[str, Any], status: int) -> None:
    reply = exited(status, json.dumps(answer))
    v = interpret(reply, command(), event(name))
    if status == 2 and name in ALWAYS:
        assert refused(v)
    if v.error is not None:
        assert v.ending is not Ending.SUCCESS


@given(answer=ANSWERS, noise=JSON)
def test_an_unknown_key_never_changes_a_verdict(answer: dict[str, Any], noise: Any) -> None:
    plain = interpret(Answered(answer), command(), event("PreToolUse"))
    noisy = interpret(Answered({**answer, "zz-unknown": noise}), command(), event("PreToolUse"))
    assert (plain.decision, plain.stop, plain.context, plain.ending) == (
        noisy.decision,
        noisy.stop,
        noisy.context,
        noisy.ending,
    )


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5[1m]", "claude-opus-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
    ],
)
def test_canonical_model_names(name: str, canonical: str) -> None:
    assert canonical_model(name) == canonical


@pytest.mark.parametrize("name", ALL)
def test_every_event_has_a_sample(name: str) -> None:
    assert event(name).event_name == name


# ── what a process printed, and how much of it ──


@pytest.mark.parametrize("text", ['{"systemMessage": "xxx', '\ufeff  {"decision": "block", "reason": "x'])
def test_an_answer_whose_end_was_dropped_is_void_and_no_text(text: str) -> None:
    reply = Exited(0, text.encode(), dropped=1000)
    open_, closed = (interpret(reply, guard, event("PreToolUse")) for guard in (command(), failing_closed()))
    assert (open_.ending, open_.decision) == (Ending.ERROR, NO_OPINION)
    assert {d.code for d in open_.diagnostics} == {"output-too-large"}
    assert isinstance(closed.decision, Deny)


def test_a_text_whose_end_was_dropped_is_still_a_text() -> None:
    v = interpret(Exited(0, b"log line " * 100, dropped=1000), command(), event("PreToolUse"))
    assert (v.ending, v.decision) == (Ending.SUCCESS, NO_OPINION)
    assert [d.code for d in v.diagnostics] == ["output-too-large"]


def test_a_text_whose_end_was_dropped_may_have_ended_in_an_answer() -> None:
    v = interpret(Exited(0, b"log line " * 100, dropped=1000), failing_closed("guard.sh"), event("PreToolUse"))
    assert isinstance(v.decision, Deny)


def test_a_path_whose_end_was_dropped_is_no_path() -> None:
    v = interpret(Exited(0, b"/tmp/tree\n" * 100, dropped=1000), command(), event("WorktreeCreate"))
    assert isinstance(v.decision, Block)


@pytest.mark.parametrize(
    "stdout",
    [b"\xff", b"ok \0", '{"decision": "block"}'.encode("utf-16"), '{"decision": "block"}'.encode("utf-16-le")],
)
def test_output_that_is_no_text_is_told(stdout: bytes) -> None:
    v = interpret(Exited(0, stdout), command(), event("PreToolUse"))
    assert "not-utf-8" in {d.code for d in v.diagnostics}


def test_a_key_that_stands_twice_in_an_answer_is_told() -> None:
    v = verdict("PreToolUse", 0, '{"decision": "block", "decision": "approve"}')
    assert isinstance(v.decision, Allow)
    assert [d.code for d in v.diagnostics] == ["duplicate-key"]


# ── the background ──


def late(reply: Reply, **fields: Any) -> Late:
    handler = command("guard.sh", **({"is_async": True} | fields))
    return interpret_late("bg-1", Job(handler, event("PostToolUse"), b"", 0, "hook-1", None), reply)


@pytest.mark.req("R-170")
@pytest.mark.parametrize(
    ("stdout", "context", "message"),
    [
        ({**specific("PostToolUse", additionalContext="C"), "systemMessage": "S"}, "C", "S"),
        ('{"async":true}\n{"systemMessage":"S"}', None, "S"),
        ('{"systemMessage":"first"}\nnoise\n{"systemMessage":"last"}', None, "first"),
        ({**specific("PostToolUse", additionalContext=1), "systemMessage": "S"}, None, "S"),
        ({**specific("PreToolUse", additionalContext="C"), "systemMessage": 1}, None, None),
        ({"decision": "block", "reason": "r"}, None, None),
        ("plain", None, None),
    ],
)
def test_of_late_output_each_valid_field_takes_effect(stdout: Any, context: str | None, message: str | None) -> None:
    found = late(exited(0, stdout))
    assert (found.context, found.system_message, found.ending) == (context, message, Ending.SUCCESS)


@pytest.mark.req("R-171", "R-191")
@pytest.mark.parametrize(
    ("reply", "fields", "ending", "code"),
    [
        (exited(0), {}, Ending.SUCCESS, None),
        (exited(7, "", "bad"), {}, Ending.ERROR, "exit-status"),
        (exited(2, "", "no"), {}, Ending.ERROR, "exit-2-no-effect"),
        (exited(2, "", "no"), {"is_async": False, "async_rewake": True}, Ending.BLOCKING, None),
        (exited(1, "", "no"), {"is_async": False, "async_rewake": True}, Ending.ERROR, "exit-status"),
        (exited(127, "", "not found"), {}, Ending.ERROR, "launch-failed"),
        (exited(137), {}, Ending.ERROR, "killed"),
        (TimedOut(1), {}, Ending.CANCELLED, "timeout"),
        (Failed(Failure.INTERRUPTED, "the session ended"), {}, Ending.CANCELLED, "interrupted"),
        (Failed(Failure.LAUNCH, "no such file"), {}, Ending.ERROR, "launch-failed"),
    ],
)
def test_how_a_late_hook_ended(reply: Reply, fields: dict[str, Any], ending: Ending, code: str | None) -> None:
    found = late(reply, **fields)
    assert found.ending is ending
    assert [note.code for note in found.diagnostics] == ([code] if code else [])
    assert (found.error is not None) == (ending in (Ending.ERROR, Ending.CANCELLED))
    assert found.rewake == ("no" if ending is Ending.BLOCKING else None)


@given(st.integers(0, 255), st.binary(max_size=60), st.binary(max_size=20), st.booleans())
def test_a_late_hook_is_a_success_on_exit_0_alone(status: int, stdout: bytes, stderr: bytes, rewake: bool) -> None:
    found = late(Exited(status, stdout, stderr), is_async=not rewake, async_rewake=rewake)
    assert (found.ending is Ending.SUCCESS) == (status == 0)
    assert (found.rewake is not None) == (status == 2 and rewake)
    assert (found.label == "success") == (status == 0)
