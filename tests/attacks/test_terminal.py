"""Nothing foreign reaches a terminal raw, and no text forges a line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment

from agent.runs import Place, bash
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.wire import encode
from hookwright.text import escaped, flat
from hookwright.tui.widgets.markdown import MarkdownPainter
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.palette import DARK
from hookwright.tui.widgets.spans import on_one_line, painted, safe
from support import settings
from tui.chats import Chat, text

AREA = "terminal: what reaches a screen"

#: Clears the screen, writes to the clipboard, moves the cursor by C1, reverses text, hides text.
EVIL = "\x1b[2J\x1b]52;c;UFdORUQ=\x07\x9b2J\u202eesrever\u2066\u200b\x7f"
FORGED = "x\n::error::forged\r::error::forged\u2028::error::forged\x85::error::forged"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f]")


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


# ── the one place that paints ───────────────────────────────────────────────


def test_spans_are_harmless_wherever_they_are_painted() -> None:
    painter = Painter(DARK)
    line = (("", f"a{EVIL}b"), ("dim", f"c{FORGED}"))
    shown = "".join(segment.text for strip in painter.lines([line], 400) for segment in strip)
    assert not RAW.search(shown)
    assert "\n" not in shown
    assert not RAW.search(painter.text([line]).plain)
    assert not RAW.search(painted([(EVIL, "")]).plain)
    assert not RAW.search(on_one_line([(EVIL, "")]).plain)
    assert not RAW.search(safe(Segment(EVIL)).text)


@pytest.mark.parametrize(
    "source", ["&#27;[2J", "&#x1b;]52;c;x&#7;", "`&#27;[2J`", "```\n\x9b2J\n```", "[a](x&#155;2J)"]
)
def test_markdown_cannot_write_control_characters_as_entities(source: str) -> None:
    painter = MarkdownPainter(DARK)
    assert not any(RAW.search(segment.text) for line in painter.lines(source, 60) for segment in line)


def test_only_one_module_makes_text_for_the_screen() -> None:
    folder = Path(__file__).parents[2] / "src" / "hookwright" / "tui"
    makers = {
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"\bText\((?!\"\\n\"\))|\bText\.(?:assemble|from_)", path.read_text())
        and not re.search(r"^Text = ", path.read_text(), re.MULTILINE)
    }
    assert makers <= {"spans.py"}


# ── a real terminal ─────────────────────────────────────────────────────────


def _raw(terminal: Any) -> str:
    return str(terminal.raw.decode("utf-8", "replace"))


MARK = "\x1b]52;c;UFdORUQ="


def test_the_trust_review_shows_no_raw_sequence(chat: Chat) -> None:
    hook = {"type": "command", "command": f"true {EVIL}", "statusMessage": EVIL}
    settings(chat.project, {"hooks": {"PreToolUse": [{"matcher": f"Bash{EVIL}", "hooks": [hook]}]}})
    chat.script([text("done")])
    with chat.open() as terminal:
        terminal.wait("you have not trusted")
        terminal.wait("PreToolUse")
        assert MARK not in _raw(terminal)
        assert "\u202e" not in _raw(terminal)


def test_completion_and_the_status_line_show_no_raw_sequence(chat: Chat) -> None:
    commands = chat.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / f"greet{EVIL}.md").write_text(f"---\ndescription: {json.dumps('say ' + EVIL)}\n---\nx\n")
    chat.hook("UserPromptSubmit", "sleep 1", statusMessage=f"checking{EVIL}")
    chat.script([text("done")])
    with chat.open("--trust") as terminal:
        terminal.wait("1 hook active")
        terminal.send("/gre")
        terminal.wait("greet")
        terminal.send("\x1b", "\x03")
        terminal.wait("greet", gone=True)
        terminal.say("hi")
        terminal.wait("checking")
        terminal.wait("done")
        assert MARK not in _raw(terminal)
        assert "\u202e" not in _raw(terminal)


# ── lines ───────────────────────────────────────────────────────────────────


def test_a_diagnostic_is_one_line() -> None:
    assert len(str(Diagnostic("x", FORGED)).splitlines()) == 1
    assert len(flat(FORGED).splitlines()) == 1


COMMANDS = ["list", "doctor", "explain", "check", "check --format github", "trust --show", "fire", "run"]


@pytest.mark.parametrize("command", COMMANDS)
def test_untrusted_keys_forge_no_line(command: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    hook = {"type": "command", "command": "true", FORGED: 1, "timeout": FORGED, "if": FORGED}
    value: dict[str, Any] = {
        FORGED: 1,
        "hooks": {FORGED: [], "PreToolUse": [{"matcher": FORGED, "hooks": [hook, {"type": FORGED}]}], "Stop": FORGED},
        "permissions": {"allow": [f"{FORGED}("], "deny": [FORGED], "defaultMode": FORGED},
        "env": {FORGED: 1},
    }
    settings(place.project, value)
    settings(place.home, value)
    script = place.root / "script.json"
    script.write_text(json.dumps({"turns": [[{"text": "done"}]]}))
    event: dict[str, Any] = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": str(place.project),
    }
    event |= {"permission_mode": "default", "tool_name": FORGED, "tool_input": {"command": FORGED}, "tool_use_id": "t"}
    given = {"run": ["-p", "go", "--script", str(script)], "explain": ["PreToolUse"]}
    words = [*command.split(), *given.get(command, [])]
    done = subprocess.run(
        [sys.executable, "-m", "hookwright.cli", *words],
        cwd=place.project,
        env={**place.env, "HOOKWRIGHT_TRUST": "0"},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "forged" in done.stdout + done.stderr or command in ("trust --show", "run")
    lines = re.split("[\n\r\x85\u2028]", done.stdout + done.stderr)
    assert not [line for line in lines if line.startswith("::error::forged")]


# ── JSON ────────────────────────────────────────────────────────────────────


def test_json_carries_no_raw_control_character_and_the_same_value() -> None:
    value = {"text": EVIL + FORGED + "ü € 😀 \U000e0041"}
    data = encode(value).decode()
    assert not RAW.search(data)
    assert "\U000e0041" not in data
    assert json.loads(data) == value
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == value


def test_journal_stream_and_transcript_carry_none(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.hook("PreToolUse", f"printf '%s' '{EVIL}' >&2; exit 2")
    ran = place.run({"turns": [[bash("echo hi")], [{"text": EVIL}]]})
    assert not RAW.search(ran.stdout)
    kept = [path for path in place.home.rglob("*.jsonl") if os.path.getsize(path)]
    assert kept
    for path in kept:
        assert not RAW.search(path.read_text())
