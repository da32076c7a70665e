"""`hookwright adapters`: the frameworks in which hooks run, what is installed here, and the line to add."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

import msgspec

from hookwright.adapters.catalogue import ADAPTERS, Adapter
from hookwright.cli.terminal import Style, columns, folded
from hookwright.text import say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--json", action="store_true", help="print the adapters as JSON")
    parser.epilog = "Exit status: 0. The pages are in docs/adapters."


def run(args: argparse.Namespace) -> int:
    """Print the adapters."""
    if args.json:
        found = [{**msgspec.to_builtins(one), "installed": one.installed, "state": one.state} for one in ADAPTERS]
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    style = Style.of(sys.stdout)
    lines = [line for one in ADAPTERS for line in _lines(one, style)]
    say(folded(lines, columns(sys.stdout)), sys.stdout)
    return 0


def _lines(adapter: Adapter, style: Style) -> Iterator[str]:
    tried = f"tried with {adapter.package} {adapter.tried}; " if adapter.package else ""
    yield f"{style.bold(adapter.framework)} ({tried}{adapter.state})"
    if adapter.extra and adapter.installed is None:
        yield f"  pip install 'hookwright[{adapter.extra}]'"
    if adapter.module:
        yield f"  from {adapter.module} import {adapter.name}"
    yield f"  {adapter.line}"
    yield style.dim(f"  docs/adapters/{adapter.page}")
    yield ""
