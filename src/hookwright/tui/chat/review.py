"""What a person is told before they trust what a project brings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from hookwright.config import Changed, Review, Reviewed
from hookwright.protocol.sources import place
from hookwright.text import flat, short_path
from hookwright.tui.feed.diffs import coloured
from hookwright.tui.feed.words import Line, plural, script_of


def head_lines(found: Review) -> Iterator[Line]:
    """Introduce the review: the project, the risk, and what is gone."""
    yield (("warn", "▲ "), ("bold", "This project brings hooks or settings that you have not trusted as they are now."))
    where = flat(short_path(found.project, home=os.path.expanduser("~")))
    yield (
        ("dim", f"  {where}: {plural(len(found.pending), 'item')}. Hooks run with your rights. "),
        ("dim", "What you do not trust stays off, and you are asked again."),
    )
    for record in found.removed:
        yield (("dim", f"  gone: {flat(record.place)} was trusted and is no longer configured"),)


def row(item: Reviewed, decision: bool | None) -> Line:
    """Write one item of the list."""
    marks = {None: ("dim", "? "), True: ("good", "✓ "), False: ("bad", "✗ ")}
    state = "changed" if isinstance(item.state, Changed) else "new"
    what = f"{item.item.event} {item.item.matcher or '*'}" if item.item.event else "settings"
    return (marks[decision], ("warn", f"{state:<8}"), ("", f"{what}  "), ("dim", script_of(item.item.label)))


def item_lines(item: Reviewed) -> Iterator[Line]:
    """Show where an item is configured, what it runs, and how that differs from what was trusted."""
    yield (("bold", flat(item.item.label)),)
    yield (("dim", place(item.item.source)),)
    if item.item.unbound:
        yield (("bad", f"cannot be trusted: {flat(item.item.unbound)}"),)
    for file in item.item.files:
        yield (("dim", f"runs {flat(file.path)}"),)
    yield ()
    yield from coloured(item.diff().splitlines()) if isinstance(item.state, Changed) else _all_of(item)


#: Values that a handler has when its entry says nothing.
_DEFAULTS = (None, False, "continue")


def _all_of(item: Reviewed) -> Iterator[Line]:
    """Show what nobody has seen yet: the entry without its defaults, then every file that it runs."""
    entry = json.loads(item.item.entry)
    if item.item.event:
        entry = {key: value for key, value in entry.items() if value not in _DEFAULTS and key != "from"}
    yield (("bold", "entry"),)
    yield from coloured(f"+{line}" for line in json.dumps(entry, indent=1, ensure_ascii=False).splitlines())
    for file in item.item.files:
        yield ()
        yield (("bold", flat(file.path)),)
        if file.text is None:
            yield (("warn", f"{file.digest[:16]}…  too big to be shown, or no text, or not there"),)
        else:
            yield from coloured(f"+{line}" for line in file.text.splitlines())
