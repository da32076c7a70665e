"""Plain English: habits that make a text read as translated stay out of what users read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import house
from docpages import PAGES, ROOT, without_blocks
from phrases import FORBIDDEN, HABITS, TOLERATED, habits_in

PACKAGE = ROOT / "src" / "hookwright"
MODULES = house.read(PACKAGE)


def refused(text: str) -> list[str]:
    """Name the words of a text that no text for users may contain."""
    return [words for habit, words in habits_in(text) if habit in FORBIDDEN]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_strings_are_plain(path: Path) -> None:
    """Every string of more than one word may reach a user or a model; docstrings are not strings."""
    found = {line: words for line, text in house.prose_lines(MODULES[path]) if (words := refused(text))}
    assert found == {}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_plain(path: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "`…`", without_blocks(path.read_text()))
    paragraphs = re.split(r"\n\s*\n|\n(?=[-*|] |\d+\. |#)", text)
    assert [(words, part.strip()[:100]) for part in paragraphs if (words := refused(part))] == []


def test_docstrings_of_the_api_page_are_plain() -> None:
    """The page copies them from the source, so its readers see them."""
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    assert [(words, line) for line in page.splitlines() if (words := refused(line))] == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("`--tools` is no list", "`--tools` is not a list"),
        ("the same handler stands in settings.json:6", "the same handler is declared at settings.json:6"),
        ("a key that nobody reads", "an unknown key"),
        ("Read all configuration anew", "Reload the configuration"),
        ("in the place of the usual one", "instead of the default"),
        ("whoever shows them empties the list", "the caller must clear this list"),
        ("words behind the colon", "text after the colon"),
        ("The whole file is left out", "The whole file is ignored"),
        ("the action goes on", "the action proceeds"),
        ("2 can be mended", "2 fixable"),
        ("`once` counts only in skills", "`once` only applies in skills"),
        ("Tell whether a name fits.", "Return whether the name matches."),
        ("one folder a project", "one folder per project"),
        ("at most so many cases", "at most N cases"),
        ("outside of quotes", "outside quotes"),
        ("work in another directory, too", "also work in another directory"),
        ("calls that an earlier run put off", "deferred calls"),
        ("what all of it comes to", "the combined result"),
        ("what cannot be written is told once", "write errors are reported once"),
        ("a hook wants to be first", "a hook asked to be first"),
        ("a process beside this one", "a second process"),
    ],
)
def test_each_habit_is_noticed_and_its_plain_form_is_not(text: str, plain: str) -> None:
    assert refused(text)
    assert not refused(plain)


@pytest.mark.parametrize(
    "text", ["there is no such file", "it is no longer used", "the standard library", "Claude Code counts in seconds"]
)
def test_good_english_passes(text: str) -> None:
    assert not refused(text)


def test_a_text_over_several_lines_is_read_as_one() -> None:
    assert refused("used in the\n    place of git")


def test_what_is_tolerated_is_known() -> None:
    assert set(TOLERATED) < set(HABITS)
    assert "anew" in FORBIDDEN
