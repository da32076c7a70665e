"""Percentiles of run times."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that this share of the runs did not exceed (nearest rank); 0 if there are none."""
    return sorted(times)[max(0, math.ceil(len(times) * share) - 1)] if times else 0.0
