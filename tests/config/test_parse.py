import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.config.jsonfile import Tree, parse_json
from hookwright.config.parse import Found, parse_hooks
from hookwright.matching.conditions import compile_rule
from hookwright.matching.matchers import compile_matcher
from hookwright.protocol.diagnostics import CODES, Severity
from hookwright.protocol.handlers import (
    AgentHandler,
    CommandHandler,
    Handler,
    HttpHandler,
    McpToolHandler,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.sources import Component, Scope, Source
from worlds import World, labels

USER = Source(Scope.USER, "settings.json")
GOOD = {"type": "command", "command": "good"}


def parse(value: Any, origin: Source = USER) -> Found:
    tree = parse_json(json.dumps(value, indent=1))
    assert isinstance(tree, Tree)
    return parse_hooks(tree, origin)


def found(handler: Any, event: str = "PreToolUse", origin: Source = USER) -> Found:
    """Parse one handler with a good one after it."""
    return parse({"hooks": {event: [{"hooks": [handler, GOOD]}]}}, origin)


def handlers(result: Found) -> list[Handler]:
    return [handler for group in result.groups for handler in group.handlers]


def codes(result: Found) -> list[str]:
    return [report.code for report in result.diagnostics]


@pytest.mark.req("R-001", "R-002")
def test_three_levels() -> None:
    result = parse(
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": "Bash",
                        "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}],
                    },
                    {"hooks": [{"type": "command", "command": "c"}]},
                ],
                "Stop": [{"hooks": [{"type": "command", "command": "d"}]}],
            }
        }
    )
    assert [(group.event, group.matcher, [h.label for h in group.handlers]) for group in result.groups] == [
        ("PreToolUse", "Bash", ["a", "b"]),
        ("PreToolUse", None, ["c"]),
        ("Stop", None, ["d"]),
    ]
    assert result.diagnostics == ()


@pytest.mark.req("R-003")
def test_a_flat_entry_equals_its_nested_twin() -> None:
    flat = parse({"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "x", "timeout": 5}]}})
    nested = parse(
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x", "timeout": 5}]}]}}
    )
    assert [(g.event, g.matcher, [h.identity for h in g.handlers]) for g in flat.groups] == [
        (g.event, g.matcher, [h.identity for h in g.handlers]) for g in nested.groups
    ]
    assert [(report.code, report.severity) for report in flat.diagnostics] == [("flat-handler", Severity.INFO)]


@pytest.mark.req("R-003")
def test_a_handler_with_type_and_no_group_is_dropped() -> None:
    result = parse({"hooks": {"PreToolUse": [{"type": "command", "command": "lost"}, {"hooks": [GOOD]}]}})
    assert [handler.label for handler in handlers(result)] == ["good"]
    assert [(report.code, report.severity) for report in result.diagnostics] == [("flat-handler", Severity.ERROR)]
    assert 'Write {"hooks": [{"type": "command", "command": "lost"}]}' in result.diagnostics[0].message


@pytest.mark.req("R-016", "R-017", "R-018", "R-019", "R-020", "R-021")
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {
                "type": "command",
                "command": "x",
                "args": ["a", "$b"],
                "shell": "powershell",
                "async": True,
                "asyncRewake": False,
                "worker": "warm",
                "timeout": 0.5,
                "statusMessage": "busy",
                "if": "Bash(git *)",
            },
            CommandHandler(
                source=USER,
                command="x",
                args=("a", "$b"),
                shell="powershell",
                is_async=True,
                worker="warm",
                timeout=0.5,
                status_message="busy",
                condition="Bash(git *)",
            ),
        ),
        ({"type": "command", "command": "x", "args": []}, CommandHandler(source=USER, command="x", args=())),
        (
            {"type": "command", "command": "x", "worker": "resident"},
            CommandHandler(source=USER, command="x", worker="resident"),
        ),
        (
            {"type": "http", "url": "https://x", "headers": {"A": "$B"}, "allowedEnvVars": ["B"], "timeout": 3},
            HttpHandler(source=USER, url="https://x", headers=(("A", "$B"),), allowed_env_vars=("B",), timeout=3.0),
        ),
        (
            {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"p": "${tool_input.file_path}"}},
            McpToolHandler(source=USER, server="s", tool="t", input={"p": "${tool_input.file_path}"}),
        ),
        (
            {"type": "prompt", "prompt": "ok?", "model": "m", "continueOnBlock": True, "statusMessage": "asking"},
            PromptHandler(source=USER, prompt="ok?", model="m", continue_on_block=True, status_message="asking"),
        ),
        (
            {"type": "agent", "prompt": "check", "model": "m", "timeout": 90},
            AgentHandler(source=USER, prompt="check", model="m", timeout=90.0),
        ),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_every_kind_with_all_its_fields(entry: dict[str, Any], expected: Handler) -> None:
    result = found(entry)
    first = handlers(result)[0]
    assert type(first) is type(expected)
    assert {name: getattr(first, name) for name in first.__struct_fields__ if name != "source"} == {
        name: getattr(expected, name) for name in expected.__struct_fields__ if name != "source"
    }
    assert result.diagnostics == ()


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"onFailure": "block"}, OnFailure.BLOCK),
        ({"onFailure": "continue"}, OnFailure.CONTINUE),
        ({"failClosed": True}, OnFailure.BLOCK),
        ({"fail_closed": True}, OnFailure.BLOCK),
        ({"failClosed": False}, OnFailure.CONTINUE),
        ({"onFailure": "continue", "failClosed": True}, OnFailure.BLOCK),
        ({"onFailure": "block", "failClosed": False}, OnFailure.BLOCK),
        ({}, OnFailure.CONTINUE),
    ],
)
def test_on_failure_and_its_aliases(entry: dict[str, Any], expected: OnFailure) -> None:
    result = found({**GOOD, **entry})
    assert handlers(result)[0].on_failure is expected
    assert result.diagnostics == ()


COMMAND = {"type": "command", "command": "bad"}


@pytest.mark.req("R-031", "R-032", "R-034")
@pytest.mark.parametrize(
    ("entry", "code", "pointer", "says"),
    [
        ({"type": "command"}, "missing-field", "", "`command` is missing"),
        ({"type": "http"}, "missing-field", "", "`url` is missing"),
        ({"type": "mcp_tool", "server": "s"}, "missing-field", "", "`tool` is missing"),
        ({"type": "prompt"}, "missing-field", "", "`prompt` is missing"),
        ({"command": "x"}, "missing-field", "", "`type` is missing"),
        ({"type": "Command", "command": "x"}, "unknown-type", ".type", 'Write "command"'),
        ({"type": "foo", "command": "x"}, "unknown-type", ".type", '"foo" is not a handler type'),
        ({"type": "callback"}, "unknown-type", ".type", "registered in code"),
        ({"type": "function"}, "unknown-type", ".type", "registered in code"),
        ({"type": 1}, "wrong-type", ".type", "1 is a number; type is a string"),
        ({"type": None}, "wrong-type", ".type", "null; type is a string"),
        ({"type": "command", "command": ["x"]}, "wrong-type", ".command", "an array; command is a string"),
        (
            {**COMMAND, "timeout": "5"},
            "wrong-type",
            ".timeout",
            '"5" is a string; timeout is a number of seconds. Write 5.',
        ),
        ({**COMMAND, "timeout": True}, "wrong-type", ".timeout", "true is a boolean"),
        ({**COMMAND, "timeout": None}, "wrong-type", ".timeout", "null; timeout is a number"),
        ({**COMMAND, "timeout": 0}, "bad-value", ".timeout", "0 is not a time"),
        ({**COMMAND, "timeout": -1}, "bad-value", ".timeout", "-1 is not a time"),
        ({**COMMAND, "async": "true"}, "wrong-type", ".async", '"true" is a string; async is a boolean. Write true.'),
        ({**COMMAND, "async": 1}, "wrong-type", ".async", "1 is a number; async is a boolean"),
        ({**COMMAND, "asyncRewake": "x"}, "wrong-type", ".asyncRewake", "is a boolean"),
        ({**COMMAND, "once": 1}, "wrong-type", ".once", "is a boolean"),
        ({**COMMAND, "args": "a b"}, "wrong-type", ".args", 'a list of strings. Write ["a b"].'),
        ({**COMMAND, "args": ["a", 1]}, "wrong-type", ".args", "Correct element 1"),
        ({**COMMAND, "shell": "zsh"}, "bad-value", ".shell", '"zsh" is not "bash" or "powershell"'),
        ({**COMMAND, "shell": 1}, "wrong-type", ".shell", "1 is a number"),
        ({**COMMAND, "worker": "worker"}, "bad-value", ".worker", '"warm" or "resident"'),
        ({**COMMAND, "onFailure": "stop"}, "bad-value", ".onFailure", '"continue" or "block"'),
        ({**COMMAND, "onFailure": True}, "wrong-type", ".onFailure", "true is a boolean"),
        ({**COMMAND, "failClosed": "yes"}, "wrong-type", ".failClosed", "Write true or false"),
        ({**COMMAND, "if": ["Bash"]}, "wrong-type", ".if", "if is a string"),
        ({**COMMAND, "statusMessage": 5}, "wrong-type", ".statusMessage", 'Write "5".'),
        ({"type": "http", "url": ""}, "bad-value", ".url", "url is required"),
        ({"type": "http", "url": "u", "headers": ["x"]}, "wrong-type", ".headers", "an object of strings"),
        ({"type": "http", "url": "u", "headers": {"A": 1}}, "wrong-type", ".headers", "headers.A is a string"),
        ({"type": "http", "url": "u", "allowedEnvVars": "A"}, "wrong-type", ".allowedEnvVars", 'Write ["A"]'),
        ({"type": "mcp_tool", "server": "s", "tool": "t", "input": []}, "wrong-type", ".input", "input is an object"),
        ({"type": "prompt", "prompt": ""}, "bad-value", ".prompt", "prompt is required"),
        ({"type": "prompt", "prompt": "p", "model": 4}, "wrong-type", ".model", "model is a string"),
        ({"type": "prompt", "prompt": "p", "continueOnBlock": "no"}, "wrong-type", ".continueOnBlock", "a boolean"),
        ("echo hi", "not-an-object", "", "a handler is an object"),
        (None, "not-an-object", "", "null; a handler is an object"),
        ([], "not-an-object", "", "[] is an array"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_a_bad_handler_drops_itself_and_nothing_else(entry: Any, code: str, pointer: str, says: str) -> None:
    result = found(entry)
    assert [handler.label for handler in handlers(result)] == ["good"]
    (report,) = result.diagnostics
    assert (report.code, report.severity) == (code, Severity.ERROR)
    assert report.source is not None
    assert report.source.pointer == f"hooks.PreToolUse[0].hooks[0]{pointer}"
    assert report.source.path == "settings.json"
    assert report.source.line > 1
    assert says in report.message


@pytest.mark.parametrize("number", ["1e999", "9" * 400])
def test_timeouts_beyond_all_numbers_are_refused(number: str) -> None:
    tree = parse_json(
        f'{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "x", "timeout": {number}}}]}}]}}}}'
    )
    assert isinstance(tree, Tree)
    assert codes(parse_hooks(tree, USER)) == ["bad-value"]


@pytest.mark.req("R-034")
def test_all_problems_of_one_entry_are_reported() -> None:
    result = found({"type": "command", "timeout": "5", "async": "yes", "shell": "fish", "timeoutMs": 3})
    assert sorted(codes(result)) == ["bad-value", "missing-field", "unknown-key", "wrong-type", "wrong-type"]


def test_the_message_has_place_value_and_way_out() -> None:
    text = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {"type": "command", "command": "a"},
          {
            "type": "command",
            "command": "b",
            "timeout": "5"
          }
        ]
      }
    ]
  }
}"""
    tree = parse_json(text)
    assert isinstance(tree, Tree)
    (report,) = parse_hooks(tree, Source(Scope.PROJECT, ".claude/settings.json")).diagnostics
    assert str(report) == (
        '.claude/settings.json:11 hooks.PreToolUse[0].hooks[1].timeout: "5" is a string; timeout is a number of '
        "seconds. Write 5. [wrong-type]"
    )


@pytest.mark.req("R-032")
@pytest.mark.parametrize("matcher", [None, 5, True, ["Bash"], {"type": "always"}])
def test_a_matcher_that_is_no_string_drops_its_group(matcher: Any) -> None:
    result = parse({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [COMMAND]}, {"hooks": [GOOD]}]}})
    assert [handler.label for handler in handlers(result)] == ["good"]
    (report,) = result.diagnostics
    assert report.code == "wrong-type"
    assert report.source is not None
    assert report.source.pointer == "hooks.PreToolUse[0].matcher"


@pytest.mark.parametrize(
    ("value", "code", "pointer"),
    [
        ({"hooks": []}, "not-an-object", "hooks"),
        ({"hooks": "x"}, "not-an-object", "hooks"),
        ({"hooks": None}, "not-an-object", "hooks"),
        ({"hooks": {"Stop": {"hooks": []}}}, "not-a-list", "hooks.Stop"),
        ({"hooks": {"Stop": "echo hi"}}, "not-a-list", "hooks.Stop"),
        ({"hooks": {"Stop": ["echo"]}}, "not-an-object", "hooks.Stop[0]"),
        ({"hooks": {"Stop": [{"hooks": {}}]}}, "not-a-list", "hooks.Stop[0].hooks"),
        ({"hooks": {"Stop": [{"matcher": "x"}]}}, "missing-field", "hooks.Stop[0]"),
        ({"hooks": {"Stop": [{}]}}, "missing-field", "hooks.Stop[0]"),
    ],
)
def test_wrong_containers_drop_that_part(value: dict[str, Any], code: str, pointer: str) -> None:
    if isinstance(value["hooks"], dict):
        value["hooks"]["PreToolUse"] = [{"hooks": [GOOD]}]
    result = parse(value)
    assert [handler.label for handler in handlers(result)] == (["good"] if isinstance(value["hooks"], dict) else [])
    reports = [report for report in result.diagnostics if report.code != "matcher-ignored"]
    assert [(report.code, report.source.pointer if report.source else "") for report in reports] == [(code, pointer)]


@pytest.mark.parametrize("value", [{}, {"hooks": {}}, {"hooks": {"Stop": []}}, {"hooks": {"Stop": [{"hooks": []}]}}])
def test_nothing_declared_is_nothing_wrong(value: Any) -> None:
    assert handlers(parse(value)) == []
    assert parse(value).diagnostics == ()


@pytest.mark.req("R-029")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PreToolCall", "PreToolUse"),
        ("PreTool", "PreToolUse"),
        ("pretooluse", "PreToolUse"),
        ("pre_tool_use", "PreToolUse"),
        ("SubAgentStop", "SubagentStop"),
        ("OnStop", "Stop"),
    ],
)
def test_an_unknown_event_is_skipped_with_a_suggestion(name: str, meant: str) -> None:
    result = parse({"hooks": {name: [{"hooks": [COMMAND]}], "Stop": [{"hooks": [GOOD]}]}})
    assert [handler.label for handler in handlers(result)] == ["good"]
    (report,) = result.diagnostics
    assert (report.code, report.severity) == ("unknown-event", Severity.WARNING)
    assert f"Did you mean {meant}?" in report.message


@pytest.mark.req("R-028")
def test_unknown_keys_are_named_and_drop_nothing() -> None:
    result = parse(
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": "Bash",
                        "foo": 1,
                        "if": "Bash",
                        "hooks": [{**GOOD, "timeoutMs": 5000, "url": "x", "zzz": 1}],
                    }
                ]
            }
        }
    )
    assert [handler.label for handler in handlers(result)] == ["good"]
    assert {(report.code, report.severity) for report in result.diagnostics} == {("unknown-key", Severity.WARNING)}
    messages = {report.source.pointer: report.message for report in result.diagnostics if report.source}
    assert "inside `hooks`" in messages["hooks.PreToolUse[0].if"]
    assert "Did you mean `timeout`?" in messages["hooks.PreToolUse[0].hooks[0].timeoutMs"]
    assert "only applies to http handlers" in messages["hooks.PreToolUse[0].hooks[0].url"]
    assert len(messages) == 5


def test_notes_and_additions_are_no_unknown_keys() -> None:
    notes = {"description": "d", "name": "n", "id": "i", "comment": "c"}
    entry = {**GOOD, **notes, "worker": "warm", "failClosed": True}
    assert parse({"hooks": {"PreToolUse": [{**notes, "hooks": [entry]}]}}).diagnostics == ()


@pytest.mark.req("R-020")
@pytest.mark.parametrize("entry", [{"type": "prompt", "prompt": "p"}, {"type": "http", "url": "u"}])
def test_async_on_other_kinds_is_reported(entry: dict[str, Any]) -> None:
    result = found({**entry, "async": True})
    assert codes(result) == ["async-ignored"]
    assert len(handlers(result)) == 2


def test_an_empty_command_is_reported_and_stays() -> None:
    result = found({"type": "command", "command": ""})
    assert codes(result) == ["empty-command"]
    assert [handler.label for handler in handlers(result)] == ["", "good"]


@pytest.mark.req("R-027")
def test_whether_a_command_exists_is_not_checked() -> None:
    assert found({"type": "command", "command": "/no/such/program --x"}).diagnostics == ()


@pytest.mark.parametrize(
    ("event", "kind", "severity"),
    [
        ("SessionStart", "prompt", Severity.ERROR),
        ("SessionStart", "agent", Severity.ERROR),
        ("PermissionRequest", "agent", Severity.ERROR),
        ("PermissionRequest", "prompt", None),
        ("PreToolUse", "agent", None),
        ("Notification", "prompt", Severity.ERROR),
        ("SessionStart", "http", Severity.WARNING),
        ("Setup", "mcp_tool", Severity.WARNING),
        ("Stop", "http", None),
    ],
)
def test_unsupported_kinds_are_reported_and_stay(event: str, kind: str, severity: Severity | None) -> None:
    entry = {"type": kind, "prompt": "p"} if kind in ("prompt", "agent") else {"type": kind, "url": "u"}
    if kind == "mcp_tool":
        entry = {"type": kind, "server": "s", "tool": "t"}
    result = found(entry, event)
    assert len(handlers(result)) == 2
    assert [(report.code, report.severity) for report in result.diagnostics] == (
        [("unsupported-kind", severity)] if severity else []
    )


@pytest.mark.req("R-024")
def test_an_invalid_regex_is_reported_and_listed() -> None:
    result = parse({"hooks": {"PreToolUse": [{"matcher": "*Bash", "hooks": [COMMAND]}, {"hooks": [GOOD]}]}})
    assert [handler.label for handler in handlers(result)] == ["bad", "good"]
    (report,) = result.diagnostics
    assert (report.code, report.severity) == ("invalid-matcher", Severity.ERROR)
    assert '"*Bash" is not a regular expression' in report.message
    assert "PreToolUse" in report.message


@pytest.mark.req("R-025")
@pytest.mark.parametrize(
    ("event", "matcher", "warned"),
    [
        ("SessionStart", "foo", True),
        ("SessionStart", "Bash", True),
        ("SessionStart", "startup|resume", False),
        ("SessionStart", "fork", False),
        ("SessionStart", "st.*", False),
        ("SessionStart", "*", False),
        ("SessionStart", "", False),
        ("SessionEnd", "exit", True),
        ("PreCompact", "automatic", True),
        ("PostCompact", "manual", False),
        ("ConfigChange", "user", True),
        ("ConfigChange", "user_settings", False),
        ("Setup", "init", False),
        ("InstructionsLoaded", "foo", True),
        ("DirectoryAdded", "foo", True),
        ("StopFailure", "rate-limit", True),
        ("StopFailure", "rate_limit", False),
        ("Notification", "idle", True),
        ("PreToolUse", "NoSuchTool", False),
        ("SubagentStop", "anything", False),
    ],
)
def test_a_matcher_that_matches_no_known_value_is_warned_about(event: str, matcher: str, warned: bool) -> None:
    result = parse({"hooks": {event: [{"matcher": matcher, "hooks": [GOOD]}]}})
    assert len(handlers(result)) == 1
    assert [(report.code, report.severity) for report in result.diagnostics] == (
        [("matcher-matches-nothing", Severity.WARNING)] if warned else []
    )


@pytest.mark.parametrize(("matcher", "told"), [("Bash", True), ("*", False), ("", False)])
def test_a_matcher_where_there_is_none(matcher: str, told: bool) -> None:
    result = parse({"hooks": {"Stop": [{"matcher": matcher, "hooks": [GOOD]}]}})
    assert [(report.code, report.severity) for report in result.diagnostics] == (
        [("matcher-ignored", Severity.INFO)] if told else []
    )


@pytest.mark.parametrize(
    ("event", "rule", "code"),
    [
        ("PreToolUse", "Bash(git *)", None),
        ("PermissionRequest", "Edit(src/**)", None),
        ("PreToolUse", "Bash(git *", "invalid-if"),
        ("Stop", "Bash(rm *)", "if-on-event"),
        ("SessionStart", "Bash", "if-on-event"),
    ],
)
def test_if_rules(event: str, rule: str, code: str | None) -> None:
    result = found({**GOOD, "if": rule}, event)
    assert codes(result) == ([code] if code else [])
    assert len(handlers(result)) == 2


@pytest.mark.parametrize(
    ("event", "more", "warned"),
    [
        ("PreToolUse", {}, False),
        ("Stop", {}, True),
        ("SubagentStop", {}, True),
        ("TaskCompleted", {}, True),
        ("TeammateIdle", {}, True),
        ("PreToolUse", {"async": True}, True),
        ("PreToolUse", {"asyncRewake": True}, True),
    ],
)
def test_on_failure_where_it_has_no_effect(event: str, more: dict[str, Any], warned: bool) -> None:
    result = found({**GOOD, "onFailure": "block", **more}, event)
    assert codes(result) == (["on-failure-ignored"] if warned else [])


@pytest.mark.parametrize(
    ("timeout", "says"),
    [
        (3600, None),
        (5000, "5000 is over an hour; timeout is in seconds. Write 5."),
        (7200.5, "if you meant milliseconds"),
    ],
)
def test_timeouts_over_an_hour(timeout: float, says: str | None) -> None:
    result = found({**GOOD, "timeout": timeout})
    assert handlers(result)[0].timeout == timeout
    assert codes(result) == ([] if says is None else ["timeout-unit"])
    assert says is None or says in result.diagnostics[0].message


@pytest.mark.parametrize(
    ("origin", "counts"),
    [
        (USER, False),
        (Source(Scope.COMPONENT, "SKILL.md", component=Component("skill", "s")), True),
        (Source(Scope.COMPONENT, "a.md", component=Component("agent", "a")), False),
    ],
)
def test_once_counts_in_skills_only(origin: Source, counts: bool) -> None:
    result = found({**GOOD, "once": True}, origin=origin)
    assert handlers(result)[0].once is counts
    assert codes(result) == ([] if counts else ["once-ignored"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(
    [
        "type",
        "command",
        "args",
        "timeout",
        "if",
        "async",
        "once",
        "url",
        "headers",
        "prompt",
        "server",
        "onFailure",
        "x",
    ]
)
ENTRIES = JSON | st.dictionaries(KEYS, JSON | st.sampled_from(["command", "http", "prompt"]), max_size=6)
EVENTS = st.sampled_from(["PreToolUse", "Stop", "SessionStart", "PermissionRequest", "NoSuchEvent", ""])


@given(
    JSON | st.fixed_dictionaries({"hooks": st.dictionaries(EVENTS, JSON | st.lists(ENTRIES, max_size=3), max_size=3)})
)
def test_any_value_parses_to_groups_and_known_codes(value: Any) -> None:
    tree = Tree(value, (0,), 0)
    result = parse_hooks(tree, USER)
    assert {report.code for report in result.diagnostics} <= CODES.keys()
    for report in result.diagnostics:
        assert report.source is not None
        assert report.message


@given(ENTRIES, st.integers(0, 2), st.sampled_from(["handler", "group", "event"]))
def test_valid_siblings_survive_any_mutation_of_one_entry(entry: Any, where: int, level: str) -> None:
    good: dict[str, Any] = {
        "PreToolUse": [{"hooks": [{"type": "command", "command": f"{g}{h}"} for h in range(3)]} for g in range(3)]
    }
    expected = [f"{g}{h}" for g in range(3) for h in range(3)]
    if level == "handler":
        good["PreToolUse"][1]["hooks"].insert(where, entry)
    elif level == "group":
        good["PreToolUse"].insert(where, entry)
    else:
        good["Stop"] = entry
    result = parse({"hooks": good})
    names = [handler.label for group in result.groups if group.event == "PreToolUse" for handler in group.handlers]
    assert [name for name in names if name in expected] == expected


PUBLIC_MISTAKES = """{
  "hooks": {
    "PreToolCall": [{"hooks": [{"type": "command", "command": "never"}]}],
    "Stop": [
      {"type": "command", "command": "flat"},
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "ok-stop"}]}
    ],
    "PreToolUse": [
      {"matcher": {"type": "always"}, "hooks": [{"type": "command", "command": "dropped"}]},
      {"matcher": "Bash", "hooks": [
        {"type": "Command", "command": "dropped"},
        {"type": "http"},
        {"type": "command", "command": "ok-key", "timeoutMs": 5000},
        {"type": "command", "command": "ok-unit", "timeout": 5000},
        {"type": "command", "command": "dropped", "timeout": "30"}
      ]},
      {"matcher": "*Bash", "hooks": [{"type": "command", "command": "ok-listed"}]}
    ],
    "SessionStart": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "ok-start"},
        {"type": "prompt", "prompt": "ok-prompt"},
        {"type": "command", "command": "ok-if", "if": "Bash(rm *)"}
      ]}
    ],
    "PostToolUse": "echo hi"
  }
}"""


@pytest.mark.req("R-034")
def test_ten_public_mistakes_in_one_file(world: World) -> None:
    world.write("project", PUBLIC_MISTAKES)
    loaded = world.load()
    found_at = {(report.code, report.source.line) for report in loaded.diagnostics if report.source}
    assert found_at == {
        ("unknown-event", 3),
        ("flat-handler", 5),
        ("matcher-ignored", 6),
        ("wrong-type", 9),
        ("unknown-type", 11),
        ("missing-field", 12),
        ("unknown-key", 13),
        ("timeout-unit", 14),
        ("wrong-type", 15),
        ("invalid-matcher", 17),
        ("matcher-matches-nothing", 20),
        ("unsupported-kind", 22),
        ("if-on-event", 23),
        ("not-a-list", 26),
    }
    assert all(str(report).startswith(".claude/settings.json:") for report in loaded.diagnostics)
    assert labels(loaded) == ["ok-stop", "ok-key", "ok-unit", "ok-listed", "ok-start", "ok-prompt", "ok-if"]


def test_matchers_and_conditions_are_compiled_once(world: World) -> None:
    """What the reader checks is what the hook set matches with: a text is compiled once, however often it appears."""
    rules = ["Bash(git push *)", "Bash(once upon *)", "Read(("]
    entry = [{"type": "command", "command": str(number), "if": rule} for number, rule in enumerate([*rules, rules[0]])]
    world.write(
        "user", {"hooks": {"PreToolUse": [{"matcher": "On.e", "hooks": entry}, {"matcher": "On.e", "hooks": entry}]}}
    )
    compile_rule.cache_clear()
    compile_matcher.cache_clear()
    loaded = world.load()
    assert compile_rule.cache_info().misses == len(rules)
    assert compile_matcher.cache_info().misses == 1
    assert [item.code for item in loaded.diagnostics] == ["invalid-if", "invalid-if"]
    assert len({id(item.matcher) for item in loaded.hooks}) == 1
    assert [item.rule is compile_rule(item.handler.condition or "") for item in loaded.hooks] == [
        True,
        True,
        False,
        True,
    ] * 2
