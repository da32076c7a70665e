"""What a new user of the terminal app meets: no model, a way back, long menus, narrow screens."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hookwright.agent.state.prompts import STOPPED_BY_USER
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import PromptItem, Remark
from hookwright.tui.widgets.completion import window
from hookwright.tui.widgets.status import fitted
from tui.chats import START, Chat, text
from tui.terminal import DOWN, ENTER


def test_without_a_model_the_banner_says_so_and_the_header_names_none(chat: Chat) -> None:
    chat.settings({"model": "sonnet"})
    with chat.open() as terminal:
        shown = terminal.wait("set ANTHROPIC_API_KEY")
        assert "no model" in terminal.wait("no hooks configured").splitlines()[1]
        assert "sonnet" not in shown


def test_after_the_end_the_screen_says_how_to_resume(chat: Chat) -> None:
    chat.script([text("Hello.")], [text("Again.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("hi")
        terminal.wait("Hello.")
        terminal.say("/exit")
        shown = terminal.wait("Resume with: hookwright chat --resume")
        assert terminal.ended() == 0
    session = shown.rpartition("--resume ")[2].split()[0]
    with chat.open("--resume", session) as terminal:
        terminal.wait("Hello.")


def test_an_end_before_the_first_prompt_offers_nothing_to_resume(chat: Chat) -> None:
    chat.script([text("Hello.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.send("\x04")
        assert terminal.ended() == 0
        assert "Resume with" not in terminal.text


def test_the_menu_says_that_more_follows_and_scrolls_to_it(chat: Chat) -> None:
    chat.script([text("Hello.")])
    with chat.open() as terminal:
        terminal.wait("no hooks configured")
        terminal.send("/")
        shown = terminal.wait("1 of 10, up and down for more")
        assert "/theme" not in shown
        terminal.send(*[DOWN] * 9)
        terminal.wait("10 of 10")
        terminal.send(ENTER)


def test_the_list_of_conversations_shows_their_size_and_last_words(chat: Chat) -> None:
    chat.script([text("The colour is green.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("which colour?")
        terminal.wait("is green.")
        terminal.say("/exit")
        terminal.ended()
    with chat.open("--resume") as terminal:
        shown = terminal.wait("Resume which conversation?")
        row = next(line for line in terminal.wait("which colour?").splitlines() if "which colour?" in line)
        assert "KB" in row, shown
        assert "… The colour is green." in row


def test_an_interrupted_turn_is_not_a_prompt_when_it_is_resumed() -> None:
    feed = Feed("/p")
    feed.restore([{"role": "user", "content": "go"}, {"role": "user", "content": STOPPED_BY_USER}])
    assert [item.text for item in feed.items if isinstance(item, PromptItem)] == ["go"]
    assert [item.text for item in feed.items if isinstance(item, Remark)] == ["Interrupted."]


@pytest.mark.parametrize("count", range(30))
def test_the_window_of_a_menu_holds_the_chosen_line_and_fits(count: int) -> None:
    seen: Counter[int] = Counter()
    for chosen in range(count):
        first, shown = window(chosen, count)
        assert first <= chosen < first + shown
        assert shown + (shown < count) <= 8
        seen.update(range(first, first + shown))
    assert set(seen) == set(range(count))


@pytest.mark.parametrize(
    ("room", "shown"), [(40, "asks before acting · scripted"), (20, "asks before acting"), (10, "asks befo…"), (0, "")]
)
def test_the_foot_of_a_narrow_screen_drops_whole_facts(room: int, shown: str) -> None:
    assert fitted("asks before acting · scripted · /a/project/far/away", room) == shown


def test_repeated_decisions_are_counted(chat: Chat) -> None:
    count = chat.project.parent / "count"
    body = f"""echo x >> {count}; [ "$(wc -l < {count})" -ge 4 ] || {{ echo again >&2; exit 2; }}"""
    chat.hook("Stop", body)
    chat.script(*[[text(f"Answer {number}.")] for number in range(1, 5)])
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.say("go")
        shown = terminal.wait("sent the model back to work 3×")
        assert shown.count("sent the model back") == 1
    assert json.loads(json.dumps(chat.traced)) == ["Stop"] * 4
