"""Words in messages: the one that was meant."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.protocol.events import CATALOGUE
from hookwright.text import LONGEST_WORD, closest, did_you_mean, flat, one_line, short_path


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("PreTooluse", "PreToolUse"),
        ("pre_tool_use", "PreToolUse"),
        ("pre-tool-use", "PreToolUse"),
        ("PreToolUs", "PreToolUse"),
        ("Quit", None),
        ("", None),
        ("PreToolUse" * 7, None),
    ],
)
def test_the_word_that_was_meant(word: str, meant: str | None) -> None:
    assert closest(word, CATALOGUE) == meant
    assert did_you_mean(word, CATALOGUE) == (f". Did you mean `{meant}`?" if meant else "")


@given(st.text(max_size=2 * LONGEST_WORD), st.lists(st.text(max_size=20)))
def test_only_known_words_are_suggested(word: str, known: list[str]) -> None:
    found = closest(word, known)
    assert found is None or found in known
    if word in known and len(word) <= LONGEST_WORD:
        assert found is not None


# ── shorter ─────────────────────────────────────────────────────────────────

names = st.text("abc~. ", min_size=1, max_size=5).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(paths, paths, paths)
def test_a_short_path_leads_to_the_same_file(path: str, cwd: str, home: str) -> None:
    short = short_path(path, cwd, home)
    assert len(short) <= len(path)
    if short == path:
        return
    inside = cwd != "/" and path.startswith(cwd + "/")
    assert short == (os.path.relpath(path, cwd) if inside else "~" + path.removeprefix(home))


def test_a_short_path_is_relative_to_the_directory_before_the_home() -> None:
    assert short_path("/home/u/p/a.sh", "/home/u/p", "/home/u") == "a.sh"
    assert short_path("/home/u/p/a.sh", "/elsewhere", "/home/u") == "~/p/a.sh"
    assert short_path("/home/u", home="/home/u/") == "~"
    assert short_path("/home/user/x", home="/home/u") == "/home/user/x"
    assert short_path("/etc/x", "/") == "/etc/x"
    assert short_path("/p", "/p") == "/p"


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert line == flat(text) or line.endswith("…")
