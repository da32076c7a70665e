"""Logs of other agents are the past as well: the log of a session gives the events that its hooks were sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialects.recordings import HERE, recorded
from hookwright.dialects.incoming import Translated, translate
from hookwright.dialects.table import dialect
from hookwright.protocol.wire import payload as written
from hookwright.replay.past import Coverage, Fate, Past
from hookwright.replay.sources import past_events

AGENTS = ("codex", "gemini")


def log_of(agent: str, folder: Path) -> Path:
    """Copy the log of the recorded session to a place where the agent keeps it."""
    file = folder / "sessions" / "session.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text((HERE / agent / f"{dialect(agent).version}.transcript").read_text())
    return file


def events_of(file: Path, coverage: Coverage | None = None) -> list[Past]:
    return list(past_events([str(file)], coverage=coverage))


def essence(event: dict[str, Any]) -> tuple[Any, ...]:
    return event["hook_event_name"], event.get("tool_name"), event.get("tool_input"), event.get("prompt")


@pytest.mark.parametrize("agent", AGENTS)
def test_the_log_of_a_session_gives_the_events_that_its_hooks_were_sent(agent: str, tmp_path: Path) -> None:
    past = events_of(log_of(agent, tmp_path))
    found = [essence(written(each.event)) for each in past]
    sent = [translate(dialect(agent), line["payload"]) for line in recorded(agent, "payload") if "asked" in line]
    wanted = [essence(written(event)) for call in sent if isinstance(call, Translated) for event in call.events]
    assert len(wanted) >= 5
    assert [each for each in found if each[0] == "PreToolUse"] == wanted
    assert [each[3] for each in found if each[0] == "UserPromptSubmit"] == ["make a file"]
    assert found[-1][0] == "Stop"
    assert {each.event.cwd for each in past} == {"/home/me/project"}
    assert {each.event.session_id for each in past} == {recorded(agent, "payload")[0]["payload"]["session_id"]}


@pytest.mark.parametrize("agent", AGENTS)
def test_each_call_has_a_fate_an_id_and_a_time(agent: str, tmp_path: Path) -> None:
    coverage = Coverage()
    calls = [each for each in events_of(log_of(agent, tmp_path), coverage) if each.event.event_name == "PreToolUse"]
    fates = {written(each.event)["tool_input"].get("command"): each.fate for each in calls}
    assert fates["echo hi > made-0.txt"] is Fate.SUCCEEDED
    assert fates["exit 3"] is Fate.FAILED
    assert len({each.call for each in calls}) == len(calls) == coverage.calls
    assert all(each.time is not None for each in calls)
    assert (coverage.unreadable, coverage.sessions) == (0, 1)


@pytest.mark.parametrize("agent", AGENTS)
def test_torn_lines_are_counted_and_cost_nothing_else(agent: str, tmp_path: Path) -> None:
    file = log_of(agent, tmp_path)
    whole = events_of(file)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], '{"torn', "[1]", *lines[1:]]) + "\n" + lines[-1][: len(lines[-1]) // 2])
    coverage = Coverage()
    torn = events_of(file, coverage)
    assert coverage.unreadable >= 2
    assert [essence(written(each.event)) for each in torn][:-1] == [essence(written(each.event)) for each in whole][:-1]


def test_older_rollouts_have_words_for_a_command_and_a_patch_in_arguments(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
    items: list[dict[str, Any]] = [
        {"type": "function_call", "name": "shell", "call_id": "1", "arguments": '{"command":["bash","-lc","ls -l"]}'},
        {"type": "function_call_output", "call_id": "1", "output": '{"output":"x","metadata":{"exit_code":1}}'},
        {"type": "local_shell_call", "call_id": "2", "action": {"command": ["git", "commit", "-m", "a b"]}},
        {"type": "function_call", "name": "apply_patch", "call_id": "3", "arguments": json.dumps({"input": patch})},
        {"type": "function_call", "name": "mcp__a__b", "call_id": "4", "arguments": '{"q":1}'},
        {"type": "function_call_output", "call_id": "4", "output": [{"type": "input_text", "text": "ok"}]},
        {"type": "function_call_output", "call_id": "9", "output": "of another file"},
    ]
    head = {"type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}
    lines = [head, *({"type": "response_item", "payload": item} for item in items)]
    file = tmp_path / "rollout-1.jsonl"
    file.write_text("".join(json.dumps({"timestamp": "2026-01-01T00:00:00Z", **line}) + "\n" for line in lines))
    past = events_of(file)
    calls = [(written(each.event), each.fate) for each in past if each.event.event_name == "PreToolUse"]
    assert [(call["tool_name"], call["tool_input"], fate) for call, fate in calls] == [
        ("Bash", {"command": "ls -l"}, Fate.FAILED),
        ("Bash", {"command": "git commit -m 'a b'"}, Fate.UNANSWERED),
        ("Edit", {"file_path": "/w/a", "old_string": "", "new_string": ""}, Fate.UNANSWERED),
        ("mcp__a__b", {"q": 1}, Fate.SUCCEEDED),
    ]
