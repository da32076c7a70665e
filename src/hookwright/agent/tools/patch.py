"""The difference of two texts as hunks, in the form of `structuredPatch`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from hookwright.protocol.jsontext import Json

_CONTEXT = 3
#: Above this many pairs of lines the changed middle is shown as one replacement: comparing costs their product.
_PAIRS = 1_000_000
_NO_NEWLINE = "\\ No newline at end of file"

_Change = tuple[str, int, int, int, int]


def hunks(old: str, new: str) -> list[dict[str, Json]]:
    """Return the changes, with three lines around each; equal texts have no hunks."""
    before, after = _lines(old), _lines(new)
    return [_hunk(group, before, after) for group in _groups(_changes(before, after))]


def _lines(text: str) -> list[str]:
    """Split at newlines only; a last line without one differs from the same line with one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _changes(before: Sequence[str], after: Sequence[str]) -> list[_Change]:
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if len(old) * len(new) > _PAIRS:
        return [("replace", head, head + len(old), head, head + len(new))]
    found = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(tag, i + head, j + head, m + head, n + head) for tag, i, j, m, n in found if tag != "equal"]


def _groups(changes: Sequence[_Change]) -> list[list[_Change]]:
    """Group changes whose surrounding lines touch."""
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change[1] - groups[-1][-1][2] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: Sequence[_Change], before: Sequence[str], after: Sequence[str]) -> dict[str, Json]:
    start = max(group[0][1] - _CONTEXT, 0)
    end = min(group[-1][2] + _CONTEXT, len(before))
    lines: list[str] = []
    at = start
    for _, i, j, m, n in group:
        _write(lines, " ", before[at:i])
        _write(lines, "-", before[i:j])
        _write(lines, "+", after[m:n])
        at = j
    _write(lines, " ", before[at:end])
    old_lines = end - start
    new_lines = old_lines + sum((n - m) - (j - i) for _, i, j, m, n in group)
    new_start = start + group[0][3] - group[0][1]
    return {
        # Both sides begin where they would have a line, also without one.
        "oldStart": start + 1,
        "oldLines": old_lines,
        "newStart": new_start + 1,
        "newLines": new_lines,
        "lines": lines,
    }


def _write(lines: list[str], mark: str, part: Sequence[str]) -> None:
    for line in part:
        lines.append(mark + line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append(_NO_NEWLINE)
