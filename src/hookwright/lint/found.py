"""Make findings."""

from __future__ import annotations

from hookwright.lint.catalogue import RULES
from hookwright.lint.model import Finding, Fix, Position
from hookwright.protocol.diagnostics import Severity


def finding(
    rule: str, at: Position, what: str, write: str, *, severity: Severity | None = None, fix: Fix = ()
) -> Finding:
    """Make a finding of a rule, with the rule's severity by default."""
    return Finding(rule, at, what, write, severity if severity is not None else RULES[rule].severity, fix)
