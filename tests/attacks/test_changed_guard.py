"""A model that edits a trusted guard switches it off, and every output says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.runs import Place, bash
from support import script

AREA = "engine: a trusted guard that changes"

CHANGED = "was not run"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    body = 'grep -q forbidden && { echo "not this" >&2; exit 2; }; exit 0'
    script(made.project / ".claude" / "hooks" / "guard.sh", body)
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
    made.hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
    made.trust_as_it_is()
    return made


TURNS = {
    "turns": [
        [bash("echo forbidden > a.txt")],
        [bash("echo '# x' >> .claude/hooks/guard.sh")],
        [bash("echo forbidden > b.txt")],
        [bash("echo forbidden > c.txt")],
        [{"text": "done"}],
    ]
}


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_every_output_says_that_a_guard_changed(output: str, place: Place) -> None:
    ran = place.run(TURNS, "--allowedTools", "Bash", output=output)
    assert not (place.project / "a.txt").exists()
    said = [line for line in ran.stderr.splitlines() if "guard.sh" in line and CHANGED in line]
    assert len(said) == 1
    if output == "json":
        assert CHANGED in json.loads(ran.stdout)["warnings"][0]
    if output == "stream-json":
        lines = [line for line in ran.of("system", "informational") if line.get("tag") == "hook_changed"]
        assert len(lines) == 1
        assert CHANGED in lines[0]["content"]
    kept = [line for line in place.transcript() if line.get("subtype") == "informational"]
    assert [CHANGED in line["content"] for line in kept if line.get("tag") == "hook_changed"] == [True]
