"""Laws of the messages, of the places and of the check for changed code."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.resident.installed import Installed
from hookwright.resident.messages import (
    ANSWER,
    BrokenMessage,
    Reply,
    Request,
    expected,
    read_reply,
    read_request,
    write_reply,
    write_request,
)
from hookwright.resident.places import exposed, runtime_folder, socket_path

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
NAMES = WORDS.filter(lambda name: bool(name) and "=" not in name)


@given(st.lists(WORDS, min_size=1, max_size=5), WORDS, st.dictionaries(NAMES, WORDS, max_size=5), st.binary())
def test_a_request_is_read_as_it_was_written(argv: list[str], cwd: str, env: dict[str, str], stdin: bytes) -> None:
    data = write_request(Request(tuple(argv), "/" + cwd, env, stdin, "1.0"))
    assert expected(data) == len(data)
    read = read_request(data)
    assert (read.argv, read.cwd, read.env, read.stdin, read.version) == (tuple(argv), "/" + cwd, env, stdin, "1.0")


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(max_size=8))
def test_no_bytes_are_taken_for_a_request_that_was_not_written(noise: bytes, at: int, change: bytes) -> None:
    """Every change of a request is noticed, or is another request; nothing else is raised."""
    whole = write_request(Request(("hook",), "/", {"A": "b"}, noise))
    for data in (noise, whole[:at] + change + whole[at + len(change) :], whole[:at]):
        try:
            length = expected(data)
            if length is not None and len(data) >= length:
                assert isinstance(read_request(data[:length]), Request)
        except BrokenMessage:
            continue


@given(st.integers(0, 255), st.binary(), st.binary(), st.integers(0, 40))
def test_a_part_of_an_answer_is_never_an_answer(status: int, out: bytes, err: bytes, cut: int) -> None:
    data = write_reply(Reply(status, out, err))
    assert data[:1] == ANSWER
    whole = read_reply(data[1:])
    assert whole is not None
    assert (whole.status, whole.stdout, whole.stderr) == (status, out, err)
    assert read_reply(data[1 : max(1, len(data) - 1 - cut)]) is None
    with pytest.raises(BrokenMessage):
        read_reply(data[1:] + b"x")


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/h"}, "/run/user/1/hookwright"),
        ({"HOOKWRIGHT_STATE_DIR": "/s", "HOME": "/h"}, "/s/run"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/hookwright/run"),
        ({"XDG_RUNTIME_DIR": "", "HOME": "/h"}, "/h/.local/state/hookwright/run"),
        ({"XDG_RUNTIME_DIR": "relative", "HOME": "/h"}, None),
        ({}, None),
    ],
)
def test_the_first_variable_decides_where_the_socket_is(env: dict[str, str], folder: str | None) -> None:
    assert runtime_folder(env) == folder


def test_a_path_that_is_too_long_for_a_socket_is_none(tmp_path: Path) -> None:
    assert socket_path({"HOME": "/h" * 60}, "/bin/hookwright") is None
    one, other = (socket_path({"HOME": "/h"}, program) for program in ("/a/hookwright", "/b/hookwright"))
    assert one != other


def test_an_exposed_folder_is_named_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    assert exposed(f"{folder}/x.sock") == f"{folder} is open to others; run: chmod 700 {folder}"
    folder.chmod(0o700)
    assert exposed(f"{folder}/x.sock") == ""


def test_replaced_added_and_rewritten_modules_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "part.py"
    module = types.ModuleType("hookwright.part")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "hookwright.part", module)

    def noted() -> Installed:
        file.write_text("x = 1\n")
        return Installed()

    assert noted().current()
    installed = noted()
    (tmp_path / "__pycache__").mkdir()
    assert installed.current()
    file.with_name("new").write_text("x = 2\n")
    file.with_name("new").replace(file)
    assert not installed.current()
    installed = noted()
    (tmp_path / "other.py").write_text("")
    assert not installed.current()
    installed = noted()
    file.write_text("x = 33\n")
    monkeypatch.setattr("hookwright.resident.installed.time.monotonic", lambda: 1e12)
    assert not installed.current()
