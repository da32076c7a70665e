"""Reports without what differs between two runs of the same replay."""

from __future__ import annotations

from typing import Any

_TIMES = ("ms", "p50_ms", "p95_ms", "longest_session_ms", "seconds", "reused")


def timeless(value: Any) -> Any:
    """Return a report without times, and without how often an answer was used again."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in _TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value
