"""What an answer on the wire becomes, field by field, and the words about what is wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import (
    AsyncRequest,
    LateOutput,
    Output,
    PlainText,
    RequestDecision,
    UnusableOutput,
    async_request,
    callback_answer,
    camel,
    decode_event,
    encode,
    encode_event,
    looks_like_answer,
    payload,
    read_answer,
    read_late,
    read_stdout,
    request_decision,
)
from support import event, specific

INVALID = "Hook JSON output validation failed — "


RULES = {"type": "addRules", "rules": [{"toolName": "T"}], "behavior": "allow", "destination": "session"}
DIRECTORIES = {"type": "addDirectories", "directories": ["/d"], "destination": "session"}
MODE = {"type": "setMode", "mode": "plan", "destination": "session"}
_KINDS = "addRules, replaceRules, removeRules, setMode, addDirectories, removeDirectories"
_DESTINATIONS = "userSettings, projectSettings, localSettings, session, cliArg"
_MODES = "acceptEdits, auto, bypassPermissions, default, dontAsk, manual, plan"
_RULES = 'rules: expected array of {"toolName": …, "ruleContent"?: …}'
#: Permission updates that invalidate an answer, with what is said after their place.
UPDATES: list[tuple[Json, str]] = [
    (5, f"type: null is not one of {_KINDS}"),
    ({}, f"type: null is not one of {_KINDS}"),
    ({**RULES, "type": "nope"}, f'type: "nope" is not one of {_KINDS}'),
    ({**RULES, "destination": "policySettings"}, f'destination: "policySettings" is not one of {_DESTINATIONS}'),
    ({**MODE, "destination": None}, f"destination: null is not one of {_DESTINATIONS}"),
    ({**MODE, "mode": "bubble"}, f'mode: "bubble" is not one of {_MODES}'),
    ({**RULES, "behavior": "passthrough"}, 'behavior: "passthrough" is not one of allow, deny, ask'),
    ({**RULES, "rules": "T"}, _RULES),
    ({**RULES, "rules": ["T"]}, _RULES),
    ({**RULES, "rules": [{"toolName": 5}]}, _RULES),
    ({**RULES, "rules": [{"toolName": "T", "ruleContent": None}]}, _RULES),
    ({**DIRECTORIES, "directories": "/d"}, "directories: expected array of strings, got string"),
    ({**DIRECTORIES, "directories": [5]}, "directories: expected array of strings, got array"),
]


@pytest.mark.parametrize(
    "update",
    [
        RULES,
        {**RULES, "type": "replaceRules", "behavior": "deny", "destination": "userSettings"},
        {**RULES, "type": "removeRules", "behavior": "ask", "destination": "cliArg", "more": 1},
        {**RULES, "rules": [], "destination": "projectSettings"},
        {**RULES, "rules": [{"toolName": "", "ruleContent": "x", "more": 1}], "destination": "localSettings"},
        DIRECTORIES,
        {**DIRECTORIES, "type": "removeDirectories", "directories": []},
        *({**MODE, "mode": mode} for mode in ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk")),
        {**MODE, "mode": "manual"},
        MODE,
    ],
)
def test_permission_updates_that_are_valid(update: Json) -> None:
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    answer = read(specific("PermissionRequest", decision=decision), "PermissionRequest")
    assert isinstance(answer, Output)
    assert answer.specific == {"decision": decision}


def read(value: Any, name: str = "PreToolUse") -> Output | UnusableOutput:
    return read_answer(value, name, CATALOGUE[name].rules)


def invalid(text: str) -> UnusableOutput:
    return UnusableOutput("invalid-answer", INVALID + text)


def stdout(text: str, name: str = "PreToolUse") -> PlainText | Output | UnusableOutput:
    return read_stdout(text, name, CATALOGUE[name].rules)


# ── events ──────────────────────────────────────────────────────────────────


def test_a_payload_in_order() -> None:
    call = event("PreToolUse", prompt_id="p", agent_id="a", agent_type="t", effort={"level": "high"}, later=1)
    assert list(payload(call)) == [
        "session_id",
        "transcript_path",
        "cwd",
        "prompt_id",
        "permission_mode",
        "agent_id",
        "agent_type",
        "effort",
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "later",
    ]


def test_an_event_is_one_line_for_every_reader() -> None:
    line = encode_event(event("UserPromptSubmit", prompt="é\u2028"))
    assert line.endswith('"prompt":"é\\u2028"}\n'.encode())
    assert len(line.decode().splitlines()) == 1
    assert encode("é") == '"é"'.encode()
    assert encode("a") == b'"a"'


def test_an_event_is_read_back_with_what_the_catalogue_does_not_know() -> None:
    call = event("PreToolUse", later=1, extra={"a": 1})
    assert call.extra == {"later": 1, "extra": {"a": 1}}
    again = decode_event(encode_event(call))
    assert (again, again.extra) == (call, {"later": 1, "extra": {"a": 1}})
    raw = encode_event(call).replace(b"sample", b"\xff", 1)
    assert decode_event(raw).event_name == "PreToolUse"


# ── plain text or an answer ─────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["{x}", '{"a": 1,}'])
def test_broken_json_says_what_is_wrong(text: str) -> None:
    found = stdout(text)
    assert isinstance(found, UnusableOutput)
    assert found.code == "broken-json"
    assert found.message.startswith("Hook output looks like a JSON object but is not valid JSON — ")


def test_keys_that_appear_twice_are_named_in_a_valid_answer() -> None:
    twice = '{"decision": "approve", "decision": "approve"}'
    assert stdout(twice) == Output(decision="approve", repeated=("decision",))
    inner = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
    found = stdout(inner + '"permissionDecision": "allow"}}')
    assert isinstance(found, Output)
    assert (found.specific, found.repeated) == ({"permission_decision": "allow"}, ("permissionDecision",))
    request = '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", '
    asked = stdout(request + '"behavior": "deny"}}}', "PermissionRequest")
    assert isinstance(asked, Output)
    assert asked.repeated == ("behavior",)
    assert stdout('{"reason": 1, "reason": 2}') == invalid("reason: expected string, got number")
    assert stdout('{"reason": "r"}') == Output(reason="r")


def test_lines_of_json_are_text_unless_one_of_them_is_an_answer() -> None:
    for text in ('{"a": 1}\n{"b": 2}', '{"a": 1}\n[1]\n{"b": 2}'):
        assert stdout(text) == PlainText(text)
    for text in ('{"a": 1}\n{"hookSpecificOutput": 1}', '{"a": 1}\nlog\n{"b": 2}', '{"a": 1} {"b": 2}'):
        assert isinstance(stdout(text), UnusableOutput)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ('x {"hookSpecificOutput": {}}', True),
        ("{'permissionDecision' : 'allow'}", True),
        ('{\\"decision\\": \\"block\\"}', True),
        ('"decision": {', True),
        ('"behavior": "deny"', True),
        ('"behavior": "ask"', True),
        ("'decision': 'defer'", True),
        ('"continue": false', True),
        ("'continue': False", True),
        ('"continue": true', False),
        ('"decision": "approve"', False),
        ("decision: block", False),
        ('"decisionX: "block"', False),
        ('"reason": "x"', False),
    ],
)
def test_the_words_of_an_answer_in_text(text: str, spoken: bool) -> None:
    assert looks_like_answer(text) is spoken


# ── answers ─────────────────────────────────────────────────────────────────


def test_every_field_of_a_valid_answer() -> None:
    answer = {
        "continue": False,
        "stopReason": "S",
        "suppressOutput": True,
        "systemMessage": "M",
        "terminalSequence": "T",
        "decision": "block",
        "reason": "R",
        "async": True,
        "asyncTimeout": 1.5,
        **specific("PreToolUse", permissionDecision="ask", additionalContext="C"),
    }
    assert read(answer) == Output(
        continue_=False,
        stop_reason="S",
        suppress_output=True,
        system_message="M",
        terminal_sequence="T",
        decision="block",
        reason="R",
        is_async=True,
        specific={"permission_decision": "ask", "additional_context": "C"},
    )
    assert read({"decision": "deny"}) == Output(decision="block")


@pytest.mark.parametrize("value", ["true", 1, 0, None, {}, "", False])
def test_only_true_asks_for_the_background(value: Json) -> None:
    assert read({"async": value, "asyncTimeout": "soon", "decision": "block"}) == Output(decision="block")


@pytest.mark.parametrize("field", ["updatedToolOutput", "updatedMCPToolOutput"])
def test_an_output_that_is_null_is_valid(field: str) -> None:
    answer = read({"decision": "block", **specific("PostToolUse", **{field: None})}, "PostToolUse")
    assert isinstance(answer, Output)
    assert answer.decision == "block"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([], "expected an object, got array"),
        ({"terminalSequence": 1}, "terminalSequence: expected string, got number"),
        (
            {"decision": "ask"},
            'decision: "ask" is not "approve" or "block"; '
            'write {"hookSpecificOutput": {"permissionDecision": "ask"}} with its hookEventName',
        ),
        ({"decision": "maybe"}, 'decision: "maybe" is not "approve" or "block"'),
        ({"hookSpecificOutput": []}, "hookSpecificOutput: expected an object, got array"),
        (
            {"hookSpecificOutput": {}},
            'hookSpecificOutput is missing required field "hookEventName". Write "PreToolUse"',
        ),
        (
            {"hookSpecificOutput": {"hookEventName": "PreTool"}},
            'hookSpecificOutput.hookEventName: "PreTool" is not an event. Did you mean `PreToolUse`?',
        ),
        ({"hookSpecificOutput": {"hookEventName": 7}}, "hookSpecificOutput.hookEventName: 7 is not an event"),
        (
            specific("PreToolUse", permissionDecision="block"),
            'hookSpecificOutput.permissionDecision: "block" is not one of allow, deny, ask, defer. '
            "Did you mean `deny`?",
        ),
        (
            specific("PreToolUse", permissionDecision=7),
            "hookSpecificOutput.permissionDecision: 7 is not one of allow, deny, ask, defer",
        ),
        (
            specific("PreToolUse", updatedInput=[]),
            "hookSpecificOutput.updatedInput: expected object, got array",
        ),
    ],
)
def test_the_words_about_an_invalid_answer(answer: Any, text: str) -> None:
    assert read(answer) == invalid(text)


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        (
            "Stop",
            {"decision": "allow"},
            'decision: "allow" is not "approve" or "block". Did you mean `approve`?',
        ),
        ("Stop", {"decision": "ask"}, 'decision: "ask" is not "approve" or "block"'),
        (
            "PermissionRequest",
            specific("PermissionRequest"),
            'hookSpecificOutput is missing required field "decision" ({behavior: allow | deny, …})',
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision="deny"),
            "hookSpecificOutput.decision: expected an object with `behavior`, got string",
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "alow"}),
            'hookSpecificOutput.decision.behavior: "alow" is not one of allow, deny. Did you mean `allow`?',
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "dney"}),
            'hookSpecificOutput.decision.behavior: "dney" is not one of allow, deny. Did you mean `deny`?',
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": 1}),
            "hookSpecificOutput.decision.behavior: 1 is not one of allow, deny",
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "deny", "message": 1, "interrupt": "yes"}),
            "hookSpecificOutput.decision.message: expected string, got number; "
            "hookSpecificOutput.decision.interrupt: expected boolean, got string",
        ),
        (
            "PermissionRequest",
            specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": 1, "updatedPermissions": 2}),
            "hookSpecificOutput.decision.updatedInput: expected object, got number; "
            "hookSpecificOutput.decision.updatedPermissions: expected array, got number",
        ),
        *(
            (
                "PermissionRequest",
                specific("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": [update]}),
                f"hookSpecificOutput.decision.updatedPermissions[0].{text}",
            )
            for update, text in UPDATES
        ),
        (
            "SessionStart",
            specific("SessionStart", watchPaths=["/a", 1]),
            "hookSpecificOutput.watchPaths: expected array of strings, got array",
        ),
        (
            "SessionStart",
            specific("SessionStart", watchPaths="/a"),
            "hookSpecificOutput.watchPaths: expected array of strings, got string",
        ),
        (
            "Elicitation",
            specific("Elicitation", action="decine"),
            'hookSpecificOutput.action: "decine" is not one of accept, decline, cancel. Did you mean `decline`?',
        ),
    ],
)
def test_the_words_about_an_invalid_answer_on_other_events(name: str, answer: Any, text: str) -> None:
    assert read(answer, name) == invalid(text)


def test_what_the_other_behavior_would_read_is_not_checked() -> None:
    for decision in (
        {"behavior": "deny", "updatedInput": 1, "updatedPermissions": 2},
        {"behavior": "allow", "message": 1, "interrupt": 2, "updatedPermissions": []},
        {"behavior": "allow"},
    ):
        assert isinstance(read(specific("PermissionRequest", decision=decision), "PermissionRequest"), Output)


@pytest.mark.parametrize("paths", [["/a", "/b"], ("/a",), []])
def test_a_list_of_strings(paths: Any) -> None:
    found = read(specific("SessionStart", watchPaths=paths), "SessionStart")
    assert isinstance(found, Output)
    assert found.specific == {"watch_paths": paths}


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_the_actions_of_an_elicitation(action: str) -> None:
    found = read(specific("Elicitation", action=action), "Elicitation")
    assert isinstance(found, Output)
    assert found.specific == {"action": action}


@pytest.mark.parametrize(("word", "valid"), [("allow", True), ("deny", True), ("ask", True), ("defer", False)])
def test_the_decisions_about_a_change_of_model(word: str, valid: bool) -> None:
    answer = specific("PreModelSwitch", permissionDecision=word)
    assert isinstance(read(answer, "PreModelSwitch"), Output) is valid


@pytest.mark.parametrize(
    ("name", "answer", "kept"),
    [
        ("SessionEnd", {"systemMessage": "SAID"}, False),
        ("SessionEnd", {"decision": "block", "continue": False}, False),
        ("PreCompact", {"reason": "R"}, False),
        ("PreCompact", {"continue": False}, False),
        ("PreCompact", {"decision": "block"}, True),
        ("TaskCreated", {"decision": "deny"}, True),
        ("TeammateIdle", {"continue": False}, True),
    ],
)
def test_an_event_without_fields_of_its_own_has_no_specific_output(name: str, answer: Any, kept: bool) -> None:
    found = read({**answer, "hookSpecificOutput": {"hookEventName": name}}, name)
    if kept:
        assert isinstance(found, Output)
    else:
        text = f"{INVALID}hookSpecificOutput: {name} has no fields of its own. Remove hookSpecificOutput"
        assert found == UnusableOutput("invalid-answer", text)


def test_another_event_is_named_whatever_else_is_wrong() -> None:
    text = "Hook returned incorrect event name: expected 'PreToolUse' but got 'Stop'"
    assert read({"reason": 1, **specific("Stop")}) == UnusableOutput("wrong-event-name", text)


def test_a_value_in_a_message_is_cut() -> None:
    def shown(length: int) -> str:
        found = read(specific("PreToolUse", permissionDecision="x" * length))
        assert isinstance(found, UnusableOutput)
        return found.message.removeprefix(f"{INVALID}hookSpecificOutput.permissionDecision: ").partition(" is not")[0]

    assert shown(198) == '"' + "x" * 198 + '"'
    assert shown(199) == '"' + "x" * 199 + "…"
    odd = read_answer(specific("PreToolUse", permissionDecision=object), "PreToolUse", CATALOGUE["PreToolUse"].rules)
    assert odd == invalid(
        "hookSpecificOutput.permissionDecision: \"<class 'object'>\" is not one of allow, deny, ask, defer"
    )


# ── keys that are not read ──────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "unknown", "misplaced"),
    [
        (
            {"permissionDecision": "deny"},
            ("`permissionDecision` found at top level, must be under `hookSpecificOutput`",),
            ("permissionDecision",),
        ),
        ({"behavior": "deny"}, ("`behavior` is ignored",), ("behavior",)),
        (
            {"additionalContext": "x"},
            ("`additionalContext` found at top level, must be under `hookSpecificOutput`",),
            (),
        ),
        ({"sytemMessage": "x"}, ("`sytemMessage` is ignored. Did you mean `systemMessage`?",), ()),
        (
            specific("PreToolUse", decision="block", systemMessage="m"),
            (
                "`decision` found under `hookSpecificOutput`, must be at top level",
                "`systemMessage` found under `hookSpecificOutput`, must be at top level",
            ),
            ("decision",),
        ),
        (
            specific("PreToolUse", **{"continue": False}),
            ("`continue` found under `hookSpecificOutput`, must be at top level",),
            ("continue",),
        ),
        (
            specific("PreToolUse", permisionDecision="deny"),
            ("`hookSpecificOutput.permisionDecision` is ignored. Did you mean `permissionDecision`?",),
            (),
        ),
        ({"decision": "block", **specific("PreToolUse", permissionDecision="deny")}, (), ()),
    ],
)
def test_keys_that_are_not_read(answer: Any, unknown: tuple[str, ...], misplaced: tuple[str, ...]) -> None:
    found = read(answer)
    assert isinstance(found, Output)
    assert (found.unknown, found.misplaced) == (unknown, misplaced)


def test_most_unknown_keys_are_counted() -> None:
    outer = {f"qq{number}": 1 for number in range(22)}
    inner = {f"zz{number}": 1 for number in range(21)}
    found = read({**outer, **specific("PreToolUse", **inner)})
    assert isinstance(found, Output)
    assert len(found.unknown) == 41
    assert found.unknown[-1] == "3 more keys are ignored"
    exact = read({f"qq{number}": 1 for number in range(20)})
    assert isinstance(exact, Output)
    assert len(exact.unknown) == 20
    assert exact.unknown[-1] == "`qq19` is ignored"


# ── names, requests, the background ─────────────────────────────────────────


def test_wire_names() -> None:
    assert [camel(name) for name in ("a", "updated_input", "updated_mcp_tool_output", "a_b_c_z")] == [
        "a",
        "updatedInput",
        "updatedMCPToolOutput",
        "aBCZ",
    ]


def test_the_python_spellings_of_a_callback() -> None:
    assert callback_answer({"continue_": False, "async_": True, "reason": "r"}) == {
        "continue": False,
        "async": True,
        "reason": "r",
    }


def test_the_decision_of_a_permission_request() -> None:
    update = {"type": "setMode"}
    allow = {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [update], "message": "m"}
    assert request_decision(allow) == RequestDecision(True, {"a": 1}, (update,))
    assert request_decision({"behavior": "allow"}) == RequestDecision(True)
    deny = {"behavior": "deny", "message": "m", "interrupt": True}
    assert request_decision(deny) == RequestDecision(False, message="m", interrupt=True)
    assert request_decision({"behavior": "deny"}) == RequestDecision(False)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        (b'{"async": true}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": 1500}', AsyncRequest(1.5)),
        (b'{"async": true, "asyncTimeout": 0.5}', AsyncRequest(0.0005)),
        (b'{"async": true, "asyncTimeout": 1}', AsyncRequest(0.001)),
        (b'{"async": true, "asyncTimeout": 0}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": -1}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": true}', AsyncRequest(None)),
        (b'{"async": true, "asyncTimeout": "9"}', AsyncRequest(None)),
        (b'{"async": true, "x": "\xff"}', AsyncRequest(None)),
        (b'{"async": false}', None),
        (b'{"async": 1}', None),
        (b"{}", None),
        (b'["async"]', None),
        (b'{"async": true', None),
    ],
)
def test_a_request_for_the_background(line: bytes, request_: AsyncRequest | None) -> None:
    assert async_request(line) == request_


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"systemMessage": "M"}', LateOutput(None, "M")),
        ('  {"async": true}\nlog\n {"systemMessage": "M"}', LateOutput(None, "M")),
        ('{"hookSpecificOutput": {"additionalContext": "C"}}', LateOutput("C", None)),
        ('{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "C"}}', LateOutput()),
        ('{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "C"}}', LateOutput("C")),
        ('{"hookSpecificOutput": "C", "systemMessage": 1}', LateOutput()),
        ('{"async": true}', LateOutput()),
        ("log", LateOutput()),
        ("", LateOutput()),
    ],
)
def test_what_takes_effect_late(text: str, found: LateOutput) -> None:
    assert read_late(text, "PostToolUse") == found


def test_values_are_complete() -> None:
    assert msgspec.structs.asdict(Output())["specific"] == {}
