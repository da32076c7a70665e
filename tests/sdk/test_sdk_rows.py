"""docs/sdk.md lists what works, what is said and what is refused; each row has a test that shows just that."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "sdk.md"
_ROW = re.compile(r"^\| `([a-z0-9-]+)` \|[^|]+\| (works|said|refused)\b[^|]*\|$", re.MULTILINE)


def documented() -> dict[str, str]:
    """Return the rows of the page with their states."""
    rows = _ROW.findall(PAGE.read_text())
    assert len(rows) == len(dict(rows)), "a row is there twice"
    return dict(rows)


def shown() -> set[tuple[str, str]]:
    """Return the rows that tests are marked with, and the states they show."""
    found: set[tuple[str, str]] = set()
    for path in HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in ("works", "said", "refused"):
                found |= {(ast.literal_eval(row), node.func.id) for row in node.args}
    return found


def test_every_row_is_shown_by_a_test_and_every_test_shows_a_row() -> None:
    assert set(documented().items()) == shown()


def test_every_line_of_the_tables_is_a_row() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert len(lines) == len(documented())


def test_there_are_more_rows_than_the_table_had_checks() -> None:
    assert len(documented()) >= 84
