"""Add hooks to a settings file by insertion only: its present contents stay as they are, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookwright.config.jsonfile import Broken, Path, Tree, parse_json
from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.text import indent_unit, line_end, line_indent

Group = Mapping[str, Json]

_DECODER = json.JSONDecoder()


def with_hooks(text: str, additions: Mapping[str, Sequence[Group]], deny: Sequence[str] = ()) -> str:
    """Insert groups of hooks and deny rules; skip those already present.

    Law: the new text is the old one with insertions; read as JSON it is the old value with the groups at the end of
    their events and the rules at the end of `permissions.deny`. Raises ConfigError for anything but a
    settings object.
    """
    text = text if text.strip() else "{}\n"
    for event, groups in additions.items():
        for group in groups:
            text = _with_item(text, ("hooks", event), group)
    for rule in deny:
        text = _with_item(text, ("permissions", "deny"), rule)
    return text


def _with_item(text: str, path: tuple[str, str], item: Json) -> str:
    """Append an item to the list at a path; create what is missing on the way."""
    tree = parse_json(text)
    if isinstance(tree, Broken):
        fault = tree.faults[0]
        raise ConfigError(f"line {fault.line}: {fault.message} Correct it first; nothing was changed.")
    outer, inner = path
    top = _typed(tree.value, dict, "the file", "an object")
    if outer not in top:
        return _inserted(text, tree, (), {outer: {inner: [item]}})
    members = _typed(top[outer], dict, f"`{outer}`", "an object")
    if inner not in members:
        return _inserted(text, tree, (outer,), {inner: [item]})
    known = _typed(members[inner], list, f"`{outer}.{inner}`", "a list")
    there = item in known if isinstance(item, str) else _already(known, item)
    return text if there else _inserted(text, tree, path, [item])


def _typed(value: Json, kind: type, name: str, words: str) -> Any:
    if not isinstance(value, kind):
        raise ConfigError(f"{name} is not {words}. Correct it first; nothing was changed.")
    return value


def _already(known: Sequence[Json], group: Group) -> bool:
    there = [
        (entry.get("matcher"), handler)
        for entry in known
        if isinstance(entry, dict) and isinstance(entry.get("hooks"), list)
        for handler in entry["hooks"]
    ]
    return all((group.get("matcher"), handler) in there for handler in group["hooks"])


def _inserted(text: str, tree: Tree, path: Path, new: Json) -> str:
    """Insert the members of `new` after the last member of the container at a path."""
    bom = len(text) - len(text.removeprefix("\ufeff"))
    start = _offset(tree, path) + bom
    end = _DECODER.raw_decode(text, start)[1] - 1
    inner = text[start + 1 : end]
    last = start + 1 + len(inner.rstrip())
    own, line = line_indent(text, start), line_end(text)
    body = _members(new, own, indent_unit(text)).replace("\n", line)
    if not inner.strip():
        return f"{text[: start + 1]}{line}{body}{line}{own}{text[end:]}"
    if "\n" in inner[: len(inner) - len(inner.lstrip())]:
        return f"{text[:last]},{line}{body}{text[last:]}"
    return f"{text[:last]}, {json.dumps(new, ensure_ascii=False)[1:-1]}{text[last:]}"


def _offset(tree: Tree, path: Path) -> int:
    spot: Any = tree.spots
    for step in path:
        spot = spot[1][step][1]
    return int(spot if isinstance(spot, int) else spot[0])


def _members(new: Json, own: str, unit: str) -> str:
    """Write members on separate lines, indented one step more than their container."""
    text = json.dumps(new, indent=unit or 2, ensure_ascii=False)
    lines = text.split("\n")[1:-1]
    return "\n".join(own + line for line in lines)
