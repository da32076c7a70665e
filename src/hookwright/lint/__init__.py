"""Look at hooks without running them: settings, plugins, skills and the scripts themselves."""

from __future__ import annotations

from hookwright.lint.catalogue import FAMILIES, RULES
from hookwright.lint.gather import Wanted, gather
from hookwright.lint.model import Finding, Position, Rule, Sample
from hookwright.lint.report import Selection, lint
from hookwright.lint.subject import Options, Subject
from hookwright.lint.targets import Target, read_target

__all__ = [
    "FAMILIES",
    "RULES",
    "Finding",
    "Options",
    "Position",
    "Rule",
    "Sample",
    "Selection",
    "Subject",
    "Target",
    "Wanted",
    "gather",
    "lint",
    "read_target",
]
