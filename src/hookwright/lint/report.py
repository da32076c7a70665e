"""From a subject to its findings: all checks, without doubles, without what is suppressed or not asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hookwright.lint.checks import CHECKS
from hookwright.lint.model import RANK, Finding
from hookwright.lint.subject import Subject
from hookwright.lint.suppress import suppressed
from hookwright.protocol.diagnostics import Severity


class RuleSelection(msgspec.Struct, frozen=True):
    """Which rules are wanted: prefixes such as `HK4`, and how serious a finding must be."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least: Severity = Severity.INFO

    def wants(self, found: Finding) -> bool:
        """Tell whether a finding is asked for; the longer of two prefixes decides."""
        chosen = max((len(prefix) for prefix in self.select if found.rule.startswith(prefix)), default=-1)
        left_out = max((len(prefix) for prefix in self.ignore if found.rule.startswith(prefix)), default=-1)
        if self.select and chosen < 0:
            return False
        return chosen > left_out if left_out >= 0 else RANK[found.severity] >= RANK[self.least]


def lint(subject: Subject, selection: RuleSelection | None = None, more: Iterable[Finding] = ()) -> list[Finding]:
    """Run all checks; `more` are findings of a run."""
    found = [item for check in CHECKS for item in check(subject)]
    kept = suppressed(_once([*found, *more]), subject)
    wanted = selection if selection is not None else RuleSelection()
    chosen = [item for item in kept if wanted.wants(item)]
    return sorted(chosen, key=lambda item: (item.at.path, item.at.line, item.at.column, item.rule))


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Keep one finding of a rule at a place, the most serious one; a script may serve several hooks."""
    kept: dict[tuple[object, ...], Finding] = {}
    for item in findings:
        key = (item.rule, item.at.path, item.at.line, item.at.column)
        other = kept.get(key)
        if other is None or RANK[item.severity] > RANK[other.severity]:
            kept[key] = item
    return list(kept.values())
