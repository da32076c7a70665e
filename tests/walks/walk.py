"""A user at a command line: a home, a project, and lines typed into a shell, with what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tui.terminal import Terminal


class Walk:
    """The steps of one user; every line is run by the shell, with `hookwright` on its PATH."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()

    @property
    def env(self) -> dict[str, str]:
        """The environment of the shell."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.home / "none"),
        }

    def put(self, name: str, text: str) -> Path:
        """Write a file of the project, or with `~/` of the home; what starts with `#!` becomes executable."""
        path = self.home / name[2:] if name.startswith("~/") else self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)
        return path

    def __call__(self, line: str, status: int = 0) -> str:
        """Type a line, check its exit status, and return all it printed with single spaces."""
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=self.project, env=self.env, capture_output=True, text=True, check=False
        )
        shown = done.stdout + done.stderr
        assert done.returncode == status, f"{line} ended with {done.returncode}, not {status}:\n{shown}"
        return " ".join(shown.split())

    def terminal(self, line: str, columns: int) -> Terminal:
        """Type a line on a real terminal of this width."""
        return Terminal(["/bin/sh", "-c", f"exec {line}"], str(self.project), self.env, columns, 60)

    def screen(self, line: str, columns: int) -> str:
        """Return what a line that ends by itself draws on a terminal of this width."""
        with self.terminal(line, columns) as terminal:
            terminal.ended()
            terminal.close_window()
            return terminal.raw.decode()
