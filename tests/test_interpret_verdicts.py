"""Whole verdicts, written out: every field of what a reply means, and the words that people read."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from hookwright.interpret import interpret, interpret_late
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import (
    AgentHandler,
    CallbackHandler,
    CommandHandler,
    Handler,
    McpToolHandler,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import NO_OPINION, SILENT, Allow, Block, Defer, Deny, Ending, EndTurn, Late, Verdict
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
from support import event, exited, specific

SOURCE = Source(Scope.USER, "settings.json", "x")
GUARD = CommandHandler(source=SOURCE, command="guard.sh")
CLOSED = CommandHandler(source=SOURCE, command="guard.sh", on_failure=OnFailure.BLOCK)
ASYNC = CommandHandler(source=SOURCE, command="guard.sh", is_async=True)
REWAKE = CommandHandler(source=SOURCE, command="guard.sh", async_rewake=True)
CALLBACK = CallbackHandler(source=SOURCE, function=print)
PROMPT = PromptHandler(source=SOURCE, prompt="is it fine?")
AGENT = AgentHandler(source=SOURCE, prompt="verify")
MCP = McpToolHandler(source=SOURCE, server="s", tool="t")


def note(code: str, text: str, label: str = "guard.sh") -> Diagnostic:
    return Diagnostic(code, f"`{label}` {text}", SOURCE, Severity.WARNING)


def of(reply: Reply, handler: Handler = GUARD, name: str = "PreToolUse", **fields: Any) -> Verdict:
    return interpret(reply, handler, event(name, **fields))


def error(text: str, code: str, ending: Ending = Ending.ERROR, said: str | None = None) -> Verdict:
    return Verdict(ending=ending, error=text, diagnostics=(note(code, text if said is None else said),))


def closed(verb: str, tail: str, text: str, code: str) -> Verdict:
    reason = f'[guard.sh]: {verb}; blocking because onFailure is "block"' + (f"\n{tail}" if tail else "")
    return Verdict(ending=Ending.BLOCKING, decision=Deny(reason), error=text, diagnostics=(note(code, text),))


# ── exit 2 ──────────────────────────────────────────────────────────────────


def test_exit_2_keeps_everything_its_json_says_but_a_lift() -> None:
    answer = {
        **specific("PreToolUse", permissionDecision="allow", additionalContext="C", updatedInput={"command": "x"}),
        "systemMessage": "M",
        "suppressOutput": True,
        "zz": 1,
    }
    unknown = Diagnostic("unknown-answer-key", "`zz` is ignored", SOURCE, Severity.WARNING)
    assert of(exited(2, answer, "WHY")) == Verdict(
        ending=Ending.BLOCKING,
        decision=Deny("[guard.sh]: WHY"),
        context="C",
        system_message="M",
        suppress_output=True,
        diagnostics=(unknown,),
    )


def test_exit_2_after_a_call_keeps_its_rewritten_result() -> None:
    output = {"stdout": "NEW", "stderr": "", "interrupted": False, "isImage": False}
    v = of(exited(2, specific("PostToolUse", updatedToolOutput=output), "WHY"), name="PostToolUse")
    assert (v.decision, v.updated_output) == (Block("[guard.sh]: WHY"), output)


def test_the_newer_of_two_refusals_gives_the_reason() -> None:
    answer = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="NEW")
    assert of(exited(0, {**answer, "decision": "block", "reason": "OLD"})).decision == Deny("NEW")
    allowed = specific("PreToolUse", permissionDecision="allow", permissionDecisionReason="NEW")
    assert of(exited(0, {**allowed, "decision": "block", "reason": "OLD"})).decision == Deny("OLD")


def test_exit_2_keeps_the_fields_of_its_event() -> None:
    answer = specific("UserPromptSubmit", suppressOriginalPrompt=True)
    v = of(exited(2, answer, "WHY"), name="UserPromptSubmit")
    assert (v.decision, v.fields) == (Block("[guard.sh]: WHY"), {"suppress_original_prompt": True})


@pytest.mark.parametrize(
    ("name", "answer", "decision", "stop"),
    [
        ("PreToolUse", {"continue": False, "stopReason": "HALT"}, Deny("[guard.sh]: WHY"), EndTurn("HALT")),
        ("PostToolUse", {"decision": "block", "reason": "OWN"}, Block("OWN"), None),
        ("PostToolUse", {"decision": "block"}, Block("Blocked by hook"), None),
        ("PostToolBatch", {}, NO_OPINION, EndTurn("[guard.sh]: WHY")),
        ("PostToolBatch", {"continue": False, "stopReason": "HALT"}, NO_OPINION, EndTurn("HALT")),
    ],
)
def test_the_reason_of_exit_2_is_that_of_its_own_refusal_else_stderr(
    name: str, answer: dict[str, Any], decision: object, stop: EndTurn | None
) -> None:
    v = of(exited(2, answer or "", "WHY"), name=name)
    assert (v.ending, v.decision, v.stop) == (Ending.BLOCKING, decision, stop)


def test_exit_2_where_nothing_can_be_blocked_keeps_its_fields() -> None:
    answer = specific("SessionStart", additionalContext="C", watchPaths=["/a"])
    text = "WHY; exit 2 has no effect on this event"
    assert of(exited(2, answer, "WHY"), name="SessionStart") == Verdict(
        ending=Ending.ERROR,
        error=text,
        context="C",
        fields={"watch_paths": ["/a"]},
        diagnostics=(note("exit-2-no-effect", text),),
    )
    silent = "No stderr output; exit 2 has no effect on this event"
    assert of(exited(2), name="SessionEnd") == error(silent, "exit-2-no-effect")


@pytest.mark.parametrize("name", ["Stop", "SubagentStop", "TaskCompleted"])
def test_a_missing_script_is_said_to_be_missing(name: str) -> None:
    stderr = "sh: x.sh: No such file or directory"
    text = f"{stderr}; the script is missing, so this exit 2 does not block"
    accident = f"exited 2 because it could not start ({stderr}), and 2 means block; fix the path or the script"
    assert of(exited(2, "", stderr), name=name) == Verdict(
        ending=Ending.ERROR,
        error=text,
        diagnostics=(note("launch-failed", text), note("accidental-exit-2", accident)),
    )
    assert isinstance(of(exited(2, "said", stderr), name=name).decision, Block)
    assert isinstance(of(exited(2, "", "no reason"), name=name).decision, Block)


def test_a_missing_script_of_a_plugin_is_excused_on_prompts_alone() -> None:
    handler = CommandHandler(source=Source(Scope.PLUGIN, plugin=Plugin("p", "/p", "/d")), command="x")
    stderr = "sh: x: No such file or directory"
    assert of(exited(2, "", stderr), handler, "UserPromptSubmit").decision == NO_OPINION
    assert isinstance(of(exited(2, "", stderr), handler, "PreToolUse").decision, Deny)


# ── other statuses ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (1, "exit-status"),
        (125, "exit-status"),
        (126, "launch-failed"),
        (127, "launch-failed"),
        (128, "exit-status"),
        (129, "killed"),
        (255, "killed"),
    ],
)
def test_the_code_of_a_status(status: int, code: str) -> None:
    text = "Failed with non-blocking status code: boom"
    assert of(exited(status, "", "boom")) == error(text, code)
    assert of(exited(status)) == error("Failed with non-blocking status code: No stderr output", code)
    assert of(exited(status, "", "boom"), CLOSED) == closed("failed", "boom", text, code)
    silent = "Failed with non-blocking status code: No stderr output"
    assert of(exited(status), CLOSED) == closed("failed", "No stderr output", silent, code)


def test_an_unusable_answer_is_an_error_at_any_status() -> None:
    text = "Hook JSON output validation failed — continue: expected boolean, got string"
    for status in (0, 1):
        assert of(exited(status, {"continue": "no"})) == error(text, "invalid-answer")
        assert of(exited(status, {"continue": "no"}), CLOSED) == closed("failed", text, text, "invalid-answer")


@pytest.mark.parametrize("name", ["WorktreeCreate", "WorktreeRemove"])
@pytest.mark.parametrize(("stderr", "said"), [("boom", "boom"), ("", "No stderr output")])
def test_a_worktree_hook_refuses_at_every_status(name: str, stderr: str, said: str) -> None:
    refusal = Verdict(ending=Ending.BLOCKING, decision=Block(f"[guard.sh]: exit status 3: {said}"))
    assert of(exited(3, "/tmp/w", stderr), name=name) == refusal


# ── output ──────────────────────────────────────────────────────────────────


def test_the_path_of_a_worktree() -> None:
    for printed in ("log\n\x1b[1;32m /tmp/w \x1b[0m\n\n", "/tmp/w"):
        assert of(exited(0, printed), name="WorktreeCreate") == Verdict(fields={"worktree_path": "/tmp/w"})
    assert of(exited(0, "\x1b[Xw/tree"), name="WorktreeCreate") == Verdict(fields={"worktree_path": "w/tree"})
    text = "[guard.sh]: printed no path; print the path of the new worktree"
    for printed in ("", " \n\x1b[0m\n"):
        assert of(exited(0, printed), name="WorktreeCreate") == Verdict(ending=Ending.BLOCKING, decision=Block(text))
    many = Verdict(ending=Ending.BLOCKING, decision=Block("[guard.sh]: printed 1000 bytes too many before its path"))
    assert of(Exited(0, b"/tmp/w\n", dropped=1000), name="WorktreeCreate") == many
    missing = Block("[guard.sh]: answered without worktreePath")
    for answer in ({}, {"systemMessage": "m"}):
        assert of(Answered(answer), name="WorktreeCreate").decision == missing
    assert of(Answered(specific("WorktreeCreate", worktreePath="/w")), name="WorktreeCreate").fields == {
        "worktree_path": "/w"
    }


def test_silence_is_the_one_silent_verdict() -> None:
    assert of(exited(0)) is SILENT
    assert of(Answered({})) is SILENT
    assert of(exited(0, "", "noise")) is SILENT
    assert of(exited(0, "text")) is not SILENT


def test_the_head_of_truncated_output_is_the_context() -> None:
    text = "a" * (2 * 1024 * 1024)
    found = of(Exited(0, text.encode() + b"b", dropped=9), name="SessionStart")
    assert found.plain == text
    assert found.diagnostics == (note("output-too-large", "printed 9 bytes over the limit, which were dropped"),)
    whole = of(exited(0, text + "b"), name="SessionStart")
    assert whole.plain == text + "b"


def test_a_brace_beyond_the_head_of_truncated_output_is_not_looked_for() -> None:
    dropped = "the answer is over the limit; 9 bytes were dropped"
    flood = note("output-too-large", "printed 9 bytes over the limit, which were dropped")
    lost = Verdict(ending=Ending.ERROR, error=dropped, diagnostics=(note("output-too-large", dropped), flood))
    assert of(Exited(0, b" " * 65_535 + b"{", dropped=9)) == lost
    assert of(Exited(0, b" " * 65_536 + b"{", dropped=9)) == Verdict(diagnostics=(flood,))


_ALMOST = "printed an answer with something around it, so it is plain text; print the JSON object alone"


@pytest.mark.parametrize(
    ("name", "plain", "notes"),
    [
        ("PreToolUse", None, (note("looks-like-an-answer", _ALMOST),)),
        ("UserPromptSubmit", 'log {"decision": "block"}', (note("looks-like-an-answer", _ALMOST),)),
        ("Stop", None, ()),
        ("SessionStart", 'log {"decision": "block"}', ()),
    ],
)
def test_text_around_an_answer_is_reported_where_it_could_refuse(
    name: str, plain: str | None, notes: tuple[Diagnostic, ...]
) -> None:
    assert of(exited(0, 'log {"decision": "block"}'), name=name) == Verdict(plain=plain, diagnostics=notes)


def test_text_around_an_answer_of_a_guard_that_fails_closed_refuses() -> None:
    v = of(exited(0, 'log {"decision": "block"}'), CLOSED)
    assert v == closed("failed", _ALMOST, _ALMOST, "looks-like-an-answer")


# ── the background ──────────────────────────────────────────────────────────

_AWAITED = "asked for the background by its first line, where that could undo a guard, and was awaited"
_LEFT = 'asked for the background by its first line and refuses nothing from there; write "async": true in its entry'


@pytest.mark.parametrize(
    ("printed", "handler", "name", "told"),
    [
        ('{"async": true}\nlog', GUARD, "PreToolUse", True),
        ('\n {"async": true}\nlog', GUARD, "PreToolUse", True),
        ('{"async": true}\nlog', ASYNC, "PreToolUse", False),
        ('{"async": true}\nlog', GUARD, "Stop", False),
        ('{"async": false}\nlog', GUARD, "PreToolUse", False),
        ('log\n{"async": true}', GUARD, "PreToolUse", False),
        ('{"asynchronous": true}\nlog', GUARD, "PreToolUse", False),
        ("", GUARD, "PreToolUse", False),
    ],
)
def test_a_request_for_the_background_that_was_not_granted_is_reported(
    printed: str, handler: Handler, name: str, told: bool
) -> None:
    found = [one for one in of(exited(0, printed), handler, name).diagnostics if one.code == "background-refused"]
    assert found == ([note("background-refused", _AWAITED)] if told else [])


def test_leaving_for_the_background_by_its_own_word_is_reported_where_it_could_have_refused() -> None:
    assert of(Backgrounded("b", b'{"async": true}')) == Verdict(diagnostics=(note("left-for-background", _LEFT),))
    assert of(Backgrounded("b", b'{"async": true}'), name="Stop") == Verdict()
    assert of(Backgrounded("b")) == Verdict()


def late(reply: Reply, handler: Handler = ASYNC) -> Late:
    return interpret_late("bg-1", Job(handler, event("PostToolUse"), b"", 0, "hook-1", None), reply)


def test_a_late_end_keeps_its_job_and_reply() -> None:
    for reply in (exited(0), exited(3), TimedOut(1), Failed(Failure.LAUNCH, "x"), Backgrounded("b")):
        found = late(reply)
        assert (found.id, found.job.handler, found.reply) == ("bg-1", ASYNC, reply)


@pytest.mark.parametrize(
    ("reply", "text", "code"),
    [
        (exited(7, "", "bad"), "Failed with non-blocking status code: bad", "exit-status"),
        (exited(7), "Failed with non-blocking status code: No stderr output", "exit-status"),
        (Exited(7, b"\xff{", b"\xff bad"), "Failed with non-blocking status code: \ufffd bad", "exit-status"),
        (TimedOut(1.5), "timed out after 1.5 s", "timeout"),
        (Failed(Failure.LAUNCH, "no such file"), "no such file", "launch-failed"),
    ],
)
def test_the_words_of_a_late_failure(reply: Reply, text: str, code: str) -> None:
    found = late(reply)
    assert (found.error, found.diagnostics[0]) == (text, note(code, text))


def test_a_late_success_reports_bytes_that_are_not_text() -> None:
    assert [one.code for one in late(Exited(0, b"\xff")).diagnostics] == ["not-utf-8"]


@pytest.mark.parametrize(
    ("stdout", "stderr", "said"),
    [
        (b"OUT\n", b"ERR\n", "ERR"),
        (b" OUT\n", b"", "OUT"),
        (b"\xffOUT", b"\n", "\ufffdOUT"),
        (b"", b"", "No stderr output"),
    ],
)
def test_what_wakes_the_model(stdout: bytes, stderr: bytes, said: str) -> None:
    found = late(Exited(2, stdout, stderr), REWAKE)
    assert (found.rewake, found.ending, found.error) == (said, Ending.BLOCKING, None)


# ── answers ─────────────────────────────────────────────────────────────────


def test_a_whole_answer() -> None:
    answer = {
        **specific("PostToolUse", additionalContext="C", updatedToolOutput={"a": 1}),
        "decision": "block",
        "reason": "R",
        "continue": False,
        "stopReason": "S",
        "systemMessage": "M",
        "suppressOutput": True,
        "terminalSequence": "\x1b]9;x\x07",
    }
    for reply in (exited(0, answer), exited(1, answer), Answered(answer)):
        assert of(reply, name="PostToolUse") == Verdict(
            ending=Ending.BLOCKING,
            decision=Block("R"),
            stop=EndTurn("S"),
            context="C",
            system_message="M",
            updated_output={"a": 1},
            suppress_output=True,
            terminal_sequence="\x1b]9;x\x07",
        )


def test_fields_that_count_at_exit_0_alone_count_in_an_answer_without_a_process() -> None:
    answer = specific("Elicitation", action="accept", content={"n": 1})
    assert of(Answered(answer), name="Elicitation").fields == {"action": "accept", "content": {"n": 1}}
    assert of(exited(2, answer, "WHY"), name="Elicitation").fields == {}


def test_empty_texts_are_no_texts() -> None:
    answer = {**specific("PreToolUse", additionalContext="", permissionDecision="allow"), "systemMessage": ""}
    assert of(exited(0, answer)) == Verdict(decision=Allow())


def test_a_deferred_call_keeps_neither_context_nor_rewrite() -> None:
    fields = {"permissionDecision": "defer", "additionalContext": "C", "updatedInput": {"command": "x"}}
    v = of(exited(0, specific("PreToolUse", permissionDecisionReason="R", **fields)))
    assert (v.decision, v.context, v.updated_input) == (Defer("R"), None, None)


def test_the_reason_of_an_allow_is_kept() -> None:
    answer = specific("PreToolUse", permissionDecision="allow", permissionDecisionReason="R")
    assert of(exited(0, answer)).decision == Allow("R")
    assert of(exited(0, {"decision": "approve", "reason": "R"})).decision == Allow("R")


def test_a_block_of_a_batch_ends_the_turn() -> None:
    assert of(exited(0, {"decision": "block", "reason": "R"}), name="PostToolBatch") == Verdict(stop=EndTurn("R"))
    both = {"decision": "block", "reason": "R", "continue": False, "stopReason": "S"}
    assert of(exited(0, both), name="PostToolBatch") == Verdict(stop=EndTurn("S"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"async": True}, "answered `async`, which a hook that fails closed cannot do"),
        (
            {"permissionDecision": "deny", "behavior": "deny"},
            "answered `permissionDecision`, `behavior` at a level where it has no effect",
        ),
    ],
)
def test_an_answer_that_decides_nothing_of_a_guard_that_fails_closed_refuses(answer: dict[str, Any], why: str) -> None:
    assert of(Answered(answer), CLOSED) == closed("failed", why, why, "invalid-answer")
    assert of(exited(0, answer)).decision == NO_OPINION


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("SessionEnd", {"decision": "block"}, ["`decision` has no effect on this event"]),
        ("SessionEnd", {"continue": False}, ["`continue: false` has no effect on this event"]),
        ("Stop", {"decision": "block", "continue": False}, []),
        ("SessionEnd", {"decision": "approve", "continue": True}, []),
    ],
)
def test_what_an_event_does_not_read_is_reported(name: str, answer: dict[str, Any], words: list[str]) -> None:
    v = of(exited(0, answer), name=name)
    assert v.diagnostics == tuple(Diagnostic("no-effect", text, SOURCE, Severity.WARNING) for text in words)


def test_a_message_where_none_is_read_is_reported() -> None:
    v = of(exited(0, {"systemMessage": "M"}), name="MessageDisplay")
    assert v.system_message is None
    assert [one.message for one in v.diagnostics] == ["`systemMessage` has no effect on this event"]
    assert of(exited(0, {"systemMessage": ""}), name="MessageDisplay").diagnostics == ()


def test_a_key_that_appears_twice_is_named() -> None:
    v = of(exited(0, '{"decision": "block", "decision": "approve"}'))
    text = "`decision` appears twice in the answer; the last one is used"
    assert v.diagnostics == (Diagnostic("duplicate-key", text, SOURCE),)


@pytest.mark.parametrize(
    ("decision", "verdict"),
    [
        ({"behavior": "deny"}, Deny("Permission denied by hook", False)),
        ({"behavior": "deny", "message": "M", "interrupt": True}, Deny("M", True)),
        ({"behavior": "allow", "updatedInput": {"command": "x"}}, Allow()),
    ],
)
def test_the_decision_of_a_permission_request(decision: dict[str, Any], verdict: object) -> None:
    v = of(exited(0, specific("PermissionRequest", decision=decision)), name="PermissionRequest")
    assert (v.decision, v.updated_input) == (verdict, decision.get("updatedInput"))
    assert v.fields == {}


def test_permission_updates_of_an_allow_are_a_field() -> None:
    update = {"type": "setMode", "mode": "plan", "destination": "session"}
    answer = specific("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": [update]})
    assert of(exited(0, answer), name="PermissionRequest").fields == {"updated_permissions": (update,)}


# ── judgements ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("handler", "name", "verdict"),
    [
        (PROMPT, "PreToolUse", Verdict(ending=Ending.BLOCKING, decision=Deny("P: R"), stop=EndTurn("R"))),
        (PROMPT, "UserPromptSubmit", Verdict(ending=Ending.BLOCKING, stop=EndTurn("R"))),
        (PROMPT, "Stop", Verdict(ending=Ending.BLOCKING, decision=Block("P: R"))),
        (AGENT, "PreToolUse", Verdict(ending=Ending.BLOCKING, decision=Deny("A: R"))),
        (AGENT, "Stop", Verdict(ending=Ending.BLOCKING, decision=Block("A: R"))),
        (CALLBACK, "Stop", Verdict(ending=Ending.BLOCKING, decision=Block("R"))),
    ],
)
def test_a_no_and_its_words(handler: Handler, name: str, verdict: Verdict) -> None:
    words = {"P: ": "Prompt hook condition was not met: ", "A: ": "Agent hook condition was not met: "}

    def spoken(reason: str, verdict: Verdict = verdict) -> str:
        text = repr(verdict)
        for short, full in words.items():
            text = text.replace(short, full)
        return text.replace(": R'", f": {reason}'").replace("'R'", f"'{reason}'")

    assert repr(of(Judged(False, "R"), handler, name)) == spoken("R")
    silent = of(Judged(False), handler, name)
    assert silent.stop is None or silent.stop == EndTurn(None)
    no_stop = msgspec.structs.replace(verdict, stop=None)
    assert repr(msgspec.structs.replace(silent, stop=None)) == spoken("no reason given", no_stop)


def test_a_yes_grants_nothing_and_may_speak() -> None:
    assert of(Judged(True, system_message="M"), PROMPT) == Verdict(system_message="M")
    assert of(Judged(False, "R", impossible=True), PROMPT, "Stop").decision == NO_OPINION
    refused = of(Judged(False, "R", system_message="M", stop_reason="S"), PROMPT)
    assert (refused.system_message, refused.stop) == ("M", EndTurn("S"))
    soft = PromptHandler(source=SOURCE, prompt="p", continue_on_block=True)
    assert of(Judged(False, "R"), soft).stop is None
    assert isinstance(of(Judged(False, "R"), soft).decision, Deny)
    after = of(Judged(False, "R", stop_reason="S"), PROMPT, "PostToolUse")
    assert (after.stop, after.decision) == (EndTurn("S"), NO_OPINION)


def test_a_no_where_nothing_can_be_refused() -> None:
    spoken = Judged(False, "R", system_message="M")
    assert of(spoken, PROMPT, "SessionStart") == Verdict(system_message="M")
    text = "Agent hook condition was not met: R"
    assert of(spoken, AGENT, "SessionStart") == Verdict(ending=Ending.ERROR, error=text)


# ── timeouts and failures ───────────────────────────────────────────────────


def test_the_words_of_a_timeout() -> None:
    text = "timed out after 2.5 s"
    assert of(TimedOut(2.5)) == error(text, "timeout", Ending.CANCELLED)
    assert of(TimedOut(2.5), CLOSED) == closed("timed out", "", text, "timeout")
    silent = Verdict(
        ending=Ending.BLOCKING, decision=Deny(f"[callback]: {text}"), diagnostics=(note("timeout", text, "callback"),)
    )
    assert of(TimedOut(2.5), CALLBACK) == silent
    for name in ("PreModelSwitch", "WorktreeCreate", "WorktreeRemove"):
        assert of(TimedOut(2.5), name=name).decision == Block(f"[guard.sh]: {text}")


CODES = {
    Failure.LAUNCH: "launch-failed",
    Failure.CONNECTION: "http-failed",
    Failure.STATUS: "http-failed",
    Failure.ANSWER: "invalid-answer",
    Failure.MODEL: "model-failed",
    Failure.EXCEPTION: "callback-failed",
    Failure.UNSUPPORTED: "unsupported-kind",
    Failure.FORBIDDEN: "http-forbidden",
    Failure.INTERRUPTED: "interrupted",
    Failure.CHANGED: "changed-since-trusted",
}


@pytest.mark.parametrize("why", CODES)
def test_the_code_of_a_failure(why: Failure) -> None:
    ending = Ending.CANCELLED if why is Failure.INTERRUPTED else Ending.ERROR
    assert of(Failed(why, "broken")) == error("broken", CODES[why], ending)
    assert of(Failed(why, "broken"), CLOSED) == closed("failed", "broken", "broken", CODES[why])
    assert of(Failed(why, "broken"), name="WorktreeRemove") == Verdict(
        ending=Ending.BLOCKING, decision=Block("[guard.sh]: broken")
    )


def test_a_guard_that_changed_refuses_whatever_its_entry_says_now() -> None:
    assert of(Failed(Failure.GUARD, "it changed")) == closed(
        "failed", "it changed", "it changed", "changed-since-trusted"
    )


def test_the_codes_of_mcp_tools_and_callbacks() -> None:
    codes = {why: of(Failed(why, "broken"), MCP).diagnostics[0].code for why in CODES}
    assert codes == {
        **CODES,
        Failure.CONNECTION: "mcp-failed",
        Failure.STATUS: "mcp-failed",
        Failure.EXCEPTION: "mcp-failed",
    }
    gone = of(Failed(Failure.CONNECTION, "gone"), CALLBACK)
    found = (note("callback-failed", "gone", "callback"),)
    assert gone == Verdict(ending=Ending.BLOCKING, decision=Deny("[callback]: gone"), diagnostics=found)
    assert of(Failed(Failure.CONNECTION, "gone"), CALLBACK, "Stop") == Verdict(
        ending=Ending.ERROR, error="gone", diagnostics=found
    )
    strict = CallbackHandler(source=SOURCE, function=print, on_failure=OnFailure.BLOCK)
    reason = '[callback]: failed; blocking because onFailure is "block"\ngone'
    assert of(Failed(Failure.CONNECTION, "gone"), strict) == Verdict(
        ending=Ending.BLOCKING, decision=Deny(reason), error="gone", diagnostics=found
    )


def test_an_agent_without_an_answer_is_cancelled() -> None:
    text = "51 turns without an answer"
    v = of(NoAnswer(text), AGENT)
    assert (v.ending, v.error, v.diagnostics) == (
        Ending.CANCELLED,
        text,
        (note("model-failed", text, AGENT.label),),
    )


@pytest.mark.parametrize("reply", [exited(0), Answered({}), Failed(Failure.LAUNCH, "broken")])
def test_what_a_hook_was_asked_without_is_noted(reply: Any) -> None:
    plain = of(reply)
    noted = of(msgspec.structs.replace(reply, notes=("asked without x",)))
    without = Diagnostic("asked-without", "asked without x", SOURCE, Severity.WARNING)
    assert noted == msgspec.structs.replace(plain, diagnostics=(*plain.diagnostics, without))


@pytest.mark.parametrize(("source", "blocks"), [("policy_settings", False), ("user_settings", True)])
def test_a_failure_that_fails_closed_cannot_refuse_what_cannot_be_blocked(source: str, blocks: bool) -> None:
    v = of(exited(1, "", "boom"), CLOSED, "ConfigChange", source=source)
    assert isinstance(v.decision, Block) is blocks
    assert v.error == "Failed with non-blocking status code: boom"


def test_a_hook_in_the_background_never_fails_closed() -> None:
    handler = CommandHandler(source=SOURCE, command="guard.sh", on_failure=OnFailure.BLOCK, is_async=True)
    assert of(exited(1, "", "boom"), handler).decision == NO_OPINION


def test_a_valid_answer_at_another_status_is_not_enough_for_a_guard_that_fails_closed() -> None:
    answer = json.dumps({"systemMessage": "M"})
    assert of(exited(1, answer, "boom")).system_message == "M"
    assert isinstance(of(exited(1, answer, "boom"), CLOSED).decision, Deny)


def test_a_silent_hook_whose_files_were_left_behind_is_an_error() -> None:
    lost = "names a.sh, which is in /p but not in /p/sub"
    for stdout in (b"", b" \n"):
        assert of(Exited(0, stdout, lost=lost)) == error(lost, "working-directory-moved")
        assert of(Exited(0, stdout, lost=lost), CLOSED) == closed("failed", lost, lost, "working-directory-moved")
    told = note("working-directory-moved", lost)
    answered = of(Exited(0, b'{"systemMessage": "M"}', lost=lost))
    assert answered == Verdict(system_message="M", diagnostics=(told,))
    text = "Failed with non-blocking status code: No stderr output"
    failed = error(text, "exit-status")
    assert of(Exited(3, b"", lost=lost)) == msgspec.structs.replace(failed, diagnostics=(*failed.diagnostics, told))
    assert of(Exited(0, b"text")) == Verdict()
