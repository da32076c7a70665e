"""A transcript that was changed or forged is read without a traceback."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash
from hookwright.agent.transcript import closed, conversation, pending

AREA = "transcripts: changed or forged"

WRONG: list[Any] = [None, 7, True, "x", [], {}, [None], {"type": 3}, [{"type": "tool_use"}], ["a"], {"a": []}]


def entry(uuid: str, parent: str | None, kind: str, content: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, "id": f"m{uuid}"}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": message, "sessionId": "s"}


LINES: list[dict[str, Any]] = [
    entry("1", None, "user", "hello"),
    entry("2", "1", "assistant", [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "y"}]),
    entry("3", "2", "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "x"}}]),
    entry("4", "3", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "z"}]}]),
    {"type": "attachment", "uuid": "5", "parentUuid": "4", "attachment": {"type": "hook_additional_context"}},
    {"type": "content-replacement", "replacements": [{"toolUseId": "t1", "replacement": "n"}]},
    entry("6", "5", "assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}]),
    {
        "type": "attachment",
        "uuid": "7",
        "parentUuid": "6",
        "attachment": {"type": "hook_deferred_tool", "toolUseID": "t2"},
    },
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths to every value inside a value."""
    found = [path] if path else []
    if isinstance(value, dict):
        found += [inner for key in value for inner in places(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [inner for index in range(len(value)) for inner in places(value[index], (*path, index))]
    return found


def changed(path: tuple[Any, ...], wrong: Any, drop: bool) -> list[Any]:
    lines: list[Any] = copy.deepcopy(LINES)
    at: Any = lines
    for key in path[:-1]:
        at = at[key]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = wrong
    return [line for line in lines if isinstance(line, dict)]


def read(lines: list[Any]) -> None:
    messages = conversation(lines).messages()
    json.dumps(closed(messages))
    pending(messages)


@pytest.mark.parametrize("path", places(LINES), ids=str)
def test_one_wrong_value_costs_no_traceback(path: tuple[Any, ...]) -> None:
    read(changed(path, None, drop=True))
    for wrong in WRONG:
        read(changed(path, wrong, drop=False))


def test_many_wrong_values_cost_no_traceback() -> None:
    dice = random.Random(7)
    for _ in range(2000):
        lines: list[Any] = copy.deepcopy(LINES)
        for _ in range(dice.randrange(1, 6)):
            path = dice.choice(places(lines))
            at: Any = lines
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = copy.deepcopy(dice.choice(WRONG))
        read([line for line in lines if isinstance(line, dict)])


@pytest.mark.parametrize("broken", ["name", "input", "id"])
def test_a_deferred_call_without_a_field_does_not_break_a_resumed_session(broken: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}
    place.answer("PreToolUse", answer)
    first = place.run({"turns": [[bash("echo hi")], [{"text": "done"}]]})
    (path,) = (place.home / ".claude" / "projects").glob("*/*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for block in line.get("message", {}).get("content", []) if line.get("type") == "assistant" else []:
            block.pop(broken, None)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    place.hooks = {}
    again = place.run({"turns": [[{"text": "resumed"}]]}, "--resume", first.results[0]["session_id"])
    assert "Traceback" not in again.stderr
    assert again.code == 0
