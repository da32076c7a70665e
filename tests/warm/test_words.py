"""What is read as plain words is what a real shell makes of it."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.warm.words import split

ENV = {
    "HOME": "/home/me",
    "CLAUDE_PROJECT_DIR": "/p/a b",
    "PLAIN": "/x/y.py",
    "STAR": "*",
    "EMPTY": "",
    "QUOTE": "a'b\"c",
}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python3 hook.py", ("python3", "hook.py")),
        ("  python3\thook.py  \n", ("python3", "hook.py")),
        ("python3 'a b' \"c d\"", ("python3", "a b", "c d")),
        ('python3 "$CLAUDE_PROJECT_DIR"/x.py', ("python3", "/p/a b/x.py")),
        ('python3 "${CLAUDE_PROJECT_DIR}/x.py" --a=b', ("python3", "/p/a b/x.py", "--a=b")),
        ("python3 $PLAIN", ("python3", "/x/y.py")),
        ("python3 ~/x.py", ("python3", "/home/me/x.py")),
        ("python3 a'b'\"c\"d", ("python3", "abcd")),
        ("python3 '' \"\"", ("python3", "", "")),
        ('python3 "$MISSING"', ("python3", "")),
    ],
)
def test_plain_commands(command: str, words: tuple[str, ...]) -> None:
    assert split(command, ENV) == words


@pytest.mark.parametrize(
    "command",
    [
        "",
        "   ",
        "a; b",
        "a | b",
        "a && b",
        "a &",
        "a > f",
        "a 2>&1",
        "a < f",
        "a $(b)",
        "a `b`",
        'a "$(b)"',
        'a "`b`"',
        'a "\\$x"',
        "a \\b",
        "a *.py",
        "a ?",
        "a [x]",
        "a {b,c}",
        "a # b",
        "X=1 a",
        "X=$PLAIN a",
        "a $CLAUDE_PROJECT_DIR/x.py",
        "a $STAR",
        "a $EMPTY",
        "a $MISSING",
        "a ${PLAIN:-x}",
        "a $1",
        "a $?",
        "a ~user/x",
        "a x~/y",
        "a 'open",
        'a "open',
        "a\nb",
        "( a )",
        "! a",
        'a "b!c"',
        "a é",
    ],
)
def test_what_needs_a_shell(command: str) -> None:
    assert split(command, ENV) is None


PIECES = ["a", "-b", "./c", "=", "'", '"', " ", "\t", "$PLAIN", "${PLAIN}", "$CLAUDE_PROJECT_DIR", "$QUOTE", "$EMPTY"]
PIECES += ["~/", "~", "#", "*", "\\", ";", "'x y'", '"x $CLAUDE_PROJECT_DIR"', '"${QUOTE}"', "$MISSING", "!", "{", ","]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=7).map("".join), min_size=20, max_size=20))
def test_a_real_shell_agrees(commands: list[str]) -> None:
    decided = [(command, words) for command in commands if (words := split(command, ENV)) is not None]
    script = "\n".join(f"set -- {command}\nprintf '%s\\0' \"$#\" \"$@\"; printf '\\n\\0'" for command, _ in decided)
    shell = subprocess.run(["/bin/sh", "-c", script], env=ENV, capture_output=True, text=True, check=True)
    expected = "".join("\0".join([str(len(words)), *words, "\n", ""]) for _, words in decided)
    assert shell.stdout == expected
