"""An agent that fires an event twice gets one run of the hooks and one decision."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialects.recordings import recorded
from hookwright.dialects import once
from hookwright.dialects.model import Dialect
from hookwright.dialects.native import read_before_call
from hookwright.dialects.once import claim, mark_of
from hookwright.dialects.outgoing import Settled, speak
from hookwright.dialects.table import dialects

EXPORTED = [table for table in dialects() if table.exported]
CALL = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


class Bridge:
    """A user with one hook that notes each of its runs, and processes of the bridge."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / ".claude").mkdir()

    def hook(self, script: str) -> None:
        command = f"echo ran >> {self.root}/runs; {script}"
        hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
        (self.root / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))

    def start(self, **fields: Any) -> subprocess.Popen[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "HOOKWRIGHT_STATE_DIR": str(self.root / "state")}
        call = [sys.executable, "-m", "hookwright.cli", "hook", "--from", "codex"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        child = subprocess.Popen(call, env=env, text=True, **pipes)  # type: ignore[call-overload]
        child.stdin.write(json.dumps({**CALL, "cwd": str(self.root), **fields}))
        child.stdin.close()
        child.stdin = None
        return child  # type: ignore[no-any-return]

    def runs(self) -> int:
        file = self.root / "runs"
        return file.read_text().count("ran") if file.exists() else 0


@pytest.fixture
def bridge(tmp_path: Path) -> Bridge:
    return Bridge(tmp_path)


def answers(*children: subprocess.Popen[str]) -> list[dict[str, Any]]:
    return [json.loads(child.communicate(timeout=60)[0]) for child in children]


def test_two_firings_at_once_run_the_hooks_once_and_both_refuse(bridge: Bridge) -> None:
    bridge.hook("sleep 0.5; echo no >&2; exit 2")
    both = answers(bridge.start(tool_use_id="c1"), bridge.start(tool_use_id="c1"))
    assert [said["hookSpecificOutput"]["permissionDecision"] for said in both] == ["deny", "deny"]
    assert bridge.runs() == 1
    assert sum("fired this event twice" in said.get("systemMessage", "") for said in both) == 1


def test_a_second_firing_after_the_first_repeats_a_rewrite_but_not_the_context(bridge: Bridge) -> None:
    said = {"permissionDecision": "allow", "updatedInput": {"command": "true"}, "additionalContext": "note"}
    bridge.hook(f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', **said}})}'")
    [first] = answers(bridge.start(tool_use_id="c1"))
    [second] = answers(bridge.start(tool_use_id="c1"))
    assert bridge.runs() == 1
    assert first["hookSpecificOutput"]["updatedInput"] == second["hookSpecificOutput"]["updatedInput"]
    assert (
        "additionalContext" in first["hookSpecificOutput"],
        "additionalContext" in second["hookSpecificOutput"],
    ) == (
        True,
        False,
    )
    assert "`hookwright list --all` shows both places" in second["systemMessage"]


def test_another_call_and_a_call_without_an_id_run_the_hooks_again(bridge: Bridge) -> None:
    bridge.hook("true")
    answers(*(bridge.start(**more) for more in ({"tool_use_id": "c1"}, {"tool_use_id": "c2"}, {}, {})))
    assert bridge.runs() == 4


def test_after_a_first_firing_that_was_killed_the_second_runs_the_hooks(bridge: Bridge) -> None:
    bridge.hook(f"test -e {bridge.root}/once || {{ touch {bridge.root}/once; sleep 30; }}; echo no >&2; exit 2")
    first = bridge.start(tool_use_id="c1")
    until = time.monotonic() + 30
    while not (bridge.root / "once").exists() and time.monotonic() < until:
        time.sleep(0.02)
    second = bridge.start(tool_use_id="c1")
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=30)
    [said] = answers(second)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert bridge.runs() == 2


# ── the law ─────────────────────────────────────────────────────────────────

_text = st.text(max_size=8)
_settled = st.builds(
    Settled,
    refusal=st.none() | _text,
    ends=st.booleans(),
    ask=st.none() | _text,
    allow=st.booleans(),
    rewrite=st.none() | st.dictionaries(_text, _text, max_size=2),
    context=st.lists(_text, max_size=2).map(tuple),
    messages=st.lists(_text, max_size=2).map(tuple),
)


async def both(folder: Path, mark: str, settled: Settled | str) -> Settled | str | None:
    first, second = claim(str(folder), mark), claim(str(folder), mark)
    assert first is not None
    assert second is not None
    assert await first.answer(1) is None
    waiting = asyncio.create_task(second.answer(5))
    await asyncio.sleep(0)
    first.keep(settled)
    first.close()
    answer = await waiting
    second.close()
    return answer


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(settled=_settled, mark=st.text("abcdef0123456789", min_size=20, max_size=20))
def test_what_the_agent_does_after_the_second_answer_is_what_it_does_after_the_first(
    table: Dialect, settled: Settled, mark: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    if settled.rewrite is not None and not table.answers.rewrite:
        return
    again = asyncio.run(both(tmp_path_factory.mktemp("s"), mark, settled))
    assert isinstance(again, Settled)
    one, two = (read_before_call(table, speak(table, moment, each)) for each in (settled, again))
    assert one.effect is two.effect
    assert again.losses


def test_a_failure_is_repeated_as_a_failure_and_the_limit_is_one(tmp_path: Path) -> None:
    assert asyncio.run(both(tmp_path, "a", "settings are broken")) == "settings are broken"

    async def late() -> Settled | str | None:
        first, second = claim(str(tmp_path), "b"), claim(str(tmp_path), "b")
        assert first is not None
        assert second is not None
        assert await first.answer(1) is None
        return await second.answer(0.05)

    assert "took longer than 0.05 s" in str(asyncio.run(late()))


def test_old_answers_are_neither_used_nor_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "_MANY", 3)
    for name in ("a", "b", "c", "d"):
        asyncio.run(both(tmp_path, name, Settled()))
        os.utime(tmp_path / "calls" / name, (1, 1))
    fresh = claim(str(tmp_path), "d")
    assert fresh is not None
    assert asyncio.run(fresh.answer(1)) is None
    assert {file.name for file in (tmp_path / "calls").iterdir()} == {"c", "d"}


def test_a_folder_that_cannot_be_written_lets_the_hooks_run(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("")
    assert claim(str(tmp_path), "a") is None
    assert claim(str(tmp_path / "new"), "") is None


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)
def test_recorded_calls_have_marks_of_their_own(table: Dialect) -> None:
    sent = [line["payload"] for line in recorded(table.name, "payload") if "asked" in line]
    marks = [mark_of(table, payload) for payload in sent]
    assert len(sent) >= 3
    assert all(marks)
    assert len(set(marks)) == len(marks)
    assert mark_of(table, {"session_id": "s"}) == mark_of(table, None) == ""
