"""Write the reference pages from the code: `make docs`; `--check` only reports the pages that are out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from pages.adapters import adapters
from pages.agents import agent_pages, agents
from pages.api import api
from pages.cases import cases
from pages.cli import cli
from pages.diagnostics import diagnostics
from pages.differences import deviations
from pages.events import events
from pages.layers import design
from pages.settings import settings
from pages.tables import exit_codes, visibility

DOCS = Path(__file__).parent

PAGES: dict[str, Callable[[], str]] = {
    "reference/events.md": events,
    "reference/exit-codes.md": exit_codes,
    "reference/visibility.md": visibility,
    "reference/settings.md": settings,
    "reference/diagnostics.md": diagnostics,
    "reference/cases.md": cases,
    "reference/cli.md": cli,
    "reference/api.md": api,
    "adapters/README.md": adapters,
    "agents.md": agents,
    **agent_pages(),
    "design.md": design,
    "deviations.md": deviations,
}


def main() -> int:
    """Write every page, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    check = parser.parse_args().check
    stale = []
    for name, write in PAGES.items():
        path = DOCS / name
        text = write()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    for name in stale:
        print(f"docs/{name} {'is out of date; run: make docs' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
