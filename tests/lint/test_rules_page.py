"""The page of rules is made from their table and is up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hookwright.lint import RULES

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, DOCS / "generate_rules.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_every_rule_has_a_heading_and_both_samples() -> None:
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        assert f"\n### {rule.title}\n" in text
        part = text.partition(f"\n### {rule.title}\n")[2].partition("\n### ")[0]
        assert "\nBad, `" in part
        assert "\nGood, `" in part
        assert "←" in part
