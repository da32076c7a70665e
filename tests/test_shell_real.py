"""What Bash itself runs, a rule sees: random scripts, read by us and run by Bash with a program that only tells."""

from __future__ import annotations

import os
import random
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from hookwright.matching.conditions import Match, Undecided, Where, parse_rule

BASH = shutil.which("bash") or "/bin/bash"
RULE = parse_rule("Bash(rm *)")
WHERE = Where(cwd="/w", home="/home/u", anchor="/w")
SCRIPTS = 12_000

WORDS = [
    "echo",
    "a",
    "1",
    "rm",
    "rm x",
    "test",
    "true",
    "false",
    "\\rm x",
    "-",
    "--",
    "~",
    "%",
    "^",
    ",",
    "*",
    "\\",
    "#",
]
TESTS = ["==", "=~", "=", "!=", "-eq", "[[", "]]", "[", "]", "((", "))", "=a", "==a", "~=", "@(a|b)", "?(x)", "+"]
OPERATORS = ["|", "||", "&&", "&", ";", ";;", "(", ")", "{", "}", "!", "|&", "\n", "\n", "\\\n", "\t", "\r"]
REDIRECTIONS = [">", ">>", "<", "<<EOF", "EOF", "\nEOF\n", "<<<", "2>&1", ">&2", "&>", "<(", ">("]
QUOTES = ["$x", "${x}", "`", '"', "'", "$((", "$'a'", '$"a"', "{a,b}", "{1..2}"]
KEYWORDS = [
    "if",
    "then",
    "fi",
    "else",
    "for",
    "i",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "x)",
    "function",
    "f()",
    "until",
]
ASSIGNING = ["time", "coproc", "a=1", "a=(1", "a+=", "a=", "export", "declare", "local", "unset", "let", "select"]
TOKENS = [*WORDS, *TESTS, *OPERATORS, *REDIRECTIONS, *QUOTES, *KEYWORDS, *ASSIGNING]


def runs_rm(script: str, folder: Path) -> bool:
    """Run a script where no program can be found and `rm` is a function that says that it was called."""
    ours, theirs = os.pipe()
    try:
        subprocess.run(
            ["timeout", "-k", "0.5", "2", BASH, "--norc", "-c", f"rm() {{ echo rm >&{theirs}; }}; PATH=\n{script}"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs,),
            check=False,
        )
        os.close(theirs)
        theirs = -1
        # What still runs in the background holds the other end.
        ready, _, _ = select.select([ours], [], [], 2)
        return bool(ready) and os.read(ours, 10) != b""
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)


def passes(script: str) -> bool:
    """Tell whether a guard of `rm` would not be asked about a script."""
    return not isinstance(RULE.matches_any("Bash", {"command": script}, WHERE), Match | Undecided)


def made(number: int) -> str:
    chance = random.Random(number)
    tokens = [chance.choice(TOKENS) for _ in range(chance.randint(1, 7))]
    tokens.insert(chance.randint(0, len(tokens)), "rm x")
    return "".join(token + chance.choice([" ", " ", " ", "", "\n"]) for token in tokens)


@pytest.mark.skipif(shutil.which("timeout") is None, reason="needs timeout, which ends what loops")
def test_no_script_that_runs_a_program_passes_its_guard(tmp_path: Path) -> None:
    scripts = [made(number) for number in range(SCRIPTS)]
    assert [script for script in scripts if passes(script) and runs_rm(script, tmp_path)] == []


@pytest.mark.parametrize(
    "script",
    [
        "echo ==\nrm x",
        "true =~ \n\nrm x",
        "git status\n\\rm -rf x",
        "a=1 \n\\rm x",
        "unset\n\\\nrm x",
        "declare\n\\\n rm x",
        ">\r rm x",
        "<<<\r\nrm x",
        "coproc a=1 rm x",
        "time a= rm x",
        "a+=\\\n rm x",
        "a=\\\n\nrm x",
        "&> != &> == rm x 2>&1",
    ],
)
def test_what_the_parser_misreads_is_not_passed(script: str, tmp_path: Path) -> None:
    assert runs_rm(script, tmp_path)
    assert not passes(script)


def test_words_of_other_programs_pass(tmp_path: Path) -> None:
    for script in (
        "echo rm x",
        "echo 'a\nrm x'",
        "git log \\\n  rm x",
        "a=(1\nrm)\nls",
        "cat <<'A'\nrm x\nA\necho \"b\nrm\"",
    ):
        assert passes(script), script
        assert not runs_rm(script, tmp_path)
