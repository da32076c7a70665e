"""A pattern for credentials is left out only where it cannot match."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.protocol import secrets

PATTERNS = [
    *zip(secrets._SHAPES, secrets._SHAPES_NEED, strict=True),
    *zip((form + secrets._VALUE for form in secrets._AFTER), secrets._AFTER_NEED, strict=True),
]
EVERY = re.compile(f"{'|'.join(secrets._SHAPES)}|(?P<kept>{'|'.join(secrets._AFTER)}){secrets._VALUE}")
WORDS = sorted({word for _, needed in PATTERNS for group in needed for word in group})


@pytest.mark.parametrize("number", range(len(PATTERNS)))
def test_what_a_pattern_matches_has_the_words_it_needs(number: int) -> None:
    pattern, needed = PATTERNS[number]
    if "--with-token" in pattern:  # hypothesis finds no text for it
        text = "gh auth login x--with-token <<< abcd"
        assert re.search(pattern, text)
        assert secrets.possible(needed, secrets.folded(text))
        return

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern))
    def holds(text: str) -> None:
        assert re.search(pattern, text) is None or secrets.possible(needed, secrets.folded(text))

    holds()


def test_letters_that_are_equal_without_their_case_are_folded_alike() -> None:
    """Every letter that `re` takes for an ASCII letter, whatever its case, is that letter when folded."""
    odd = [chr(code) for code in range(128, 0x3000) if re.fullmatch("[a-z]", chr(code), re.IGNORECASE)]
    assert len(odd) >= 4
    for letter in odd:
        (same,) = {each for each in "abcdefghijklmnopqrstuvwxyz" if re.fullmatch(each, letter, re.IGNORECASE)}
        assert secrets.folded(letter) == same


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.text("abcxyzABC0189-_=: \"'@/", max_size=30), st.just("=hunter2hunter2 ")),
        max_size=6,
    )
)
def test_the_result_is_that_of_all_patterns(parts: list[str]) -> None:
    text = "".join(parts)
    assert secrets.redact(text) == EVERY.sub(lambda found: (found["kept"] or "") + "[redacted]", text)
