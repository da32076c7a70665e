"""What hooks, projects and payloads say cannot do anything on the user's screen but be read."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import HOOKWRIGHT, Shell
from hookwright.text import harmless
from support import hooks_for, settings

#: Moves the cursor, clears the screen, sets the title, writes the clipboard, answers itself, turns text around.
EVIL = "\x1b[2J\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b[6n\x9b31m\r\x08\x7f\x00\u202etxet\u2066\u200b\U000e0041\u2028"
#: What Hookwright itself writes on a terminal.
COLOURS = re.compile(r"\x1b\[(?:0|1|2|31|32|33)m")
INVISIBLE = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


def on_a_terminal(shell: Shell, *args: str) -> str:
    """Run a command on a terminal of its own; give what reached the screen."""
    ours, theirs = pty.openpty()
    env = {**shell.env, "TERM": "xterm-256color", "COLUMNS": "200"}
    process = subprocess.Popen(
        [*HOOKWRIGHT, *args], cwd=shell.project, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the last writer closed the terminal
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    process.wait()
    return seen.decode("utf-8", "replace")


def forbidden(screen: str) -> list[str]:
    """List the characters that could do something."""
    plain = COLOURS.sub("", screen).replace("\r\n", "\n")
    found = [char for char in plain if unicodedata.category(char) == "Cc" and char not in "\n\t"]
    return [*map(repr, found), *map(repr, INVISIBLE.findall(plain))]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    answer = json.dumps({"systemMessage": EVIL, "decision": "block", "reason": EVIL, EVIL: 1})
    (made.project / "answer.json").write_text(answer)
    hook = {"type": "command", "command": f"cat answer.json; true '{EVIL.replace(chr(0), '')}'"}
    stderr = {"type": "command", "command": "cat answer.json >&2; exit 2", "statusMessage": EVIL}
    settings(made.home, hooks_for("PreToolUse", hook, stderr, matcher=f"Bash|{EVIL}"))
    evil_script = made.project / "guard\x1b[2J.sh"
    evil_script.write_text(f"# {EVIL}\nexit 0\n")
    theirs = {"type": "command", "command": f"sh './guard\x1b[2J.sh' {EVIL.replace(chr(0), '')}"}
    project = {**hooks_for("PreToolUse", theirs, matcher=EVIL), EVIL: EVIL, "env": {"A": EVIL}}
    settings(made.project, project)
    return made


@pytest.mark.parametrize(
    "args",
    [
        ("fire", "PreToolUse", "--tool", "Bash"),
        ("fire", "PreToolUse", "--tool", "Bash", "--as-model"),
        ("list",),
        ("explain", "PreToolUse", "--tool", "Bash"),
        ("trust", "--show"),
        ("check",),
        ("doctor",),
    ],
    ids=lambda args: " ".join(args),
)
def test_no_escape_reaches_the_screen(args: tuple[str, ...], shell: Shell) -> None:
    seen = on_a_terminal(shell, *args)
    assert len(seen) > 100, seen
    assert forbidden(seen) == []


def test_the_agent_shows_neither_an_untrusted_project_nor_a_models_answer_with_escapes(shell: Shell) -> None:
    (shell.project.parent / "script.json").write_text(json.dumps({"turns": [[{"text": f"done {EVIL}"}]]}))
    args = ("run", "-p", "--script", str(shell.project.parent / "script.json"), "--verbose", "go")
    seen = on_a_terminal(shell, *args)
    assert "off until you review" in seen
    assert "done" in seen
    assert forbidden(seen) == []


def test_what_the_journal_holds_is_shown_harmlessly(shell: Shell) -> None:
    shell("fire", "PreToolUse", "--tool", "Bash")
    assert forbidden(on_a_terminal(shell, "trace")) == []


@pytest.mark.parametrize("args", [("list",), ("explain", "PreToolUse", "--tool", "Bash"), ("trust", "--show")])
def test_a_pipe_gets_no_escape_of_a_project_either(args: tuple[str, ...], shell: Shell) -> None:
    ended = shell(*args)
    assert forbidden(ended.stdout + ended.stderr) == []


def test_the_review_shows_what_a_direction_mark_would_hide(shell: Shell) -> None:
    (shell.project / "guard\x1b[2J.sh").write_text("echo safe # \u202e;x fr- mr\n")
    seen = shell("trust", "--show").stdout
    assert "echo safe # �;x fr- mr" in seen


@given(st.text())
def test_law_harmless_text_is_harmless_and_stays_the_same_length_at_least(text: str) -> None:
    shown = harmless(text)
    assert forbidden(shown) == []
    assert len(shown) == len(text)
    assert harmless(shown) == shown
