"""The prompt on a real terminal: lines, history, completion; sizes and colours of terminals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tui.chats import START, Chat, bash, flat, text
from tui.terminal import CTRL_C, CTRL_J, DOWN, ENTER, PAGE_UP, TAB, UP


def test_answers_arrive_word_by_word_and_prompts_wait_for_their_turn(chat: Chat) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    chat.script([text(words)], [text("The second answer.")], pace=0.05)
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("first")
        shown = terminal.wait("word3")
        assert "word39" not in shown
        terminal.say("the second prompt")
        shown = terminal.wait("queued: the second prompt")
        assert "word39" not in shown
        terminal.wait("The second answer.")
        terminal.wait("waiting:", gone=True)


LONG = " ".join(f"word{number}" for number in range(60))


def test_lines_history_and_a_cleared_prompt(chat: Chat) -> None:
    chat.script([{"when": r"first line\nsecond line\nthird line"}, text("Three lines.")], [text("Not so.")])
    with chat.open() as terminal:
        terminal.wait("scripted ·")
        terminal.send("first line", CTRL_J, "second line\\", ENTER, "third line")
        terminal.wait("third line")
        terminal.send(ENTER)
        terminal.wait("Three lines.")
        terminal.say("another prompt")
        terminal.wait("Not so.")
        terminal.send("a draft", UP)
        terminal.until(lambda shown: shown.count("another prompt") == 2, "the last prompt")
        terminal.send(UP)
        terminal.until(lambda shown: shown.count("second line") == 2, "the prompt before it")
        terminal.send(DOWN, DOWN, DOWN, DOWN, DOWN)
        terminal.wait("a draft")
        terminal.send(CTRL_C)
        terminal.wait(START)
        terminal.send("\x1b[200~pasted\nin two lines\x1b[201~")
        terminal.wait("in two lines")


def test_commands_and_files_are_completed(chat: Chat) -> None:
    (chat.project / "src").mkdir()
    (chat.project / "src" / "parser.py").write_text("")
    skill = chat.project / ".claude" / "commands" / "greet.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: say hello nicely\n---\nGreet $ARGUMENTS\n")
    chat.script([{"when": "Look at @src/parser.py now"}, text("I look.")], [{"when": "Greet Bob"}, text("Hello Bob.")])
    with chat.open("--trust") as terminal:
        terminal.wait("no hooks configured")
        terminal.send("/he")
        terminal.wait("show keys and commands")
        terminal.send(ENTER)
        terminal.wait("verbose view: every hook run")
        terminal.send("\x1b")
        terminal.wait(START)
        terminal.send("/gre")
        terminal.wait("say hello nicely")
        terminal.send("\x1b", CTRL_C)
        terminal.wait(START)
        terminal.send("Look at @pars")
        terminal.wait("❯ @src/parser.py")
        terminal.send(TAB, "now")
        terminal.wait("Look at @src/parser.py now")
        terminal.send(ENTER)
        terminal.wait("I look.")
        terminal.say("/greet Bob")
        terminal.wait("Hello Bob.")
        terminal.say("/nonsense")
        assert "/nonsense is not a command" in terminal.wait("/help lists them")


def test_a_resized_terminal_shows_the_conversation_in_its_new_shape(chat: Chat) -> None:
    chat.hook("Stop", "true")
    chat.script([text(LONG), bash("echo a result")], [text("| a | b |\n|---|---|\n| 1 | 2 |")])
    with chat.open(columns=120, rows=40) as terminal:
        terminal.wait("active from")
        terminal.say("go")
        terminal.wait("stop-0.sh")
        for columns, rows in ((46, 30), (24, 12), (120, 40)):
            terminal.resize(columns, rows)
            terminal.wait(f"╰{'─' * (columns - 2)}╯")
            shown = terminal.wait("stop-0.sh")
            assert max(len(line) for line in shown.splitlines()) <= columns
        terminal.until(lambda shown: LONG in flat(shown), "the whole answer")
        terminal.resize(30, 10)
        terminal.wait("╰─")
        terminal.send(PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP, PAGE_UP)
        terminal.wait("Hookwright")
        terminal.send("typed in a small window")
        terminal.until(lambda shown: "typed in a small window" in flat(shown), "typed words")


COLOUR = re.compile(r"(?:^|;)(?:[34][0-8]|9[0-7]|10[0-7])(?:;|$)")


@pytest.mark.parametrize("variable", ["", "1"])
def test_no_color_leaves_the_terminals_own_colours(chat: Chat, variable: str) -> None:
    chat.hook("PreToolUse", "exit 2", matcher="Bash")
    chat.script([bash("ls")], [text("# A heading\n\nand `code`\n\n```python\nprint(1)\n```\n")])
    env: dict[str, Any] = {"NO_COLOR": variable} if variable else {}
    with chat.open(**env) as terminal:
        terminal.wait("active from")
        terminal.say("go")
        terminal.wait("A heading")
        terminal.wait("denied")
        terminal.say("/hooks")
        terminal.wait("SessionStart  –")
        styles = set(terminal.screen.styles)
    assert any(COLOUR.search(style) for style in styles) is (variable == "")


def test_light_and_dark(chat: Chat) -> None:
    with chat.open("--theme", "light") as terminal:
        terminal.wait("no hooks configured")
        assert any("48;2;251;250;247" in style for style in terminal.screen.styles)
        terminal.say("/theme")
        terminal.until(lambda _: any("48;2;22;24;29" in style for style in terminal.screen.styles), "a dark screen")
    with chat.open(COLORFGBG="0;15") as terminal:
        terminal.wait("no hooks configured")
        assert any("48;2;251;250;247" in style for style in terminal.screen.styles)
