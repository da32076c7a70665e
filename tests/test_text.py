"""Words in messages: the one that was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.protocol.events import CATALOGUE
from hookwright.text import LONGEST_WORD, closest, did_you_mean


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
