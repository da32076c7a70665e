"""Differences as lines: a hook's rewrite of an input, a call's edit of a file, a change since it was trusted."""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping

from hookwright.protocol.jsontext import Json
from hookwright.text import harmless
from hookwright.tui.feed.words import Line

#: How much of a file is compared.
_MOST = 400_000


def coloured(lines: Iterable[str]) -> Iterator[Line]:
    """Style the lines of a unified diff."""
    for line in lines:
        text = harmless(line).expandtabs(4)
        if line.startswith(("+++", "---")):
            yield (("bold", text),)
        elif line.startswith("@@"):
            yield (("accent", text),)
        elif line.startswith("+"):
            yield (("add", text),)
        elif line.startswith("-"):
            yield (("remove", text),)
        else:
            yield (("dim", text),)


def input_diff(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Line]:
    """Compare an input with a hook's rewrite of it, key by key."""
    for key in dict.fromkeys((*before, *after)):
        old, new = _lines(before.get(key)), _lines(after.get(key))
        if key in before and key in after and old == new:
            continue
        yield (("bold", harmless(str(key))),)
        yield from ((("remove", f"- {line}"),) for line in (old if key in before else ()))
        yield from ((("add", f"+ {line}"),) for line in (new if key in after else ()))


def _lines(value: Json) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return harmless(text).expandtabs(4).splitlines() or [""]


def change(name: str, arguments: Mapping[str, Json]) -> Iterator[Line]:
    """Show what a call that edits a file would change; nothing for other tools."""
    path = str(arguments.get("file_path", ""))
    if name == "Edit":
        old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
        yield from _diff(old, new)
    elif name == "Write":
        yield from _diff(_content(path), str(arguments.get("content", "")))


def _diff(old: str, new: str) -> Iterator[Line]:
    found = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    # Skip the two lines with file names: there is one file, and the dialog names it.
    return coloured(itertools.islice(found, 2, None))


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST)
    except OSError:
        return ""
