"""What lines say: hooks in one quiet line, calls, and nothing that a terminal would obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.protocol.handlers import PromptHandler
from hookwright.protocol.outcome import (
    Allow,
    Ask,
    Block,
    Deny,
    Ending,
    EndTurn,
    Outcome,
    Run,
    Skip,
    SkipReason,
    Timing,
    Verdict,
)
from hookwright.protocol.replies import Exited
from hookwright.protocol.sources import Scope, Source
from hookwright.text import harmless
from hookwright.tui.chat.sequence import allowed
from hookwright.tui.feed.firings import firing_lines
from hookwright.tui.feed.items import CallItem, CallState, Firing
from hookwright.tui.feed.words import call_argument, call_head, quiet_line, result_lines, seconds, short_label
from support import command, event


def plain(line: tuple[tuple[str, str], ...] | None) -> str:
    assert line is not None
    return "".join(text for _, text in line)


def ran(verdict: Verdict, took: float = 0.01, label: str = "./guard.sh") -> Run:
    return Run(command(label), Exited(0), verdict, Timing(0.0, took), "hook-1")


def fired(name: str, *runs: Run, **fields: object) -> Firing:
    outcome = Outcome(event=name, matched=None, runs=runs, **fields)  # type: ignore[arg-type]
    return Firing(event=event(name), at=0.0, runs=runs, outcome=outcome)


@pytest.mark.parametrize(
    ("firings", "words"),
    [
        ([fired("PreToolUse", ran(Verdict()))], "◈ 1 hook · guard.sh 10 ms · no objection"),
        (
            [fired("PreToolUse", ran(Verdict()), ran(Verdict(), 1.5, "./slow.sh"), decision=Allow())],
            "◈ 2 hooks · slowest slow.sh 1.5 s · allowed",
        ),
        ([fired("PreToolUse", ran(Verdict()), decision=Deny("no"))], "◈ 1 hook · guard.sh 10 ms · denied"),
        (
            [
                fired("PreToolUse", ran(Verdict()), decision=Ask("sure?"), updated_input={"command": "ls"}),
                fired("PostToolUse", ran(Verdict()), decision=Block("format it")),
            ],
            "◈ 2 hooks · slowest guard.sh 10 ms · PreToolUse asked you · PreToolUse input rewritten"
            " · PostToolUse gave feedback",
        ),
        (
            [fired("Stop", ran(Verdict(ending=Ending.ERROR, error="x")))],
            "◈ 1 hook · guard.sh 10 ms · 1 gave no verdict",
        ),
        ([fired("Stop", ran(Verdict()), stop=EndTurn("enough"))], "◈ 1 hook · guard.sh 10 ms · stopped the turn"),
        (
            [fired("Stop", skips=(Skip(command("./x.sh"), SkipReason.UNTRUSTED),))],
            "◈ no hook ran · 1 not trusted",
        ),
    ],
)
def test_one_quiet_line_tells_count_slowest_and_decision(firings: list[Firing], words: str) -> None:
    assert plain(quiet_line(firings)) == words


def test_where_no_hook_ran_there_is_no_line() -> None:
    assert quiet_line([]) is None
    assert quiet_line([fired("Stop", skips=(Skip(command(), SkipReason.MATCHER),))]) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --strict', "guard.sh"),
        ("python3 hooks/check.py", "check.py"),
        ("FOO=1 bash ./x/y.sh", "y.sh"),
        ("jq -r .tool_name | grep Bash", "jq -r .tool_name | grep Bash"),
        ("echo 'unfinished", "echo 'unfinished"),
        ("x" * 40, "x" * 27 + "…"),
    ],
)
def test_a_hook_is_named_by_its_script(text: str, label: str) -> None:
    assert short_label(command(text)) == label


def test_a_prompt_hook_is_named_by_its_first_words() -> None:
    handler = PromptHandler(source=Source(Scope.USER), prompt="Is this\nsafe to run?")
    assert short_label(handler) == "Is this ⏎ safe to run?"


def test_a_call_is_told_by_what_it_does() -> None:
    assert call_argument("Write", {"file_path": "/p/src/a.py", "content": "x"}, "/p") == "src/a.py"
    assert call_argument("Agent", {"description": "Find callers", "prompt": "…"}) == "Find callers"
    assert call_argument("mcp__a__b", {"key": [1]}) == '{"key": [1]}'
    call = CallItem(
        id="1", name="Bash", input={"command": "a\nb"}, state=CallState.DONE, result="\n".join("abcdefghij")
    )
    assert plain(call_head(call)) == "● Bash a ⏎ b"
    assert [plain(line) for line in result_lines(call)] == [*"abcdef", "… 4 more lines (ctrl+o)"]
    assert len(list(result_lines(call, 500))) == 10


@pytest.mark.parametrize(("value", "words"), [(0.0123, "12 ms"), (1.26, "1.3 s"), (75, "1 min 15 s")])
def test_durations(value: float, words: str) -> None:
    assert seconds(value) == words


EVIL = "\x1b[2J\x1b]0;title\x07\x9b31m\u202egnp.sh\u2066\r\x08"


@pytest.mark.parametrize("evil", [EVIL])
def test_nothing_of_a_hook_reaches_the_terminal_as_a_sequence(evil: str) -> None:
    reply = Exited(2, evil.encode(), evil.encode())
    run = Run(command(evil), reply, Verdict(decision=Deny(evil)), Timing(0.0, 0.1), "1")
    skip = Skip(command(evil), SkipReason.MATCHER, evil)
    firing = fired("PreToolUse", run, decision=Deny(evil), reasons=(evil,), skips=(skip,), system_messages=(evil,))
    call = CallItem(id="1", name=evil, input={"command": evil}, state=CallState.FAILED, result=evil, firings=(firing,))
    lines = [*firing_lines(firing), call_head(call), *result_lines(call), quiet_line(call.firings) or ()]
    for line in lines:
        for _, text in line:
            assert text.isprintable(), repr(text)


@given(st.text())
def test_harmless_text_is_printable_but_for_tabs_and_new_lines(text: str) -> None:
    shown = harmless(text).replace("\t", "").replace("\n", "")
    assert all(char >= " " and not "\x7f" <= char <= "\x9f" for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


@pytest.mark.parametrize(
    ("sequence", "counts"),
    [
        ("\x1b]2;a title\x07", True),
        ("\x1b]9;done\x1b\\\x07", True),
        ("\x07", True),
        ("\x1b[2J", False),
        ("\x1b]52;c;aGk=\x07", False),
        ("\x1b]2;a\x1b[2Jb\x07", False),
        ("\x1b]2;title\x07 and words", False),
        ("", False),
        (None, False),
    ],
)
def test_only_titles_notifications_and_the_bell_go_to_the_terminal(sequence: str | None, counts: bool) -> None:
    assert (allowed(sequence) == sequence and bool(sequence)) is counts
