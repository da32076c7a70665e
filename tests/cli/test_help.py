"""Help pages: complete, plain, and in one form for every command."""

from __future__ import annotations

import argparse
import re

import pytest

from hookwright.cli import COMMANDS, overview
from hookwright.cli.parsers import parser_of

#: Habits of speech that are kept out of help pages; plain forms are "is not a", "after", "instead of", "again", …
UNPLAIN = re.compile(
    r"\b(?:is no|stands?|anew|in the place of|whoever|nobody|somebody|behind the|mend|so many|go(?:es)? on|left out"
    r"|leave out|told|tells?|, too|for want of|counts? as|a line of words|taken up|carr(?:y|ied) out|further)\b",
    re.IGNORECASE,
)


def texts(name: str) -> list[str]:
    parser = parser_of(name)
    return [COMMANDS[name], parser.epilog or "", *(action.help or "" for action in parser._actions)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_plain_and_every_argument_has_one(name: str) -> None:
    for action in parser_of(name)._actions:
        assert action.help, action
        assert action.help != argparse.SUPPRESS, action
        assert not action.help.endswith("."), action.help
    assert [text for text in texts(name) if UNPLAIN.search(text)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_begins_with_a_short_usage_and_a_sentence(name: str) -> None:
    usage, blank, description, *rest = parser_of(name).format_help().splitlines()
    assert usage.startswith(f"Usage: hookwright {name} [OPTIONS]")
    assert (blank, description[0], description[-1]) == ("", description[0].upper(), ".")
    headings = [line for line in rest if re.fullmatch(r"\w[\w ]*:", line)]
    assert "Options:" in headings
    assert "options:" not in headings
    helped = [line.split("  ")[-1] for line in rest if re.match(r"  (?:-\w, )?--\w[\w-]*  +\w", line)]
    assert helped
    assert [text for text in helped if text[0].islower()] == []


def test_letters_of_a_description_stay_as_they_are() -> None:
    assert "Print JSON Schemas for" in overview()
    assert "Print JSON Schemas for" in parser_of("schema").format_help()
