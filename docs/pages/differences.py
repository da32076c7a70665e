"""The part of docs/deviations.md on older descriptions of the protocol, taken from the table of requirements."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=<!-- resolutions -->\n).*?(?=\n<!-- end of resolutions -->)", re.DOTALL)
_CELLS = re.compile(r"(?<!\\)\|")
NO_CONFLICT = "—"


def resolved(requirements: str) -> list[tuple[str, str, str, str]]:
    """Return the rows that have a resolution: id, what the source says, source, what Hookwright does."""
    found = []
    for line in requirements.splitlines():
        if line.startswith("| R-"):
            row, text, source, resolution, _ = (cell.strip() for cell in _CELLS.split(line)[1:-1])
            if resolution != NO_CONFLICT:
                found.append((row, text, source, resolution))
    return found


def deviations() -> str:
    """Return docs/deviations.md with the rows as they must be; the rest of the page is written by hand."""
    rows = resolved((DOCS / "requirements.md").read_text())
    lines = ["| row | description | source | here |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    text, found = _BLOCK.subn(lambda _: "\n".join(lines), (DOCS / "deviations.md").read_text())
    if found != 1:
        raise ValueError("docs/deviations.md: put the rows between `<!-- resolutions -->` and its end")
    return text
