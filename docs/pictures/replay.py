"""Draw the pictures of docs/replay.md: the real command on the history of the examples, in a terminal and in a browser.

python docs/pictures/replay.py [FOLDER]

The pages need Chromium; without it they are left as they are.
"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI
from rich.text import Text

HISTORY = Path(__file__).parents[2] / "examples" / "history"
GUARD = {
    "type": "command",
    "command": "if grep -qE 'rm -rf|--force|git push'; then echo 'ask me first' >&2; exit 2; fi",
}
WIDTH = 104
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}
#: How Chromium counts the colour schemes that a page may prefer.
SCHEMES = {"dark": 0, "light": 1}
PAGE = (1000, 1100)


def shown(command: list[str], folder: Path) -> str:
    """Run a command in a terminal and return what it shows."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "HOME": str(folder)}
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    data = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        data += part
    process.wait()
    return data.decode()


def draw_terminal(text: str, folder: Path, name: str) -> None:
    """Write a picture of a terminal in each theme; it needs nothing from elsewhere."""
    for scheme, theme in THEMES.items():
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        console.print(Text.from_ansi(text.replace("\r\n", "\n").rstrip()))
        svg = console.export_svg(title="hookwright replay", theme=theme, unique_id=f"replay-{scheme}")
        svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
        svg = svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono'")
        (folder / f"{name}-{scheme}.svg").write_text(re.sub(r"[ \t]+\n", "\n", svg))


def draw_page(page: Path, folder: Path, name: str) -> None:
    """Write a picture of a page in each colour scheme."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: the pictures of the page are not drawn", file=sys.stderr)
        return
    for scheme, number in SCHEMES.items():
        size = ",".join(map(str, PAGE))
        options = [f"--window-size={size}", f"--blink-settings=preferredColorScheme={number}", "--hide-scrollbars"]
        target = f"--screenshot={folder / f'{name}-{scheme}.png'}"
        with tempfile.TemporaryDirectory() as profile:
            own = [f"--user-data-dir={profile}", "--no-sandbox", "--headless", "--disable-gpu"]
            subprocess.run([browser, *own, *options, target, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="replay-") as name:
        home = Path(name)
        shutil.copytree(HISTORY, home / "history")
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [GUARD]}]}
        (home / "guard.json").write_text(json.dumps({"hooks": hooks}, indent=2))
        command = [sys.executable, "-m", "hookwright.cli", "replay", "history", "--candidate", "guard.json"]
        draw_terminal(shown(command, home), folder, "replay-report")
        shown([*command, "--format", "html", "--out", "replay.html"], home)
        page = home / "replay.html"
        # Unfolded, so that the picture shows what a change looks like.
        page.write_text(page.read_text().replace("<details", "<details open", 1))
        draw_page(page, folder, "replay-page")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).parent)
