"""Transcripts: written by real processes, read back after every kind of damage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.transcripts import (
    ENVELOPE,
    SESSION,
    assistant,
    lines,
    result,
    text,
    transcript,
    whole_session,
)
from hookwright.agent.transcript import (
    Transcript,
    closed,
    conversation,
    git_branch,
    load,
    session_path,
    subagent_path,
)
from hookwright.agent.transcript.lines import LineFile, read_lines

# ── writing ─────────────────────────────────────────────────────────────────


@pytest.mark.req("R-314", "R-315", "R-316")
def test_every_line_is_an_object_in_the_same_envelope(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.user("hi")
    t.assistant(assistant("m1", text("hello")), request_id="req_1")
    first, second = lines(t.path)
    assert first == {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": "hi"},
        "uuid": first["uuid"],
        "timestamp": "2023-11-14T22:13:20.500Z",
        "userType": "external",
        "entrypoint": "hookwright",
        "cwd": "/p",
        "sessionId": SESSION,
        "version": "0.1.0",
        "gitBranch": "main",
    }
    assert (second["type"], second["parentUuid"], second["requestId"]) == ("assistant", first["uuid"], "req_1")


@pytest.mark.req("R-317")
def test_thinking_tool_use_and_results_are_in_the_file(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    written = lines(t.path)
    kinds = [line["message"]["content"][0]["type"] for line in written if line["type"] == "assistant"]
    assert kinds == ["thinking", "tool_use", "tool_use", "text"]
    assert {line["message"]["id"] for line in written if line["type"] == "assistant"} == {"msg_1", "msg_2"}
    answered = [line for line in written if "toolUseResult" in line]
    assert [line["toolUseResult"] for line in answered] == [{"stdout": "two"}, {"stdout": "one"}]
    assert answered[0]["sourceToolAssistantUUID"] == written[3]["uuid"]


def test_the_file_and_its_folder_are_private(tmp_path: Path) -> None:
    t = Transcript(session_path(str(tmp_path / "a" / "b"), SESSION), ENVELOPE)
    assert os.stat(t.path).st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "a" / "b").st_mode & 0o777 == 0o700


@pytest.mark.req("R-323")
def test_what_was_written_can_be_read_by_another_process_at_once(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.tool_result(result("t9", "seen"), {"stdout": "seen"})
    seen = subprocess.run(["grep", "-c", "t9", t.path], capture_output=True, text=True, check=False)
    assert seen.stdout == "1\n"


def test_move_changes_directory_and_branch_of_later_lines(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    t = transcript(tmp_path / "t")
    t.move(str(tmp_path / "repo" / "."))
    t.user("x")
    assert (lines(t.path)[0]["cwd"], lines(t.path)[0]["gitBranch"]) == (str(tmp_path / "repo" / "."), "feature/x")


def test_git_branch_follows_a_worktree_and_knows_a_detached_head(tmp_path: Path) -> None:
    real = tmp_path / "main" / ".git" / "worktrees" / "w"
    real.mkdir(parents=True)
    (real / "HEAD").write_text("0123456789abcdef\n")
    (tmp_path / "w" / "sub").mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text(f"gitdir: {real}\n")
    assert git_branch(str(tmp_path / "w" / "sub")) == "HEAD"
    assert git_branch("/") == ""


def test_a_surrogate_and_a_huge_line_do_not_stop_the_writer(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.user("half \ud800 pair")
    t.user("x" * 3_000_000)
    told = load(t.path).messages()
    assert told[0]["content"] == "half \ufffd pair"
    assert len(told[1]["content"]) == 3_000_000


def test_a_subagent_has_a_file_of_its_own_with_a_description(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    child = t.subagent("a1b2", {"agentType": "Explore", "toolUseId": "t1"})
    child.user("task")
    child.assistant(assistant("s1", text("found")))
    assert child.path == str(tmp_path / SESSION / "subagents" / "agent-a1b2.jsonl") == subagent_path(t.path, "a1b2")
    line = lines(child.path)[0]
    assert (line["isSidechain"], line["agentId"], line["sessionId"]) == (True, "a1b2", SESSION)
    meta = json.loads(Path(child.path.replace(".jsonl", ".meta.json")).read_text())
    assert meta == {"agentType": "Explore", "toolUseId": "t1"}
    assert [message["role"] for message in load(child.path).messages()] == ["user", "assistant"]


def test_a_closed_transcript_can_be_closed_again_and_leaves_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    t = transcript(tmp_path)
    t.close()
    t.close()
    assert len(os.listdir("/proc/self/fd")) == before


# ── damage ──────────────────────────────────────────────────────────────────


@pytest.mark.req("R-314")
def test_a_file_cut_at_any_byte_can_be_read_and_continued(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    data = Path(t.path).read_bytes()
    full = load(t.path)
    cut = tmp_path / "cut.jsonl"
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        told = load(str(cut))
        assert told.entries == full.entries[: len(told.entries)]
        assert len(told.entries) >= data[:size].count(b"\n")
        closed(told.messages())
        again = Transcript(str(cut), ENVELOPE, parent=told.last)
        again.user("go on")
        again.close()
        longer = load(str(cut))
        assert longer.entries[:-1] == told.entries
        assert longer.entries[-1]["message"]["content"] == "go on"


@given(at=st.integers(0, 5), junk=st.binary(max_size=40))
def test_a_line_of_junk_costs_nothing_but_itself(
    tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes
) -> None:
    t = whole_session(tmp_path_factory.mktemp("t"))
    rows = Path(t.path).read_bytes().splitlines(keepends=True)
    rows.insert(at, junk.replace(b"\n", b"").replace(b"{", b"[") + b"\n")
    before = load(t.path).entries
    Path(t.path).write_bytes(b"".join(rows))
    t.close()
    assert load(t.path).entries == before


def test_a_lost_line_in_the_middle_does_not_cut_off_what_stands_above(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    rows = Path(t.path).read_bytes().splitlines(keepends=True)
    Path(t.path).write_bytes(b"".join([*rows[:2], b'{"type": "us\n', *rows[3:]]))
    assert [entry["uuid"] for entry in load(t.path).entries] == [
        json.loads(row)["uuid"] for number, row in enumerate(rows) if number != 2
    ]


def test_a_circle_of_parents_ends() -> None:
    told = conversation([{"uuid": "a", "parentUuid": "b", "type": "user"}, {"uuid": "b", "parentUuid": "a"}])
    assert [entry["uuid"] for entry in told.entries] == ["a", "b"]


WRITER = """
import sys
from hookwright.agent.transcript import Envelope, Transcript
t = Transcript(sys.argv[1], Envelope(session_id="s", cwd="/p", version="1"))
number = 0
while True:
    t.user(f"{sys.argv[2]}-{number}-" + "x" * 70000)
    number += 1
    if number == int(sys.argv[3]):
        break
    if number == 1:
        print("go", flush=True)
"""


def writer(path: str, name: str, count: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", textwrap.dedent(WRITER), path, name, str(count)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE)


def test_writers_in_several_processes_never_interleave(tmp_path: Path) -> None:
    path = str(tmp_path / "t.jsonl")
    processes = [writer(path, name, 40) for name in "abc"]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    told = [json.loads(line)["message"]["content"].split("-") for line in Path(path).read_text().splitlines()]
    assert sorted((name, int(number)) for name, number, _ in told) == [(n, i) for n in "abc" for i in range(40)]
    assert {len(rest) for _, _, rest in told} == {70000}


def test_a_writer_killed_in_the_middle_leaves_a_file_that_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "t.jsonl")
    process = writer(path, "a", 10**9)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    before = list(read_lines(path))
    again = Transcript(path, ENVELOPE, parent=load(path).last)
    again.user("after")
    again.close()
    after = list(read_lines(path))
    assert after[:-1] == before
    assert load(path).messages()[-1] == {"role": "user", "content": "after"}


def test_a_writer_notices_what_another_one_left_unfinished(tmp_path: Path) -> None:
    file = LineFile(str(tmp_path / "t.jsonl"))
    file.append({"n": 1})
    with open(file.path, "ab") as other:
        other.write(b'{"n": 2, "half')
    file.append({"n": 3})
    file.close()
    assert list(read_lines(file.path)) == [{"n": 1}, {"n": 3}]


def test_a_full_disk_is_the_hosts_problem_and_is_said(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    (tmp_path / "t.jsonl").symlink_to("/dev/full")
    file = LineFile(str(tmp_path / "t.jsonl"))
    with pytest.raises(OSError, match="No space"):
        file.append({"n": 1})
    file.close()
