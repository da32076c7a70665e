"""What the tests of the process layer share: commands, and a look at what is alive."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from hookwright.processes.process import Command


def sh(script: str, *, stdin: bytes = b"", cwd: Path | str = "/", env: Mapping[str, str] | None = None) -> Command:
    """Make a shell command."""
    return Command(argv=("/bin/sh", "-c", script), cwd=str(cwd), env=os.environ if env is None else env, stdin=stdin)


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return state.strip()[:1] not in ("", "Z", "X")


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait until a process has ended; say whether it has."""
    return eventually(lambda: not alive(pid), seconds)


def eventually(condition: object, seconds: float = 5.0) -> bool:
    """Wait until a condition holds; say whether it does."""
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def written(path: Path) -> str:
    """Wait for a file with a complete line, and read it."""
    assert eventually(lambda: path.exists() and path.read_text().endswith("\n")), f"{path} was not written"
    return path.read_text().strip()


def python(source: str, *arguments: str, timeout: float = 60) -> str:
    """Run a Python program of its own, for what would spoil the test's process; give what it printed."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", source, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert ended.returncode == 0, f"exit {ended.returncode}: {ended.stderr}"
    return ended.stdout
