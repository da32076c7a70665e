"""Transcripts: written by real processes, read back after every kind of damage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.agent.transcript import (
    Call,
    Conversation,
    Envelope,
    InvalidSession,
    Transcript,
    attachments,
    checked_id,
    closed,
    conversation,
    find_session,
    fork_session,
    git_branch,
    late_attachment,
    latest_session,
    list_sessions,
    load,
    model_text,
    pending,
    project_folder,
    project_folders,
    session_path,
    slug,
    stop_summary,
    subagent_path,
)
from detent.agent.transcript.lines import LineFile, read_lines
from detent.aggregate import aggregate
from detent.background import interpret_late
from detent.executors.job import Job
from detent.interpret import interpret
from detent.outcome import Outcome, Run, Timing
from detent.replies import Failed, Failure, NoAnswer, Reply, TimedOut
from support import command, event, exited, specific

SESSION = "00000000-0000-4000-8000-000000000001"
ENVELOPE = Envelope(session_id=SESSION, cwd="/p", version="0.1.0", git_branch="main")


def transcript(folder: Path, name: str = SESSION, **fields: Any) -> Transcript:
    return Transcript(session_path(str(folder), name), ENVELOPE, clock=lambda: 1_700_000_000.5, **fields)


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def assistant(message_id: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"id": message_id, "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(id_: str, command_: str = "ls") -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": command_}}


def result(id_: str, said: str = "out") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": said, "is_error": False}


def whole_session(folder: Path) -> Transcript:
    """Write a session with parallel calls, hook context, and a last answer."""
    t = transcript(folder)
    t.user("run both", promptId="p1")
    t.assistant(assistant("msg_1", {"type": "thinking", "thinking": "hm", "signature": "s"}, use("t1"), use("t2")))
    t.tool_result(result("t2", "two"), {"stdout": "two"}, t.last)
    t.attachment({"type": "hook_additional_context", "content": ["ctx é"], "hookName": "PostToolUse:Bash"})
    t.tool_result(result("t1", "one"), {"stdout": "one"}, t.last)
    t.assistant(assistant("msg_2", text("done")))
    return t


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
        "entrypoint": "detent",
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
from detent.agent.transcript import Envelope, Transcript
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


# ── reading ─────────────────────────────────────────────────────────────────


def test_messages_put_results_together_and_hook_text_behind_them(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    first, turn, results, said, last = load(t.path).messages()
    assert first == {"role": "user", "content": "run both"}
    assert [block["type"] for block in turn["content"]] == ["thinking", "tool_use", "tool_use"]
    assert results == {"role": "user", "content": [result("t2", "two"), result("t1", "one")]}
    assert said == {"role": "system", "content": "PostToolUse:Bash hook additional context: ctx é"}
    assert last["content"] == [text("done")]


@pytest.mark.req("R-321")
def test_context_of_a_session_start_comes_back_before_the_first_prompt(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.attachment(fired("SessionStart", exited(0, "plain words"))[0])
    t.user("hi")
    assert load(t.path).messages() == [
        {"role": "system", "content": "SessionStart:startup hook success: plain words"},
        {"role": "user", "content": "hi"},
    ]


def test_a_rewritten_result_is_what_the_model_reads_later(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    t.replace_result("t1", "REWRITTEN")
    blocks = load(t.path).messages()[2]["content"]
    assert [block["content"] for block in blocks] == ["two", "REWRITTEN"]


def test_reading_stops_at_a_compaction(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    above = t.last
    t.compact_boundary("manual", 1234)
    t.user("the story so far", isCompactSummary=True)
    boundary = lines(t.path)[-2]
    assert (boundary["parentUuid"], boundary["logicalParentUuid"]) == (None, above)
    assert boundary["compactMetadata"] == {"trigger": "manual", "preTokens": 1234}
    assert load(t.path).messages() == [{"role": "user", "content": "the story so far"}]


def test_lines_of_other_conversations_and_unknown_kinds_are_left_out(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.user("mine")
    name = t.last
    for foreign in (
        {"uuid": "s1", "parentUuid": None, "isSidechain": True, "type": "user", "message": {"role": "user"}},
        {"uuid": "x1", "parentUuid": name, "teamName": "t", "type": "user"},
        {"type": "file-history-snapshot", "messageId": "m"},
        {"type": "custom-title", "customTitle": "My title"},
    ):
        with open(t.path, "a") as file:
            file.write(json.dumps(foreign) + "\n")
    told = load(t.path)
    assert (told.last, told.title) == (name, "My title")
    assert told.messages() == [{"role": "user", "content": "mine"}]


ODD: list[dict[str, Any]] = [
    {"type": "user", "message": None},
    {"type": "user", "message": {"role": "user", "content": None}},
    {"type": "user", "message": {"role": "user", "content": [1, {"type": 2}]}},
    {"type": "assistant", "message": {"role": "nobody", "content": "x"}},
    {"type": "attachment", "attachment": "text"},
    {"type": "attachment", "attachment": {"type": "hook_blocking_error", "blockingError": 3}},
    {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": 3}},
    {"type": "attachment", "attachment": {"type": "async_hook_response", "response": []}},
    {"type": "progress", "data": {}},
]


@pytest.mark.parametrize("odd", ODD)
def test_odd_lines_say_nothing(odd: dict[str, Any]) -> None:
    assert conversation([{"uuid": "u", "parentUuid": None, **odd}]).messages() == []


def test_calls_without_results_are_pending_and_can_be_closed(tmp_path: Path) -> None:
    t = transcript(tmp_path)
    t.user("go")
    t.assistant(assistant("m", use("t1"), use("t2")))
    t.tool_result(result("t1"), {})
    told = load(t.path).messages()
    assert [block["id"] for block in pending(told)] == ["t2"]
    blocks = closed(told)[-1]["content"]
    assert sorted(block["tool_use_id"] for block in blocks) == ["t1", "t2"]
    assert pending(closed(told)) == []
    assert pending([]) == []
    assert pending([{"role": "user", "content": "x"}]) == []


BLOCKS = st.sampled_from(["u", "a", "s", "r1", "r2", "c1", "c2", "c12", "think"])
MAKERS: dict[str, Callable[[], dict[str, Any]]] = {
    "u": lambda: {"role": "user", "content": "hello"},
    "a": lambda: {"role": "assistant", "content": [text("hi")]},
    "s": lambda: {"role": "system", "content": "note"},
    "r1": lambda: {"role": "user", "content": [result("1")]},
    "r2": lambda: {"role": "user", "content": [result("2")]},
    "c1": lambda: {"role": "assistant", "content": [use("1")]},
    "c2": lambda: {"role": "assistant", "content": [use("2")]},
    "c12": lambda: {"role": "assistant", "content": [use("1"), use("2")]},
    "think": lambda: {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}]},
}


@given(st.lists(BLOCKS, max_size=8))
def test_law_a_closed_conversation_has_one_result_right_after_every_call(names: list[str]) -> None:
    told = closed([MAKERS[name]() for name in names])
    for place, message in enumerate(told):
        content = message["content"] if isinstance(message["content"], list) else []
        asked = {block["id"] for block in content if block["type"] == "tool_use"}
        after = told[place + 1]["content"] if asked else []
        answered = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
        assert sorted(asked) == sorted(answered)
        assert not content or any(block["type"] != "thinking" for block in content)
        if any(block["type"] == "tool_result" for block in content):
            assert place > 0
            assert told[place - 1]["role"] == "assistant"


# ── sessions ────────────────────────────────────────────────────────────────


def test_slugs_keep_letters_and_digits_and_long_ones_are_cut() -> None:
    assert slug("/home/me/my_project.v2") == "-home-me-my-project-v2"
    long = "/" + "d/" * 150
    assert slug(long)[:201] == "-" + "d-" * 99 + "d" + "-"
    assert len(slug(long)) > 201
    assert slug(long) != slug(long + "x")


def test_project_folders_find_other_hashes_of_a_long_slug(tmp_path: Path) -> None:
    long = "/" + "d/" * 150
    own = project_folder(str(tmp_path), long, {})
    other = own[: -len(own.rsplit("-", 1)[1])] + "zzz"
    os.makedirs(other)
    assert project_folders(str(tmp_path), long, {}) == (own, other)
    assert project_folders(str(tmp_path), "/p", {}) == (str(tmp_path / "projects" / "-p"),)
    assert project_folder(str(tmp_path), "/p", {"CLAUDE_CODE_PROJECT_DIR_NAME": "a/../b"}).endswith("/a----b")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\0b", "-x", "a" * 129, "a.b", "a\n"])
def test_an_id_that_could_leave_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    for use_ in (
        lambda: checked_id(name),
        lambda: session_path(str(tmp_path), name),
        lambda: subagent_path(str(tmp_path / "s.jsonl"), name),
        lambda: find_session([str(tmp_path)], name),
    ):
        with pytest.raises(InvalidSession, match="not a session id"):
            use_()


def test_sessions_are_listed_latest_first_and_found_by_id(tmp_path: Path) -> None:
    for number, name in enumerate(("old", "new")):
        t = transcript(tmp_path, name)
        t.user("system says", isMeta=True)
        t.user([text(f"prompt {name}")])
        t.side("custom-title", customTitle=f"Title {name}")
        t.close()
        os.utime(t.path, (number, number))
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "junk.jsonl").write_text("{{{\n")
    found = list_sessions([str(tmp_path), str(tmp_path / "absent")])
    assert [(saved.id, saved.first_prompt, saved.title, saved.cwd) for saved in found] == [
        ("new", "prompt new", "Title new", "/p"),
        ("old", "prompt old", "Title old", "/p"),
    ]
    assert latest_session([str(tmp_path)], "/p").id == "new"
    assert find_session([str(tmp_path)], "old") == str(tmp_path / "old.jsonl")
    with pytest.raises(InvalidSession, match="no session to continue"):
        latest_session([str(tmp_path)], "/elsewhere")
    with pytest.raises(InvalidSession, match="no session missing"):
        find_session([str(tmp_path)], "missing")


def test_a_fork_says_where_it_came_from_and_reads_the_same(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    t.replace_result("t1", "REWRITTEN")
    path = fork_session(t.path, "fork-1", str(tmp_path))
    assert load(path).messages() == load(t.path).messages()
    copied = lines(path)[0]
    assert copied["sessionId"] == "fork-1"
    assert copied["forkedFrom"] == {"sessionId": SESSION, "messageUuid": lines(t.path)[0]["uuid"]}
    assert not {line.get("uuid") for line in lines(path)} & {line.get("uuid", 0) for line in lines(t.path)}
    with pytest.raises(FileExistsError):
        fork_session(t.path, "fork-1", str(tmp_path))


# ── hook runs ───────────────────────────────────────────────────────────────


def outcome(name: str, *replies: Reply) -> Outcome:
    moment = event(name)
    handlers = [command(f"hook-{number}") for number in range(len(replies))]
    runs = [
        Run(handler, reply, interpret(reply, handler, moment), Timing(0.0, 0.25))
        for handler, reply in zip(handlers, replies, strict=True)
    ]
    return aggregate(moment, runs)


def fired(name: str, *replies: Reply) -> tuple[dict[str, Any], ...]:
    return attachments(outcome(name, *replies), "toolu_1", Call("toolu_1", "Bash", {"command": "ls"}))


HEAD = {"hookName": "PreToolUse:Bash", "toolUseID": "toolu_1", "hookEvent": "PreToolUse"}
FACTS = {"command": "hook-0", "durationMs": 250}

#: One row for each way a run can end (R-320).
RUNS: list[tuple[Reply, dict[str, Any]]] = [
    (
        exited(0, "out\n", "err"),
        {"type": "hook_success", **HEAD, "content": "", "stdout": "out\n", "stderr": "err", "exitCode": 0, **FACTS},
    ),
    (
        exited(2, "", "STDERR-no"),
        {
            "type": "hook_blocking_error",
            **HEAD,
            "blockingError": {"blockingError": "[hook-0]: STDERR-no", "command": "hook-0"},
        },
    ),
    (
        exited(1, "x", "bad"),
        {
            "type": "hook_non_blocking_error",
            **HEAD,
            "stdout": "x",
            "stderr": "Failed with non-blocking status code: bad",
            "exitCode": 1,
            **FACTS,
        },
    ),
    (TimedOut(1.5), {"type": "hook_cancelled", **HEAD, **FACTS, "timedOut": True, "timeoutMs": 1500}),
    (NoAnswer("silent"), {"type": "hook_cancelled", **HEAD, **FACTS, "timedOut": False}),
    (
        Failed(Failure.EXCEPTION, "ValueError: x"),
        {"type": "hook_error_during_execution", **HEAD, "content": "ValueError: x", **FACTS},
    ),
]


@pytest.mark.req("R-320")
@pytest.mark.parametrize(("reply", "expected"), RUNS)
def test_every_ending_has_its_attachment(reply: Reply, expected: dict[str, Any]) -> None:
    written = fired("PreToolUse", reply)[0]
    if expected["type"] == "hook_error_during_execution":
        expected = {**expected, "content": written["content"]}
        assert "ValueError: x" in written["content"]
    assert written == expected


def test_suppressed_output_is_not_in_the_transcript() -> None:
    output = {**specific("PreToolUse", additionalContext="CTX"), "suppressOutput": True}
    run, context = fired("PreToolUse", exited(0, output, "err"))
    assert (run["stdout"], run["stderr"]) == ("", "err")
    assert (context["type"], context["content"]) == ("hook_additional_context", ["CTX"])


def test_messages_decisions_and_stops_are_attached() -> None:
    deny = {**specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="R"), "systemMessage": "S"}
    stop = {"continue": False, "stopReason": "HALT"}
    kinds = [attachment["type"] for attachment in fired("PreToolUse", exited(0, deny), exited(0, stop))]
    assert kinds == [
        "hook_blocking_error",
        "hook_system_message",
        "hook_success",
        "hook_permission_decision",
        "hook_stopped_continuation",
    ]
    deferred = fired("PreToolUse", exited(0, specific("PreToolUse", permissionDecision="defer")))[-1]
    assert deferred == {
        "type": "hook_deferred_tool",
        "toolUseID": "toolu_1",
        "toolName": "Bash",
        "toolInput": {"command": "ls"},
        "hookEvent": "PreToolUse",
    }


#: What the model reads of the last attachment of a firing, word for word as observed.
TEXTS: list[tuple[str, Reply, str | None]] = [
    (
        "PreToolUse",
        exited(0, specific("PreToolUse", additionalContext="C")),
        "PreToolUse:Bash hook additional context: C",
    ),
    (
        "SessionStart",
        exited(0, specific("SessionStart", additionalContext="C")),
        "SessionStart hook additional context: C",
    ),
    ("UserPromptSubmit", exited(0, "plain\n"), "UserPromptSubmit hook success: plain"),
    ("PostToolUse", exited(0, "plain\n"), None),
    ("PreToolUse", exited(2, "", "no"), None),
    (
        "PostToolUse",
        exited(2, "", "lint"),
        'PostToolUse:Bash hook blocking error from command: "hook-0": [hook-0]: lint',
    ),
    ("Stop", exited(0, {"decision": "block", "reason": "R"}), 'Stop hook blocking error from command: "hook-0": R'),
    (
        "SubagentStop",
        exited(0, {"decision": "block", "reason": "R"}),
        'SubagentStop hook blocking error from command: "hook-0": R',
    ),
    ("Stop", exited(2, "", "R"), None),
    (
        "PostToolUse",
        exited(0, {"continue": False, "stopReason": "HALT"}),
        "PostToolUse:Bash hook stopped continuation: HALT",
    ),
    ("PreToolUse", exited(0, {"systemMessage": "for the user"}), None),
]


@pytest.mark.parametrize(("name", "reply", "expected"), TEXTS)
def test_what_the_model_reads(name: str, reply: Reply, expected: str | None) -> None:
    texts = [model_text(attachment) for attachment in fired(name, reply)]
    assert [said for said in texts if said is not None] == ([] if expected is None else [expected])


def test_contexts_of_several_hooks_are_one_text_in_configuration_order() -> None:
    replies = [exited(0, specific("PreToolUse", additionalContext=name)) for name in ("A", "B")]
    assert model_text(fired("PreToolUse", *replies)[-1]) == "PreToolUse:Bash hook additional context: A\nB"


def test_a_blocked_prompt_takes_the_words_of_other_hooks_with_it() -> None:
    attached = fired("UserPromptSubmit", exited(0, "plain"), exited(2, "", "no"))
    assert [model_text(attachment) for attachment in attached] == [None, None]


def test_a_background_hook_speaks_bare() -> None:
    moment = event("PostToolUse")
    output = {**specific("PostToolUse", additionalContext="CTX"), "systemMessage": "MSG"}
    job = Job(command(), moment, b"", 0, "hook-1", None)
    attached = late_attachment(interpret_late("bg-1", job, exited(0, output, "e")), "PostToolUse:Bash", "toolu_1")
    assert (attached["type"], attached["stderr"], attached["exitCode"]) == ("async_hook_response", "e", 0)
    assert model_text(attached) == "MSG\n\nCTX"
    silent = late_attachment(interpret_late("bg-1", job, TimedOut(1)), "PostToolUse:Bash", "toolu_1")
    assert model_text(silent) is None


def test_the_summary_of_a_stop_counts_and_times_its_hooks() -> None:
    stopped = outcome("Stop", exited(0, {"continue": False, "stopReason": "S"}), exited(1, "", "bad"))
    assert stop_summary(stopped, "id") == {
        "hookCount": 2,
        "hookInfos": [{"command": "hook-0", "durationMs": 250}, {"command": "hook-1", "durationMs": 250}],
        "hookErrors": ["Failed with non-blocking status code: bad"],
        "preventedContinuation": True,
        "stopReason": "S",
        "hasOutput": True,
        "toolUseID": "id",
    }


def test_an_empty_conversation_has_no_last_line() -> None:
    assert Conversation((), {}).last is None
