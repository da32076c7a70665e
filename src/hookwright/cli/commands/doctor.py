"""Check the whole installation, and fire a canary to see that hooks really run."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence

from hookwright.cli.checkup import (
    CheckResult,
    Health,
    canary,
    extras,
    files,
    hooks,
    journal,
    readiness,
    surroundings,
    trust,
    versions,
)
from hookwright.cli.options import add_places, places
from hookwright.cli.terminal import Style, columns, folded
from hookwright.config import Loaded
from hookwright.text import flat, say

SOUND, SICK = 0, 1
_MARKS = {Health.GOOD: "✓", Health.NOTE: "·", Health.WARNING: "!", Health.BAD: "✗"}


#: The column where the texts begin, and the least width they get.
_TEXT, _NARROW = 11, 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.epilog = "Exit status: 0 if nothing is broken (there may be warnings), 1 if something is."


def run(args: argparse.Namespace) -> int:
    """Run all checks, print the findings, and return the exit status."""
    loaded = places(args).load()
    findings = list(examine(loaded))
    if args.json:
        print(json.dumps([{"part": f.part, "state": f.state.value, "text": f.text} for f in findings], indent=1))
    else:
        say(_lines(findings, Style.of(sys.stdout)), sys.stdout)
    return SICK if any(finding.state is Health.BAD for finding in findings) else SOUND


def examine(loaded: Loaded) -> Iterator[CheckResult]:
    """Check all parts; only the canary starts a process."""
    yield from versions()
    yield from extras(loaded)
    yield from files(loaded)
    yield from hooks(loaded)
    yield from readiness(loaded)
    yield from surroundings(loaded)
    yield from trust(loaded)
    yield from journal(loaded.surroundings.state_dir)
    yield asyncio.run(canary())


def _lines(findings: Sequence[CheckResult], style: Style) -> Iterator[str]:
    part = None
    wide = columns(sys.stdout)
    width = wide and max(wide - _TEXT, _NARROW)
    paint = {Health.GOOD: style.good, Health.NOTE: style.dim, Health.WARNING: style.warn, Health.BAD: style.bad}
    for finding in findings:
        head = finding.part if finding.part != part else ""
        part = finding.part
        first, *rest = folded([flat(finding.text)], width)
        yield f"{style.bold(head.ljust(8))} {paint[finding.state](_MARKS[finding.state])} {first}"
        yield from (" " * _TEXT + line for line in rest)
    bad = sum(finding.state is Health.BAD for finding in findings)
    warnings = sum(finding.state is Health.WARNING for finding in findings)
    yield f"{bad} broken, {warnings} to check" if bad or warnings else "everything is in order"
