"""`hooks=` of the Agent SDK: callbacks of the host as hooks of the session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sdk.bench import Bench, Guard, bash, decides, text, tool

ALLOWED = ["Bash", "Agent"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def no_touch(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return decides("deny") if "touch" in given["tool_input"]["command"] else {}


def test_a_guard_is_asked_after_the_first_result_when_a_background_command_ends(bench: Bench) -> None:
    bench.play([bash("sleep 0.6", run_in_background=True)], [text("started")], [bash("touch ran.txt")], [text("end")])
    guard, stop = Guard(no_touch), Guard()
    heard = bench.ask("go", hooks={**guard.on("PreToolUse", "Bash"), **stop.on("Stop")}, allowed_tools=ALLOWED)
    assert guard.commands == ["sleep 0.6", "touch ran.txt"]
    assert len(heard.results) == 2
    assert len(stop.asked) == 2
    assert not bench.exists("ran.txt")


def test_a_guard_is_asked_inside_a_background_agent(bench: Bench) -> None:
    task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=True)
    sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[bash("sleep 0.4; touch ran.txt")], [text("done")]]}
    bench.play([task], [text("started")], [text("end")], routes=[sub])
    guard = Guard(no_touch)
    heard = bench.ask("go", hooks=guard.on("PreToolUse", "Bash"), allowed_tools=ALLOWED)
    assert guard.commands == ["sleep 0.4; touch ran.txt"]
    assert len(heard.results) == 2
    assert not bench.exists("ran.txt")


@pytest.mark.parametrize(("more", "ran"), [({}, True), ({"on_failure": "block"}, False)])
def test_a_guard_that_raises_blocks_with_on_failure(bench: Bench, more: dict[str, Any], ran: bool) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    guard = Guard(ValueError("it broke"))
    bench.ask("go", hooks=guard.on("PreToolUse", "Bash", **more), allowed_tools=ALLOWED)
    assert len(guard.asked) == 1
    assert bench.exists("ran.txt") is ran
