"""Print the table of faults: `python -m faults [--quick] [--only TEXT] [-j N] [--json]`, as `make faults` does."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import msgspec

from faults.runner import Result, run_row
from faults.table import ROWS


def main() -> int:
    """Run the rows and say what came of them; 1 when one is wrong or cannot be decided."""
    parser = argparse.ArgumentParser(prog="faults", description="Run hostile hooks and environments.")
    parser.add_argument("--quick", action="store_true", help="the short form only")
    parser.add_argument("--only", default="", help="only rows whose name has this text")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="rows at once (default 2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    names = [name for name, row in ROWS.items() if args.only in name and (row.quick or not args.quick)]
    with ThreadPoolExecutor(args.jobs) as pool:
        found = {}
        for name, result in zip(names, pool.map(run_row, names), strict=True):
            found[name] = result
            if not args.json:
                print(line(name, result), flush=True)
    if args.json:
        print(json.dumps({name: msgspec.to_builtins(result) for name, result in found.items()}, indent=1))
    else:
        print("\n".join(summary(found)))
    return 0 if all(result.good for result in found.values()) else 1


def line(name: str, result: Result) -> str:
    """Write one row of the table, with what is wrong below it."""
    mark = "ok" if result.good else "?" if result.undecided else "WRONG"
    right = f"{result.tried - len(result.wrong)}/{result.tried}"
    over = f"{result.over:5.2f} s" if result.over > 0 else "      –"
    row = f"{mark:5} {name:55} {right:>9} {len(result.left):4} {over} {result.peak:5.0f} MB {result.seconds:6.1f} s"
    return "\n".join([row, *(f"        {text[:300]}" for text in _complaints(result))])


def _complaints(result: Result) -> list[str]:
    left = [f"left behind: {text}" for text in result.left]
    return [*result.wrong, *left, *([f"undecided: {result.undecided}"] if result.undecided else [])]


def summary(found: dict[str, Result]) -> list[str]:
    """Write the figures of all rows together, and name every row that is not as it must be."""
    results = list(found.values())
    tried, wrong = sum(result.tried for result in results), sum(len(result.wrong) for result in results)
    slowest = max(found, key=lambda name: found[name].over, default="")
    largest = max(found, key=lambda name: found[name].peak, default="")
    lines = [
        "",
        f"faults tried                 {len(found)}",
        f"decisions right              {tried - wrong} of {tried}",
        f"leftovers                    {sum(len(result.left) for result in results)}",
        f"longest time over the limit  {found[slowest].over:.2f} s ({slowest})" if slowest else "",
        f"peak memory over baseline    {found[largest].peak:.0f} MB ({largest})" if largest else "",
        f"failing                      {_names(found, lambda one: bool(one.wrong or one.left))}",
        f"undecided                    {_names(found, lambda one: bool(one.undecided))}",
    ]
    return [text for text in lines if text or text == lines[0]]


def _names(found: dict[str, Result], chosen: object) -> str:
    assert callable(chosen)
    return ", ".join(name for name, result in found.items() if chosen(result)) or "none"


if __name__ == "__main__":
    sys.exit(main())
