"""What the user reads before trusting a project's hooks and settings."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookwright.config import Changed, Review, Reviewed
from hookwright.config.items import ABSENT
from hookwright.protocol.sources import place
from hookwright.text import flat, plural, short_path
from hookwright.tui.feed.diffs import coloured
from hookwright.tui.feed.words import Line, script_of


def head_lines(found: Review) -> Iterator[Line]:
    """Introduce the review: the project, the risk, and what is gone."""
    yield (
        ("warn", "▲ "),
        ("bold", "This project has hooks or settings you have not trusted in their present form."),
    )
    where = flat(short_path(found.project, home=os.path.expanduser("~")))
    yield (
        ("dim", f"  {where}: {plural(len(found.pending), 'item')}. Hooks run with your permissions. "),
        ("dim", "What you do not trust stays off, and you will be asked again."),
    )
    for record in found.removed:
        yield (("dim", f"  removed: {flat(record.place)} was trusted and is no longer configured"),)


def row(item: Reviewed, decision: bool | None) -> Line:
    """Write one item of the list."""
    marks = {None: ("dim", "? "), True: ("good", "✓ "), False: ("bad", "✗ ")}
    state = "changed" if isinstance(item.state, Changed) else "new"
    kinds = {"env": "variables", "agent": "agent"}
    other = kinds.get(item.item.source.pointer, "settings")
    what = f"{item.item.event} {item.item.matcher or '*'}" if item.item.event else other
    return (marks[decision], ("warn", f"{state:<8}"), ("", f"{what}  "), ("dim", script_of(item.item.label)))


def item_lines(item: Reviewed) -> Iterator[Line]:
    """Show where an item is configured, what it runs, and how that differs from what was trusted."""
    yield (("bold", flat(item.item.label)),)
    yield (("dim", ", ".join(map(place, item.item.sources))),)
    if item.item.borrowed:
        yield (("warn", "your own hook, which runs these files of the project"),)
    if item.item.caution:
        yield (("bad", f"dangerous: {flat(item.item.caution)}"),)
    if item.item.unbound:
        yield (("bad", f"cannot be trusted: {flat(item.item.unbound)}"),)
    for file in item.item.files:
        if file.digest != ABSENT:
            yield (("dim", f"runs {flat(file.path)}"),)
    for note in item.item.notes:
        yield (("warn", f"not bound: {flat(note)}"),)
    yield ()
    yield from coloured(item.diff().splitlines()) if isinstance(item.state, Changed) else _all_of(item)


def _all_of(item: Reviewed) -> Iterator[Line]:
    """Show a new item in full: the entry without defaults, then every file it runs."""
    for number, (name, text) in enumerate(item.whole()):
        if number:
            yield ()
        yield (("bold", flat(name)),)
        if text is None:
            yield (("warn", "too large to show, or not text"),)
        else:
            yield from coloured(f"+{line}" for line in text.splitlines())
