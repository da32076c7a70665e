"""Draw the pictures of docs/web.md: a real console, a real session with real hooks, a real browser.

python docs/pictures/web.py [FOLDER]

It needs Chromium and playwright: make web-pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

GUARD = """#!/bin/sh
# Refuse to delete folders.
if grep -q 'rm -rf'; then
  echo "rm -rf is not for machines. Use: git clean -n" >&2
  exit 2
fi
"""
SETTINGS: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'}],
            },
            {"matcher": "Write", "hooks": [{"type": "command", "command": 'test -z "$(git status --porcelain)"'}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "make --question test"}]}],
        "SessionStart": [{"hooks": [{"type": "command", "command": "echo 'branch: main'"}]}],
    }
}
TURNS = [
    [{"text": "I remove the old build."}, {"tool": "Bash", "input": {"command": "rm -rf build/"}}],
    [{"tool": "Write", "input": {"file_path": "app.py", "content": "print('hello')\n"}}],
    [{"tool": "Bash", "input": {"command": "python3 app.py"}}],
    [{"text": "Done: `build/` stays, the greeting works."}],
]


def hookwright(folder: Path, *words: str) -> None:
    """Run a command in the project."""
    subprocess.run(
        [sys.executable, "-m", "hookwright.cli", *words], cwd=folder, env=surroundings(folder), check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def surroundings(folder: Path) -> dict[str, str]:
    """Return an environment that knows only this project."""
    return {**os.environ, "HOME": str(folder.parent / "home"), "HOOKWRIGHT_STATE_DIR": str(folder.parent / "state")}


@contextmanager
def console(folder: Path) -> Iterator[str]:
    """Open a console and yield its address."""
    command = [sys.executable, "-m", "hookwright.cli", "web", "--trust"]
    with subprocess.Popen(command, cwd=folder, env=surroundings(folder), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)


def project(folder: Path) -> None:
    """Write a project with hooks and a script for the model."""
    (folder / ".claude" / "hooks").mkdir(parents=True)
    guard = folder / ".claude" / "hooks" / "guard.sh"
    guard.write_text(GUARD)
    guard.chmod(0o755)
    (folder / ".claude" / "settings.json").write_text(json.dumps(SETTINGS, indent=2))
    (folder / "script.json").write_text(json.dumps(TURNS))


def main() -> int:
    """Run a session while the page is open, and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=str(Path(__file__).parent))
    into = Path(parser.parse_args().folder)
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name) / "shop"
        project(folder)
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        with console(folder) as address:
            for scheme in ("light", "dark"):
                page = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 720}).new_page()
                page.goto(address)
                if scheme == "light":
                    hookwright(
                        folder,
                        "run",
                        "-p",
                        "fix the greeting",
                        "--script",
                        "script.json",
                        "--trust",
                        "--permission-mode",
                        "bypassPermissions",
                    )
                    hookwright(folder, "fire", "PreToolUse", "--sample", "Bash", "--trust")
                page.locator("#list .row").nth(2).wait_for()
                time.sleep(1)
                denied = page.locator("#list .row", has_text="deny").first
                denied.click()
                page.locator("#detail .run").first.wait_for()
                time.sleep(0.5)
                page.screenshot(path=into / f"web-traffic-{scheme}.png")
                page.keyboard.press("e")
                page.locator(".explained pre").wait_for()
                page.screenshot(path=into / f"web-explain-{scheme}.png")
                page.keyboard.press("2")
                page.locator("#hooks tbody tr").first.wait_for()
                page.locator("#hooks .link").first.click()
                page.locator("#script pre").first.wait_for()
                page.screenshot(path=into / f"web-hooks-{scheme}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
