"""Read, Write, Edit and the patches that they report."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.benches import call, make_bench
from hookwright.agent.tools import TOOLS, ToolContext, ToolResult
from hookwright.agent.tools.patch import hunks


@pytest.fixture
def bench(tmp_path: Path) -> ToolContext:
    return make_bench(tmp_path)


def put(bench: ToolContext, name: str, content: str | bytes) -> str:
    path = Path(bench.cwd) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


# ── Read ────────────────────────────────────────────────────────────────────


def test_read_has_the_observed_shape(bench: ToolContext) -> None:
    put(bench, "f.txt", "x\n")
    done = call(bench, "Read", file_path="f.txt")
    file = {"filePath": "f.txt", "content": "x\n", "numLines": 2, "startLine": 1, "totalLines": 2}
    assert done == ToolResult({"type": "text", "file": file}, "1\tx\n2\t")
    assert list(done.response["file"]) == list(file)


#: Content, offset and limit, and what comes of them: content, numLines, startLine, totalLines.
PARTS: list[tuple[str, dict[str, int], tuple[str, int, int, int]]] = [
    ("a\nb\nc", {}, ("a\nb\nc", 3, 1, 3)),
    ("a\nb\nc", {"offset": 2, "limit": 1}, ("b", 1, 2, 3)),
    ("a\nb\nc\n", {"offset": 3}, ("c\n", 2, 3, 4)),
    ("a\nb\nc\n", {"limit": 3}, ("a\nb\nc", 3, 1, 4)),
    ("a\r\nb\r\n", {}, ("a\nb\n", 3, 1, 3)),
    ("\ufeffa", {"offset": 0}, ("a", 1, 1, 1)),
    ("", {}, ("", 0, 1, 0)),
]


@pytest.mark.parametrize(("content", "part", "expected"), PARTS)
def test_read_counts_lines(
    bench: ToolContext, content: str, part: dict[str, int], expected: tuple[str, int, int, int]
) -> None:
    put(bench, "f.txt", content)
    file = call(bench, "Read", file_path="f.txt", **part).response["file"]
    assert (file["content"], file["numLines"], file["startLine"], file["totalLines"]) == expected


@given(st.text(alphabet="ab\n", max_size=20), st.integers(1, 6), st.integers(1, 6))
def test_law_read_gives_exactly_the_asked_lines(
    tmp_path_factory: pytest.TempPathFactory, content: str, offset: int, limit: int
) -> None:
    bench = make_bench(tmp_path_factory.mktemp("b"))
    put(bench, "f", content)
    done = call(bench, "Read", file_path="f", offset=offset, limit=limit)
    lines = content.split("\n") if content else []
    wanted = lines[offset - 1 : offset - 1 + limit]
    if lines and not wanted:
        assert done.is_error
    else:
        file = done.response["file"]
        assert file["content"] == "\n".join(wanted)
        assert (file["numLines"], file["totalLines"]) == (len(wanted), len(lines))


def test_an_empty_file_is_said_to_be_empty(bench: ToolContext) -> None:
    put(bench, "f", "")
    assert call(bench, "Read", file_path="f").text == "(the file is empty)"


def test_a_long_line_is_cut_for_the_model_alone(bench: ToolContext) -> None:
    put(bench, "f", "y" * 5000)
    done = call(bench, "Read", file_path="f")
    assert len(done.response["file"]["content"]) == 5000
    assert str(done.text).endswith("... [line truncated]")


def test_what_cannot_be_read_is_a_failure_with_a_way_out(bench: ToolContext) -> None:
    put(bench, "binary", b"\x7fELF\0\0")
    put(bench, "large", "line\n" * 60_000)
    put(bench, "wide", "z" * 300_000)
    os.mkfifo(os.path.join(bench.cwd, "fifo"))
    for arguments, said in (
        ({"file_path": "absent"}, "File does not exist"),
        ({"file_path": "."}, "is a directory"),
        ({"file_path": "fifo"}, "not a regular file"),
        ({"file_path": "binary"}, "binary file"),
        ({"file_path": "large"}, "offset and limit"),
        ({"file_path": "wide", "limit": 1}, "smaller limit"),
        ({"file_path": "large", "offset": 99_999}, "past its end"),
        ({"file_path": "nul\0byte"}, "cannot be read"),
        ({"file_path": "/dev/zero"}, "not a regular file"),
    ):
        done = call(bench, "Read", **arguments)
        assert done.is_error
        assert said in str(done.text)
    assert call(bench, "Read", file_path="large", offset=59_999, limit=2).response["file"]["totalLines"] == 60_001


# ── Write ───────────────────────────────────────────────────────────────────


def test_write_creates_and_updates(bench: ToolContext) -> None:
    path = os.path.join(bench.cwd, "new/dir/f.txt")
    done = call(bench, "Write", file_path="new/dir/f.txt", content="one\n")
    assert done.response == {
        "type": "create",
        "filePath": "new/dir/f.txt",
        "content": "one\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    assert list(done.response) == ["type", "filePath", "content", "structuredPatch", "originalFile", "userModified"]
    again = call(bench, "Write", file_path=path, content="two\n").response
    assert (again["type"], again["originalFile"]) == ("update", "one\n")
    assert again["structuredPatch"][0]["lines"] == ["-one", "+two"]
    assert Path(path).read_text() == "two\n"


def test_write_keeps_the_mode_follows_links_and_leaves_no_temporary_file(bench: ToolContext) -> None:
    path = put(bench, "script.sh", "old")
    os.chmod(path, 0o750)
    os.symlink(path, os.path.join(bench.cwd, "link"))
    call(bench, "Write", file_path="link", content="new")
    assert os.path.islink(os.path.join(bench.cwd, "link"))
    assert (Path(path).read_text(), os.stat(path).st_mode & 0o777) == ("new", 0o750)
    assert sorted(os.listdir(bench.cwd)) == ["link", "script.sh"]


def test_write_refuses_what_is_no_file(bench: ToolContext) -> None:
    os.mkfifo(os.path.join(bench.cwd, "fifo"))
    put(bench, "file", "x")
    for path, said in ((".", "directory"), ("fifo", "not a regular file"), ("file/below", "cannot be written")):
        done = call(bench, "Write", file_path=path, content="x")
        assert done.is_error
        assert said in str(done.text)
    assert not os.path.isfile(os.path.join(bench.cwd, "fifo"))


def test_write_replaces_a_binary_file(bench: ToolContext) -> None:
    path = put(bench, "f", b"\0\1\2")
    assert call(bench, "Write", file_path="f", content="text").response["originalFile"] == ""
    assert Path(path).read_text() == "text"


# ── Edit ────────────────────────────────────────────────────────────────────


def test_edit_has_the_observed_shape(bench: ToolContext) -> None:
    path = put(bench, "f.txt", "a\nb\nc\n")
    call(bench, "Read", file_path="f.txt")
    done = call(bench, "Edit", file_path="f.txt", old_string="b", new_string="B")
    expected = {
        "filePath": "f.txt",
        "oldString": "b",
        "newString": "B",
        "originalFile": "a\nb\nc\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+B", " c"]}
        ],
        "userModified": False,
        "replaceAll": False,
    }
    assert (done.response, list(done.response)) == (expected, list(expected))
    assert Path(path).read_text() == "a\nB\nc\n"


def test_an_edit_of_a_file_the_model_has_not_read_says_so(bench: ToolContext) -> None:
    put(bench, "f.txt", "a\nb\n")
    done = call(bench, "Edit", file_path="f.txt", old_string="b", new_string="B")
    assert done.response["contentNotInModelContext"] is True
    assert done.text == "The file f.txt has been updated successfully."
    call(bench, "Read", file_path="f.txt")
    again = call(bench, "Edit", file_path="f.txt", old_string="B", new_string="b")
    assert "contentNotInModelContext" not in again.response
    assert str(again.text).endswith("no need to Read it back)")


def test_an_empty_file_is_created_like_a_missing_one(bench: ToolContext) -> None:
    put(bench, "f.txt", "")
    done = call(bench, "Write", file_path="f.txt", content="x\n").response
    assert (done["type"], done["filePath"], done["originalFile"]) == ("create", "f.txt", None)


#: An edit that is refused before any hook hears of it, and the words.
OBJECTIONS: list[tuple[dict[str, Any], str]] = [
    ({"file_path": "none.txt", "old_string": "a", "new_string": "b"}, "File does not exist"),
    ({"file_path": "f.txt", "old_string": "zzz", "new_string": "b"}, "not found"),
    ({"file_path": "f.txt", "old_string": "a", "new_string": "b"}, "Found 2 matches"),
    ({"file_path": "f.txt", "old_string": "a", "new_string": "a"}, "exactly the same"),
    ({"file_path": "f.txt", "old_string": "", "new_string": "a"}, "not empty"),
    ({"file_path": "latin", "old_string": "a", "new_string": "b"}, "not UTF-8"),
    ({"file_path": ".", "old_string": "a", "new_string": "b"}, "directory"),
]


@pytest.mark.parametrize(("arguments", "said"), OBJECTIONS)
def test_an_edit_that_cannot_be_made_is_objected_to_and_changes_nothing(
    bench: ToolContext, arguments: dict[str, Any], said: str
) -> None:
    put(bench, "f.txt", "a\na\n")
    put(bench, "latin", b"a \xe9\n")
    edit = TOOLS["Edit"]
    objection = edit.objection
    assert objection is not None
    assert said in str(objection(edit.normalise(arguments, bench.cwd, "/home/x")))
    done = call(bench, "Edit", **arguments)
    assert done.is_error
    assert said in str(done.text)
    assert Path(bench.cwd, "f.txt").read_text() == "a\na\n"
    assert not Path(bench.cwd, "none.txt").exists()


def test_edit_replaces_all_makes_files_and_keeps_line_ends(bench: ToolContext) -> None:
    put(bench, "f.txt", "a\na\n")
    done = call(bench, "Edit", file_path="f.txt", old_string="a", new_string="b", replace_all=True)
    assert (Path(bench.cwd, "f.txt").read_text(), done.response["replaceAll"]) == ("b\nb\n", True)
    put(bench, "new.txt", "\n")
    call(bench, "Edit", file_path="new.txt", old_string="", new_string="filled\n")
    assert Path(bench.cwd, "new.txt").read_text() == "filled\n"
    os.unlink(os.path.join(bench.cwd, "new.txt"))
    call(bench, "Edit", file_path="new.txt", old_string="", new_string="made\n")
    assert Path(bench.cwd, "new.txt").read_text() == "made\n"
    dos = put(bench, "dos.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    call(bench, "Edit", file_path="dos.txt", old_string="one\ntwo", new_string="1\n2")
    assert Path(dos).read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"
    call(bench, "Edit", file_path="dos.txt", old_string="1\r\n2", new_string="3\r\n4")
    assert Path(dos).read_bytes() == b"\xef\xbb\xbf3\r\n4\r\n"


# ── patches ─────────────────────────────────────────────────────────────────


def applied(old: str, found: list[dict[str, Any]], folder: Path) -> str:
    """Let patch(1) carry the hunks out."""
    text = "--- a\n+++ b\n"
    for hunk in found:
        text += f"@@ -{hunk['oldStart']},{hunk['oldLines']} +{hunk['newStart']},{hunk['newLines']} @@\n"
        text += "".join(f"{line}\n" for line in hunk["lines"])
    (folder / "old").write_text(old)
    argv = ["patch", "-s", "--posix", "old", "-o", "new"]
    done = subprocess.run(argv, input=text, text=True, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "new").read_text()


LINES = st.lists(st.sampled_from(["a", "b", "c", "long line"]), max_size=14).map("\n".join)
ENDS = st.sampled_from(["", "\n"])


@pytest.mark.skipif(subprocess.run(["which", "patch"], capture_output=True).returncode != 0, reason="no patch(1)")
@given(LINES, ENDS, LINES, ENDS)
def test_law_the_hunks_turn_the_old_text_into_the_new(
    tmp_path_factory: pytest.TempPathFactory, old: str, old_end: str, new: str, new_end: str
) -> None:
    before, after = old + old_end, new + new_end
    found = hunks(before, after)
    if before == after:
        assert found == []
    else:
        assert applied(before, found, tmp_path_factory.mktemp("p")) == after


def test_far_changes_are_hunks_of_their_own_and_huge_ones_are_quick() -> None:
    lines = [f"line {number}" for number in range(100)]
    changed = [*lines[:10], "NEW", *lines[11:80], *lines[81:]]
    found = hunks("\n".join(lines), "\n".join(changed))
    assert [(hunk["oldStart"], hunk["newStart"]) for hunk in found] == [(8, 8), (78, 78)]
    old, new = "\n".join(f"a{n}" for n in range(20_000)), "\n".join(f"b{n}" for n in range(20_000))
    assert [hunk["oldLines"] for hunk in hunks(old, new)] == [20_000]
