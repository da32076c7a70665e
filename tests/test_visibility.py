"""Who sees what, clause by clause."""

from __future__ import annotations

import msgspec
import pytest

from hookwright.aggregate import aggregate
from hookwright.interpret import interpret, interpret_late
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import AgentHandler, CallbackHandler, Handler, PromptHandler
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import Outcome, Run, Timing, Verdict
from hookwright.protocol.replies import Answered, Exited, Failed, Failure, Judged, Reply, TimedOut
from hookwright.protocol.sources import Scope, Source
from hookwright.visibility import (
    NOT_RUN,
    RETRY,
    Form,
    Message,
    Place,
    Reader,
    as_sent,
    for_reader,
    is_echoed,
    late_messages,
    messages,
    model_texts,
    read_texts,
)
from support import command, event, exited, failing_closed, run_of, specific


def outcome(name: str, *replies: Reply) -> Outcome:
    moment = event(name)
    runs = []
    for number, reply in enumerate(replies):
        handler = command(f"hook-{number}")
        runs.append(Run(handler, reply, interpret(reply, handler, moment), Timing(0, 0)))
    return aggregate(moment, runs)


def texts(made: Outcome, reader: Reader) -> list[str]:
    return [message.text for message in for_reader(made, reader)]


@pytest.mark.req("R-201", "R-254", "R-275", "R-280", "R-198")
def test_a_denied_call_is_a_tool_error_for_the_model_and_seen_by_the_user() -> None:
    made = outcome("PreToolUse", exited(2, "", "no"))
    text = "PreToolUse:Bash hook error: [hook-0]: no"
    assert messages(made)[:2] == (
        Message(Reader.MODEL, Form.TOOL_ERROR, text, Place.ERROR),
        Message(Reader.USER, Form.BLOCKED, text),
    )


@pytest.mark.req("R-206", "R-266", "R-275")
def test_a_blocked_prompt_is_told_to_the_user_alone() -> None:
    made = outcome("UserPromptSubmit", exited(2, "", "no secrets"), exited(0, "context"))
    assert texts(made, Reader.MODEL) == []
    assert texts(made, Reader.USER) == ["UserPromptSubmit operation blocked by hook:\n[hook-0]: no secrets"]


@pytest.mark.req("R-203", "R-262", "R-265")
@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure"])
def test_feedback_after_a_tool_names_hook_and_command(name: str) -> None:
    made = outcome(name, exited(0, {"decision": "block", "reason": "R"}))
    assert texts(made, Reader.MODEL) == [f'{name}:Bash hook blocking error from command: "hook-0": R']


@pytest.mark.req("R-268", "R-207", "R-208")
@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_stop_feedback_is_labelled(name: str) -> None:
    assert texts(outcome(name, exited(2, "", "more")), Reader.MODEL) == ["Stop hook feedback:\n[hook-0]: more"]


@pytest.mark.req("R-284", "R-267", "R-333")
def test_context_goes_to_the_model_alone_with_the_hooks_name() -> None:
    one = exited(0, specific("PostToolUse", additionalContext="a"))
    two = exited(0, specific("PostToolUse", additionalContext="b"))
    made = outcome("PostToolUse", one, two)
    assert texts(made, Reader.MODEL) == [
        "PostToolUse:Bash hook additional context: a",
        "PostToolUse:Bash hook additional context: b",
    ]
    assert texts(made, Reader.USER) == []


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("PostToolUse", "PostToolUse:Bash"),
        ("PostToolUseFailure", "PostToolUseFailure:Bash"),
        ("PostToolBatch", "PostToolBatch"),
        ("UserPromptSubmit", "UserPromptSubmit"),
        ("UserPromptExpansion", "UserPromptExpansion"),
    ],
)
def test_each_hooks_context_is_a_text_of_its_own(name: str, label: str) -> None:
    made = outcome(name, *(exited(0, specific(name, additionalContext=text)) for text in "ab"))
    assert texts(made, Reader.MODEL) == [f"{label} hook additional context: {text}" for text in "ab"]


@pytest.mark.parametrize(
    ("name", "label"),
    [("PreToolUse", "PreToolUse:Bash"), ("SessionStart", "SessionStart"), ("SubagentStart", "SubagentStart")],
)
def test_elsewhere_all_context_is_one_text(name: str, label: str) -> None:
    made = outcome(name, *(exited(0, specific(name, additionalContext=text)) for text in "ab"))
    assert texts(made, Reader.MODEL) == [f"{label} hook additional context: a\nb"]


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure"])
def test_context_follows_the_feedback_of_its_own_hook(name: str) -> None:
    both = exited(0, {"decision": "block", "reason": "R", **specific(name, additionalContext="a")})
    made = outcome(name, both, exited(2, "", "E"), exited(0, specific(name, additionalContext="c")))
    assert texts(made, Reader.MODEL) == [
        f'{name}:Bash hook blocking error from command: "hook-0": R',
        f"{name}:Bash hook additional context: a",
        f'{name}:Bash hook blocking error from command: "hook-1": [hook-1]: E',
        f"{name}:Bash hook additional context: c",
    ]


@pytest.mark.req("R-285", "R-280")
def test_plain_text_carries_the_matched_value_and_context_the_bare_event() -> None:
    made = outcome("SessionStart", exited(0, "one"), exited(0, specific("SessionStart", additionalContext="c")))
    assert texts(made, Reader.MODEL) == [
        "SessionStart:startup hook success: one",
        "SessionStart hook additional context: c",
    ]


@pytest.mark.req("R-232", "R-277")
def test_a_hooks_message_goes_to_the_user_alone() -> None:
    made = outcome("PreToolUse", exited(0, {"systemMessage": "careful"}))
    assert texts(made, Reader.USER) == ["PreToolUse:Bash says: careful"]
    assert texts(made, Reader.MODEL) == []


@pytest.mark.req("R-229", "R-277")
@pytest.mark.parametrize("name", ["PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop"])
def test_the_stop_reason_goes_to_the_user_and_stays_in_the_conversation(name: str) -> None:
    made = outcome(name, exited(0, {"continue": False, "stopReason": "enough"}))
    said = f"{made.hook_name} hook stopped continuation: enough"
    assert texts(made, Reader.USER) == [said]
    assert model_texts(made, Place.REMINDER) == (said,)


@pytest.mark.req("R-229")
def test_a_call_that_a_stop_kept_from_running_has_an_error_for_its_result() -> None:
    made = outcome("PreToolUse", exited(0, {"continue": False}))
    assert model_texts(made, Place.ERROR) == (NOT_RUN,)
    assert model_texts(made, Place.REMINDER) == (
        "PreToolUse:Bash hook stopped continuation: Execution stopped by hook",
    )


@pytest.mark.req("R-229")
@pytest.mark.parametrize(
    ("reason", "told"), [("R", "Operation stopped by hook: R"), (None, "Operation stopped by hook")]
)
def test_a_stopped_prompt_is_followed_by_one_user_message(reason: str | None, told: str) -> None:
    stop = {"continue": False} if reason is None else {"continue": False, "stopReason": reason}
    made = outcome("UserPromptSubmit", exited(0, {**stop, **specific("UserPromptSubmit", additionalContext="C")}))
    assert model_texts(made, Place.USER) == (told,)
    assert model_texts(made, Place.REMINDER) == ("UserPromptSubmit hook additional context: C",)


@pytest.mark.req("R-268", "R-271")
@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_a_json_block_at_the_end_of_a_turn_is_read_twice(name: str) -> None:
    made = outcome(name, exited(0, {"decision": "block", "reason": "R"}))
    assert model_texts(made, Place.USER) == ("Stop hook feedback:\nR",)
    assert model_texts(made, Place.REMINDER) == (f'{name} hook blocking error from command: "hook-0": R',)


@pytest.mark.req("R-270")
def test_a_stop_at_the_end_of_a_turn_lifts_its_feedback() -> None:
    made = outcome("Stop", exited(0, {"decision": "block", "reason": "R"}), exited(0, {"continue": False}))
    assert texts(made, Reader.MODEL) == ["Stop hook stopped continuation: Execution stopped by hook"]


def test_a_deferred_call_leaves_nothing_for_the_model() -> None:
    defer = exited(0, specific("PreToolUse", permissionDecision="defer"))
    made = outcome("PreToolUse", defer, exited(0, specific("PreToolUse", additionalContext="C")))
    assert texts(made, Reader.MODEL) == []


def test_a_denial_by_an_administrator_is_marked_and_one_result_has_all_reasons() -> None:
    moment = event("PreToolUse")
    handlers = [command("a", Scope.MANAGED), command("b")]
    runs = [
        Run(handler, exited(2, "", "no"), interpret(exited(2, "", "no"), handler, moment), Timing(0, 0))
        for handler in handlers
    ]
    assert model_texts(aggregate(moment, runs), Place.ERROR) == (
        "<tool_use_error>PreToolUse:Bash hook error: [a]: no\nPreToolUse:Bash hook error: [b]: no</tool_use_error>",
    )


@pytest.mark.parametrize("name", ["TaskCreated", "TaskCompleted"])
def test_feedback_about_a_task_is_one_tool_result(name: str) -> None:
    made = outcome(name, exited(2, "", "a"), exited(2, "", "b"))
    said = f"{name} hook feedback:\n[hook-0]: a\n{name} hook feedback:\n[hook-1]: b"
    assert [(message.place, message.text) for message in for_reader(made, Reader.MODEL)] == [(Place.RESULT, said)]


def test_a_retry_is_a_user_message() -> None:
    made = outcome("PermissionDenied", exited(0, specific("PermissionDenied", retry=True)))
    assert [(message.place, message.text) for message in for_reader(made, Reader.MODEL)] == [(Place.USER, RETRY)]


def test_a_first_prompt_is_a_user_message_and_a_rewrite_a_tool_result() -> None:
    first = outcome("SessionStart", exited(0, specific("SessionStart", initialUserMessage="go")))
    assert model_texts(first, Place.USER) == ("go",)
    rewritten = outcome("PostToolUse", exited(0, specific("PostToolUse", updatedToolOutput={"stdout": "x"})))
    assert model_texts(rewritten, Place.RESULT) == ('{"stdout":"x"}',)


@pytest.mark.parametrize(("source", "reader"), [("slash_command", Reader.MODEL), ("register_repo_root", Reader.USER)])
def test_a_message_about_a_directory_goes_to_the_model_when_the_user_added_it(source: str, reader: Reader) -> None:
    moment, reply = event("DirectoryAdded", source=source), exited(0, {"systemMessage": "careful"})
    made = aggregate(moment, [Run(command(), reply, interpret(reply, command(), moment), Timing(0, 0))])
    assert {message.reader for message in messages(made) if "careful" in message.text} >= {reader}
    assert len([m for m in messages(made) if "careful" in m.text and m.form is Form.SAYS]) == 1


def test_only_the_model_has_a_place() -> None:
    made = outcome("PostToolUse", exited(2, "", "no"), exited(0, {"continue": False, "systemMessage": "m"}))
    assert all((message.place is not None) == (message.reader is Reader.MODEL) for message in messages(made))


def test_a_background_hook_speaks_bare_and_wakes_with_a_notification() -> None:
    output = {"systemMessage": "MSG", **specific("PostToolUse", additionalContext="CTX")}
    job = Job(command("c", async_rewake=True), event("PostToolUse"), b"", 0, "hook-1", None)
    read = late_messages(interpret_late("bg-1", job, exited(2, output, "WAKE")))
    assert [(message.place, message.text) for message in read[:2]] == [(Place.REMINDER, "MSG"), (Place.REMINDER, "CTX")]
    woken = read[2]
    assert woken.place is Place.USER
    assert woken.text.startswith("<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]")
    assert woken.text.endswith('Stop hook blocking error from command "PostToolUse:Bash": WAKE\n</system-reminder>')


def test_reminders_are_sent_in_tags() -> None:
    made = outcome("PreToolUse", exited(2, "", "no"), exited(0, specific("PreToolUse", additionalContext="C")))
    assert [(part.place, part.text) for part in as_sent(messages(made))] == [
        ("tool result (error)", "PreToolUse:Bash hook error: [hook-0]: no"),
        ("reminder", "<system-reminder>\nPreToolUse:Bash hook additional context: C\n</system-reminder>"),
    ]


@pytest.mark.req("R-283")
def test_a_question_carries_reason_and_source() -> None:
    ask = specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")
    assert texts(outcome("PreToolUse", exited(0, ask)), Reader.USER) == ["[settings] sure?"]


@pytest.mark.req("R-282")
def test_the_reason_of_an_allow_never_reaches_the_model() -> None:
    allow = specific("PreToolUse", permissionDecision="allow", permissionDecisionReason="fine")
    made = outcome("PreToolUse", exited(0, allow))
    assert texts(made, Reader.MODEL) == texts(made, Reader.USER) == []
    assert "PreToolUse:Bash allow: fine" in texts(made, Reader.DEBUG)


@pytest.mark.req("R-276", "R-200")
def test_a_failure_is_a_notice_with_its_first_line_and_all_of_it_in_the_log() -> None:
    made = outcome("PreToolUse", exited(1, "", "first\nsecond"))
    assert texts(made, Reader.USER) == ["PreToolUse:Bash hook error: Failed with non-blocking status code: first"]
    assert any("second" in text for text in texts(made, Reader.DEBUG))


@pytest.mark.req("R-205")
def test_a_notification_hooks_failure_is_not_put_before_the_user() -> None:
    made = outcome("Notification", exited(2, "", "no desktop"))
    assert texts(made, Reader.USER) == texts(made, Reader.MODEL) == []
    assert any("no desktop" in text for text in texts(made, Reader.VERBOSE))
    assert any("no desktop" in text for text in texts(made, Reader.DEBUG))


@pytest.mark.req("R-287")
@pytest.mark.parametrize("name", sorted(CATALOGUE))
@pytest.mark.parametrize(
    "reply", [exited(1, "", "x"), TimedOut(1.0), Failed(Failure.LAUNCH, "gone"), exited(0, "{bad}")]
)
def test_every_failure_is_visible_to_someone(name: str, reply: Reply) -> None:
    made = outcome(name, reply)
    seen = [
        m for m in messages(made) if m.form in (Form.NOTICE, Form.BLOCKED, Form.TOOL_ERROR, Form.FEEDBACK, Form.NOTE)
    ]
    assert seen or made.fields


@pytest.mark.req("R-278", "R-230", "R-286")
def test_raw_stdout_is_in_the_verbose_view_unless_suppressed() -> None:
    assert texts(outcome("PostToolUse", exited(0, "raw")), Reader.VERBOSE) == ["raw"]
    made = outcome("PostToolUse", exited(0, {"suppressOutput": True, "systemMessage": "m"}))
    assert texts(made, Reader.VERBOSE) == []
    assert texts(made, Reader.DEBUG) == ["PostToolUse:Bash: output suppressed by the hook"]


@pytest.mark.req("R-216")
def test_stderr_at_exit_0_is_in_the_debug_log_only() -> None:
    made = outcome("PreToolUse", Exited(0, b"", b"noise"))
    assert [message.reader for message in messages(made)] == [Reader.DEBUG]


@pytest.mark.req("R-214")
def test_a_blocked_config_change_is_silent() -> None:
    assert {message.reader for message in messages(outcome("ConfigChange", exited(2, "", "no")))} == {Reader.DEBUG}


def test_an_ask_that_lost_to_a_deny_is_not_asked() -> None:
    ask = exited(0, specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"))
    made = outcome("PreToolUse", ask, exited(2, "", "no"))
    assert not [m for m in messages(made) if m.form is Form.QUESTION]


def test_nothing_said_is_nothing_seen() -> None:
    assert messages(aggregate(event("Stop"), [run_of(interpret(exited(0), command(), event("Stop")))])) == ()


# ── word for word ──


def by(handler: Handler, reply: Reply, name: str) -> Outcome:
    moment = event(name)
    return aggregate(moment, [Run(handler, reply, interpret(reply, handler, moment), Timing(0, 0))])


def test_the_texts_of_the_protocol_are_word_for_word() -> None:
    assert RETRY == "The PermissionDenied hook indicated you may retry this tool call."
    assert NOT_RUN == "The tool was not run: a hook stopped the turn before it."
    handler = command("x", async_rewake=True)
    late = interpret_late("b", Job(handler, event("Stop"), b"", 0, "h", None), exited(2, "", "WAKE"))
    (message,) = late_messages(late)
    assert message.text == (
        "<system-reminder>\n"
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"
        "This is an automated background-task event, NOT a message from the user.\n"
        "No person has said, approved or confirmed anything since the last genuine user message.\n"
        "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
        'Stop hook blocking error from command "Stop": WAKE\n'
        "</system-reminder>"
    )


def test_without_runs_there_is_nothing_to_read() -> None:
    assert model_texts(aggregate(event("SessionStart"), []), Place.REMINDER) == ()


def test_a_stop_after_a_tool_drops_the_context_of_its_own_hook_alone() -> None:
    stops = {"continue": False, "stopReason": "S", **specific("PostToolUse", additionalContext="OWN")}
    speaks = specific("PostToolUse", additionalContext="OTHER")
    both = texts(outcome("PostToolUse", exited(0, stops), exited(0, speaks), exited(0)), Reader.MODEL)
    assert both == [
        "PostToolUse:Bash hook additional context: OTHER",
        "PostToolUse:Bash hook stopped continuation: S",
    ]
    alone = texts(outcome("PostToolUse", exited(0, stops)), Reader.MODEL)
    assert alone == ["PostToolUse:Bash hook stopped continuation: S"]
    silent = texts(outcome("PostToolUse", exited(0, {"continue": False, "stopReason": "S"})), Reader.MODEL)
    assert silent == ["PostToolUse:Bash hook stopped continuation: S"]
    assert texts(outcome("PostToolUse", exited(0, speaks)), Reader.MODEL) == [
        "PostToolUse:Bash hook additional context: OTHER"
    ]


def test_an_empty_first_prompt_is_no_message() -> None:
    assert (
        texts(outcome("SessionStart", exited(0, specific("SessionStart", initialUserMessage=""))), Reader.MODEL) == []
    )


def test_plain_text_that_a_block_dropped_is_not_read() -> None:
    made = outcome("UserPromptExpansion", exited(0, "CTX"), exited(2, "", "no"))
    assert [message for message in messages(made) if message.form is Form.CONTEXT] == []
    run = run_of(Verdict(plain="dropped"))
    kept = aggregate(event("SessionStart"), [run])
    assert model_texts(kept, Place.REMINDER) == ("SessionStart:startup hook success: dropped",)
    assert model_texts(msgspec.structs.replace(kept, plain=()), Place.REMINDER) == ()


@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_a_block_of_a_prompt_or_agent_hook_is_read_once(name: str) -> None:
    source = Source(Scope.USER)
    for handler in (PromptHandler(source=source, prompt="p"), AgentHandler(source=source, prompt="p")):
        assert not is_echoed(handler, CATALOGUE[name].rules)
        assert len(texts(by(handler, Judged(False, "R"), name), Reader.MODEL)) == 1
    assert is_echoed(command(), CATALOGUE[name].rules)
    assert not is_echoed(command(), CATALOGUE["TeammateIdle"].rules)


def test_a_callback_is_named_as_one() -> None:
    handler = CallbackHandler(source=Source(Scope.PROGRAM), function=print)
    made = by(handler, Answered({"decision": "block", "reason": "R"}), "PreToolUse")
    assert texts(made, Reader.MODEL) == ["PreToolUse:Callback hook error: R"]
    failed = by(handler, Failed(Failure.EXCEPTION, "boom\nline 2"), "Stop")
    assert texts(failed, Reader.USER) == ["Stop:Callback hook error: boom"]
    assert texts(failed, Reader.DEBUG) == ["boom\nline 2"]


def test_a_failure_of_one_line_is_no_second_line_in_the_log() -> None:
    failed = outcome("PreToolUse", Failed(Failure.LAUNCH, "boom"))
    assert texts(failed, Reader.DEBUG) == []


def test_a_block_without_a_reader_is_a_line_of_the_debug_log() -> None:
    made = outcome("ConfigChange", exited(2, "", "no"))
    assert "ConfigChange:project_settings blocked: [hook-0]: no" in texts(made, Reader.DEBUG)
    assert texts(made, Reader.USER) == []


def test_a_refusal_that_fails_closed_is_no_notice() -> None:
    made = by(failing_closed("guard"), exited(1, "", "boom"), "PreToolUse")
    assert made.runs[0].verdict.error is not None
    assert Form.NOTICE not in {message.form for message in messages(made)}


def test_a_timeout_is_for_the_verbose_view_except_on_prompts() -> None:
    for name, reader in (("PreToolUse", Reader.VERBOSE), ("UserPromptSubmit", Reader.USER)):
        (notice,) = (one for one in messages(outcome(name, TimedOut(1))) if one.form is Form.NOTICE)
        assert notice.reader is reader


def test_the_same_model_error_is_put_before_the_user_once() -> None:
    def readers(*replies: Reply) -> list[Reader]:
        return [one.reader for one in messages(outcome("PreToolUse", *replies)) if one.form is Form.NOTICE]

    same, other = Failed(Failure.MODEL, "no model"), Failed(Failure.MODEL, "no key")
    assert readers(same, same) == [Reader.USER, Reader.VERBOSE]
    assert readers(same, other) == [Reader.USER, Reader.USER]
    assert readers(exited(0), same) == [Reader.USER]
    launch = Failed(Failure.LAUNCH, "no model")
    assert readers(launch, launch) == [Reader.USER, Reader.USER]
    assert readers(exited(1), same, same) == [Reader.USER, Reader.USER, Reader.VERBOSE]


def test_the_debug_log_has_reasons_and_streams() -> None:
    deferred = specific("PreToolUse", permissionDecision="defer", permissionDecisionReason="LATER")
    assert texts(outcome("PreToolUse", exited(0, deferred)), Reader.DEBUG) == ["PreToolUse:Bash defer: LATER"]
    odd = outcome("PreToolUse", Exited(0, b"\xff out", b"\xff err"))
    assert texts(odd, Reader.DEBUG) == ["PreToolUse:Bash stderr: \ufffd err"]
    assert texts(odd, Reader.VERBOSE) == ["\ufffd out"]


def test_what_the_model_and_the_user_read_are_kept_apart() -> None:
    found = outcome("Stop", exited(stdout='{"systemMessage": "for you"}'), exited(2, stderr="not yet"))
    read = read_texts(found)
    assert read == {
        "model": [message.text for message in for_reader(found, Reader.MODEL)],
        "user": [message.text for message in for_reader(found, Reader.USER)],
    }
    assert any("for you" in text for text in read["user"])
    assert not any("for you" in text for text in read["model"])
