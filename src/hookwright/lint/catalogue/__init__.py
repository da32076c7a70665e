"""Every rule, as data: the table that `hookwright rules`, the documentation and the tests read."""

from __future__ import annotations

from collections.abc import Mapping

from hookwright.lint.catalogue import (
    cost,
    deciding,
    events,
    launching,
    matching,
    output,
    portability,
    security,
    shape,
    suppression,
)
from hookwright.lint.model import LintRule

#: Family title -> its rules, in the order of the documentation.
FAMILIES: Mapping[str, tuple[LintRule, ...]] = {
    "Suppressions": suppression.RULES,
    "Shape of the configuration": shape.RULES,
    "Matching": matching.RULES,
    "Launching the command": launching.RULES,
    "Does the script decide what it thinks it decides?": deciding.RULES,
    "Output": output.RULES,
    "Event, background, loops, several hooks": events.RULES,
    "Cost": cost.RULES,
    "Security": security.RULES,
    "Other agents": portability.RULES,
}
RULES: Mapping[str, LintRule] = {rule.id: rule for rules in FAMILIES.values() for rule in rules}
