"""`hookwright trust` on a real terminal: one item, one question, the next; no accident trusts anything."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

from tui.chats import Chat
from tui.terminal import ENTER, Terminal


def trust(chat: Chat) -> Terminal:
    return Terminal([sys.executable, "-m", "hookwright.cli", "trust"], str(chat.project), chat.env, 100, 60)


@pytest.fixture
def project(chat: Chat) -> Chat:
    chat.hook("Stop", "true", place="project", timeout=7)
    chat.hook("PreToolUse", "true", place="project", matcher="Bash", onFailure="block")
    return chat


def test_each_item_is_shown_and_asked_about_in_the_form_of_the_settings_file(project: Chat) -> None:
    with trust(project) as terminal:
        shown = terminal.wait("(1 of 2)")
        assert re.search(r'\+ "timeout": 7$', shown, re.MULTILINE)
        assert '+"Stop": [{"hooks": [{' in shown
        for internal in ("async_rewake", "condition", '"from"', "null", "PreToolUse Bash"):
            assert internal not in shown
        terminal.send("d" + ENTER)
        shown = terminal.wait("answer y, n, all, quit, or enter for no")
        terminal.until(lambda text: text.count("(1 of 2)") == 2, "the same question again")
        terminal.send("y" + ENTER)
        shown = terminal.wait("(2 of 2)")
        assert '+ "onFailure": "block"' in shown
        terminal.send(ENTER)
        terminal.wait("trusted 1 of 2")
        assert terminal.ended() == 2


def test_all_is_asked_twice_and_no_is_the_default(project: Chat) -> None:
    with trust(project) as terminal:
        terminal.wait("(1 of 2)")
        terminal.send("all" + ENTER)
        terminal.wait("trust all 2 that are left, without reading them? [y/N]")
        terminal.send(ENTER)
        terminal.wait("(2 of 2)")
        terminal.send("a" + ENTER)
        terminal.wait("trust all 1 that are left")
        terminal.send("y" + ENTER)
        terminal.wait("trusted 1 of 2")


def test_what_was_typed_before_the_question_is_not_its_answer(project: Chat) -> None:
    with trust(project) as terminal:
        terminal.send("y" + ENTER + "y" + ENTER)
        terminal.wait("(1 of 2)")
        time.sleep(0.5)
        assert "(2 of 2)" not in terminal.text
        terminal.send("q" + ENTER)
        assert terminal.ended() == 2
    assert not any(json.loads(path.read_text()).get("projects") for path in project.home.rglob("trust.json"))
