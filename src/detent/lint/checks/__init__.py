"""All checks, in the order of their rules; each looks at the whole subject and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detent.lint.checks.cost import check_cost
from detent.lint.checks.deciding import check_deciding
from detent.lint.checks.events import check_events
from detent.lint.checks.forms import check_forms
from detent.lint.checks.hostile import check_hostile
from detent.lint.checks.launching import check_launching
from detent.lint.checks.matching import check_matching
from detent.lint.checks.output import check_output
from detent.lint.checks.portability import check_portability
from detent.lint.checks.reading import check_reading
from detent.lint.checks.reasons import check_reasons
from detent.lint.checks.security import check_security
from detent.lint.checks.shape import check_shape
from detent.lint.checks.together import check_together
from detent.lint.model import Finding
from detent.lint.subject import Subject

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
