"""The tables say what the released agents did: every entry that claims a recording is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialects.recordings import HERE, recorded
from hookwright.dialects.incoming import Translated, translate
from hookwright.dialects.model import AnswerEffect, AnswerForm, Dialect, Evidence, FileScope, Proof
from hookwright.dialects.native import NativeAnswer, read_before_call
from hookwright.dialects.table import dialects
from hookwright.protocol.wire import payload as written

TABLES = dialects()
RUN = [table for table in TABLES if table.proof.evidence is Evidence.RECORDED]
EFFECTS = {
    "runs": AnswerEffect.RUNS,
    "refused": AnswerEffect.REFUSED,
    "ends": AnswerEffect.ENDS,
    "hangs": AnswerEffect.HANGS,
    "rewritten": AnswerEffect.REWRITTEN,
}

each_run_agent = pytest.mark.parametrize("table", RUN, ids=lambda table: table.name)


def is_recorded(proof: Proof) -> bool:
    return proof.evidence is Evidence.RECORDED


def sent(table: Dialect) -> list[dict[str, Any]]:
    return [line["payload"] for line in recorded(table.name, "payload")]


def proofs(value: Any) -> list[Proof]:
    """Return every proof in a table."""
    if isinstance(value, Proof):
        return [value]
    if isinstance(value, tuple):
        return [proof for item in value for proof in proofs(item)]
    fields = getattr(value, "__struct_fields__", ())
    return [proof for name in fields for proof in proofs(getattr(value, name))]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_entry_has_versions_and_a_recording_or_a_source(table: Dialect) -> None:
    assert len(proofs(table)) > 20
    for proof in proofs(table):
        assert proof.since
        assert proof.until
        if is_recorded(proof):
            assert (HERE.parent.parent / proof.source).is_file()
            assert Path(proof.source).stem == proof.since == proof.until == table.version
        else:
            assert proof.evidence.value.endswith("not proven")
            assert not proof.source.startswith("tests/")


@each_run_agent
def test_the_recording_is_of_the_agent_and_version_that_its_table_names(table: Dialect) -> None:
    [about] = recorded(table.name, "agent")
    assert (about["agent"], about["version"]) == (table.name, table.version)
    assert table.version in about["printed"]


@each_run_agent
def test_an_event_is_recorded_if_and_only_if_it_fired(table: Dialect) -> None:
    fired = {line["event"] for line in recorded(table.name, "fired")}
    claimed = {moment.name for moment in table.moments if is_recorded(moment.proof)}
    known = {moment.name for moment in table.moments}
    assert claimed == fired & known
    assert {"PreToolUse", "UserPromptSubmit"} <= {moment.claude for moment in table.moments if moment.name in claimed}


@each_run_agent
def test_context_reaches_the_model_where_the_table_says_so(table: Dialect) -> None:
    said = {moment.name: moment.context for moment in table.moments}
    seen = {line["event"]: line["reached"] for line in recorded(table.name, "context") if line["event"] in said}
    assert {name: said[name] for name in seen} == seen


@each_run_agent
def test_each_form_of_refusal_is_obeyed_where_the_table_says_so(table: Dialect) -> None:
    tried = recorded(table.name, "refusal")
    for line in tried:
        moment = table.moment(line["event"])
        assert moment is not None
        assert (AnswerForm[line["form"]] in moment.refused_by) == line["obeyed"], line
    best = {(line["event"], line["form"]) for line in tried}
    for moment in table.moments:
        if is_recorded(moment.proof) and moment.refused_by and moment.claude != "PreToolUse":
            assert (moment.name, moment.refused_by[0].name) in best, moment.name


@each_run_agent
def test_a_tool_is_recorded_if_and_only_if_a_payload_has_it(table: Dialect) -> None:
    called = {payload["tool_name"] for payload in sent(table) if "tool_name" in payload}
    assert {tool.name for tool in table.tools if is_recorded(tool.proof)} == called


@each_run_agent
def test_fields_are_sent_or_not_as_the_table_says(table: Dialect) -> None:
    keys = {key for payload in sent(table) for key in payload if "hook_event_name" in payload}
    for field in table.fields:
        if is_recorded(field.proof):
            assert (field.name in keys) if field.name else (field.claude not in keys), field
        else:
            assert field.name not in keys, f"{field.claude} was recorded"


@each_run_agent
def test_a_recorded_call_becomes_the_call_that_the_model_asked_for(table: Dialect) -> None:
    asked = [line for line in recorded(table.name, "payload") if "asked" in line]
    assert {"Bash", "Write", "Edit"} <= {line["asked"][0] for line in asked}
    for line in asked:
        tool, wanted = line["asked"]
        found = translate(table, line["payload"])
        assert isinstance(found, Translated), found
        calls = [written(event) for event in found.events]
        texts = [json.dumps([call["tool_name"], call["tool_input"]]) for call in calls if call["tool_name"] == tool]
        assert any(all(json.dumps(value)[1:-1] in text for value in wanted.values()) for text in texts), line
        paths = [call["tool_input"].get("file_path") for call in calls if "file_path" in wanted]
        assert all(path.startswith("/home/me/project/") for path in paths), paths


@each_run_agent
def test_a_recorded_prompt_is_one_text_and_an_empty_one_is_not_an_event(table: Dialect) -> None:
    name = next(moment.name for moment in table.moments if moment.claude == "UserPromptSubmit")
    payloads = [payload for payload in sent(table) if payload.get("hook_event_name") == name]
    assert payloads
    for payload in payloads:
        found = translate(table, payload)
        assert isinstance(found, Translated)
        prompts = [written(event)["prompt"].strip('"') for event in found.events]
        assert prompts == (["make a file"] if payload["prompt"] else [])


@each_run_agent
def test_every_recorded_payload_is_translated_or_left_alone(table: Dialect) -> None:
    exported = {moment.name for moment in table.moments if moment.exported and moment.claude}
    for payload in sent(table):
        if payload.get("hook_event_name") in exported:
            assert isinstance(translate(table, payload), Translated), payload


@each_run_agent
def test_answers_are_read_as_they_were_recorded_and_all_that_must_stop_stop_through_the_bridge(table: Dialect) -> None:
    lines = recorded(table.name, "answer")
    assert len(lines) == 20
    for at, line in enumerate(lines):
        if line["native"] != "unread":
            answer = NativeAnswer(line["status"], line["stdout"], line["stderr"])
            assert read_before_call(table, answer).effect is EFFECTS[line["native"]], line
        if at < 14:
            assert line["bridged"] in ("refused", "ends"), line
    [guard] = recorded(table.name, "guard")
    assert guard["bridged"] == "refused"


@each_run_agent
def test_limits_environment_and_files_are_those_of_the_recording(table: Dialect) -> None:
    for line in recorded(table.name, "limit"):
        assert table.answers.on_timeout is EFFECTS[line["native"]]
    [names] = [line["names"] for line in recorded(table.name, "environment")]
    assert set(table.environment) <= set(names)
    own = {file.path for file in table.files if file.scope is FileScope.CLAUDE}
    for line in recorded(table.name, "claude file"):
        assert (line["path"] in own) == line["loaded"], line
