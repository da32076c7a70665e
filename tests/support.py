"""Small makers that tests share: events, handlers, projects on disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler, OnFailure
from hookwright.protocol.outcome import Run, Timing, Verdict
from hookwright.protocol.replies import Exited
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope, Source


def event(name: str, /, **changes: Any) -> Event:
    """Make a complete event of the given name."""
    return sample(name, **changes)


def command(text: str = "true", scope: Scope = Scope.USER, pointer: str = "", **fields: Any) -> CommandHandler:
    """Make a command handler."""
    return CommandHandler(source=Source(scope, pointer=pointer), command=text, **fields)


def failing_closed(text: str = "true") -> CommandHandler:
    """Make a command handler with `onFailure: block`."""
    return command(text, on_failure=OnFailure.BLOCK)


def exited(status: int = 0, stdout: str | dict[str, Any] = "", stderr: str = "") -> Exited:
    """Make a reply of a process; a dict is printed as JSON."""
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return Exited(status, text.encode("utf-8", "surrogateescape"), stderr.encode())


def specific(name: str, **fields: Any) -> dict[str, Any]:
    """Make an output object with the event's own fields."""
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


def run_of(verdict: Verdict, number: int = 0) -> Run:
    """Wrap a verdict as the run of some handler."""
    return Run(command(f"hook-{number}"), Exited(0), verdict, Timing(0.0, 0.0))


def script(path: Path, body: str) -> Path:
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body if body.startswith("#!") else f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def settings(folder: Path, value: Any, name: str = "settings.json") -> Path:
    """Write a settings file below `folder/.claude`."""
    path = folder / ".claude" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
    return path


def hooks_for(name: str, *handlers: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
    """Make a settings object with one group."""
    group: dict[str, Any] = {"hooks": list(handlers)}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {name: [group]}}


def open_fds() -> int:
    """Count the open file descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


def child_processes() -> set[int]:
    """List the processes whose parent is this one, zombies included."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if fields[1] == str(os.getpid()):
                found.add(int(entry))
    return found
