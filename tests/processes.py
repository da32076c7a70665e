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
    return status(pid).get("state", "X") not in ("Z", "X")


def status(pid: int) -> dict[str, str]:
    """Read the state, parent, group and session of a process without `ps`, which not every machine has."""
    if not os.path.isdir("/proc/self"):
        columns = ("state", "parent", "group", "session")
        fields = "stat=,ppid=,pgid=,sess="
        argv = ["ps", "-o", fields, "-p", str(pid)]
        words = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()
        return {name: word[:1] if name == "state" else word for name, word in zip(columns, words, strict=False)}
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return {}
    return dict(zip(("state", "parent", "group", "session"), words, strict=False))


def children(pid: int) -> list[int]:
    """List the children of a process."""
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [child for child in found if status(child).get("parent") == str(pid)]


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
