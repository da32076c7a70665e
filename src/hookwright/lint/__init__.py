"""Look at hooks without running them: settings, plugins, skills and the scripts themselves."""

from __future__ import annotations

from hookwright.lint.catalogue import FAMILIES, RULES
from hookwright.lint.gather import CheckScope, gather
from hookwright.lint.model import Finding, LintRule, Position, Sample
from hookwright.lint.report import RuleSelection, lint
from hookwright.lint.subject import CheckOptions, Subject
from hookwright.lint.targets import Target, read_target

__all__ = [
    "FAMILIES",
    "RULES",
    "CheckOptions",
    "CheckScope",
    "Finding",
    "LintRule",
    "Position",
    "RuleSelection",
    "Sample",
    "Subject",
    "Target",
    "gather",
    "lint",
    "read_target",
]
