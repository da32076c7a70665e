"""The rows of the console: every event once, whatever happens to the files."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright import Hooks, open_session
from hookwright.config import Places
from hookwright.observers.journal.reader import Filter, records
from hookwright.observers.journal.writer import NAME
from hookwright.observers.live import BEACON, FRESH, LIVE
from hookwright.protocol.events import PreToolUse
from hookwright.web.traffic import FIELDS, Traffic
from hookwright.web.views import BOUNDS, Console, detail, explained, histogram, hooks, sessions
from hookwright.web.wires import Wires


def places(folder: Path) -> Places:
    return Places(
        project=str(folder), home=str(folder), env={"PATH": os.environ["PATH"]}, state_dir=str(folder / "state")
    )


def deny(event: Any) -> dict[str, Any]:
    said = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not here"}
    return {"hookSpecificOutput": said} if event.tool_name == "Bash" else {}


async def fire(folder: Path, *tools: str) -> None:
    guards = Hooks()
    guards.on("PreToolUse", matcher="Bash|Write")(deny)
    async with open_session(places(folder), hooks=guards, journal=True) as session:
        for tool in tools:
            await session.fire(PreToolUse, tool_name=tool, tool_input={"command": f"say {tool}"})


def seen(traffic: Traffic) -> list[str]:
    return [traffic.names.texts[row[FIELDS.index("tool")]] for row in traffic.rows]


def test_rows_follow_the_journal_and_hold_the_records_of_a_firing(tmp_path: Path) -> None:
    asyncio.run(fire(tmp_path, "Bash", "Read"))
    traffic = Traffic(str(tmp_path / "state"))
    assert traffic.poll()
    asyncio.run(fire(tmp_path, "Write"))
    assert traffic.poll()
    assert not traffic.poll()
    assert seen(traffic) == ["Bash", "Read", "Write"]
    kinds = [[record["kind"] for record in traffic.records(number)] for number in range(3)]
    assert kinds == [["event", "run"], ["event", "skip"], ["event", "run"]]
    assert traffic.search("NOT HERE") == [0]
    assert traffic.search("deny(") == []
    traffic.close()


@functools.cache
def journal_lines() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(fire(Path(name), *(f"T{number}" for number in range(8))))
        return tuple((Path(name) / "state" / NAME).read_bytes().splitlines(keepends=True))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_rows_equal_the_journal_whenever_it_is_read_and_rotated(tmp_path_factory: Any, data: st.DataObject) -> None:
    state = tmp_path_factory.mktemp("rotated")
    traffic = Traffic(str(state))
    rotations = 0
    for line in journal_lines():
        cut = data.draw(st.integers(0, len(line)))
        for part in (line[:cut], line[cut:]):
            with (state / NAME).open("ab") as file:
                file.write(part)
            if data.draw(st.booleans()):
                traffic.poll()
        if data.draw(st.integers(0, 3)) == 0:
            rotations += 1
            (state / NAME).rename(state / f"{NAME}.{rotations:03}")
    traffic.poll()
    kept = records(str(state), Filter(kinds=frozenset({"event"})))
    assert seen(traffic) == [record["tool"] for record in kept] == [f"T{number}" for number in range(8)]
    assert traffic.gaps == 0
    traffic.close()


def test_a_journal_that_was_cut_is_a_gap_and_is_read_again(tmp_path: Path) -> None:
    asyncio.run(fire(tmp_path, "A", "B"))
    path = tmp_path / "state" / NAME
    traffic = Traffic(str(tmp_path / "state"))
    traffic.poll()
    os.truncate(path, 0)
    asyncio.run(fire(tmp_path, "C"))
    traffic.poll()
    traffic.poll()
    assert traffic.gaps == 1
    assert seen(traffic) == ["A", "B", "C"]
    traffic.close()


# ── live ──


def test_what_hooks_read_and_say_is_written_only_while_a_console_is_open(tmp_path: Path) -> None:
    state = tmp_path / "state"
    asyncio.run(fire(tmp_path, "Bash"))
    assert not (state / LIVE).exists()
    wires, traffic = Wires(str(state)), Traffic(str(state))
    asyncio.run(fire(tmp_path, "Bash"))
    traffic.poll()
    assert len(wires.poll()) == 1
    console = Console(places(tmp_path), traffic, wires)
    before, now = detail(console, 0), detail(console, 1)
    assert (before["seen"], before["input"]) == (False, None)
    assert '"command":"say Bash"' in now["input"]
    assert now["model"] == ["PreToolUse:Callback hook error: not here"]
    assert explained(console, 1)["note"] == ""
    assert explained(console, 0)["note"] != ""
    (file,) = (state / LIVE).glob("*.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600
    wires.close()
    assert not (state / LIVE).exists()
    asyncio.run(fire(tmp_path, "Bash"))
    assert not (state / LIVE).exists()
    traffic.close()


def test_a_console_that_is_stopped_gets_nothing_more(tmp_path: Path) -> None:
    state = tmp_path / "state"
    wires = Wires(str(state))
    past = os.stat(state / LIVE / BEACON).st_mtime - FRESH - 1
    os.utime(state / LIVE / BEACON, (past, past))
    asyncio.run(fire(tmp_path, "Bash"))
    assert list((state / LIVE).glob("*.jsonl")) == []
    wires.close()


def test_credentials_are_not_shown(tmp_path: Path) -> None:
    state = tmp_path / "state"
    wires, traffic = Wires(str(state)), Traffic(str(state))
    secret = "ghp_" + "a1B2" * 9
    hook = {"type": "command", "command": f"echo {secret} >&2; exit 2"}
    home = tmp_path / ".claude"
    home.mkdir()
    (home / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))

    async def main() -> None:
        async with open_session(places(tmp_path), journal=True) as session:
            await session.fire(PreToolUse, tool_name="Bash", tool_input={"command": f"curl -H 'token: {secret}'"})

    asyncio.run(main())
    traffic.poll()
    wires.poll()
    shown = detail(Console(places(tmp_path), traffic, wires), 0)
    assert "curl" in shown["input"]
    assert shown["runs"][0]["seen"]["exit"] == 2
    assert secret not in json.dumps(shown)
    wires.close()
    traffic.close()


# ── views ──


def test_hooks_and_sessions_count_what_the_journal_has(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}],'
        ' "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    asyncio.run(fire(tmp_path, "Bash", "Bash", "Read"))
    traffic, wires = Traffic(str(tmp_path / "state")), Wires(str(tmp_path / "state"))
    traffic.poll()
    console = Console(places(tmp_path), traffic, wires)
    guard, silent = hooks(console, None)["hooks"]
    assert (guard["runs"], guard["refused"], guard["never"]) == (2, 2, False)
    assert (silent["runs"], silent["never"]) == (0, True)
    assert sum(guard["histogram"]) == 2
    (session,) = sessions(console)
    assert (session["events"], session["refused"], session["badge"]["word"]) == (3, 2, "complete")
    wires.close()
    traffic.close()


@given(st.lists(st.floats(0, 1e5)))
def test_every_time_is_in_one_bar(times: list[float]) -> None:
    bars = histogram(times)
    assert sum(bars) == len(times)
    assert bars[-1] == sum(time > BOUNDS[-1] for time in times)
