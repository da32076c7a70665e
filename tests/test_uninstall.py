"""Every file that Hookwright writes is on the page about uninstalling, and what the page says to delete is all."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from docpages import ROOT, World, blocks, run_block, section
from hookwright.observers.journal.writer import ROTATE_AT, Retention

PAGE = (ROOT / "docs" / "uninstall.md").read_text()
SESSION = """
turns:
  - - tool: Bash
      input: { command: sleep 0.1, description: Wait, run_in_background: true }
  - - tool: Agent
      input: { description: Look, prompt: find it, subagent_type: general-purpose }
  - - text: done
"""
WRITING_HOOKS = {
    "PreToolUse": 'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.py',
    "SessionStart": "echo 'export A=1' >> \"$CLAUDE_ENV_FILE\"; printf '%020000d' 0",
}
STATE = "~/.local/state/hookwright"
#: Rows of files that need a terminal, an open console, or eight megabytes of records.
RARE = {f"{STATE}/{name}" for name in ("history.jsonl", "journal.jsonl.<number>", "web.lock", "live/")}


def table_rows(text: str) -> list[str]:
    """Return the first cells of the tables in a text."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def covering(row: str, home: Path) -> re.Pattern[str]:
    """Make a pattern of a path as the page writes it; a folder covers everything in it."""
    path = re.escape(row.replace("~", str(home), 1))
    return re.compile(re.sub(r"<\w+>", "[^/]+", path) + (".*" if row.endswith("/") else ""))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A project whose hooks make a session write everything it can, and a temporary folder of its own."""
    world = World(tmp_path)
    world.env["TMPDIR"] = str(tmp_path / "tmp")
    (tmp_path / "tmp").mkdir()
    hooks = {name: [{"hooks": [{"type": "command", "command": line}]}] for name, line in WRITING_HOOKS.items()}
    world.write(".claude/settings.json", json.dumps({"hooks": hooks}))
    world.write(".claude/hooks/guard.py", "import helper\n")
    world.write(".claude/hooks/helper.py", "")
    world.write("model.yaml", SESSION)
    return world


def files(world: World) -> set[str]:
    """List the files in the home directory, the project's included."""
    return {str(path) for path in world.home.rglob("*") if path.is_file()}


def hookwright(world: World, *arguments: str) -> None:
    done = world.run(["hookwright", *arguments])
    assert done.returncode == 0, done.stdout


def test_every_file_of_a_session_is_on_the_page_and_can_be_deleted_as_it_says(world: World) -> None:
    before = files(world)
    hookwright(world, "list")
    hookwright(world, "check")
    assert files(world) == before
    hookwright(world, "trust", "--yes")
    hookwright(world, "run", "-p", "go", "--script", "model.yaml", "--allowedTools", "Bash,Agent")
    written = files(world) - before
    listed = table_rows(section(PAGE, "State")) + table_rows(section(PAGE, "Sessions"))
    covers = {row: covering(row, world.home) for row in listed}
    assert {path for path in written if not any(pattern.fullmatch(path) for pattern in covers.values())} == set()
    assert {row for row, pattern in covers.items() if not any(map(pattern.fullmatch, written))} == RARE
    assert os.listdir(world.env["TMPDIR"]) == []
    (script,) = [block for block in blocks(PAGE) if block.file == "forget.sh"]
    run_block(script, world)
    world.run(["./forget.sh"])
    assert [path for path in files(world) if path.startswith(f"{world.home}/.claude/")] == []


def test_the_page_says_how_long_the_journal_is_kept() -> None:
    current, old = (line for line in PAGE.splitlines() if line.startswith("| `~/.local/state/hookwright/journal"))
    assert f"at {ROTATE_AT >> 20} MB" in current
    kept = Retention()
    assert f"{kept.days:g} days and {kept.bytes >> 20} MB" in old
