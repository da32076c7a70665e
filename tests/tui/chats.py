"""A temporary project with hooks and a scripted model, and `hookwright chat` in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from support import script, settings
from tui.terminal import Terminal

START = "Send a message"
#: A permission dialog has the keyboard.
READY = "enter: confirm"


class Chat:
    """A project, a home, and what happens in them."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        self.project.mkdir()
        self.home.mkdir()
        self.trace = folder / "trace"
        self.trace.write_text("")

    @property
    def env(self) -> dict[str, str]:
        """The environment of the chat."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TRACE": str(self.trace),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.home / "none"),
        }

    def hook(self, event: str, body: str, *, matcher: str | None = None, place: str = "home", **more: Any) -> Path:
        """Add a hook; its name goes to the trace when it runs."""
        folder = getattr(self, place)
        path = folder / ".claude" / "settings.json"
        value = json.loads(path.read_text()) if path.exists() else {}
        groups = value.setdefault("hooks", {}).setdefault(event, [])
        name = f"{event}-{len(groups)}.sh".lower()
        file = script(folder / ".claude" / "hooks" / name, f'echo {event} >> "$TRACE"\n{body}')
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": str(file), **more}]}
        groups.append(group if matcher is None else {"matcher": matcher, **group})
        settings(folder, value)
        return file

    def settings(self, value: dict[str, Any], place: str = "home") -> None:
        """Add keys to the settings."""
        folder = getattr(self, place)
        path = folder / ".claude" / "settings.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        settings(folder, {**known, **value})

    def script(self, *turns: list[dict[str, Any]], **more: Any) -> Path:
        """Write the model's script."""
        path = self.project.parent / "script.json"
        path.write_text(json.dumps({"turns": list(turns), **more}))
        return path

    @property
    def traced(self) -> list[str]:
        """The hooks that ran, in order."""
        return self.trace.read_text().split()

    def open(self, *args: str, columns: int = 100, rows: int = 32, **env: str) -> Terminal:
        """Start the chat in its own terminal."""
        argv = [sys.executable, "-m", "hookwright.cli", "chat", *args]
        path = self.project.parent / "script.json"
        if path.exists():
            argv += ["--script", str(path)]
        return Terminal(argv, str(self.project), {**self.env, **env}, columns, rows)


def flat(shown: str) -> str:
    """Return a screen as one line, without boxes, so that lines may wrap anywhere."""
    return " ".join(word for word in shown.split() if word not in "│┃")


def bash(command: str, **more: Any) -> dict[str, Any]:
    """Build a call of the shell."""
    return {"tool": "Bash", "input": {"command": command, **more}}


def write(path: str, content: str) -> dict[str, Any]:
    """Build a call that writes a file."""
    return {"tool": "Write", "input": {"file_path": path, "content": content}}


def text(answer: str) -> dict[str, Any]:
    """Build a text of the model."""
    return {"text": answer}
