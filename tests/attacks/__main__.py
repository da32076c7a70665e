"""Print the table of attacks: `python -m attacks [--only TEXT] [-j N] [--json]`, as `make attacks` does.

Every test below this folder is one attack, or one ordinary use that must still work next to it. A module names its area
in `AREA`; without it the file's name is the area. A test that fails is an attack that got through.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

HERE = Path(__file__).parent


@functools.cache
def area_of(file: str) -> str:
    """Return the area of a test file: what it says in `AREA`, else its name."""
    path = HERE / Path(file).name
    found = re.search(r'^AREA = "(.+)"$', path.read_text(), re.MULTILINE) if path.is_file() else None
    return found[1] if found else path.stem.removeprefix("test_").replace("_", " ")


class Area(msgspec.Struct):
    """The attacks of one area."""

    tried: int = 0
    held: int = 0
    #: Attacks that need something this machine does not have; neither tried nor held.
    skipped: int = 0
    seconds: float = 0.0
    #: The tests that failed.
    fallen: list[str] = msgspec.field(default_factory=list)


class Tally:
    """A pytest plugin that counts by area."""

    def __init__(self) -> None:
        self.areas: dict[str, Area] = {}
        #: Files that could not be collected: none of their attacks was tried.
        self.broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be collected."""
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of a test: the call decides, unless the setup or the teardown failed."""
        area = self.areas.setdefault(area_of(report.nodeid.partition("::")[0]), Area())
        area.seconds += report.duration
        if report.skipped:
            area.skipped += 1
        elif report.failed:
            area.tried += report.when != "teardown"
            area.held -= report.when == "teardown"
            area.fallen.append(report.nodeid)
        elif report.when == "call":
            area.tried += 1
            area.held += 1


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the attacks and print what held; 1 if one got through or could not be tried."""
    parser = argparse.ArgumentParser(prog="attacks", description="Attack the product and count what holds.")
    parser.add_argument("--only", default="", help="only tests whose name matches this pytest -k expression")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="processes (default: this one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("path", nargs="*", default=[str(HERE)], help="files or folders (default: all attacks)")
    args = parser.parse_args(list(arguments) if arguments is not None else None)
    tally = Tally()
    quiet = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider"]
    chosen = ["-k", args.only] if args.only else []
    status = pytest.main([*quiet, *chosen, f"-n{args.jobs}", *args.path], plugins=[tally])
    if args.json:
        print(json.dumps({name: msgspec.to_builtins(area) for name, area in sorted(tally.areas.items())}, indent=1))
    else:
        print("\n".join(table(tally)))
    good = status == pytest.ExitCode.OK and not tally.broken and not any(a.fallen for a in tally.areas.values())
    return 0 if good and tally.areas else 1


def table(tally: Tally) -> list[str]:
    """Return the lines of the table, the sum, and every attack that got through."""
    lines = ["", f"{'area':62} {'tried':>6} {'held':>6} {'skipped':>8} {'seconds':>8}"]
    lines += [_row(name, area) for name, area in sorted(tally.areas.items())]
    areas = list(tally.areas.values())
    total = Area(*(sum(getattr(area, field) for area in areas) for field in ("tried", "held", "skipped", "seconds")))
    lines += [_row("sum", total)]
    lines += [f"GOT THROUGH  {test}" for area in areas for test in area.fallen]
    return lines + [f"NOT TRIED    {path}" for path in tally.broken]


def _row(name: str, area: Area) -> str:
    return f"{name:62} {area.tried:6} {area.held:6} {area.skipped:8} {area.seconds:8.1f}"


if __name__ == "__main__":
    sys.exit(main())
