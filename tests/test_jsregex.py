"""JavaScript regular expressions: the same answers as node, and never a hang."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.matching import jsregex

TABLE = json.loads((Path(__file__).parent / "data" / "jsregex.json").read_text())
SUBJECTS: list[str] = TABLE["subjects"]
VALID = {row[0]: row[1] for row in TABLE["rows"] if row[1] is not None}
INVALID = {row[0]: row[2] for row in TABLE["rows"] if row[1] is None}


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(VALID) >= 300
    assert len(INVALID) >= 100
    assert sum("1" in verdicts and "0" in verdicts for verdicts in VALID.values()) >= 150


@pytest.mark.req("R-038")
@pytest.mark.parametrize("pattern", VALID)
def test_answers_as_node_does(pattern: str) -> None:
    compiled = jsregex.compile(pattern)
    answers = "".join("01"[compiled.test(subject)] for subject in SUBJECTS)
    differing = [
        subject for subject, ours, theirs in zip(SUBJECTS, answers, VALID[pattern], strict=True) if ours != theirs
    ]
    assert differing == []


@pytest.mark.parametrize("pattern", INVALID)
def test_refuses_what_node_refuses(pattern: str) -> None:
    with pytest.raises(jsregex.InvalidPattern) as caught:
        jsregex.compile(pattern)
    assert 0 <= caught.value.offset <= len(pattern.encode("utf-16-le")) // 2
    assert caught.value.problem in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "problem", "offset"),
    [
        ("[", "unterminated character class", 0),
        ("ab(cd", "unterminated group", 2),
        ("a)", "unmatched )", 1),
        ("a|*", "nothing to repeat", 2),
        ("(?i)bash", "invalid group", 0),
        ("x(?<n>a)|(?<n>b)", "duplicate capture group name 'n'", 9),
        ("(?<n>a)\\k<m>", "no group is named 'm'", 7),
        ("a{2,1}", "numbers out of order in {} quantifier", 1),
        ("[b-a]", "range out of order in character class", 2),
        ("ab\\", "\\ at end of pattern", 2),
        ("😀[", "unterminated character class", 2),
    ],
)
def test_says_what_is_wrong_and_where_in_utf_16_units(pattern: str, problem: str, offset: int) -> None:
    with pytest.raises(jsregex.InvalidPattern) as caught:
        jsregex.compile(pattern)
    assert (caught.value.problem, caught.value.offset) == (problem, offset)


@pytest.mark.parametrize(
    ("pattern", "subject", "answer"),
    [
        (r"(a+)+$", "a" * 63 + "b", False),
        (r"(a|aa)+$", "a" * 63 + "b", False),
        (r"(.*a){12}$", "a" * 63 + "b", False),
        (r"(\w+\s?)*$", "word " * 12 + "word!", True),
        (r"^(\w+\s?)*$", "word " * 12 + "word!", False),
        (r"(.{0,100}a){0,100}$", "a" * 511 + "b", True),
        (r"^(.{0,100}a){0,100}$", "a" * 511 + "b", False),
        (r"(((a*b?)*c?)*d?)*e$", "abcd" * 128, False),
        (r"(?=(a+)+$)b|(?<=^(a+)+)c", "a" * 511 + "b", False),
        (r"(?:){1000000000}", "", True),
        (r"(a){1000000000}", "a" * 64, False),
        (r"(a|aa)+\1b$", "a" * 63 + "c", False),
    ],
)
def test_exploding_patterns_answer_within_the_default_budget(pattern: str, subject: str, answer: bool) -> None:
    assert jsregex.compile(pattern).test(subject) is answer


@pytest.mark.parametrize("pattern", [r"^(a{1,2}){0,300}b", r"(a*)(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5\6b$"])
def test_a_test_beyond_its_budget_is_given_up(pattern: str) -> None:
    with pytest.raises(jsregex.TooComplex, match="200 steps"):
        jsregex.compile(pattern).test("a" * 512, steps=200)


def test_deep_nesting_is_no_recursion() -> None:
    deep = 10_000
    with pytest.raises(jsregex.InvalidPattern, match="unterminated group"):
        jsregex.compile("(" * deep)
    assert jsregex.compile("(" * deep + "a" + ")" * deep).test("a")
    assert jsregex.compile("(?:" * deep + "a" + ")" * deep).test("a")
    for opening, closing in [("(?:", ")*"), ("(?=", ")"), ("(?<!", ")"), ("(b|", ")")]:
        with pytest.raises(jsregex.InvalidPattern, match="nested more than 100 deep"):
            jsregex.compile(opening * deep + "a" + closing * deep)
        assert jsregex.compile(opening * 30 + "a" + closing * 30).test("aaaa") is not None


def test_deep_nesting_with_references_is_no_recursion() -> None:
    assert jsregex.compile("(" * 90 + "a" + ")" * 90 + r"\90").test("aa")
    with pytest.raises(jsregex.InvalidPattern, match="nested more than"):
        jsregex.compile("(" * 10_000 + "a" + ")" * 10_000 + r"\1")


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(jsregex.InvalidPattern, match="too many"):
        jsregex.compile("()" * 70_000)


def test_patterns_with_the_same_text_are_equal() -> None:
    assert jsregex.compile("a+") == jsregex.compile("a+")
    assert repr(jsregex.compile("a+")) == "/a+/"
    assert len({jsregex.compile("a+"), jsregex.compile("a+"), jsregex.compile("a*")}) == 2


SIGNS = [
    *"ab()|[]^$.*+?{}\\-,12<>=!:k",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?<n>",
    "[^",
    "{2}",
    "{0,9}",
    "{3,}",
    "*?",
]
ESCAPES = [r"\k<n>", r"\1", r"\2", r"\b", r"\w", r"\c", r"\u0061", "😀", "\ud83d", "é", "\n"]
PIECES = st.sampled_from([*SIGNS, *ESCAPES])
PATTERNS = st.one_of(st.text(max_size=12), st.lists(PIECES, max_size=14).map("".join))
TEXTS = st.one_of(st.text(max_size=20), st.text("ab1 -\n😀", max_size=40))


@settings(max_examples=400, deadline=None)
@given(PATTERNS, TEXTS)
def test_never_raises_anything_but_its_two_errors(pattern: str, subject: str) -> None:
    try:
        answer = jsregex.compile(pattern).test(subject, steps=20_000)
    except (jsregex.InvalidPattern, jsregex.TooComplex):
        return
    assert answer in (True, False)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_an_escaped_text_finds_itself_anywhere(before: str, text: str, after: str) -> None:
    escaped = re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", text)
    assert jsregex.compile(escaped).test(before + text + after)


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=12))
def test_both_engines_agree(subject: str) -> None:
    for body in ["(a|b)*?a", "(?:ab?){2,}", "(?<=a)b(?!b)", "^(?:a|b{2})+$", "(a*b){1,2}$"]:
        with_memory = jsregex.compile(
            f"(?:{body})(?:()\\2)?".replace("\\2", f"\\{body.count('(') - body.count('(?') + 1}")
        )
        assert jsregex.compile(body).test(subject) is with_memory.test(subject)
