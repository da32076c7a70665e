"""All checks, in the order of their rules; each takes the whole subject and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hookwright.lint.agents import check_portability
from hookwright.lint.checks.cost import check_cost
from hookwright.lint.checks.deciding import check_deciding
from hookwright.lint.checks.events import check_events
from hookwright.lint.checks.forms import check_forms
from hookwright.lint.checks.hostile import check_hostile
from hookwright.lint.checks.launching import check_launching
from hookwright.lint.checks.matching import check_matching
from hookwright.lint.checks.output import check_output
from hookwright.lint.checks.reading import check_reading
from hookwright.lint.checks.reasons import check_reasons
from hookwright.lint.checks.security import check_security
from hookwright.lint.checks.shape import check_shape
from hookwright.lint.checks.together import check_together
from hookwright.lint.model import Finding
from hookwright.lint.subject import Subject

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    check_shape,
    check_matching,
    check_launching,
    check_forms,
    check_deciding,
    check_reasons,
    check_reading,
    check_output,
    check_events,
    check_together,
    check_cost,
    check_security,
    check_hostile,
    check_portability,
)
