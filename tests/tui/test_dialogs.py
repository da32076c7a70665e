"""Dialogs on a real terminal: permission questions and the trust review."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tui.chats import READY, START, Chat, bash, flat, text, write
from tui.terminal import CTRL_C, CTRL_O, ENTER, ESCAPE

ASK = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
"permissionDecisionReason": "deploys need a person", "updatedInput": {"command": "mkdir dry-run"}}}'"""


@pytest.mark.req("R-283", "R-390")
def test_a_hooks_question_shows_its_reason_and_the_rewritten_input_and_yes_runs_it(chat: Chat) -> None:
    chat.hook("PreToolUse", ASK, matcher="Bash")
    chat.script([bash("mkdir for-real")], [text("Deployed.")])
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.say("deploy")
        asked = terminal.wait("Deny with a message")
        assert "[settings] deploys need a person" in asked
        assert "- mkdir for-real" in asked
        assert "+ mkdir dry-run" in asked
        assert "Allow by rule" not in asked
        assert not (chat.project / "dry-run").exists()
        terminal.wait(READY)
        terminal.send("1", ENTER)
        terminal.wait("Deployed.")
    assert (chat.project / "dry-run").is_dir()
    assert not (chat.project / "for-real").exists()


@pytest.mark.req("R-390")
def test_no_with_a_message_tells_the_model_and_esc_ends_the_turn(chat: Chat) -> None:
    chat.script(
        [bash("mkdir one")],
        [{"when": "use the other folder"}, bash("mkdir two")],
        [text("Never said.")],
    )
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        terminal.wait("5 Deny with a message")
        terminal.wait(READY)
        terminal.send("5", ENTER)
        terminal.wait("What the model should do instead")
        terminal.send("use the other folder", ENTER)
        terminal.wait("The model wants to use Bash")
        terminal.wait("mkdir two")
        terminal.send(ESCAPE)
        shown = terminal.wait("Interrupted.")
        assert "use the other folder" in shown
        assert "Never said." not in shown
    assert [path.name for path in chat.project.iterdir()] == []


def test_allowing_by_rule_writes_the_rule_and_asks_no_more(chat: Chat) -> None:
    chat.settings({"permissions": {"deny": ["Read(./.env)"]}}, place="project")
    chat.script(
        [write("src/a.txt", "a\n")],
        [write("src/b.txt", "b\n")],
        [{"tool": "Read", "input": {"file_path": ".env"}}],
        [text("All done.")],
    )
    (chat.project / ".env").write_text("SECRET=1\n")
    with chat.open() as terminal:
        terminal.wait("settings  permissions")
        time.sleep(1)
        terminal.send("a")
        terminal.wait("trust 1 more without a mark")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("no hooks configured")
        terminal.say("write")
        asked = terminal.wait("Allow by rule: Write(/src/**)")
        assert "+a" in asked
        terminal.wait(READY)
        terminal.send("3", ENTER)
        terminal.wait("│  Write(/src/**)")
        terminal.send(ENTER)
        shown = terminal.wait("All done.")
        assert "denied by your permission settings" in flat(shown)
    local = json.loads((chat.project / ".claude" / "settings.local.json").read_text())
    assert local == {"permissions": {"allow": ["Write(/src/**)"]}}
    assert (chat.project / "src" / "b.txt").read_text() == "b\n"
    with chat.open() as terminal:  # the person's own word needs no second yes
        terminal.wait("no hooks configured")


def test_allowing_for_the_session_asks_no_more_and_writes_nothing(chat: Chat) -> None:
    chat.script([bash("mkdir one")], [bash("mkdir one/two")], [bash("mkdir one")], [text("All done.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        asked = terminal.wait("Allow for this session: edits without asking")
        assert "Allow by rule: Bash(mkdir one) …" in asked
        terminal.wait(READY)
        terminal.send("2", ENTER)
        terminal.wait("All done.")
    assert (chat.project / "one" / "two").is_dir()
    assert not (chat.project / ".claude").exists()


@pytest.mark.req("R-344")
def test_the_dialog_waits_for_permission_request_hooks(chat: Chat) -> None:
    gate = chat.trace.with_name("gate")
    chat.hook("PermissionRequest", f'while [ ! -e "{gate}" ]; do sleep 0.05; done')
    chat.script([bash("mkdir made")], [text("Made.")])
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.say("go")
        shown = terminal.wait("Running PermissionRequest:Bash hook")
        assert "Allow once" not in shown
        terminal.send(CTRL_O)
        terminal.wait("who saw what")
        gate.touch()
        terminal.wait(READY)
        terminal.send("y", ENTER)
        terminal.wait("Made.")
    assert (chat.project / "made").is_dir()


@pytest.mark.req("R-358", "R-359", "R-390")
def test_project_hooks_run_when_trusted_and_are_reviewed_again_when_they_changed(chat: Chat) -> None:
    kept = chat.hook("UserPromptSubmit", "true", place="project")
    chat.hook("Stop", "true", place="project")
    chat.script(*([text(f"Answer {number}.")] for number in range(1, 6)))
    with chat.open() as terminal:
        review = terminal.wait('+echo UserPromptSubmit >> "$TRACE"')
        assert "you have not trusted" in review
        assert "? new     UserPromptSubmit *" in review
        time.sleep(1)
        terminal.send("y")
        terminal.wait("✓ new     UserPromptSubmit")
        terminal.send("n")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("1 item of the project not trusted")
        terminal.say("first")
        terminal.wait("Answer 1.")
        assert chat.traced == ["UserPromptSubmit"]

        kept.write_text(kept.read_text() + "echo tampered with\n")
        terminal.say("second")
        terminal.wait("Answer 2.")
        shown = terminal.wait("was not run")
        assert ".claude/hooks/userpromptsubmit-0.sh changed after it was trusted" in flat(shown)
        assert chat.traced == ["UserPromptSubmit"]

        terminal.say("/hooks")
        terminal.wait("off, changed since trusted")
        terminal.send("t")
        review = terminal.wait("+echo tampered with")
        assert "changed UserPromptSubmit" in review
        assert "+true" not in review
        time.sleep(1)
        terminal.send("y")
        terminal.wait("✓ changed")
        terminal.send("n")
        time.sleep(1)
        terminal.send(ENTER)
        terminal.wait("state     active")
        terminal.send(ESCAPE)
        terminal.wait(START)
        terminal.say("third")
        terminal.wait("Answer 3.")
        assert chat.traced == ["UserPromptSubmit"] * 2

        terminal.say("/hooks")
        terminal.wait("state     active")
        terminal.send("x")
        terminal.wait("state     off")
        terminal.send(ESCAPE)
        terminal.wait(START)
        terminal.say("fourth")
        terminal.wait("Answer 4.")
        assert chat.traced == ["UserPromptSubmit"] * 2


def test_ctrl_c_in_a_dialog_interrupts_the_turn(chat: Chat) -> None:
    chat.script([bash("mkdir made")], [text("Never said.")])
    with chat.open() as terminal:
        terminal.wait(START)
        terminal.say("go")
        terminal.wait("Allow once")
        terminal.send(CTRL_C)
        terminal.wait("Interrupted.")
        terminal.wait(START)
    assert not (chat.project / "made").exists()


SERVER = Path(__file__).parent.parent / "mcp_server.py"


@pytest.mark.req("R-347")
def test_the_question_of_a_server_is_a_form_and_a_notification(chat: Chat) -> None:
    chat.hook("Notification", 'sed "s/.*\\"notification_type\\":\\"\\([a-z_]*\\)\\".*/type-\\1/" >> "$TRACE"')
    servers = {"mcpServers": {"tests": {"command": sys.executable, "args": [str(SERVER), "stdio"]}}}
    ask = {"tool": "mcp__tests__ask", "input": {}}
    chat.script([ask], [text("One.")], [ask], [text("Two.")])
    with chat.open("--mcp-config", json.dumps(servers), "--allowedTools", "mcp__tests") as terminal:
        terminal.wait("1 hook active")
        terminal.say("first")
        terminal.wait("tests asks")
        terminal.wait("Your name?")
        terminal.wait("Name (text)")
        terminal.wait("enter: next field")
        terminal.send(ENTER)
        terminal.wait("is required")
        terminal.send("Ada", ENTER)
        terminal.wait("hello Ada")
        terminal.wait("One.")
        terminal.say("second")
        terminal.wait("tests asks")
        terminal.send(ESCAPE)
        terminal.wait("nobody: decline")
        terminal.wait("Two.")
    assert chat.traced.count("type-elicitation_dialog") == 2
