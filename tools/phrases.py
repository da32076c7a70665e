"""Habits that make English read as translated: counted by `house.py`, kept out by tests/test_english.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Habits and their patterns. Text is one line: white space is collapsed before it is searched.
HABITS: dict[str, str] = {
    "Tell …": r"(?-i:\bTells?) (?:whether|which|what|how|why|who|where|when|the|a|an|of|all|every|each|for)\b",
    "Give …, Say … for return": r"^(?:Give|Say)s?\b",
    "stands": r"\b(?:stands?|stood)\b(?!alone| alone)",
    "words, a text": r"\b(?:as|of its|the|a hook's|its) words\b|\b(?:a|no) texts?\b",
    "is no": r"(?<![Tt]here )\b(?:is|are|was|were) no\b(?! longer| more| less| later| earlier)",
    "nobody, whoever": r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody)\b",
    "counts for applies": r"\bcounts (?:for|only|as|when|there|here|until|again)\b|\b(?:word|verdict|one) counts\b",
    "look at": r"\b(?:look|looks|looked|looking) at\b",
    "told": r"\b(?:told|tells? of|telling of)\b",
    "one X a Y": r"\b(?:one|two) \w+(?: \w+)? an? (?:event|kind|line|file|rule|project|session|module|run|key|test)\b",
    "go on": r"\b(?:go|goes|going|went) on (?:with|as|until|when|where|without|in)\b|\b(?:goes|going|went) on\b",
    "of its own": r"\bof (?:its|their|your|his|our) own\b",
    "beside": r"\bbesides?\b",
    "comes to": r"\b(?:comes? to(?! an end| life| rest)|came of|came to|became of|becomes of)\b",
    "behind for after": r"\bbehind (?:the|it|them|a|its)\b",
    "inside of": r"\b(?:inside|outside) of\b",
    "left out": r"\b(?:left out|leaves? out|leaving out)\b",
    "anew": r"\banew\b",
    "in the place of": r"\bin the place of\b",
    "so many": r"\bso many\b",
    "is to": r"\b(?:is|are|was) to be\b|\bwants? to be\b|\b(?:model|hook|user|person) is to\b",
    "put off, taken up": r"\b(?:put off|puts off|taken up|takes? up|carried out|carry out|carries out)\b",
    ", too": r", too\b",
    "mend, throw-away, deed": r"\b(?:mend(?:s|ed|ing|able)?|throw-away|deeds?|lends?|lent)\b",
}
_COMPILED = {habit: re.compile(pattern, re.IGNORECASE) for habit, pattern in HABITS.items()}

#: Habits whose patterns also find good English: they are counted, and not refused.
TOLERATED = ("words, a text", "look at", "of its own", "Give …, Say … for return")
#: What no text for users may contain.
FORBIDDEN = frozenset(HABITS) - frozenset(TOLERATED)


def habits_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield each habit in a text, with the phrase that shows it."""
    line = " ".join(text.split())
    for habit, pattern in _COMPILED.items():
        found = pattern.search(line)
        if found:
            yield habit, found[0]
