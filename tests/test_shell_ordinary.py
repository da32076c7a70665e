"""A reader that is in doubt about everything is useless: the commands of ordinary work are decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.matching.conditions import Reading, Undecided, Where, parse_rule
from hookwright.matching.shell import analyse_bash

#: One command per line, `⏎` for a line end.
COMMANDS = [
    line.replace("⏎", "\n")
    for line in (Path(__file__).parent / "data" / "ordinary_commands.txt").read_text().splitlines()
]
WHERE = Where(cwd="/w", home="/home/u", anchor="/w")


def test_the_list_is_long_enough() -> None:
    assert len(set(COMMANDS)) >= 500


@pytest.mark.parametrize("reading", [Reading.CONDITION, Reading.ASK, Reading.DENY])
@pytest.mark.parametrize(
    ("rule", "most"), [("Bash(dropdb *)", 0.03), ("Bash(git push --force *)", 0.06), ("Bash(rm -rf *)", 0.06)]
)
def test_few_ordinary_commands_are_in_doubt(rule: str, most: float, reading: Reading) -> None:
    answers = [parse_rule(rule).match("Bash", {"command": command}, WHERE, reading) for command in COMMANDS]
    doubtful = [command for command, answer in zip(COMMANDS, answers, strict=True) if isinstance(answer, Undecided)]
    assert len(doubtful) / len(COMMANDS) <= most, doubtful


def test_all_of_them_are_read() -> None:
    assert {command: analyse_bash(command).problem for command in COMMANDS if analyse_bash(command).problem} == {}
