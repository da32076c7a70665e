"""HK9xx: what another agent does with a hook; only with `--for`, or on that agent's own files with `--agent`."""

from __future__ import annotations

from hookwright.lint.agents.check import check_portability
from hookwright.lint.agents.own import OwnSubject, check_own, gather_own

__all__ = ["OwnSubject", "check_own", "check_portability", "gather_own"]
