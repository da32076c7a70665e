"""From a subject to its findings: every check once, no repeats, nothing suppressed or deselected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hookwright.lint.catalogue import RULES
from hookwright.lint.checks import CHECKS
from hookwright.lint.model import RANK, Finding
from hookwright.lint.subject import Subject
from hookwright.lint.suppress import suppressed
from hookwright.protocol.diagnostics import Severity


class RuleSelection(msgspec.Struct, frozen=True):
    """The wanted rules: prefixes such as `HK4`, the lowest severity, and whether opinions are wanted."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least: Severity = Severity.INFO
    strict: bool = False

    def wants(self, found: Finding) -> bool:
        """Return whether a finding is wanted.

        1. The longer of two matching prefixes decides.
        2. A strict rule is wanted with `strict`, or when a selected prefix matches it.
        3. Without prefixes, the severity decides.
        """
        selected = max((len(prefix) for prefix in self.select if found.rule.startswith(prefix)), default=-1)
        ignored = max((len(prefix) for prefix in self.ignore if found.rule.startswith(prefix)), default=-1)
        if selected < 0 and (self.select or (RULES[found.rule].strict and not self.strict)):
            return False
        return selected > ignored if ignored >= 0 else RANK[found.severity] >= RANK[self.least]


def lint(subject: Subject, selection: RuleSelection | None = None, ran: Sequence[Finding] = ()) -> list[Finding]:
    """Run all checks once; `ran` are findings of a run, dropped where a check already found the same."""
    static = [item for check in CHECKS for item in check(subject)]
    kept = suppressed(_once([*static, *_new(ran, static, subject)]), subject)
    wanted = selection if selection is not None else RuleSelection()
    return chosen(kept, wanted)


def chosen(findings: Iterable[Finding], wanted: RuleSelection) -> list[Finding]:
    """Return the wanted findings, in the order of their places."""
    return sorted(
        (item for item in findings if wanted.wants(item)),
        key=lambda item: (item.at.path, item.at.line, item.at.column, item.rule),
    )


def _new(ran: Iterable[Finding], static: Sequence[Finding], subject: Subject) -> list[Finding]:
    """Return what a run found and no check did: a rule found in any file of a hook is not reported for it again."""
    known = {(item.rule, item.at.path) for item in static}
    return [item for item in ran if not any((item.rule, path) in known for path in _files(item, subject))]


def _files(found: Finding, subject: Subject) -> set[str]:
    """Return the files of the hook a finding is about: its document and its scripts."""
    hooks = [hook for hook in subject.hooks if hook.document.path == found.at.path]
    here = [hook for hook in hooks if found.at.pointer.startswith(hook.place().pointer)]
    return {found.at.path, *(script.path for hook in here for script in hook.launch.scripts)}


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Keep one finding per rule and place, the most serious; a script may serve several hooks."""
    kept: dict[tuple[object, ...], Finding] = {}
    for item in findings:
        key = (item.rule, item.at.path, item.at.line, item.at.column, item.agent)
        other = kept.get(key)
        if other is None or RANK[item.severity] > RANK[other.severity]:
            kept[key] = item
    return list(kept.values())
