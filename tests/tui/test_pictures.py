"""The pictures of the documentation are the real app, and can be drawn again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"

WORDS = {
    "denied-command": ["rm -rf is not for", "guard.sh", "denied"],
    "permission-dialog": ["Deploys need a person", "./deploy.sh --dry-run", "Deny with a message"],
    "trust-review": ["you have not trusted", "entry", "Refuse to delete folders"],
    "hooks-browser": ["handler", "settings.json:17", "on average"],
    "verbose-view": ["you see", "exit 0 in", "who saw what"],
}


def shown(path: Path) -> str:
    """Read the words of a picture."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())
    return " ".join(found).replace("&#160;", " ")


def test_every_picture_is_there_and_shows_what_it_is_for() -> None:
    for name, words in WORDS.items():
        text = shown(PICTURES / f"{name}.svg")
        assert [word for word in words if word not in text] == [], name


def test_the_pictures_can_be_drawn_anew(tmp_path: Path) -> None:
    subprocess.run([sys.executable, PICTURES / "make.py", tmp_path], check=True, capture_output=True, timeout=120)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(WORDS)
    for name, words in WORDS.items():
        picture = tmp_path / f"{name}.svg"
        assert [word for word in words if word not in shown(picture)] == [], name
        assert "url(http" not in picture.read_text(), "a picture needs nothing from elsewhere"
        assert "@font-face" not in picture.read_text()
