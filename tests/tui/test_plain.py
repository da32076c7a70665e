"""The conversation line by line: in a pipe, and for a person who wants no screen."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hookwright._version import __version__
from tui.chats import Chat, bash, text, write
from tui.terminal import CTRL_D, Terminal


def piped(chat: Chat, *args: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    """Run the chat in a pipe."""
    argv = [sys.executable, "-m", "hookwright.cli", "chat", "--script", str(chat.project.parent / "script.json"), *args]
    return subprocess.run(
        argv, cwd=chat.project, env=chat.env, input=lines, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_pipe_gets_words_in_order_and_no_sequence(chat: Chat) -> None:
    chat.hook("PreToolUse", 'echo "not here" >&2; exit 2', matcher="Bash")
    chat.hook("Stop", "")
    chat.script([text("I **try**."), bash("ls")], [text("Refused \x1b[2J.")], [text("Second.")])
    done = piped(chat, lines="first\n/permissions\nsecond\\\nline\n")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[:2] == [f"Hookwright {__version__}, model scripted, in {chat.project}", "2 hooks active from 1 file"]
    told = [line.partition(" · ")[0] for line in lines[2:]]
    assert told[:8] == [
        "You: first",
        "Model: I **try**.",
        "Tool Bash: ls",
        f"Result: PreToolUse:Bash hook error: [{chat.home}/.claude/hooks/pretooluse-0.sh]: not here",
        "Hooks: 1 hook",
        "Model: Refused ␛[2J.",
        "Hooks: 1 hook",
        "mode         default",
    ]
    assert told[-4:] == ["You: second", "line", "Model: Second.", "Hooks: 1 hook"]
    assert chat.traced == ["PreToolUse", "Stop", "Stop"]


def test_in_a_pipe_nobody_is_asked_and_untrusted_hooks_are_told(chat: Chat) -> None:
    chat.hook("Stop", "", place="project")
    chat.script([bash("mkdir made")], [text("Done.")])
    done = piped(chat, lines="go\nmkdir is what i want\n")
    assert "Warning: 1 item of the project not trusted" in done.stdout
    assert "Result: This command requires approval." in done.stdout
    assert not (chat.project / "made").exists()
    assert chat.traced == []


def test_with_plain_lines_answer_questions(chat: Chat) -> None:
    chat.hook("Stop", "", place="project")
    chat.script([bash("mkdir one")], [write("two.txt", "2\n")], [bash("mkdir three")], [text("Done.")])
    done = piped(chat, "--plain", lines="y\ngo\n1\nrather not\n4\n")
    assert done.returncode == 0
    assert "Trust this as it is now? y or n:" in done.stdout
    assert "Permission needed: Write" in done.stdout
    assert "Result: rather not" in done.stdout
    assert "Model: Done." in done.stdout
    assert sorted(path.name for path in chat.project.iterdir()) == [".claude", "one"]
    assert chat.traced == ["Stop"]


def test_the_input_ends_in_the_middle_of_a_question(chat: Chat) -> None:
    chat.script([bash("mkdir one")], [text("Done.")])
    done = piped(chat, "--plain", lines="go\n")
    assert done.returncode == 0
    assert "Permission needed: Bash" in done.stdout
    assert not (chat.project / "one").exists()


@pytest.mark.parametrize("command", ["/help", "/hooks", "/verbose", "/resume"])
def test_commands_of_the_screen_have_words(chat: Chat, command: str) -> None:
    chat.hook("UserPromptSubmit", "echo hello")
    chat.script([text("Hi.")])
    done = piped(chat, lines=f"hi\n{command}\n/exit\nnever read\n")
    expected = {
        "/help": "verbose view: every hook run",
        "/hooks": "userpromptsubmit-0.sh  ran 1×, last: ok, active, from",
        "/verbose": "model reads  UserPromptSubmit hook success: hello",
        "/resume": "/resume needs the id of a session here",
    }
    assert expected[command] in done.stdout
    assert "never read" not in done.stdout
    assert done.returncode == 0


def test_a_dumb_terminal_and_a_wish_get_no_screen(chat: Chat) -> None:
    chat.script([text("In plain words.")])
    ways: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (((), {"TERM": "dumb"}), (("--plain",), {}))
    for args, env in ways:
        with chat.open(*args, **env) as terminal:
            terminal.wait("no hooks configured")
            terminal.send("hello\r")
            terminal.wait("Model: In plain words.")
            terminal.send(CTRL_D)
            assert terminal.ended() == 0
            assert terminal.screen.styles == set()


def test_options_are_checked_before_anything_starts(chat: Chat) -> None:
    chat.script([text("Hi.")])
    assert "yolo: not a permission mode" in piped(chat, "--permission-mode", "yolo").stderr
    assert piped(chat, "--theme", "pink").returncode == 2
    assert "there is no session to continue" in piped(chat, "--continue").stderr


WITHOUT = (
    "import sys; sys.modules['textual'] = None; "
    "from hookwright.cli import main; sys.exit(main(['chat', *sys.argv[1:]]))"
)


def test_without_the_extra_lines_still_work_and_a_screen_says_what_to_install(chat: Chat) -> None:
    path = chat.script([text("In plain words.")])
    argv = [sys.executable, "-c", WITHOUT, "--script", str(path)]
    done = subprocess.run(
        argv, cwd=chat.project, env=chat.env, input="hi\n", capture_output=True, text=True, check=True
    )
    assert "Model: In plain words." in done.stdout
    with Terminal(argv, str(chat.project), chat.env, columns=140) as terminal:
        assert terminal.ended() == 2
        terminal.wait("pip install 'hookwright[tui]'")


@pytest.mark.req("R-360")
def test_the_debug_file_tells_match_run_exit_code_output_and_effect(chat: Chat) -> None:
    chat.hook("PreToolUse", 'echo some output; echo "not here" >&2; exit 2', matcher="Bash")
    chat.hook("PreToolUse", "", matcher="Edit")
    chat.script([bash("ls")], [text("Done.")])
    log = chat.project.parent / "debug.log"
    piped(chat, "--debug-file", str(log), lines="go\n")
    told = log.read_text()
    for words in (
        "Hook PreToolUse:Bash started (command):",
        "exit code 2",
        "stdout: some output",
        "PreToolUse:Bash stderr: not here",
        "skipped:",
        "does not match `Bash`",
    ):
        assert words in told
