"""Look at hooks without running them: settings, plugins, skills and the scripts themselves."""

from __future__ import annotations

from detent.lint.catalogue import FAMILIES, RULES
from detent.lint.gather import Wanted, gather
from detent.lint.model import Finding, Position, Rule, Sample
from detent.lint.report import Selection, lint
from detent.lint.subject import Options, Subject
from detent.lint.targets import Target, read_target

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
