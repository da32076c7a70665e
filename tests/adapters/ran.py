"""Which scenarios ran and which events fired in them: written by running, checked by every run, shown in docs/adapters.

`cd tests && python -m adapters.ran openai_agents` runs the scenarios of a framework, in an environment that has it,
and writes what fired; `python -m adapters.ran` writes the tables of docs/adapters/README.md from these files.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapters.scenarios import CANNOT, FRAMEWORKS, SCENARIOS, World
from hookwright.engine import HookEngine

FOLDER = Path(__file__).parent / "ran"


@contextmanager
def recording() -> Iterator[set[str]]:
    """Note the name of every event that an engine fires."""
    own, fired = HookEngine.fire, set[str]()

    async def fire(self: HookEngine, event: Any, *args: Any, **fields: Any) -> Any:
        fired.add(event.event_name)
        return await own(self, event, *args, **fields)

    HookEngine.fire = fire  # type: ignore[method-assign]
    try:
        yield fired
    finally:
        HookEngine.fire = own  # type: ignore[method-assign]


def recorded(framework: str) -> dict[str, list[str]]:
    """Return the events that fired in each scenario of a framework."""
    found: dict[str, list[str]] = json.loads((FOLDER / f"{framework}.json").read_text())
    return found


def record(framework: str) -> None:
    """Run every scenario of a framework, and write what fired."""
    driver = importlib.import_module(f"adapters.drive_{framework}")
    found = {}
    for name, scenario in SCENARIOS.items():
        if name not in CANNOT[framework]:
            with tempfile.TemporaryDirectory() as folder, recording() as fired:
                scenario(driver, World(Path(folder)))
            found[name] = sorted(fired)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{framework}.json").write_text(json.dumps(found, indent=1) + "\n")


# ── the tables ──────────────────────────────────────────────────────────────

PAGE = Path(__file__).parents[2] / "docs" / "adapters" / "README.md"


def page_with_tables() -> str:
    """Return the page with the tables as they are now."""
    page = PAGE.read_text()
    for name, table in (("scenarios", scenario_table()), ("events", event_table())):
        before, _, rest = page.partition(f"<!-- {name} -->\n")
        page = f"{before}<!-- {name} -->\n{table}<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def scenario_table() -> str:
    """Return the table of frameworks and scenarios: what ran, and what a framework cannot express."""
    ran = {one: recorded(one) for one in FRAMEWORKS}
    rows = []
    for name, scenario in SCENARIOS.items():
        said = (scenario.__doc__ or "").strip().removesuffix(".")
        marks = ["runs" if name in ran[one] else f"cannot be expressed: {CANNOT[one][name]}" for one in FRAMEWORKS]
        rows.append([f"**{name}**: {said}", *marks])
    return _table("scenario", rows)


def event_table() -> str:
    """Return the table of frameworks and events: in how many scenarios each event fired."""
    fired = {one: [name for names in recorded(one).values() for name in names] for one in FRAMEWORKS}
    seen = {name for found in fired.values() for name in found}
    assert seen <= set(_NAMES), "add the event to the list below"
    rows = [[f"`{name}`", *(str(fired[one].count(name) or "never") for one in FRAMEWORKS)] for name in _NAMES]
    return _table("event", rows)


def _table(first: str, rows: list[list[str]]) -> str:
    head = [[first, *FRAMEWORKS.values()], ["---"] * (len(FRAMEWORKS) + 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))


#: The events in the order of a session.
_NAMES = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "ConfigChange",
    "SessionEnd",
)


if __name__ == "__main__":
    for one in sys.argv[1:]:
        record(one)
    if not sys.argv[1:]:
        PAGE.write_text(page_with_tables())
