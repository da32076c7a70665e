"""Our entries in a settings file of JSON: one group per event, below the key `hooks`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from hookwright.dialects.export.commented import Node, inserted, removed, scan
from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.text import indent_unit

Entries = Mapping[str, Json]


def caller(agent: str) -> str:
    """Return the mark of entries that call `hookwright hook --from` for an agent."""
    return rf"hook --from {agent}\b"


def is_ours(item: Json, mark: str) -> bool:
    """Return whether a group, a handler or a text has a mark of ours, which is a regular expression."""
    return re.search(mark, json.dumps(item)) is not None


def fresh(entries: Entries) -> str:
    """Return a new file with nothing but our entries."""
    return json.dumps({"hooks": {event: [entry] for event, entry in entries.items()}}, indent=2) + "\n"


def with_entries(text: str | None, entries: Entries) -> str:
    """Add one entry per event; None is a file that does not exist.

    Law: the new text is the old one with insertions, and `without_entries` gives back the old one, byte for byte.
    """
    if text is None:
        return fresh(entries)
    for event, entry in entries.items():
        text = _with_entry(text, event, entry)
    return text


def _with_entry(text: str, event: str, entry: Json) -> str:
    top = _typed(scan(text), dict, "the file", "an object")
    unit = indent_unit(text)
    hooks = top.member("hooks")
    if hooks is None:
        return inserted(text, top, lambda indent: f'"hooks": {_written({event: [entry]}, indent, unit)}')
    _typed(hooks, dict, "`hooks`", "an object")
    groups = hooks.member(event)
    if groups is None:
        return inserted(text, hooks, lambda indent: f"{json.dumps(event)}: {_written([entry], indent, unit)}")
    _typed(groups, list, f"`hooks.{event}`", "a list")
    return inserted(text, groups, lambda indent: _written(entry, indent, unit))


def _typed(node: Node, kind: type, name: str, words: str) -> Node:
    if not isinstance(node.value, kind):
        raise ConfigError(f"{name} is not {words}. Correct it first; nothing was changed.")
    return node


def _written(value: Json, indent: str, unit: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + indent)


def without_entries(text: str, mark: str) -> str | None:
    """Remove our entries with a mark; None if nothing is left of a file that we made.

    Law: what others wrote stays, byte for byte. A list or an object goes with our last entry if we made it, which its
    first character shows: `with_entries` puts an entry of an empty container right after the bracket, and begins a new
    line in a container of its own.
    """
    if _is_fresh(text, mark):
        return None
    while (shorter := _without_one(text, mark)) is not None:
        text = shorter
    return text


def _is_fresh(text: str, mark: str) -> bool:
    value = scan(text).value
    hooks = value.get("hooks") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        return False
    ours = {event: groups[0] for event, groups in hooks.items() if len(groups) == 1 and is_ours(groups[0], mark)}
    return bool(ours) and text == fresh(ours)


def _without_one(text: str, mark: str) -> str | None:
    top = scan(text)
    hooks = top.member("hooks")
    for place, (_, _, groups) in enumerate(hooks.inside if hooks is not None else ()):
        mine = [at for at, (_, _, node) in enumerate(groups.inside) if is_ours(node.value, mark)]
        if not mine or not isinstance(groups.value, list):
            continue
        if len(groups.inside) > 1 or not _made(text, groups):
            return removed(text, groups, mine[-1])
        assert hooks is not None
        if len(hooks.inside) > 1 or not _made(text, hooks):
            return removed(text, hooks, place)
        return removed(text, top, next(at for at, (_, _, node) in enumerate(top.inside) if node is hooks))
    return None


def _made(text: str, container: Node) -> bool:
    """Return whether a container with one member was made by us: its member begins on a line of its own."""
    return text[container.start + 1 : container.start + 2] in ("\n", "\r")


def entries_in(text: str, mark: str) -> dict[str, list[Json]]:
    """Return our entries with a mark by event."""
    value = scan(text).value
    hooks = value.get("hooks") if isinstance(value, dict) else None
    found: dict[str, list[Json]] = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        ours = [group for group in groups if is_ours(group, mark)] if isinstance(groups, list) else []
        if ours:
            found[event] = ours
    return found
