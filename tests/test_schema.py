"""The schemas say what the engine does: neither more nor less, as far as a schema can say it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookwright.config.jsonfile import Tree, parse_json
from hookwright.config.parse import parse_hooks
from hookwright.config.schema import all_schemas, input_schema, output_schema, settings_schema
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.samples import sample, tool_names
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import UnusableOutput, camel, payload, read_answer
from hookwright.templates import load_template, template_names

KIT = Path(__file__).parent / "conformance" / "kit"
SETTINGS = Draft202012Validator(settings_schema())
OUTPUTS = {name: Draft202012Validator(output_schema(name)) for name in CATALOGUE}


def test_every_schema_is_one() -> None:
    found = all_schemas()
    assert len(found) == 1 + 2 * len(CATALOGUE)
    for schema in found.values():
        Draft202012Validator.check_schema(schema)


# ── input ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", CATALOGUE)
def test_samples_fit_and_a_missing_field_does_not(name: str) -> None:
    check = Draft202012Validator(input_schema(name))
    event = payload(sample(name))
    assert list(check.iter_errors(event)) == []
    assert check.is_valid({**event, "a_newer_field": 1})
    for field in input_schema(name)["required"]:
        assert not check.is_valid({key: value for key, value in event.items() if key != field})
    assert not check.is_valid({**event, "hook_event_name": "Other"})
    assert not check.is_valid({**event, "session_id": 7})


def kit_events() -> list[dict[str, Any]]:
    found = []
    for path in sorted((KIT / "engine").glob("*.json")):
        case = json.loads(path.read_text())
        rows = [case, *case.get("table", case.get("rows", []))]
        found += [row["event"] for row in rows if isinstance(row, dict) and isinstance(row.get("event"), dict)]
    return found


def test_the_events_of_the_kit_fit() -> None:
    common = {"session_id": "s", "transcript_path": "/t", "cwd": "/c"}
    events = kit_events()
    assert len(events) > 200
    for event in events:
        check = Draft202012Validator(input_schema(event["hook_event_name"]))
        assert list(check.iter_errors({**common, **event})) == []


# ── output ──────────────────────────────────────────────────────────────────

REQUESTS: list[dict[str, Any]] = [
    {"behavior": "allow"},
    {"behavior": "allow", "updatedInput": {}},
    {"behavior": "allow", "updatedInput": "x"},
    {"behavior": "allow", "updatedPermissions": {}},
    {"behavior": "allow", "message": 7},
    {"behavior": "deny", "message": "no", "interrupt": True},
    {"behavior": "deny", "message": 7},
    {"behavior": "deny", "interrupt": "yes"},
    {"behavior": "maybe"},
    {"message": "no"},
]
WORDS = ["", "x", "allow", "deny", "ask", "defer", "block", "approve", "accept", "decline", "cancel"]
VALUES = st.sampled_from([None, True, False, 0, 1.5, *WORDS, [], ["x"], [1], {}, {"a": 1}, *REQUESTS])
TOP = ("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "async", "other")


@st.composite
def answers(draw: Any) -> tuple[str, dict[str, Any]]:
    event = draw(st.sampled_from(sorted(CATALOGUE)))
    keys = [camel(name) for name in CATALOGUE[event].rules.output]
    specific = st.fixed_dictionaries(
        {}, optional={"hookEventName": st.sampled_from([event, "Nope"]), **dict.fromkeys(keys, VALUES)}
    )
    answer = draw(st.dictionaries(st.sampled_from(TOP), VALUES, max_size=3))
    if draw(st.booleans()):
        answer["hookSpecificOutput"] = draw(specific | VALUES)
    return event, answer


@settings(max_examples=400, deadline=None)
@example(("ConfigChange", {"decision": "deny"}))
@example(("PreToolUse", {"decision": "allow"}))
@given(answers())
def test_an_answer_fits_exactly_when_the_engine_can_use_it(drawn: tuple[str, dict[str, Any]]) -> None:
    event, answer = drawn
    usable = not isinstance(read_answer(answer, event, CATALOGUE[event].rules), UnusableOutput)
    assert OUTPUTS[event].is_valid(answer) == usable


# ── settings ────────────────────────────────────────────────────────────────


def load_problems(value: Any) -> list[str]:
    tree = parse_json(json.dumps(value))
    assert isinstance(tree, Tree)
    found = parse_hooks(tree, Source(Scope.USER, "settings.json"))
    return [item.code for item in found.diagnostics if item.severity is not Severity.INFO]


def test_the_settings_of_every_template_fit() -> None:
    for name in template_names():
        assert SETTINGS.is_valid({"hooks": load_template(name).settings})


def test_the_settings_of_the_kit_fit_unless_the_loader_reports_them() -> None:
    fitting = 0
    for path in sorted((KIT / "engine").glob("*.json")):
        for value in json.loads(path.read_text()).get("settings", {}).values():
            if isinstance(value, str):
                continue
            valid = SETTINGS.is_valid(value)
            fitting += valid
            if not valid:
                assert load_problems(value), f"{path.name}: the schema refuses what the loader takes"
    assert fitting > 200


HANDLER = {"type": "command", "command": "x"}


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": {"PreToolCall": []}},
        {"hooks": {"Stop": [HANDLER]}},
        {"hooks": {"Stop": [{"hooks": [{"type": "Command", "command": "x"}]}]}},
        {"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}},
        {"hooks": {"Stop": [{"hooks": [{**HANDLER, "timeout": "5"}]}]}},
        {"hooks": {"Stop": [{"hooks": [{**HANDLER, "timeoutMs": 5}]}]}},
        {"hooks": {"Stop": [{"hooks": [{**HANDLER, "worker": "hot"}]}]}},
        {"hooks": {"Stop": [{"matcher": {}, "hooks": []}]}},
        {"hooks": []},
        {"disableAllHooks": "yes"},
        {"env": {"A": 1}},
    ],
)
def test_common_mistakes_do_not_fit(value: Any) -> None:
    assert not SETTINGS.is_valid(value)


def test_editors_get_words_for_every_key() -> None:
    handlers = settings_schema()["$defs"].values()
    keys = [spec for handler in handlers for key, spec in handler["properties"].items() if key != "type" and spec]
    assert all(spec["description"] for spec in keys)
    assert "Write" in tool_names()


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    def hookwright(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hookwright.cli", "schema", *args],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )

    assert json.loads(hookwright("input", "Stop").stdout) == input_schema("Stop")
    assert json.loads(hookwright("output", "Stop").stdout) == output_schema("Stop")
    assert json.loads(hookwright("settings").stdout) == settings_schema()
    assert json.loads(hookwright("all").stdout) == all_schemas()
    assert hookwright("all", "--out", "schemas").returncode == 0
    assert json.loads((tmp_path / "schemas/output/PreToolUse.schema.json").read_text()) == output_schema("PreToolUse")
    assert "Did you mean `Stop`?" in hookwright("input", "Stp").stderr
    assert hookwright("input").returncode == 2
    assert hookwright("settings", "Stop").returncode == 2


@pytest.mark.parametrize("name", CATALOGUE)
def test_what_belongs_inside_the_specific_output_is_refused_next_to_it(name: str) -> None:
    check = Draft202012Validator(output_schema(name))
    top = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "async", "asyncTimeout"}
    for key in sorted({camel(field) for field in CATALOGUE[name].rules.output} - top - {"terminalSequence"}):
        assert not check.is_valid({key: "deny"}), key
    assert check.is_valid({"unknown": 1}), "other keys are ignored"
