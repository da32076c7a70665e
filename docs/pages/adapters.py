"""The table of docs/adapters/README.md: the adapters there are."""

from __future__ import annotations

import re
from pathlib import Path

from pages.markdown import table

from hookwright.adapters.catalogue import ADAPTERS

PAGE = Path(__file__).parent.parent / "adapters" / "README.md"
_BLOCK = re.compile(r"(?<=<!-- adapters -->\n).*(?=<!-- end of adapters -->)", re.DOTALL)


def adapters() -> str:
    """Return docs/adapters/README.md with its table as it must be; the rest of the page is written by hand."""
    rows = [
        (
            one.framework,
            f"[{one.page.partition('#')[0]}]({one.page})",
            f"`{one.line}`",
            f"{one.package} {one.tried}" if one.package else "",
            f"`make {one.tests}`",
        )
        for one in ADAPTERS
    ]
    made = table(("framework", "page", "one line", "tried with", "tests"), rows)
    text, found = _BLOCK.subn(lambda _: f"{made.rstrip()}\n", PAGE.read_text())
    if found != 1:
        raise ValueError("docs/adapters/README.md: put the table between `<!-- adapters -->` and its end")
    return text
