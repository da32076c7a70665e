"""Write the source that follows from the catalogue of events: `make docs`; `--check` only names what is out of date.

| file | what is generated |
|---|---|
| `src/hookwright/__init__.py` | the public names, between the two marks |
| `src/hookwright/author/_tables.py` | what each event reads of an author's answer |
| `src/hookwright/author/decorators.py` | one typed decorator per event |
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SOURCE))  # the tree this script is in, not the one that is installed

from msgspec import UNSET  # noqa: E402

from hookwright.protocol.events import CATALOGUE, Event, Shape, TargetForm  # noqa: E402

#: Module → its public names. The events of the catalogue are added to theirs.
PUBLIC: dict[str, tuple[str, ...]] = {
    "hookwright.code_hooks": ("Hooks",),
    "hookwright.config": ("Loaded", "Places", "Settings", "TrustPolicy", "load_hooks"),
    "hookwright.engine": ("HookEngine", "Options"),
    "hookwright.errors": ("ConfigError", "HookwrightError", "InvalidEvent", "MissingExtra", "TrustError"),
    "hookwright.hookset": ("Entry", "HookSet"),
    "hookwright.models.types": ("Model",),
    "hookwright.observers.notices": ("EventEnded", "LateEnded", "Notice", "Observer", "RunEnded", "RunStarted"),
    "hookwright.protocol.answers": ("Answer",),
    "hookwright.protocol.diagnostics": ("Diagnostic", "Severity"),
    "hookwright.protocol.events": ("CATALOGUE", "Event", "EventRules"),
    "hookwright.protocol.handlers": ("Handler", "Kind", "MatcherGroup"),
    "hookwright.protocol.host": ("Host",),
    "hookwright.protocol.job": ("Executor", "Job"),
    "hookwright.protocol.jsontext": ("Json",),
    "hookwright.protocol.outcome": (
        *("Allow", "Ask", "Block", "Decision", "Defer", "Deny", "EndTurn", "Ending", "Late", "NoOpinion", "Outcome"),
        *("Run", "Skip", "SkipReason", "Timing", "Verdict"),
    ),
    "hookwright.protocol.replies": (
        *("Answered", "Backgrounded", "Exited", "Failed", "Failure", "Judged", "NoAnswer", "Reply"),
        *("Spent", "TimedOut"),
    ),
    "hookwright.protocol.sources": ("Component", "Plugin", "Scope", "Source"),
    "hookwright.protocol.wire": ("decode_event", "encode_event"),
    "hookwright.selection": ("HookState", "Selection"),
    "hookwright.session": ("HookSession", "fire_sync", "open_session"),
    "hookwright.visibility": ("Message", "Reader", "messages"),
    "hookwright.wiring": ("Powers",),
}
BEGIN, END = "# begin: written by tools/generate.py", "# end"
NOTE = "Written by tools/generate.py from the catalogue of events; do not edit."


# ── hookwright/__init__.py ──────────────────────────────────────────────────


def exports(before: str) -> str:
    """Return the package's `__init__` with its public names up to date."""
    head, _, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise SystemExit(f"src/hookwright/__init__.py: the marks `{BEGIN}` and `{END}` are missing. Restore them.")
    return f"{head}{BEGIN}\n{_export_block()}\n{END}{tail}"


def _export_block() -> str:
    events = "hookwright.protocol.events"
    names = PUBLIC | {events: (*PUBLIC[events], *CATALOGUE)}
    imports = [
        f"    from {module} import {name} as {name}"
        for module in sorted(names)
        for name in sorted(names[module], key=_case)
    ]
    table = [line for module in sorted(names) for line in _row(module, names[module])]
    return "\n".join(
        [
            "if TYPE_CHECKING:",
            "    from typing import Any",
            "",
            *imports,
            "",
            "#: Module → its public names.",
            "_EXPORTS = {",
            *table,
            "}",
        ]
    )


def _case(name: str) -> tuple[bool, bool, str]:
    """Return the place of a name in the order of isort: constants, classes, the rest."""
    return (not name.isupper(), not name[0].isupper(), name.lower())


def _row(module: str, names: tuple[str, ...]) -> Iterator[str]:
    if len(names) == 1:
        yield f'    "{module}": ("{names[0]}",),'
        return
    yield f'    "{module}": ('
    yield from (f'        "{name}",' for name in names)
    yield "    ),"


# ── hookwright/author ───────────────────────────────────────────────────────


def tables() -> str:
    """Return the module of what an author's answer depends on."""
    rows = "\n".join(f'    "{name}": "{_reads(cls)}",' for name, cls in CATALOGUE.items())
    base = [name for name, cls in CATALOGUE.items() if cls.rules.target_form is TargetForm.BASENAME]
    words = textwrap.fill(" ".join(_optional()), 116, initial_indent="    ", subsequent_indent="    ")
    return f'''"""What each event reads of an answer, and what a payload may omit.

{NOTE}
"""

from __future__ import annotations

#: Event → the field it can be narrowed by (`-` for none), then the parts of an answer it reads. The catalogue itself
#: takes too long to import for a hook.
EVENTS: dict[str, str] = {{
{rows}
}}

#: Events narrowed by the file name of a path.
BASENAMES = frozenset({{{", ".join(f'"{name}"' for name in base)}}})

_MAY_BE_MISSING = """
{words}
"""

#: Fields a payload may omit; reading one that is missing returns None.
OPTIONAL = frozenset(_MAY_BE_MISSING.split())
'''


def _reads(cls: type[Event]) -> str:
    rules = cls.rules
    shape = rules.output.get("permission_decision")
    parts = {
        "permission": shape is not None,
        "request": "decision" in rules.output,
        "defer": shape is Shape.PERMISSION,
        "block": "block" in rules.decisions,
        "stop": rules.stops,
        "context": "additional_context" in rules.output and "additional_context" not in rules.discarded,
        "message": rules.system_message,
        "updated_input": "updated_input" in rules.output or "decision" in rules.output,
        "updated_tool_output": "updated_tool_output" in rules.output,
    }
    return " ".join([rules.target or "-", *(word for word, reads in parts.items() if reads)])


def _optional() -> list[str]:
    found: dict[str, None] = {}
    for cls in CATALOGUE.values():
        defaults = dict(zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False))
        found |= {name: None for name in cls.__struct_fields__ if defaults.get(name) is UNSET}
    return list(found)


def decorators() -> str:
    """Return the typed decorators of `Hook`."""
    methods = "\n".join(
        f"        def {_snake(name)}(self{', *values: str' if cls.rules.target else ''}) -> Decorator[on.{name}]: ..."
        for name, cls in CATALOGUE.items()
    )
    return f'''"""The decorators of `Hook`, for type checkers alone.

{NOTE}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hookwright.protocol import events as on

E = TypeVar("E")
#: An Answer, an output object as a dict, or None.
Returned = Any
#: What happens to the event when a hook raises an exception.
OnError = Literal["continue", "block"]
Handler = Callable[[E], Returned]
Decorator = Callable[[Handler[E]], Handler[E]]


class Decorators:
    """One decorator per event; those of events with a matcher take the values to narrow it by."""

    if TYPE_CHECKING:

{methods}
'''


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


# ── main ────────────────────────────────────────────────────────────────────


def main() -> int:
    """Write what is out of date, or name it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    check = parser.parse_args().check
    package = SOURCE / "hookwright"
    texts = {
        package / "__init__.py": exports((package / "__init__.py").read_text()),
        package / "author" / "_tables.py": tables(),
        package / "author" / "decorators.py": decorators(),
    }
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not check:
            path.write_text(texts[path])
        shown = path.relative_to(SOURCE.parent)
        print(f"{shown} {'is out of date; run: make docs' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
