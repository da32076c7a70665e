"""Keys that were begun as text never answer a dialog: real terminals, keys at the pace of a person."""

from __future__ import annotations

import json
import time

import pytest

from tui.chats import READY, START, Chat, bash, text
from tui.terminal import CTRL_C, ENTER, TAB, Terminal

SENTENCE = "then also run step 1 and try only n or y by 2"


def typed(terminal: Terminal, words: str, pause: float = 0.08) -> None:
    for key in words:
        terminal.send(key)
        time.sleep(pause)


def asking(chat: Chat) -> None:
    chat.script([bash("mkdir made")], [text("Done.")], [text("Second.")])


def test_a_sentence_in_progress_goes_to_the_prompt_while_the_dialog_waits(chat: Chat) -> None:
    asking(chat)
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        typed(terminal, SENTENCE)
        shown = terminal.wait(SENTENCE)
        assert "Allow once" in shown
        assert "press tab to answer" in shown
        time.sleep(1.5)  # a pause in the middle of a sentence is not an answer either
        typed(terminal, " 1")
        terminal.send(ENTER)
        terminal.wait(f"queued: {SENTENCE} 1")
        assert not (chat.project / "made").exists()
        terminal.wait(READY)
        terminal.send("n", ENTER)
        terminal.wait("Second.")
    assert not (chat.project / "made").exists()


def test_tab_answers_at_once_and_keeps_the_text(chat: Chat) -> None:
    asking(chat)
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        terminal.send("half a thou")
        terminal.wait("press tab to answer")
        terminal.send(TAB)
        terminal.wait(READY)
        terminal.send("1", ENTER)  # still within the pause: these belong to the text
        time.sleep(1)
        assert not (chat.project / "made").exists()
        terminal.send("1", ENTER)
        terminal.wait("Done.")
        assert "half a thou" in terminal.text
    assert (chat.project / "made").is_dir()


def test_words_typed_at_an_open_dialog_answer_nothing(chat: Chat) -> None:
    asking(chat)
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        terminal.wait(READY)
        typed(terminal, "1 moment, yes")
        terminal.send(ENTER)
        time.sleep(1)
        assert "Allow once" in terminal.text
        assert not (chat.project / "made").exists()
        terminal.send(CTRL_C)
        terminal.wait("Interrupted.")


def test_digits_select_and_only_enter_confirms(chat: Chat) -> None:
    asking(chat)
    with chat.open(NO_COLOR="1") as terminal:
        terminal.wait(START)
        terminal.say("go")
        terminal.wait(READY)
        assert "❯ 1 Allow once" in terminal.text
        terminal.send("4")
        terminal.wait("❯ 4 Deny")
        terminal.send("1")
        terminal.wait("❯ 1 Allow once")
        assert not (chat.project / "made").exists()
        terminal.send(ENTER)
        terminal.wait("Done.")
    assert (chat.project / "made").is_dir()


@pytest.mark.parametrize(
    ("after", "words"),
    [(0.0, "what is in this repo?"), (0.4, "yay"), (1.0, "yay"), (1.0, "  "), (0.4, "may i?"), (1.0, "a"), (1.0, "y")],
)
def test_a_prompt_typed_early_trusts_nothing(chat: Chat, after: float, words: str) -> None:
    chat.hook("Stop", "true", place="project")
    chat.hook("UserPromptSubmit", "true", place="project")
    asking(chat)
    with chat.open() as terminal:
        terminal.wait("you have not trusted")
        time.sleep(after)
        typed(terminal, words, 0.03)
        terminal.send(ENTER)
        time.sleep(1)
    assert trusted(chat) == []


def test_enter_space_and_one_a_trust_nothing_and_two_steps_trust_all(chat: Chat) -> None:
    chat.hook("Stop", "true", place="project")
    chat.hook("UserPromptSubmit", "true", place="project")
    asking(chat)
    with chat.open() as terminal:
        terminal.wait("you have not trusted")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("2 items of the project not trusted")
    assert trusted(chat) == []
    with chat.open() as terminal:
        terminal.wait("you have not trusted")
        time.sleep(1)
        terminal.send("a")
        terminal.wait("trust 2 more")
        terminal.send("n")
        terminal.wait("y trust")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("2 items of the project not trusted")
    assert trusted(chat) == []
    with chat.open() as terminal:
        terminal.wait("you have not trusted")
        time.sleep(1)
        terminal.send("a")
        terminal.wait("trust 2 more")
        terminal.send(ENTER)
        terminal.wait("Press enter again")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("2 hooks active")
    assert len(trusted(chat)) == 2


def test_the_waiting_time_of_a_dialog_is_the_time_since_it_opened(chat: Chat) -> None:
    asking(chat)
    with chat.open() as terminal:
        terminal.wait(START)
        time.sleep(3)
        terminal.say("go")
        shown = terminal.wait("Waiting for your answer  1 s")
        assert "Allow once" in shown


def test_lines_typed_before_a_question_do_not_answer_it_line_by_line_either(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", "sleep 2")
    asking(chat)
    with chat.open("--plain") as terminal:
        terminal.wait("1 hook active")
        terminal.send("go" + ENTER)
        time.sleep(0.5)
        terminal.send("1" + ENTER)
        terminal.wait("what the model should do instead")
        time.sleep(0.5)
        assert not (chat.project / "made").exists()
        terminal.send("4" + ENTER)
        terminal.wait("Done.")
    assert not (chat.project / "made").exists()


def trusted(chat: Chat) -> list[object]:
    stores = list(chat.home.rglob("trust.json"))
    return [item for store in stores for item in _items(json.loads(store.read_text()))]


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        if "digest" in value:
            return [value]
        return [item for inner in value.values() for item in _items(inner)]
    return [item for inner in value for item in _items(inner)] if isinstance(value, list) else []
