"""Sessions on a real terminal: how they start, go on, are cleared, compacted and ended."""

from __future__ import annotations

import json
import signal

import pytest

from tui.chats import START, Chat, text
from tui.terminal import CTRL_C, CTRL_D, ENTER


@pytest.mark.req("R-324", "R-285", "R-390")
def test_startup_hooks_run_before_the_first_model_call_and_the_model_reads_them(chat: Chat) -> None:
    chat.hook("SessionStart", "echo the weather is fine, attended $CLAUDE_CODE_SESSION_ATTENDED", matcher="startup")
    chat.hook("UserPromptSubmit", "")
    chat.script(
        [{"when": "the weather is fine, attended 1"}, text("I know about the weather.")], [text("I know nothing.")]
    )
    with chat.open() as terminal:
        terminal.wait("2 hooks active from 1 file")
        assert chat.traced == ["SessionStart"]
        terminal.say("hello")
        shown = terminal.wait("I know about the weather.")
        assert "the weather is fine" not in shown
        assert "sessionstart-0.sh" in shown
        assert "context added" in shown
        assert chat.traced == ["SessionStart", "UserPromptSubmit"]


@pytest.mark.req("R-325", "R-349", "R-390")
def test_a_conversation_goes_on_where_it_ended(chat: Chat) -> None:
    chat.hook("SessionStart", 'sed "s/.*\\"source\\":\\"\\([a-z]*\\)\\".*/start-\\1/" >> "$TRACE"')
    chat.hook("SessionEnd", 'sed "s/.*\\"reason\\":\\"\\([a-z_]*\\)\\".*/end-\\1/" >> "$TRACE"')
    chat.script([text("Nice to meet you.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("my name is Ada")
        terminal.wait("Nice to meet you.")
        terminal.send(CTRL_D)
        assert terminal.ended() == 0
    with chat.open("--continue") as terminal:
        shown = terminal.wait("Nice to meet you.")
        assert 0 < shown.index("my name is Ada") < shown.index("Nice to meet you.") < shown.index("sessionstart-0.sh")
        terminal.wait("scripted ·")
        terminal.say("/exit")
        assert terminal.ended() == 0
    ends = [word for word in chat.traced if "-" in word]
    assert ends == ["start-startup", "end-prompt_input_exit", "start-resume", "end-prompt_input_exit"]


@pytest.mark.req("R-325", "R-390")
def test_resume_in_a_session_ends_it_and_takes_up_the_chosen_one(chat: Chat) -> None:
    chat.hook("SessionStart", 'sed "s/.*\\"source\\":\\"\\([a-z]*\\)\\".*/start-\\1/" >> "$TRACE"')
    chat.hook("SessionEnd", 'sed "s/.*\\"reason\\":\\"\\([a-z_]*\\)\\".*/end-\\1/" >> "$TRACE"')
    chat.script([text("The first answer.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("the first question")
        terminal.wait("The first answer.")
        terminal.send(CTRL_D)
        terminal.ended()
    with chat.open() as terminal:
        terminal.wait("2 hooks active")
        terminal.say("/resume")
        terminal.wait("Resume which conversation?")
        terminal.wait("the first question")
        terminal.send(ENTER)
        terminal.wait("❯ the first question")
        terminal.wait("The first answer.")
        terminal.send(CTRL_D)
        terminal.ended()
    assert [word for word in chat.traced if "-" in word][2:] == [
        "start-startup",
        "end-resume",
        "start-resume",
        "end-prompt_input_exit",
    ]


@pytest.mark.req("R-326", "R-329", "R-349", "R-390")
def test_clear_empties_the_screen_and_its_hooks_speak_to_the_next_request(chat: Chat) -> None:
    chat.hook("SessionStart", "echo the slate is clean", matcher="clear")
    chat.hook("SessionEnd", 'sed "s/.*\\"reason\\":\\"\\([a-z_]*\\)\\".*/end-\\1/" >> "$TRACE"')
    chat.script([text("First.")], [{"when": "the slate is clean"}, text("I start over.")], [text("I remember.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("something to forget")
        terminal.wait("First.")
        terminal.say("/clear")
        shown = terminal.wait("The conversation is cleared.")
        assert "something to forget" not in shown
        assert chat.traced == ["SessionEnd", "end-clear", "SessionStart"]
        terminal.say("hello again")
        terminal.wait("I start over.")


@pytest.mark.req("R-327", "R-351")
def test_compact_fires_its_events_in_order_and_shows_what_hooks_printed(chat: Chat) -> None:
    for event in ("PreCompact", "SubagentStop", "PostCompact"):
        chat.hook(event, "echo from a hook" if event == "PreCompact" else "")
    chat.hook("SessionStart", "", matcher="compact")
    chat.script(
        [text("Yes.")], routes=[{"name": "sum", "match": "(?i)summar", "on": "last", "turns": [[text("A summary.")]]}]
    )
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("hello")
        terminal.wait("Yes.")
        terminal.say("/compact keep the names")
        terminal.wait("Compacted")
        terminal.wait("from a hook")
    assert chat.traced[:4] == ["PreCompact", "SubagentStop", "SessionStart", "PostCompact"]


@pytest.mark.req("R-349")
def test_a_signal_and_a_second_ctrl_c_end_the_session_with_their_hooks(chat: Chat) -> None:
    chat.hook("SessionEnd", 'sed "s/.*\\"reason\\":\\"\\([a-z_]*\\)\\".*/end-\\1/" >> "$TRACE"')
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.send(CTRL_C)
        terminal.wait("again to exit")
        terminal.send(CTRL_C)
        assert terminal.ended() == 0
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.send("\x11")
        assert terminal.ended() == 0
    assert chat.traced[1::2] == ["end-other", "end-prompt_input_exit", "end-prompt_input_exit"]


@pytest.mark.req("R-350")
def test_the_mode_of_a_key_is_what_later_hooks_read(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", 'sed "s/.*\\"permission_mode\\":\\"\\([A-Za-z]*\\)\\".*/mode-\\1/" >> "$TRACE"')
    chat.script([text("One.")], [text("Two.")])
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.say("first")
        terminal.wait("One.")
        terminal.send("\x1b[Z")
        terminal.wait("accepts edits")
        terminal.say("second")
        terminal.wait("Two.")
    assert [word for word in chat.traced if word.startswith("mode")] == ["mode-default", "mode-acceptEdits"]


def test_what_cannot_be_carried_out_is_told_after_the_screen_is_gone(chat: Chat) -> None:
    with chat.open("--resume", "00000000-0000-4000-8000-00000000abcd") as terminal:
        assert terminal.ended() == 2
        terminal.wait("hookwright: there is no session 00000000")


def test_prompts_are_remembered_for_the_next_session_of_the_project(chat: Chat) -> None:
    chat.script([text("Fine.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("an unusual prompt")
        terminal.wait("Fine.")
    [line] = (chat.home / ".local" / "state" / "hookwright" / "history.jsonl").read_text().splitlines()
    assert json.loads(line)["text"] == "an unusual prompt"
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.wait("scripted ·")
        terminal.send("\x1b[A")
        terminal.wait("an unusual prompt")
