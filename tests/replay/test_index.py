"""An index never shows: with it, the events and the counts are those of reading the transcripts."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.replay.choice import Choice
from hookwright.replay.index.store import IndexFolder
from hookwright.replay.past import Coverage, Past
from hookwright.replay.sources import past_events
from replay.histories import Line, at, call, line, progress, prompt, result, says, write
from replay.test_reading_laws import NAMES, STEPS, TOOLS, Step, lines_for

EVERYTHING = Choice()
OLD = time.time() - 3600


def settled(path: Path, modified: float = OLD) -> Path:
    """Give a file a time at which nothing writes to it any more."""
    os.utime(path, (modified, modified))
    return path


def read(folder: Path, index: Path | None, choice: Choice = EVERYTHING) -> tuple[list[Past], Coverage]:
    """Read a folder, through an index or not."""
    coverage = Coverage()
    kept = IndexFolder(str(index)) if index is not None else None
    return list(past_events([str(folder)], choice, coverage, kept)), coverage


def tables(index: Path) -> list[Path]:
    return sorted(index.glob("*.events"))


PAIRS = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(("", "Agent", *TOOLS))))
SPANS = st.sampled_from([(None, None), (0, None), (3, 105), (None, 101), (500, None)])


def seconds(second: float | None) -> float | None:
    from datetime import datetime

    return None if second is None else datetime.fromisoformat(at(second)).timestamp()


@given(STEPS, STEPS, STEPS, st.integers(0, 14), st.lists(st.tuples(PAIRS, SPANS), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_with_an_index_everything_is_as_without(
    one: list[Step],
    two: list[Step],
    inner: list[Step],
    cut: int,
    asked: list[tuple[set[tuple[str, str]], tuple[float | None, float | None]]],
) -> None:
    first = lines_for(one, "s1", 0)
    copied = [entry if isinstance(entry, bytes) else {**entry, "sessionId": "s2"} for entry in first[:cut]]
    agent = [entry for entry in lines_for(inner, "s3", 50) if isinstance(entry, bytes) or entry["type"] != "progress"]
    with tempfile.TemporaryDirectory() as name:
        folder, index = Path(name) / "history", Path(name) / "index"
        for path, lines in (
            (folder / "s1.jsonl", first),
            (folder / "s2.jsonl", [*copied, *lines_for(two, "s2", 100)]),
            (folder / "s1" / "subagents" / "agent-x1.jsonl", agent),
        ):
            settled(write(path, lines))
        for pairs, (since, until) in asked:
            choice = Choice(
                wanted=lambda event, tool, pairs=pairs: (event, tool) in pairs,  # type: ignore[misc]
                since=seconds(since),
                until=seconds(until),
            )
            direct = read(folder, None, choice)
            assert read(folder, index, choice) == direct
            assert read(folder, index, choice) == direct
        assert read(folder, index) == read(folder, None)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    folder = tmp_path / "history"
    settled(write(folder / "s1.jsonl", LINES))
    return folder


LINES: list[Line | bytes] = [
    prompt("go", 1),
    call("toolu_0000000000000001", 2),
    result("toolu_0000000000000001", 3),
    b'{"torn',
    says("end", 4),
]
MORE: list[Line | bytes] = [call("toolu_0000000000000002", 5), result("toolu_0000000000000002", 6)]


def test_a_second_reading_takes_the_table_and_not_the_transcript(history: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    found = read(history, index)
    assert found[1].unreadable == 1
    path = history / "s1.jsonl"
    facts = path.stat()
    (table,) = tables(index)
    # A table that says something else is believed, so it is the table that is read.
    data = table.read_bytes()
    table.write_bytes(data.replace(b"toolu_0000000000000001", b"toolu_0000000000000009"))
    events, _ = read(history, index)
    assert {one.call for one in events if one.fate} == {"s1:toolu_0000000000000009"}
    assert path.stat().st_mtime_ns == facts.st_mtime_ns


def test_a_file_that_grew_or_was_replaced_is_read_again(history: Path, tmp_path: Path) -> None:
    index, path = tmp_path / "index", history / "s1.jsonl"
    read(history, index)
    settled(write(path, [*LINES, *MORE]))
    assert read(history, index) == read(history, None)
    assert read(history, index)[1].calls == 2
    # Same size, same times, same name; only the inode and the time of change differ.
    facts = path.stat()
    other = path.read_bytes().replace(b"0000000000000002", b"0000000000000003")
    path.unlink()
    path.write_bytes(other)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert path.stat().st_size == facts.st_size
    assert read(history, index) == read(history, None)
    assert [one.call for one in read(history, index)[0] if one.fate][-1] == "s1:toolu_0000000000000003"


def test_a_file_that_was_just_written_has_no_table_yet(history: Path, tmp_path: Path) -> None:
    write(history / "s1.jsonl", LINES)
    assert read(history, tmp_path / "index") == read(history, None)
    assert tables(tmp_path / "index") == []


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"\xff" * 2000])
def test_a_damaged_table_is_as_if_there_were_none(history: Path, tmp_path: Path, damage: bytes) -> None:
    index = tmp_path / "index"
    read(history, index)
    (table,) = tables(index)
    whole = table.read_bytes()
    for data in (damage, whole[: len(whole) // 2], whole[:-1], whole + b"x"):
        table.write_bytes(data)
        assert read(history, index) == read(history, None)
        assert tables(index)[0].read_bytes() == whole


def test_tables_are_private_and_bounded(history: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    for number in range(6):
        settled(write(history / f"s{number}.jsonl", [call(f"toolu_{number:016}", number), prompt("x" * 500, number)]))
    read(history, index)
    assert stat.S_IMODE(index.stat().st_mode) == 0o700
    assert {stat.S_IMODE(table.stat().st_mode) for table in tables(index)} == {0o600}
    size = max(table.stat().st_size for table in tables(index))
    settled(write(history / "s7.jsonl", MORE))
    coverage = Coverage()
    list(past_events([str(history)], EVERYTHING, coverage, IndexFolder(str(index), most=3 * size)))
    assert 1 <= len(tables(index)) <= 3
    assert sum(table.stat().st_size for table in tables(index)) <= 3 * size
    assert read(history, index) == read(history, None)


def test_a_folder_that_cannot_be_written_changes_nothing(history: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert read(history, tmp_path / "file" / "index") == read(history, None)


def test_what_a_table_cannot_give_back_is_read(history: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    inside = [
        progress(one, "x", "outer") for one in (call("toolu_00000000000000in", 2), result("toolu_00000000000000in", 3))
    ]
    for lines in (
        [b'{"type":"user","x":}', *LINES],
        [call("toolu_0000000000000001", 1, given={"command": "\ud800"})],
        [call("toolu_0000000000000001", 1, given={"number": 2**80})],
        [call("a", 1), result("a", 2), call("a", 3), result("a", 4)],
        [*inside, *LINES, line("attachment", 9, attachment={"hookEvent": "PostToolUse"})],
    ):
        settled(write(history / "s1.jsonl", lines))
        for choice in (EVERYTHING, Choice(events=frozenset({"PreToolUse"}))):
            direct = read(history, None, choice)
            assert read(history, index, choice) == direct
            assert read(history, index, choice) == direct
