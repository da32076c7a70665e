"""A project, a home, and `detent` as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

DETENT = [sys.executable, "-m", "detent.cli"]


class Shell:
    """A project, a home, and `detent` started in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        self.project.mkdir()
        self.home.mkdir()

    def __call__(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "DETENT_MANAGED_SETTINGS": str(self.home / "none"),
            **env,
        }
        return subprocess.run(
            [*DETENT, *args],
            cwd=self.project,
            env=surroundings,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *args: str, **env: str) -> Any:
        return json.loads(self(*args, "--json", **env).stdout)
