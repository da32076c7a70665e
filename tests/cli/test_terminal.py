"""Lines that fit the terminal: the law of folding, and the commands at several widths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Shell
from hookwright.cli.terminal import folded, visible
from support import hooks_for, settings

LINES = st.text(alphabet="ab /x.", max_size=120)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@given(LINES, st.integers(10, 130))
def test_a_line_that_fits_is_unchanged(line: str, width: int) -> None:
    assert visible(line) > width or list(folded([line], width)) == [line]


@given(LINES, st.integers(10, 130))
def test_nothing_is_added_or_lost_but_white_space(line: str, width: int) -> None:
    assert "".join("".join(folded([line], width)).split()) == "".join(line.split())


@given(LINES, st.integers(20, 130))
def test_no_line_is_longer_unless_a_word_is(line: str, width: int) -> None:
    longest = max((len(part) for word in line.split() for part in word.split("/")), default=0) + 1
    assert all(visible(part) <= max(width, width // 2 + longest) for part in folded([line], width))


@given(LINES)
def test_a_pipe_has_no_width(line: str) -> None:
    assert list(folded([line], None)) == [line]


HOOK = {"type": "command", "command": "exit 1; # a rather long command with many words that has to be folded somewhere"}


@pytest.mark.parametrize("width", [40, 80, 120])
def test_commands_fit_the_terminal(shell: Shell, width: int) -> None:
    settings(shell.home, hooks_for("Stop", HOOK))
    settings(shell.project, {**hooks_for("Stop", HOOK), "permissions": {"deny": ["Read(.env)"]}})
    case = {"name": "a case whose name is long enough to be folded", "event": "Stop", "expect": {"decision": "block"}}
    (shell.project / "cases.json").write_text(json.dumps([case]))
    commands = ["list", "fire Stop", "explain Stop", "stats", "trace", "rules", "check", "doctor", "trust --show"]
    for arguments in map(str.split, [*commands, "test --trust cases.json", "new --list"]):
        out = shell(*arguments, COLUMNS=str(width)).stdout
        lines = [line for line in out.splitlines() if not line.startswith("      +")]  # code under review is not folded
        long = [line for line in lines if len(line) > width and max(map(len, line.split())) < width // 2]
        assert long == [], (arguments, long)


def test_a_list_of_an_unknown_event_is_an_error(shell: Shell) -> None:
    done = shell("list", "stop")
    assert (done.returncode, "Did you mean `Stop`?" in done.stderr) == (2, True)


def test_a_list_names_each_event_once(shell: Shell) -> None:
    settings(shell.home, {"hooks": {**hooks_for("Stop", HOOK)["hooks"], **hooks_for("PreToolUse", HOOK)["hooks"]}})
    settings(shell.project, {"hooks": {**hooks_for("Stop", HOOK)["hooks"], **hooks_for("PreToolUse", HOOK)["hooks"]}})
    heads = [line.split()[0] for line in shell("list").stdout.splitlines() if line[:1].isalpha()]
    assert sorted(heads) == ["PreToolUse", "Stop"]


def test_check_without_arguments_falls_back_to_the_users_settings(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "true"}, matcher="bash"))
    done = shell("check", "--format", "concise")
    assert (done.returncode, "checking your own settings" in done.stderr) == (1, True)
    assert [line.split(" ", 3)[1:3] for line in done.stdout.splitlines()[:1]] == [["error", "HK203"]]


def test_a_finding_shows_its_line(shell: Shell) -> None:
    settings(shell.project, hooks_for("PreToolUse", {"type": "command", "command": "true"}, matcher="bash"))
    out = shell("check").stdout
    assert "^" in out
    assert '"matcher": "bash"' in out
