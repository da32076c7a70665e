"""Conversations read back, whoever wrote the file; sessions listed, found and forked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.transcripts import (
    SESSION,
    assistant,
    fired,
    lines,
    result,
    text,
    transcript,
    use,
    whole_session,
)
from hookwright.agent.state.prompts import MEANWHILE
from hookwright.agent.transcript import (
    InvalidSession,
    checked_id,
    closed,
    conversation,
    find_session,
    fork_session,
    latest_session,
    list_sessions,
    load,
    pending,
    program_note,
    project_folder,
    project_folders,
    session_path,
    slug,
    subagent_path,
)
from hookwright.agent.turn.transcripts import check_dropped
from support import exited

# ── reading ─────────────────────────────────────────────────────────────────


def linked(name: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
    return {"uuid": name, "parentUuid": parent, "type": kind, "isSidechain": False, **fields}


def as_claude_code_writes(ends: list[int]) -> list[dict[str, Any]]:
    """Four calls of one message, each a line; each result below its own call, in the order of `ends`, with context."""
    out = [linked("u", None, "user", message={"role": "user", "content": "go"})]
    for n in range(1, 5):
        out.append(linked(f"a{n}", out[-1]["uuid"], "assistant", message=assistant("msg_1", use(f"t{n}"))))
    for n in ends:
        out.append(linked(f"r{n}", f"a{n}", "user", message={"role": "user", "content": [result(f"t{n}", f"out {n}")]}))
        context = {"type": "hook_additional_context", "content": [f"ctx {n}"], "hookName": "PostToolUse:Bash"}
        out.append(linked(f"c{n}", f"r{n}", "attachment", attachment=context))
    return [*out, linked("end", out[-1]["uuid"], "assistant", message=assistant("msg_2", text("done")))]


@pytest.mark.parametrize("ends", [[1, 2, 3, 4], [3, 1, 4, 2], [4, 3, 2, 1], [2, 4, 1, 3]])
def test_results_of_parallel_calls_are_found_wherever_they_hang(ends: list[int]) -> None:
    first, turn, results, said, last = conversation(as_claude_code_writes(ends)).messages()
    assert first["content"] == "go"
    assert [block["id"] for block in turn["content"]] == ["t1", "t2", "t3", "t4"]
    assert [block["content"] for block in results["content"]] == ["out 1", "out 2", "out 3", "out 4"]
    contexts = [f"PostToolUse:Bash hook additional context: ctx {n}" for n in ends]
    assert said == {"role": "system", "content": "\n\n".join(contexts)}
    assert last["content"] == [text("done")]


@pytest.mark.parametrize("ends", [[1, 2, 3, 4], [3, 1, 4, 2]])
def test_a_call_that_hangs_beside_the_chain_comes_with_its_result(ends: list[int]) -> None:
    lines_ = as_claude_code_writes(ends)
    lines_[-1]["parentUuid"] = "r1"
    messages = conversation(lines_).messages()
    assert [block["id"] for block in messages[1]["content"]] == ["t1", "t2", "t3", "t4"]
    assert [block["content"] for block in messages[2]["content"]] == ["out 1", "out 2", "out 3", "out 4"]
    assert closed(messages) == messages


def test_a_branch_the_user_left_stays_out() -> None:
    lines_ = as_claude_code_writes([1, 2, 3, 4])
    again = [
        linked("u2", "u", "user", message={"role": "user", "content": "again"}),
        linked("b1", "u2", "assistant", message=assistant("msg_3", text("other"))),
    ]
    messages = conversation([*lines_, *again]).messages()
    assert [message["content"] for message in messages] == ["go", "again", [text("other")]]


def test_messages_put_results_together_and_hook_text_behind_them(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    first, turn, results, said, last = load(t.path).messages()
    assert first == {"role": "user", "content": "run both"}
    assert [block["type"] for block in turn["content"]] == ["thinking", "tool_use", "tool_use"]
    assert results == {"role": "user", "content": [result("t1", "one"), result("t2", "two")]}
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
    assert [block["content"] for block in blocks] == ["REWRITTEN", "two"]


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
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": ["t"]}]}},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": {}}]}},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use"}]}},
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
    uses: tuple[Callable[[], object], ...] = (
        lambda: checked_id(name),
        lambda: session_path(str(tmp_path), name),
        lambda: subagent_path(str(tmp_path / "s.jsonl"), name),
        lambda: find_session([str(tmp_path)], name),
    )
    for attempt in uses:
        with pytest.raises(InvalidSession, match="not a session id"):
            attempt()


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
    with pytest.raises(InvalidSession, match="there is no session to continue"):
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


@given(st.integers(0, 6))
def test_a_conversation_that_ends_at_a_line_reads_as_if_nothing_had_followed(place: int) -> None:
    with TemporaryDirectory() as folder:
        t = whole_session(Path(folder))
        t.user("next prompt", "next", promptId="p2")
        t.close()
        written = lines(t.path)
    at = written[place]["uuid"]
    cut = conversation(written, at)
    assert cut.messages() == conversation(written[: place + 1]).messages()
    assert cut.last == at
    assert [entry["uuid"] for entry in cut.dropped] == [line["uuid"] for line in written[place + 1 :]]
    with pytest.raises(InvalidSession, match="there is no message nowhere"):
        conversation(written, "nowhere")


def test_a_cut_keeps_what_hooks_rewrote_and_a_fork_can_be_cut(tmp_path: Path) -> None:
    t = whole_session(tmp_path)
    t.replace_result("t1", "REWRITTEN")
    last = lines(t.path)[-2]["uuid"]
    t.user("lost", promptId="p2")
    path = fork_session(t.path, "fork-1", str(tmp_path), last)
    assert "REWRITTEN" in str(load(path).messages())
    assert "lost" not in str(load(path).messages())


@pytest.mark.parametrize(
    ("dropped", "refused"),
    [
        ([], "is not the uuid of a prompt after"),
        (["prompt"], None),
        (["prompt", "answer", "result", "meta"], None),
        (["answer", "prompt"], None),
        (["prompt", "other"], "others are other"),
        (["prompt", "meanwhile"], "others are meanwhile"),
    ],
)
def test_a_resume_may_lose_one_turn_and_nothing_else(dropped: list[str], refused: str | None) -> None:
    said = {"role": "user", "content": "words"}
    kinds: dict[str, dict[str, Any]] = {
        "prompt": {"type": "user", "message": said},
        "other": {"type": "user", "message": said},
        "answer": {"type": "assistant", "message": assistant("m", text("hello"))},
        "result": {"type": "user", "message": {"role": "user", "content": [result("t1")]}},
        "meta": {"type": "user", "message": said, "isMeta": True},
        "meanwhile": {"type": "attachment", "attachment": program_note(MEANWHILE.format(prompt="stop"))},
    }
    first = {"uuid": "first", "parentUuid": None, **kinds["other"]}
    written = [first, *({"uuid": name, "parentUuid": "first", **kinds[name]} for name in dropped)]
    cut = conversation(written, "first")
    check_dropped(cut, None)
    if refused is None:
        check_dropped(cut, "prompt")
    else:
        with pytest.raises(InvalidSession, match=f"Resume rejected by --resume-drops-turn: .*{refused}"):
            check_dropped(cut, "prompt")


def test_a_mirror_gets_every_line_also_of_subagents(tmp_path: Path) -> None:
    seen: list[tuple[str, Any]] = []
    t = transcript(tmp_path, mirror=lambda path, line: seen.append((path, dict(line))))
    t.user("one")
    t.side("custom-title", customTitle="T")
    child = t.subagent("a1", {"agentType": "Explore"})
    child.user("inner")
    assert [line for path, line in seen if path == t.path] == lines(t.path)
    meta, *inner = [line for path, line in seen if path == child.path]
    assert meta == {"agentType": "Explore", "type": "agent_metadata"}
    assert inner == lines(child.path)


def test_fragments_of_one_message_are_joined_whatever_form_they_have() -> None:
    def line(uuid: str, parent: str | None, content: Any) -> dict[str, Any]:
        message = {"role": "assistant", "id": "m", "content": content}
        return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message}

    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    found = conversation([line("a", None, "hi"), line("b", "a", [call]), line("c", "b", "there")]).messages()
    assert [message["content"] for message in found] == [
        [{"type": "text", "text": "hi"}, call, {"type": "text", "text": "there"}]
    ]
    assert pending(found) == [call]
