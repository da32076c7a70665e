"""The level of isolation that this machine allows; tests that need one are skipped where there is none."""

from __future__ import annotations

import functools
import tempfile

import pytest

from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import why_not
from hookwright.replay.isolation.levels import LEVELS


@functools.cache
def working_level() -> str | None:
    """Return the first level that works here."""
    with tempfile.TemporaryDirectory() as folder:
        levels = [level for level in LEVELS if level.isolated and why_not(level, Bounds(folder, folder)) is None]
    return levels[0].name.value if levels else None


needs_isolation = pytest.mark.skipif(working_level() is None, reason="hooks cannot be isolated on this machine")
