"""Matchers: which values a text matches, by the table that was observed with Claude Code."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.matching.matchers import (
    Match,
    MatchAll,
    Matcher,
    MatchNames,
    MatchNothing,
    MatchPattern,
    NoMatch,
    Undecided,
    compile_matcher,
)

TOOLS = ("Bash", "Write", "Edit", "Read", "mcp__fake__echo", "Agent")

OBSERVED: dict[str | None, tuple[str, ...]] = {
    **dict.fromkeys(["Bash", " Bash ", "Bash ", "Bash,", "Bash|"], ("Bash",)),
    **dict.fromkeys(
        ["bash", "sh", "as", "Edi", "mcp_", "mcp__fake", "mcp__fake__ech", "Bash Read", "|", ",", "  "], ()
    ),
    **dict.fromkeys(["Edit|Write", "Edit, Write", "Edit,Write"], ("Write", "Edit")),
    "Bash | Read": ("Bash", "Read"),
    "Write|Edi": ("Write",),
    **dict.fromkeys(["*", "", None, ".*", r"\w+"], TOOLS),
    **dict.fromkeys(["Ba.*", "^Ba", "sh$", "[Bb]ash", "Bas.", "B?sh", r"Bash\b"], ("Bash",)),
    "Read$|^Edit": ("Edit", "Read"),
    "Bash.*|Read": ("Bash", "Read"),
    **dict.fromkeys(
        ["mcp__.*", "mcp__*", "mcp__fake__*", "mcp__fake__.*", "mcp__fake__echo"],
        ("mcp__fake__echo",),
    ),
    **dict.fromkeys(["Task", "Agent", "Task|Agent"], ("Agent",)),
    **dict.fromkeys(["[", "(", "*a", "Bash)", "Ba[sh", "(?i)bash"], ()),
    **dict.fromkeys(["Bash(echo *)", "/Bash/", "!Bash", "Edit,Ba.*", "Bash;Read", "^$"], ()),
    "^(?!Bash).*$": ("Write", "Edit", "Read", "mcp__fake__echo", "Agent"),
}


@pytest.mark.req("R-035", "R-036", "R-037", "R-038", "R-043", "R-052")
@pytest.mark.parametrize("text", OBSERVED)
def test_observed_table(text: str | None) -> None:
    matcher = compile_matcher(text)
    assert tuple(tool for tool in TOOLS if matcher.matches(tool)) == OBSERVED[text]
    assert tuple(tool for tool in TOOLS if matcher.decide(tool) == Match()) == OBSERVED[text]
    assert all(matcher.decide(tool) in (Match(), NoMatch()) for tool in TOOLS)


@pytest.mark.req("R-035")
@pytest.mark.parametrize("text", [None, "", "*"])
def test_nothing_said_matches_everything(text: str | None) -> None:
    matcher = compile_matcher(text)
    assert isinstance(matcher, MatchAll)
    assert matcher.text == (text or "")
    assert all(matcher.matches(value) for value in ("", "Bash", "anything at all", "\n"))


@pytest.mark.req("R-036", "R-037", "R-040")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Write", {"Write"}),
        ("general-purpose", {"general-purpose"}),
        ("a|b,c | d", {"a", "b", "c", "d"}),
        ("filesystem_write_file|filesystem_edit_file", {"filesystem_write_file", "filesystem_edit_file"}),
        ("Stop Task", {"Stop Task"}),
        ("|,", set()),
        ("   ", set()),
    ],
)
def test_plain_texts_are_lists_of_exact_names(text: str, names: set[str]) -> None:
    assert compile_matcher(text) == MatchNames(frozenset(names), text)
    assert all(compile_matcher(text).matches(name) for name in names)
    assert not compile_matcher(text).matches("")
    assert not compile_matcher(text).matches(text.lower().upper())


@pytest.mark.req("R-041", "R-042")
@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("mcp__github__search_repositories", "mcp__github__search_repositories", True),
        ("mcp__github__search_repositories", "mcp__github__search", False),
        ("mcp__memory__.*", "mcp__memory__create_entities", True),
        ("mcp__memory__.*", "mcp__filesystem__read", False),
        ("mcp__.*__write.*", "mcp__filesystem__write_file", True),
        ("mcp__.*__write.*", "mcp__github__create_issue", False),
        ("mcp__*", "my_mcp__tool", True),
        ("Edit.*", "NotebookEdit", True),
        ("^Edit$", "NotebookEdit", False),
        ("my-plugin:reviewer", "my-plugin:reviewer", True),
        ("my-plugin:reviewer", "not-my-plugin:reviewer2", True),
        ("Notebook.*", "notebookEdit", False),
    ],
)
def test_regular_expressions_match_anywhere(text: str, value: str, answer: bool) -> None:
    assert compile_matcher(text).matches(value) is answer


@pytest.mark.parametrize(
    ("text", "wide", "narrow"),
    [
        ("a.txt", MatchPattern, MatchPattern),
        (".env|b", MatchPattern, MatchPattern),
        ("rate_limit|overloaded", MatchNames, MatchNames),
        ("a-b", MatchNames, MatchPattern),
        ("a,b", MatchNames, MatchPattern),
        ("a b", MatchNames, MatchPattern),
    ],
)
def test_the_narrow_alphabet_has_no_hyphen_comma_or_space(
    text: str, wide: type[Matcher], narrow: type[Matcher]
) -> None:
    assert type(compile_matcher(text)) is wide
    assert type(compile_matcher(text, narrow=True)) is narrow


def test_narrow_patterns_find_their_text_anywhere() -> None:
    assert compile_matcher("a,b", narrow=True).matches("xa,bx")
    assert not compile_matcher("a,b", narrow=True).matches("a")
    assert compile_matcher("rate_limit|overloaded", narrow=True).matches("overloaded")
    assert not compile_matcher("rate|overloaded", narrow=True).matches("rate_limit")


@pytest.mark.parametrize(
    ("text", "error", "offset"),
    [("[", "unterminated character class", 0), ("Bash)", "unmatched )", 4), ("*a", "nothing to repeat", 0)],
)
def test_an_invalid_expression_says_where_and_matches_nothing(text: str, error: str, offset: int) -> None:
    matcher = compile_matcher(text)
    assert matcher == MatchNothing(text, error, offset)
    assert not any(matcher.matches(value) for value in (*TOOLS, "", text))
    assert matcher.decide("Bash") == NoMatch()


@pytest.mark.req("R-052")
@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("Task", "Agent", True),
        ("Task", "Task", True),
        ("Read|Task", "Agent", True),
        ("^Task$", "Agent", True),
        ("Tas.", "Agent", True),
        ("TaskStop", "Agent", False),
        ("Task", "TaskStop", False),
        ("Agent", "Task", False),
        ("Bash", "Agent", False),
    ],
)
def test_task_also_stands_for_agent(text: str, value: str, answer: bool) -> None:
    assert compile_matcher(text).matches(value) is answer


def test_a_match_that_cannot_be_decided_counts_and_says_so() -> None:
    matcher = compile_matcher(r"(a*)*(a*)*(a*)*(a*)*\1\2\3\4b$")
    answer = matcher.decide("a" * 400)
    assert isinstance(answer, Undecided)
    assert "50000 steps" in answer.reason
    assert answer.reason.startswith(r"the regular expression /(a*)*(a*)*(a*)*(a*)*\1\2\3\4b$/ gave up: ")
    assert matcher.matches("a" * 400)


@pytest.mark.parametrize("text", ["[", "(", "*a"])
def test_an_invalid_matcher_matches_nothing_and_says_so(text: str) -> None:
    matcher = compile_matcher(text)
    assert isinstance(matcher, MatchNothing)
    assert (matcher.matches("Bash"), matcher.decide("Bash"), matcher.describe()) == (False, NoMatch(), "invalid")


def test_only_bars_and_commas_separate_names() -> None:
    for narrow, text in ((False, "aXb|cXXd,e-f"), (True, "aXb|cXXd")):
        matcher = compile_matcher(text, narrow=narrow)
        assert isinstance(matcher, MatchNames)
        assert sorted(matcher.names) == (["aXb", "cXXd"] if narrow else ["aXb", "cXXd", "e-f"])


def test_only_the_first_512_characters_count() -> None:
    assert compile_matcher("b$").decide("a" * 511 + "b") == Match()
    assert compile_matcher("b$").decide("a" * 512 + "b") == NoMatch()
    assert compile_matcher("^a+$").decide("a" * 512 + "b") == Match()
    assert compile_matcher("a" * 600).matches("a" * 600)


@pytest.mark.parametrize(
    ("text", "description"),
    [(None, "all"), ("Bash|Read", "exact names"), ("Ba.*", "regular expression"), ("[", "invalid")],
)
def test_describe_names_the_rule(text: str | None, description: str) -> None:
    assert compile_matcher(text).describe() == description


NAMES = st.text("ABCdef_-012", min_size=1, max_size=8)
SPACES = st.text(" ", max_size=3)


@given(st.lists(NAMES, min_size=1, max_size=6), st.randoms(use_true_random=False), st.data())
def test_order_white_space_and_empty_pieces_do_not_matter(
    names: list[str], shuffler: random.Random, data: st.DataObject
) -> None:
    pieces = [*names, *data.draw(st.lists(st.just(""), max_size=2))]
    shuffler.shuffle(pieces)
    padded = [data.draw(SPACES) + piece + data.draw(SPACES) for piece in pieces]
    separators = data.draw(st.lists(st.sampled_from("|,"), min_size=len(padded), max_size=len(padded)))
    text = "".join(piece + separator for piece, separator in zip(padded, separators, strict=True))
    matcher = compile_matcher(text)
    assert isinstance(matcher, MatchNames)
    assert matcher.names == frozenset(names)
    assert all(matcher.matches(name) for name in names)
    assert not matcher.matches(names[0] + "x")


@settings(deadline=None)
@given(st.one_of(st.none(), st.text(max_size=20)), st.text(max_size=20), st.booleans())
def test_every_text_compiles_and_every_value_gets_an_answer(text: str | None, value: str, narrow: bool) -> None:
    matcher = compile_matcher(text, narrow=narrow)
    answer = matcher.decide(value)
    assert isinstance(answer, Match | NoMatch | Undecided)
    assert matcher.matches(value) is not isinstance(answer, NoMatch)
    assert matcher.text == (text or "")
