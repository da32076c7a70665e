"""Draw the pictures of docs/chat.md: the real app, real hooks, a scripted model, in a temporary project.

python docs/pictures/make.py [FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from hookwright.cli.commands import chat
from hookwright.tui.widgets.app import AppLaunch, ChatApp

SIZE = (104, 34)
#: The width of one cell in these pictures.
CELL = 12.2

GUARD = """#!/bin/sh
# Refuse to delete folders; let a person look at deploys, as a dry run.
event=$(cat)
case "$event" in
  *'rm -rf'*)
    echo "rm -rf is not for machines. Use: git clean -n" >&2
    exit 2 ;;
  *deploy*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse",
           "permissionDecision": "ask",
           "permissionDecisionReason": "Deploys need a person. I made it a dry run.",
           "updatedInput": {"command": "./deploy.sh --dry-run"}}}' ;;
esac
"""
STYLE = """#!/bin/sh
echo '{"systemMessage": "app.py is formatted", "suppressOutput": true}'
"""
HOOK = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/{}'
SETTINGS: dict[str, Any] = {
    "hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "git branch --show-current"}]}],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": HOOK.format("guard.sh"),
                        "timeout": 10,
                        "statusMessage": "Checking the command",
                    }
                ],
            }
        ],
        "PostToolUse": [
            {"matcher": "Write|Edit", "hooks": [{"type": "command", "command": HOOK.format("style.sh")}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "make --question test"}]}],
    }
}
TURNS = [
    [
        {"text": "I remove the old build first, then fix the greeting."},
        {"tool": "Bash", "input": {"command": "rm -rf build/", "description": "Remove the old build"}},
        {"tool": "Write", "input": {"file_path": "src/app.py", "content": 'print("Hello, world")\n'}},
    ],
    [
        {
            "text": "The hook keeps me from deleting folders, so I **left `build/` alone** and fixed the greeting:\n\n"
            '```python\nprint("Hello, world")\n```\n'
        }
    ],
    [
        {"text": "I deploy it."},
        {"tool": "Bash", "input": {"command": "./deploy.sh --production", "description": "Deploy"}},
    ],
    [{"text": "The dry run went well."}],
]


def make_project(home: Path) -> Path:
    """Write the project that the pictures show."""
    project = home / "shop"
    hooks = project / ".claude" / "hooks"
    hooks.mkdir(parents=True)
    for name, body in (("guard.sh", GUARD), ("style.sh", STYLE)):
        (hooks / name).write_text(body)
        (hooks / name).chmod(0o755)
    (project / ".claude" / "settings.json").write_text(json.dumps(SETTINGS, indent=2))
    (project / "script.json").write_text(json.dumps({"turns": TURNS}))
    (project / "Makefile").write_text("test:\n")
    (project / "src").mkdir()
    (project / "src" / "app.py").write_text('print("Hello")\n')
    os.system(f"git -C {project} init -q -b main")
    return project


def new_app(project: Path, *args: str) -> ChatApp:
    """Make the app as the command line does."""
    parser = argparse.ArgumentParser()
    chat.configure(parser)
    parsed = parser.parse_args(["--script", str(project / "script.json"), "--permission-mode", "acceptEdits", *args])
    return ChatApp(AppLaunch(args=parsed, env=dict(os.environ), cwd=str(project)))


async def until(app: ChatApp, pilot: Pilot[int], words: str) -> None:
    """Wait until words are on the screen."""
    async with asyncio.timeout(30):
        while words not in on_screen(app):
            await pilot.pause(0.05)
    await pilot.pause(0.2)


def on_screen(app: ChatApp) -> str:
    """Return what is on the screen as text."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def keep(app: ChatApp, folder: Path, name: str) -> None:
    """Write a picture that needs nothing from elsewhere."""
    svg = app.export_screenshot(title="hookwright chat")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'x="([\d.]+)"([^>]*?) textLength="([\d.]+)"([^>]*)>((?:&#160;)+)', _moved, svg)
    svg = svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono'")
    (folder / f"{name}.svg").write_text(re.sub(r"[ \t]+\n", "\n", svg))


def _moved(found: re.Match[str]) -> str:
    """Turn leading blanks into an offset, since not every viewer draws them."""
    blanks = found[5].count("&#160;") * CELL
    place, length = float(found[1]) + blanks, float(found[3]) - blanks
    return f'x="{place:g}"{found[2]} textLength="{max(length, 0):g}"{found[4]}>'


async def draw(project: Path, folder: Path) -> None:
    """Walk through the app and keep what it looks like on the way."""
    app = new_app(project)
    async with app.run_test(size=SIZE) as pilot:
        await until(app, pilot, "what it runs")
        await pilot.pause(1)  # keys that come too early are dropped
        await pilot.press("down")
        await until(app, pilot, "Refuse to delete folders")
        keep(app, folder, "trust-review")
        await pilot.press("a")
        await pilot.pause(1)
        await pilot.press("enter")
        await until(app, pilot, "hooks active")
        await say(app, pilot, "clean up and fix the greeting")
        await until(app, pilot, "left build/ alone")
        await until(app, pilot, "make --question")
        keep(app, folder, "denied-command")
        await say(app, pilot, "now deploy")
        await until(app, pilot, "Deny with a message")
        await until(app, pilot, "enter: confirm")
        keep(app, folder, "permission-dialog")
        await pilot.press("1", "enter")
        await until(app, pilot, "The dry run went well")
        await pilot.press("ctrl+o")
        await until(app, pilot, "who saw what")
        keep(app, folder, "verbose-view")
        await pilot.press("ctrl+o")
        await say(app, pilot, "/hooks")
        await until(app, pilot, "SessionStart")
        await pilot.press("down", "down")
        await until(app, pilot, "Checking the command")
        keep(app, folder, "hooks-browser")
        await pilot.press("escape")
        await pilot.press("ctrl+d")


async def say(app: ChatApp, pilot: Pilot[int], text: str) -> None:
    """Type a prompt and send it."""
    app.prompt.put(text)
    await pilot.press("enter")
    if app.prompt.text:
        await pilot.press("enter")


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="demo-") as home:
        os.environ.update(HOME=home, HOOKWRIGHT_MANAGED_SETTINGS=os.path.join(home, "none"))
        for name in ("NO_COLOR", "HOOKWRIGHT_TRUST", "HOOKWRIGHT_STATE_DIR", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"):
            os.environ.pop(name, None)
        project = make_project(Path(home))
        here = os.getcwd()
        os.chdir(project)
        try:
            asyncio.run(draw(project, folder))
        finally:
            os.chdir(here)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).parent)
