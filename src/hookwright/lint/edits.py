"""Edits of JSON text that leave the rest of the file unchanged, and their application to files."""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping

from hookwright.config.jsonfile import Path
from hookwright.lint.model import Edit, Executable, Finding, Fix
from hookwright.lint.subject import Document
from hookwright.protocol.jsontext import Json
from hookwright.storage import replace_file

_DECODER = json.JSONDecoder()
_BOM = "\ufeff"


def replace_value(document: Document, path: Path, value: object) -> Fix:
    """Replace a value."""
    spots = document.offsets(path)
    if spots is None:
        return ()
    end = _end(document.text, spots[1])
    return (Edit(document.path, spots[1], end, json.dumps(value, ensure_ascii=False)),) if end else ()


def rename_key(document: Document, path: Path, name: str) -> Fix:
    """Rename a key."""
    spots = document.offsets(path)
    if spots is None or spots[0] == spots[1]:
        return ()
    end = _end(document.text, spots[0])
    return (Edit(document.path, spots[0], end, json.dumps(name, ensure_ascii=False)),) if end else ()


def nest_handler(document: Document, path: Path, entry: Mapping[str, Json]) -> Fix:
    """Wrap a handler that appears where a group belongs; its own text is kept unless it has a matcher."""
    spots = document.offsets(path)
    end = _end(document.text, spots[1]) if spots is not None else 0
    if spots is None or not end:
        return ()
    raw = document.text[spots[1] : end]
    if "matcher" in entry or "type" not in entry:
        inner = {"type": "command", **{key: value for key, value in entry.items() if key != "matcher"}}
        raw = json.dumps(inner, ensure_ascii=False)
    head = f'"matcher": {json.dumps(entry["matcher"])}, ' if "matcher" in entry else ""
    return (Edit(document.path, spots[1], end, f'{{{head}"hooks": [{raw}]}}'),)


def remove_member(document: Document, path: Path) -> Fix:
    """Remove a key and its value from an object, and one comma."""
    spots = document.offsets(path)
    if spots is None:
        return ()
    text, start, end = document.text, spots[0], _end(document.text, spots[1])
    after = len(text[end:]) - len(text[end:].lstrip())
    if text[end + after : end + after + 1] == ",":
        stop = end + after + 1
        return (Edit(document.path, start, stop + len(text[stop:]) - len(text[stop:].lstrip()), ""),)
    before = text[:start].rstrip()
    return (Edit(document.path, len(before) - (1 if before.endswith(",") else 0), end, ""),)


#: A string, a comment with the line it fills or the space before it, or a comma before a closing bracket.
_EXTRA = re.compile(
    r'"(?:\\.|[^"\\\n])*"'
    r"|(?P<line>(?:^[ \t]*|[ \t]*)//[^\n]*)"
    r"|(?P<block>[ \t]*/\*.*?\*/)"
    r"|(?P<comma>,)(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])",
    re.MULTILINE | re.DOTALL,
)


def strict_json(document: Document) -> Fix:
    """Remove comments and trailing commas; no fix if the rest is not JSON, since its meaning would be a guess."""
    edits = []
    for found in _EXTRA.finditer(document.text):
        if found.lastgroup is None:
            continue
        start, end = found.span(found.lastgroup)
        fills = found.lastgroup != "comma" and (start == 0 or document.text[start - 1] == "\n")
        edits.append(Edit(document.path, start, end + (fills and document.text[end : end + 1] == "\n"), ""))
    rest = document.text
    for edit in reversed(edits):
        rest = rest[: edit.start] + rest[edit.end :]
    try:
        json.loads(rest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return ()
    return tuple(edits)


def _refuse(word: str) -> Json:
    raise ValueError(word)


def _end(text: str, start: int) -> int:
    try:
        return _DECODER.raw_decode(text, start)[1]
    except ValueError:
        return 0


# ── application ─────────────────────────────────────────────────────────────


class Change:
    """The changes of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, encoding="utf-8", newline="") as file:
            self.before = file.read()
        self.after = self.before
        self.executable = False

    def apply(self, edits: Iterable[Edit]) -> None:
        """Apply edits from last to first; of two that overlap, the first one waits for another pass."""
        bom = _BOM if self.before.startswith(_BOM) else ""
        text = self.before.removeprefix(_BOM)
        limit = len(text) + 1
        for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end), reverse=True):
            if edit.end <= limit:
                text = text[: edit.start] + edit.text + text[edit.end :]
                limit = edit.start
        self.after = bom + text

    def diff(self, shown: str) -> str:
        """Return the change as a unified diff; new execute permission is one line."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), f"a/{shown}", f"b/{shown}"
        )
        mode = f"chmod +x {shown}\n" if self.executable else ""
        return mode + "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def write(self) -> None:
        """Write the file in one step, with its present permissions."""
        mode = stat.S_IMODE(os.stat(self.path).st_mode)
        if self.after != self.before:
            target = os.path.realpath(self.path)
            replace_file(target, self.after.encode())
        if self.executable:
            os.chmod(self.path, mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def changes(findings: Iterable[Finding]) -> list[Change]:
    """Collect the fixes of all findings, file by file."""
    parts = [part for finding in findings for part in finding.fix]
    found: dict[str, Change] = {}
    for path in dict.fromkeys(part.path for part in parts):
        change = found[path] = Change(path)
        change.apply(part for part in parts if isinstance(part, Edit) and part.path == path)
        change.executable = any(isinstance(part, Executable) and part.path == path for part in parts)
    return [change for change in found.values() if change.after != change.before or change.executable]
