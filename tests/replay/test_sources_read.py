"""Where the past is read from: files, folders, globs, links, streams; and lines that nobody can read."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.config.locations import Surroundings
from hookwright.replay.choice import Choice
from hookwright.replay.past import Coverage
from hookwright.replay.sources import all_sources, past_events, project_sources
from hookwright.replay.transcripts.files import NoSource
from hookwright.replay.transcripts.lines import lines_of
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.sessions import events_of_stream
from replay.histories import call, error, past, prompt, result, says, shown, write

LINES = [prompt("go", 1), call("a", 2), result("a", 3), says("end", 4)]
WHOLE = ["UserPromptSubmit go", "PreToolUse a SUCCEEDED", "PostToolUse a", "Stop end"]


def test_files_folders_globs_and_repeated_sources(tmp_path: Path) -> None:
    path = write(tmp_path / "p" / "s1.jsonl", LINES)
    for sources in ([path], [tmp_path], [tmp_path / "p" / "*.jsonl"], [tmp_path / "**" / "s?.jsonl"], [path, tmp_path]):
        coverage = Coverage()
        assert shown(past(*sources, coverage=coverage)) == WHOLE
        assert (coverage.files, coverage.lines, coverage.bytes) == (1, 4, path.stat().st_size)
    with pytest.raises(NoSource, match=r"none\*: no such file or folder"):
        past(tmp_path / "none*")


def test_the_path_of_the_transcript_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "s1.jsonl", LINES)
    monkeypatch.chdir(tmp_path)
    assert {one.event.transcript_path for one in past_events(["s1.jsonl"])} == {str(path)}


def test_compressed_files_of_several_members_and_damaged_ones(tmp_path: Path) -> None:
    data = write(tmp_path / "plain", LINES).read_bytes()
    packed = tmp_path / "s1.jsonl.gz"
    packed.write_bytes(gzip.compress(data[:400]) + gzip.compress(data[400:]))
    assert shown(past(packed)) == WHOLE
    packed.write_bytes(gzip.compress(data)[:-60])
    coverage = Coverage()
    past(packed, coverage=coverage)
    assert coverage.unreadable >= 1


def test_standard_input(tmp_path: Path) -> None:
    data = write(tmp_path / "s1.jsonl", LINES).read_bytes()
    for given in (data, gzip.compress(data)):
        coverage = Coverage()
        events = list(events_of_stream(io.BytesIO(given), Choice(), Deduplication(coverage)))
        assert (shown(events), coverage.files, coverage.lines) == (WHOLE, 1, 4)
    code = "from hookwright.replay.sources import past_events; print(len(list(past_events(['-']))))"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True, timeout=30)
    assert done.stdout == b"4\n"
    assert list(events_of_stream(io.BytesIO(b""), Choice(), Deduplication(Coverage()))) == []


def test_links_out_of_a_source_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    write(inside / "s1.jsonl", LINES)
    write(outside / "secret.jsonl", [call("secret", 1)])
    (inside / "link.jsonl").symlink_to(outside / "secret.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "again.jsonl").symlink_to(inside / "s1.jsonl")
    (inside / "loop").symlink_to(inside)
    coverage = Coverage()
    assert shown(past(inside, coverage=coverage)) == WHOLE
    assert (coverage.files, coverage.refused) == (1, 2)
    # A link that the user names is followed.
    (tmp_path / "named.jsonl").symlink_to(inside / "s1.jsonl")
    assert shown(past(tmp_path / "named.jsonl")) == WHOLE


def test_what_is_not_a_file_or_not_readable_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "s1.jsonl", LINES)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nothing")
    coverage = Coverage()
    assert shown(past(tmp_path, coverage=coverage)) == WHOLE
    assert coverage.refused == 2


def test_torn_hostile_and_empty_lines_are_counted_and_never_fatal(tmp_path: Path) -> None:
    deep = b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"x","input":' + b"[" * 100_000
    hostile = [
        b"",
        b"   ",
        b"not json",
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","na',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b"null",
        deep,
        deep + b"]" * 100_000 + b"}]}}",
        b'{"type":5,"message":{"content":[{"type":"tool_use"}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"n","name":"Bash","input":"text"}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":7,"name":"Bash"}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}',
        b'{"type":"user","message":"tool_use"}',
        b'{"type":"user","message":null,"promptId":"x"}',
        b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"unknown"}]}}',
        b'{"type":"assistant","timestamp":"never","message":{"content":[{"type":"tool_use","id":"w","name":"W","input":{}}]}}',
        b'{"type":"progress","data":{"type":"agent_progress","agentId":"z","message":{"type":"tool_use"}}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u","name":"\xff"}]}}',
    ]
    coverage = Coverage()
    path = write(tmp_path / "s1.jsonl", [*hostile, *LINES])
    with path.open("ab") as file:
        file.write(b'{"type":"user","torn')
    events = past(path, coverage=coverage)
    assert shown(events) == ["PreToolUse w UNANSWERED", *WHOLE]
    assert coverage.lines == len(hostile) + len(LINES) + 1
    # Two lines are blank, one has a call, five have nothing of use; the others and the torn end cannot be read.
    assert coverage.unreadable == len(hostile) - 2 - 1 - 5 + 1
    assert coverage.calls == 2


def test_a_lone_surrogate_does_not_cost_a_call(tmp_path: Path) -> None:
    line = json.dumps(call("a", 1, given={"command": "echo \ud800"})).encode()
    (one,) = past(write(tmp_path / "s1.jsonl", [line]), events=frozenset({"PreToolUse"}))
    assert getattr(one.event, "tool_input", None) == {"command": "echo \ufffd"}


@pytest.mark.parametrize("limit", [10, 1_000_000])
def test_lines_over_the_limit_are_dropped_and_counted(tmp_path: Path, limit: int) -> None:
    lines = [b"{%s}" % (b"x" * size) for size in (3, 2_000_000, 5, 1_500_000, 8)]
    path = write(tmp_path / "s1.jsonl", lines)
    coverage = Coverage()
    with path.open("rb") as file:
        kept = list(lines_of(file, coverage, limit=limit))
    assert kept == [(number, line) for number, line in enumerate(lines, start=1) if len(line) <= limit]
    assert (coverage.lines, coverage.unreadable) == (5, 2)


def test_a_file_that_grows_is_read_up_to_its_size_at_the_beginning(tmp_path: Path) -> None:
    path = write(tmp_path / "s1.jsonl", [call(f"c{number}", number) for number in range(20)])
    events = past_events([str(path)], Choice(events=frozenset({"PreToolUse"})))
    with path.open("ab") as file, path.open("rb") as reading:
        lines = lines_of(reading, Coverage())
        assert next(lines)[0] == 1
        file.write(b'{"more":1}\n' * 1000)
        file.flush()
        assert len(list(lines)) == 19
    assert len(list(events)) == 20


def test_times_sessions_events_and_tools(tmp_path: Path) -> None:
    lines = [prompt("go", 1), call("a", 2), call("b", 3, tool="Read"), call("c", 50), result("a", 51)]
    path = write(tmp_path / "s1.jsonl", lines)
    write(tmp_path / "s2.jsonl", [call("d", 4, session="s2")])
    everything = past(tmp_path)
    middle = next(one.time for one in everything if getattr(one.event, "tool_use_id", "") == "b")
    assert shown(past(tmp_path, since=middle, until=middle)) == ["PreToolUse b UNANSWERED"]
    assert shown(past(tmp_path, sessions=frozenset({"s2"}))) == ["PreToolUse d UNANSWERED"]
    assert shown(past(tmp_path, tools=frozenset({"Read"}))) == ["PreToolUse b UNANSWERED"]
    assert shown(past(tmp_path, events=frozenset({"PostToolUse"}))) == ["PostToolUse a"]
    # A file that was not written to since then is not even opened.
    os.utime(path, (0, 0))
    coverage = Coverage()
    past(tmp_path, since=1.0, coverage=coverage)
    assert coverage.files == 1


def test_coverage_counts_what_is_not_asked_for(tmp_path: Path) -> None:
    lines = [
        prompt("go", 1),
        call("a", 2),
        call("b", 3, tool="Nope"),
        error("b", 4, "<tool_use_error>No such tool</tool_use_error>"),
        result("a", 5),
    ]
    coverage = Coverage()
    assert past(write(tmp_path / "s1.jsonl", lines), coverage=coverage, wanted=lambda event, tool: False) == []
    assert (coverage.calls, coverage.never_started, coverage.sessions, coverage.lines) == (2, 1, 1, 5)
    assert coverage.versions == {"2.1.325"}
    assert coverage.first is not None
    assert coverage.last == coverage.first + 1


def test_the_sources_of_a_project(tmp_path: Path) -> None:
    around = Surroundings.here({"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}, str(tmp_path), str(tmp_path))
    assert project_sources("/home/me/project", around) == all_sources(around) == []
    folder = tmp_path / "config" / "projects" / "-home-me-project"
    write(folder / "s1.jsonl", LINES)
    assert project_sources("/home/me/project", around) == [str(folder)]
    assert all_sources(around) == [str(folder.parent)]
