"""Suppressions: a comment in a script or a skill, an entry in `.claude/hookwright.json` for JSON files.

In scripts and YAML frontmatter, on the line of the finding or alone on the line above it:

    exit 1  # hookwright: ignore HK401 -- the wrapper turns 1 into 2

For JSON files, which have no comments, `.claude/hookwright.json` (in a plugin `.claude-plugin/hookwright.json`), which
Claude Code never reads:

    {"ignore": [{"id": "HK213", "path": ".claude/settings.json", "pointer": "hooks.PreToolUse[0]", "reason": "…"}]}

`pointer` is optional and covers everything below it. A suppression without a reason has no effect.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.config.jsonfile import Broken, parse_json
from hookwright.lint.found import finding
from hookwright.lint.model import Finding, Position
from hookwright.lint.subject import Subject
from hookwright.protocol.jsontext import Json

_COMMENT = re.compile(r"(?:#|//)\s*hookwright:\s*ignore\s+((?:HK\d{3}[\s,]*)+)(?:--\s*(.*))?$")
_FILES = (os.path.join(".claude", "hookwright.json"), os.path.join(".claude-plugin", "hookwright.json"))


class Suppression(msgspec.Struct, frozen=True):
    """One rule to ignore at one place, and why."""

    rule: str
    at: Position
    reason: str
    #: The lines a comment covers; a JSON entry covers paths and pointers.
    lines: tuple[int, ...] = ()
    root: str = ""
    path: str = ""
    pointer: str = ""

    def covers(self, found: Finding) -> bool:
        """Return whether a finding is suppressed."""
        if found.rule != self.rule or not self.reason:
            return False
        if self.lines:
            return found.at.path == self.at.path and found.at.line in self.lines
        path = os.path.relpath(found.at.path, self.root)
        return fnmatch.fnmatch(path, self.path or "*") and _below(found.at.pointer, self.pointer)


def _below(pointer: str, prefix: str) -> bool:
    return not prefix or pointer == prefix or pointer.startswith((f"{prefix}.", f"{prefix}["))


def suppressed(findings: Sequence[Finding], subject: Subject) -> list[Finding]:
    """HK001 and HK002: drop suppressed findings; add findings about the suppressions themselves."""
    found = [*_comments(subject), *_entries(subject)]
    kept = [item for item in findings if not any(entry.covers(item) for entry in found)]
    for entry in found:
        if not entry.reason:
            what = f"{entry.rule} is ignored here without a reason. It is reported anyway."
            kept.append(finding("HK001", entry.at, what, f"Add the reason: … ignore {entry.rule} -- the reason"))
        elif not any(entry.covers(item) for item in findings):
            kept.append(finding("HK002", entry.at, f"{entry.rule} is not found here.", "Remove the suppression."))
    return kept


def _comments(subject: Subject) -> Iterator[Suppression]:
    texts = {program.path: program.text for _, program in subject.programs() if program.path}
    texts |= {document.path: document.text for document in subject.documents if document.path.endswith(".md")}
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            match = _COMMENT.search(line)
            if match is None:
                continue
            alone = not line[: match.start()].strip()
            covered = (number, number + 1) if alone else (number,)
            for rule in re.findall(r"HK\d{3}", match[1]):
                yield Suppression(rule, Position(path, number, match.start() + 1), (match[2] or "").strip(), covered)


def _entries(subject: Subject) -> Iterator[Suppression]:
    roots = dict.fromkeys(
        [*(document.reach.project_dir for document in subject.documents), *(plugin.root for plugin in subject.plugins)]
    )
    for root in roots:
        for name in _FILES:
            yield from _file(root, os.path.join(root, name))


def _file(root: str, path: str) -> Iterator[Suppression]:
    try:
        with open(path, "rb") as file:
            parsed = parse_json(file.read(1 << 20))
    except OSError:
        return
    value: Json = None if isinstance(parsed, Broken) else parsed.value
    entries = value.get("ignore") if isinstance(value, dict) else None
    if isinstance(parsed, Broken) or not isinstance(entries, list):
        yield Suppression("every rule", Position(path), "")
        return
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            texts = [entry.get(key) for key in ("reason", "path", "pointer")]
            reason, wanted, pointer = (text if isinstance(text, str) else "" for text in texts)
            at = Position(path, parsed.line(("ignore", index)), 1, f"ignore[{index}]")
            yield Suppression(entry["id"], at, reason.strip(), (), root, wanted, pointer)
