"""Print the requirement rows that no test names, and those no mutant proves: `make coverage-map`, or `--group 4`.

A row is *named* by a mark, `@pytest.mark.req("R-172")`, or by `requirements` of a conformance case. Both are read from
the source; no test is imported. A row is *proven* if an expectation of a test with its mark failed on a mutant of
`make mutants`: an exception that any test would meet proves nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "docs" / "requirements.md"
TESTS = ROOT / "tests"
KIT = TESTS / "conformance" / "kit"
RECORD = TESTS / "mutants" / "record.json"

_GROUP = re.compile(r"^## (\d+)\. (.+)$")
_ROW = re.compile(r"^\| (R-\d{3}) \| (.+?) \| ")


class Row(NamedTuple):
    """One requirement."""

    id: str
    group: int
    title: str
    text: str


class Mark(NamedTuple):
    """One place that says it proves a row."""

    row: str
    path: Path
    line: int


def read_rows(text: str) -> list[Row]:
    """Read the tables of the requirements, group by group."""
    rows: list[Row] = []
    group, title = 0, ""
    for line in text.splitlines():
        if heading := _GROUP.match(line):
            group, title = int(heading[1]), heading[2]
        elif row := _ROW.match(line):
            rows.append(Row(row[1], group, title, row[2]))
    return rows


def read_marks(source: str, path: Path) -> Iterator[Mark]:
    """Find every `mark.req(…)` call of a file: decorators, module marks, and marks of single parameters."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_req(node.func):
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Mark(argument.value, path, argument.lineno)


def _is_req(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "req"
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "mark"
    )


def all_rows() -> list[Row]:
    """Read the project's own requirements."""
    return read_rows(REQUIREMENTS.read_text())


def all_marks() -> list[Mark]:
    """Read the marks of all tests."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [mark for path in files for mark in read_marks(path.read_text(), path.relative_to(ROOT))]


def case_marks() -> list[Mark]:
    """Read the rows that conformance cases name; their lines are not known."""
    found = []
    for path in sorted(KIT.glob("*/*.json")):
        rows = json.loads(path.read_text()).get("requirements", [])
        found += [Mark(row, path.relative_to(ROOT), 1) for row in rows]
    return found


def proven_rows() -> set[str]:
    """Read the rows whose marked tests noticed a mutant."""
    return set(json.loads(RECORD.read_text())["rows"])


def report(rows: list[Row], named: set[str], proven: set[str], only: int | None) -> Iterator[str]:
    """Say group by group how many rows are named and proven, and which are not named."""
    groups = dict.fromkeys((row.group, row.title) for row in rows)
    for number, title in groups:
        if only not in (None, number):
            continue
        mine = [row for row in rows if row.group == number]
        missing = [row for row in mine if row.id not in named]
        shown = sum(row.id in proven for row in mine)
        yield f"{number:>2}. {title}: {len(mine) - len(missing)} of {len(mine)} named, {shown} proven by mutation"
        for row in missing:
            yield f"      {row.id}  {row.text if len(row.text) <= 100 else row.text[:99] + '…'}"
    total = f"{sum(row.id in named for row in rows)} of {len(rows)} rows are named by a test"
    yield f"total: {total}, {sum(row.id in proven for row in rows)} are proven by mutation"


def main() -> None:
    """Print the map; a row without a test is a fact, not a failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", type=int, metavar="N", help="only this group of requirements")
    args = parser.parse_args()
    named = {mark.row for mark in (*all_marks(), *case_marks())}
    print("\n".join(report(all_rows(), named, proven_rows(), args.group)))


if __name__ == "__main__":
    main()
