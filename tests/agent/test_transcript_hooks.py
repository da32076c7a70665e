"""Hook runs as transcript lines, and what the model reads of them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.transcripts import (
    fired,
    outcome,
)
from hookwright.agent.transcript import (
    Conversation,
    late_attachment,
    model_text,
    stop_summary,
)
from hookwright.interpret import interpret_late
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Failed, Failure, NoAnswer, Reply, TimedOut
from support import command, event, exited, specific

# ── hook runs ───────────────────────────────────────────────────────────────


HEAD = {"hookName": "PreToolUse:Bash", "toolUseID": "toolu_1", "hookEvent": "PreToolUse"}
FACTS = {"command": "hook-0", "durationMs": 250}

#: One row for each way a run can end (R-320).
RUNS: list[tuple[Reply, dict[str, Any]]] = [
    (
        exited(0, "out\n", "err"),
        {"type": "hook_success", **HEAD, "content": "", "stdout": "out\n", "stderr": "err", "exitCode": 0, **FACTS},
    ),
    (
        exited(2, "", "STDERR-no"),
        {
            "type": "hook_blocking_error",
            **HEAD,
            "blockingError": {"blockingError": "[hook-0]: STDERR-no", "command": "hook-0"},
        },
    ),
    (
        exited(1, "x", "bad"),
        {
            "type": "hook_non_blocking_error",
            **HEAD,
            "stdout": "x",
            "stderr": "Failed with non-blocking status code: bad",
            "exitCode": 1,
            **FACTS,
        },
    ),
    (TimedOut(1.5), {"type": "hook_cancelled", **HEAD, **FACTS, "timedOut": True, "timeoutMs": 1500}),
    (NoAnswer("silent"), {"type": "hook_cancelled", **HEAD, **FACTS, "timedOut": False}),
    (
        Failed(Failure.EXCEPTION, "ValueError: x"),
        {"type": "hook_error_during_execution", **HEAD, "content": "ValueError: x", **FACTS},
    ),
]


@pytest.mark.req("R-320")
@pytest.mark.parametrize(("reply", "expected"), RUNS)
def test_every_ending_has_its_attachment(reply: Reply, expected: dict[str, Any]) -> None:
    written = fired("PreToolUse", reply)[0]
    if expected["type"] == "hook_error_during_execution":
        expected = {**expected, "content": written["content"]}
        assert "ValueError: x" in written["content"]
    assert written == expected


def test_suppressed_output_is_not_in_the_transcript() -> None:
    output = {**specific("PreToolUse", additionalContext="CTX"), "suppressOutput": True}
    run, context = fired("PreToolUse", exited(0, output, "err"))
    assert (run["stdout"], run["stderr"]) == ("", "err")
    assert (context["type"], context["content"]) == ("hook_additional_context", ["CTX"])


def test_messages_decisions_and_stops_are_attached() -> None:
    deny = {**specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="R"), "systemMessage": "S"}
    stop = {"continue": False, "stopReason": "HALT"}
    kinds = [attachment["type"] for attachment in fired("PreToolUse", exited(0, deny), exited(0, stop))]
    assert kinds == [
        "hook_blocking_error",
        "hook_system_message",
        "hook_success",
        "hook_permission_decision",
        "hook_stopped_continuation",
    ]
    deferred = fired("PreToolUse", exited(0, specific("PreToolUse", permissionDecision="defer")))[-1]
    assert deferred == {
        "type": "hook_deferred_tool",
        "toolUseID": "toolu_1",
        "toolName": "Bash",
        "toolInput": {"command": "ls"},
        "hookEvent": "PreToolUse",
    }


#: What the model reads of the last attachment of a firing, word for word as observed.
TEXTS: list[tuple[str, Reply, str | None]] = [
    (
        "PreToolUse",
        exited(0, specific("PreToolUse", additionalContext="C")),
        "PreToolUse:Bash hook additional context: C",
    ),
    (
        "SessionStart",
        exited(0, specific("SessionStart", additionalContext="C")),
        "SessionStart hook additional context: C",
    ),
    ("UserPromptSubmit", exited(0, "plain\n"), "UserPromptSubmit hook success: plain"),
    ("PostToolUse", exited(0, "plain\n"), None),
    ("PreToolUse", exited(2, "", "no"), None),
    (
        "PostToolUse",
        exited(2, "", "lint"),
        'PostToolUse:Bash hook blocking error from command: "hook-0": [hook-0]: lint',
    ),
    ("Stop", exited(0, {"decision": "block", "reason": "R"}), 'Stop hook blocking error from command: "hook-0": R'),
    (
        "SubagentStop",
        exited(0, {"decision": "block", "reason": "R"}),
        'SubagentStop hook blocking error from command: "hook-0": R',
    ),
    ("Stop", exited(2, "", "R"), None),
    (
        "PostToolUse",
        exited(0, {"continue": False, "stopReason": "HALT"}),
        "PostToolUse:Bash hook stopped continuation: HALT",
    ),
    ("PreToolUse", exited(0, {"systemMessage": "for the user"}), None),
]


@pytest.mark.parametrize(("name", "reply", "expected"), TEXTS)
def test_what_the_model_reads(name: str, reply: Reply, expected: str | None) -> None:
    texts = [model_text(attachment) for attachment in fired(name, reply)]
    assert [said for said in texts if said is not None] == ([] if expected is None else [expected])


def test_contexts_of_several_hooks_are_one_text_in_configuration_order() -> None:
    replies = [exited(0, specific("PreToolUse", additionalContext=name)) for name in ("A", "B")]
    assert model_text(fired("PreToolUse", *replies)[-1]) == "PreToolUse:Bash hook additional context: A\nB"


def test_a_blocked_prompt_takes_the_words_of_other_hooks_with_it() -> None:
    attached = fired("UserPromptSubmit", exited(0, "plain"), exited(2, "", "no"))
    assert [model_text(attachment) for attachment in attached] == [None, None]


def test_a_background_hook_speaks_bare() -> None:
    moment = event("PostToolUse")
    output = {**specific("PostToolUse", additionalContext="CTX"), "systemMessage": "MSG"}
    job = Job(command(), moment, b"", 0, "hook-1", None)
    attached = late_attachment(interpret_late("bg-1", job, exited(0, output, "e")), "PostToolUse:Bash", "toolu_1")
    assert (attached["type"], attached["stderr"], attached["exitCode"]) == ("async_hook_response", "e", 0)
    assert model_text(attached) == "MSG\n\nCTX"
    silent = late_attachment(interpret_late("bg-1", job, TimedOut(1)), "PostToolUse:Bash", "toolu_1")
    assert model_text(silent) is None


def test_the_summary_of_a_stop_counts_and_times_its_hooks() -> None:
    stopped = outcome("Stop", exited(0, {"continue": False, "stopReason": "S"}), exited(1, "", "bad"))
    assert stop_summary(stopped, "id") == {
        "hookCount": 2,
        "hookInfos": [{"command": "hook-0", "durationMs": 250}, {"command": "hook-1", "durationMs": 250}],
        "hookErrors": ["Failed with non-blocking status code: bad"],
        "preventedContinuation": True,
        "stopReason": "S",
        "hasOutput": True,
        "toolUseID": "id",
    }


def test_an_empty_conversation_has_no_last_line() -> None:
    assert Conversation((), {}).last is None
