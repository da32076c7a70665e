"""A project, a home, and `hookwright` as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HOOKWRIGHT = [sys.executable, "-m", "hookwright.cli"]


class Shell:
    """A project, a home, and `hookwright` started in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        self.project.mkdir()
        self.home.mkdir()

    @property
    def env(self) -> dict[str, str]:
        """Give the surroundings of the command."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.home / "none"),
        }

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start a command that goes on until it is ended."""
        return subprocess.Popen(
            [*HOOKWRIGHT, *args],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __call__(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*HOOKWRIGHT, *args],
            cwd=self.project,
            env={**self.env, **env},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *args: str, **env: str) -> Any:
        return json.loads(self(*args, "--json", **env).stdout)
