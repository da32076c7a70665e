"""Hooks made visible on a real terminal: the right words for the right reader, quietly, and all of it on a key."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from support import settings
from tui.chats import START, Chat, bash, flat, text, write
from tui.terminal import CTRL_O, ENTER, ESCAPE, PATIENCE, Terminal

DENY = """cat > /dev/null; echo "rm is not for machines" >&2; exit 2"""


def said(terminal: Terminal, words: str = "go") -> None:
    """Say something as soon as somebody listens."""
    terminal.wait("active from")
    terminal.say(words)


@pytest.mark.req("R-275", "R-280")
def test_a_denied_call_shows_the_reason_once_and_one_quiet_line(chat: Chat) -> None:
    chat.hook("PreToolUse", DENY, matcher="Bash")
    chat.script([bash("rm -rf build")], [{"when": "rm is not for machines"}, text("I understand.")])
    with chat.open() as terminal:
        said(terminal)
        shown = terminal.wait("I understand.")
        assert "PreToolUse:Bash hook error:" in shown
        assert flat(shown).count("rm is not for machines") == 1
        assert "◈ 1 hook · pretooluse-0.sh" in shown
        assert "denied" in shown


@pytest.mark.req("R-275", "R-333", "R-390")
def test_feedback_about_a_written_file_reaches_the_person_and_the_very_next_request(chat: Chat) -> None:
    chat.hook("PostToolUse", 'echo "line 1 is not formatted" >&2; exit 2', matcher="Write|Edit")
    chat.script(
        [write("notes.txt", "hello\n")],
        [{"when": "line 1 is not formatted"}, text("I format it.")],
        [text("I saw nothing.")],
    )
    with chat.open("--permission-mode", "acceptEdits") as terminal:
        said(terminal)
        shown = terminal.wait("I format it.")
        assert "line 1 is not formatted" in shown
        assert "gave feedback" in shown
    assert (chat.project / "notes.txt").read_text() == "hello\n"


@pytest.mark.req("R-390")
def test_hooks_speak_in_the_order_of_their_configuration_not_of_their_speed(chat: Chat) -> None:
    chat.hook("PostToolUse", 'sleep 0.4; echo "the slow first one" >&2; exit 2', matcher="Write")
    chat.hook("PostToolUse", 'echo "the fast second one" >&2; exit 2', matcher="Write")
    chat.script([write("a.txt", "a")], [text("Both heard.")])
    with chat.open("--permission-mode", "acceptEdits") as terminal:
        said(terminal)
        shown = terminal.wait("Both heard.")
        assert 0 < shown.index("the slow first one") < shown.index("the fast second one")
        assert "◈ 2 hooks · slowest posttooluse-0.sh" in shown


@pytest.mark.req("R-278", "R-279", "R-281", "R-286", "R-390")
def test_the_verbose_view_shows_every_run_and_skip_but_not_what_a_hook_suppressed(chat: Chat) -> None:
    chat.hook("PreToolUse", "echo loud-words", matcher="Bash")
    chat.hook("PreToolUse", """echo '{"suppressOutput": true, "systemMessage": "hello you", "x": "hushed"}'""")
    chat.hook("PreToolUse", "true", matcher="Edit")
    chat.script([bash("echo done")], [text("Ready.")])
    with chat.open(rows=50) as terminal:
        said(terminal)
        shown = terminal.wait("Ready.")
        assert "loud-words" not in shown
        assert "hushed" not in shown
        terminal.send(CTRL_O)
        verbose = terminal.wait("who saw what")
        verbose = terminal.wait("2 ran, 1 skipped")
        assert "stdout  loud-words" in verbose
        assert "suppressed by the hook" in verbose
        assert "hushed" not in verbose
        assert "skipped, matcher: `Edit` (exact names) does not match `Bash`" in verbose
        assert "exit 0 in" in verbose
        assert "you see      PreToolUse:Bash says: hello you" in verbose
        terminal.send(CTRL_O)
        terminal.wait(START)


@pytest.mark.req("R-276", "R-277", "R-282", "R-284")
def test_each_message_goes_to_its_reader(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", 'echo "a small problem" >&2; exit 1')
    chat.hook(
        "PreToolUse",
        """echo '{"systemMessage": "a word to the person", "hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "allow", "permissionDecisionReason": "known to be safe",
        "additionalContext": "a word to the model"}}'""",
        matcher="Bash",
    )
    chat.hook("PostToolUse", """echo '{"continue": false, "stopReason": "enough for today"}'""", matcher="Bash")
    chat.script(
        [bash("mkdir made")],
        [{"when": "known to be safe"}, text("I read a secret.")],
        [{"when": "a word to the model"}, text("I read the context.")],
        [text("I read nothing.")],
    )
    with chat.open() as terminal:
        said(terminal)
        shown = terminal.wait("enough for today")
        assert "UserPromptSubmit hook error: Failed with non-blocking status code: a small problem" in shown
        assert "PreToolUse:Bash says: a word to the person" in shown
        assert "PostToolUse:Bash hook stopped continuation: enough for today" in shown
        assert "known to be safe" not in shown
        assert "a word to the model" not in shown
        terminal.say("go on")
        terminal.wait("I read the context.")
    assert (chat.project / "made").is_dir()


@pytest.mark.req("R-116")
def test_the_spinner_shows_the_hooks_message_or_its_name_while_typing_goes_on(chat: Chat) -> None:
    first, last = (chat.trace.with_name(name) for name in ("first", "last"))
    wait = 'while [ ! -e "{}" ]; do sleep 0.05; done'
    chat.hook("UserPromptSubmit", wait.format(first), statusMessage="Asking the oracle")
    chat.hook("Stop", wait.format(last))
    chat.script([text("An answer.")])
    with chat.open() as terminal:
        said(terminal)
        terminal.wait("Asking the oracle")
        terminal.send("typed while a hook runs")
        shown = terminal.wait("typed while a hook runs")
        assert "Asking the oracle" in shown
        first.touch()
        terminal.wait("Running Stop hook stop-0.sh")
        last.touch()
        terminal.wait("Running Stop hook", gone=True)


def test_esc_during_a_hook_kills_it_and_fires_no_stop(chat: Chat) -> None:
    pid = chat.trace.with_name("pid")
    chat.hook("PreToolUse", f'echo $$ > "{pid}"; sleep 300', matcher="Bash", statusMessage="Thinking hard")
    chat.hook("Stop", "")
    chat.script([bash("touch ran")], [text("Never said.")])
    with chat.open() as terminal:
        said(terminal)
        terminal.wait("Thinking hard")
        deadline = time.monotonic() + PATIENCE
        while not (pid.exists() and pid.read_text().strip()):
            assert time.monotonic() < deadline
        terminal.send(ESCAPE)
        shown = terminal.wait("Interrupted.")
        assert "Never said." not in shown
        assert not is_alive(int(pid.read_text()))
        assert chat.traced == ["PreToolUse"]
        assert not (chat.project / "ran").exists()
        terminal.say("are you there")
        terminal.wait("Never said.")
        terminal.wait("stop-0.sh")
    assert chat.traced == ["PreToolUse", "Stop"]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be buried does not."""
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.req("R-357")
def test_the_browser_lists_hooks_fires_a_sample_and_copies_json(chat: Chat) -> None:
    chat.hook("PreToolUse", 'cat > /dev/null; echo "no writing here" >&2; exit 2', matcher="Write|Edit", timeout=7)
    chat.hook("Stop", "")
    chat.script([text("Hi.")])
    with chat.open() as terminal:
        said(terminal)
        terminal.wait("Hi.")
        terminal.say("/hooks")
        listed = terminal.wait("SessionStart  –")
        assert "Write|Edit  pretooluse-0.sh" in listed
        terminal.wait("timeout   7 s")
        terminal.wait("~/.claude/settings.json:7")
        terminal.send("f")
        terminal.wait("PreToolUse:Write")
        fired = terminal.wait("denies:")
        assert "exit 2 in" in fired
        terminal.send("c")
        terminal.wait('"matcher": "Write|Edit"')
        terminal.until(lambda _: any(title.startswith("52;") for title in terminal.screen.titles), "a copy")
        terminal.send(ESCAPE)
        terminal.wait(START)
    assert chat.traced.count("PreToolUse") == 1


@pytest.mark.req("R-359", "R-361", "R-362")
def test_edits_of_settings_are_announced_and_count_at_once(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", "")
    chat.hook("Stop", "")
    chat.script([text("One.")], [text("Two.")])
    with chat.open() as terminal:
        said(terminal, "first")
        terminal.wait("One.")
        terminal.wait("stop-0.sh")
        settings(chat.home, {"hooks": {"UserPromptSubmit": []}})
        shown = terminal.wait("changed; hooks reloaded")
        assert "no hooks configured" in shown
        terminal.say("second")
        terminal.wait("Two.")
    assert chat.traced == ["UserPromptSubmit", "Stop"]


@pytest.mark.req("R-335")
def test_what_hooks_add_for_the_model_is_in_the_verbose_view_at_once(chat: Chat) -> None:
    gate = chat.trace.with_name("gate")
    chat.hook("UserPromptSubmit", "echo a word for the model")
    chat.hook("PreToolUse", f'while [ ! -e "{gate}" ]; do sleep 0.05; done', matcher="Bash")
    chat.script([bash("echo ran")], [text("Said in the end.")])
    with chat.open() as terminal:
        said(terminal)
        terminal.wait("Running PreToolUse:Bash")
        terminal.send(CTRL_O)
        shown = terminal.wait("UserPromptSubmit hook success: a word for the model")
        assert "started" in terminal.wait("PreToolUse:Bash")
        assert "Said in the end." not in shown
        gate.touch()
        terminal.wait("Said in the end.")


def test_a_hook_may_set_the_title_and_nothing_that_draws(chat: Chat) -> None:
    chat.hook("UserPromptSubmit", r"""printf '{"terminalSequence": "\\u001b]2;from a hook\\u0007"}'""")
    chat.hook("Stop", r"""printf '{"terminalSequence": "\\u001b[2J", "systemMessage": "\\u001b[31mred"}'""")
    chat.script([text("Done \x1b[2J here.")])
    with chat.open() as terminal:
        said(terminal)
        shown = terminal.wait("Stop says: ␛[31mred")
        assert "Done ␛[2J here." in shown
        assert "2;from a hook" in terminal.screen.titles


def test_enter_is_not_lost_while_the_agent_starts(chat: Chat) -> None:
    chat.script([text("I heard you.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.send("early words", ENTER)
        terminal.wait("I heard you.")


RECIPE = Path(__file__).parents[2] / "examples" / "recipes" / "format-then-test"


@pytest.mark.req("R-404")
def test_format_then_test_in_the_terminal_app(chat: Chat) -> None:
    shutil.copytree(RECIPE / ".claude", chat.project / ".claude")
    chat.script([write("x.txt", "x\n")], [text("All done.")])
    with chat.open("--sequential", "--trust", "--permission-mode", "acceptEdits") as terminal:
        terminal.wait(START)
        terminal.wait("2 hooks active")
        terminal.say("write")
        terminal.wait("All done.")
    assert (chat.project / "order.log").read_text() == "formatted\ntested\n"
