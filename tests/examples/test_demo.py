"""The demo runs, and checks itself that its hooks held."""

from __future__ import annotations

import subprocess
import sys


def test_the_demo_holds_and_tells_what_happened() -> None:
    argv = [sys.executable, "-m", "hookwright.cli", "demo"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("adds context", "denies", "sends it back", "Write done", "SessionEnd"):
        assert said in done.stdout
    assert done.stdout.count("SessionStart context.sh") == 1
    assert "✗" not in done.stdout
