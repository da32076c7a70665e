"""A server's name is not a matcher for its tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Shell
from hookwright.matching.matchers import compile_matcher
from support import hooks_for, settings


@pytest.mark.req("R-044")
def test_a_server_prefix_matches_nothing_and_is_linted(tmp_path: Path) -> None:
    assert not compile_matcher("mcp__memory").matches("mcp__memory__read")
    assert compile_matcher("mcp__memory__.*").matches("mcp__memory__read")
    shell = Shell(tmp_path)
    settings(shell.project, hooks_for("PreToolUse", {"type": "command", "command": "true"}, matcher="mcp__memory"))
    done = shell("check")
    assert (done.returncode, "HK201" in done.stdout, "mcp__memory__.*" in done.stdout) == (1, True, True)
