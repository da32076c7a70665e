"""Measure everything, side by side, and write docs/benchmarks.md and docs/benchmarks.svg.

    python bench/run.py [--rounds N] [--only PART ...] [--json FILE] [--dry]

Exits 1 when a figure is out of its bound.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
import report
import rows
from harness import Row

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Measure Hookwright against its floors.")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds for each part (default 15)")
    parser.add_argument("--only", nargs="+", choices=list(rows.ALL), default=list(rows.ALL), help="parts to measure")
    parser.add_argument("--json", type=Path, help="also write the rows as JSON into this file")
    parser.add_argument("--dry", action="store_true", help="print the figures and leave the documentation alone")
    arguments = parser.parse_args()
    measured: list[Row] = []
    for part in arguments.only:
        found = list(rows.ALL[part](arguments.rounds))
        report.show(found)
        measured += found
    if arguments.json is not None:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
    if not arguments.dry and arguments.only == list(rows.ALL):
        report.write(measured, DOCS)
        print(f"written: {DOCS / 'benchmarks.md'}, {DOCS / 'benchmarks.svg'}", file=sys.stderr)
    missed = [row.what for row in measured if row.kept is False]
    if missed:
        print(f"bench: out of bound: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
