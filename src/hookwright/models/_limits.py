"""How long an API may be silent."""

from __future__ import annotations

from collections.abc import Mapping

#: Seconds; an answer that is not streamed may take this long before its first byte.
DEFAULT = 600.0


def api_timeout(env: Mapping[str, str]) -> float:
    """Return API_TIMEOUT_MS in seconds: a request that is silent for longer, also during a stream, has failed."""
    text = env.get("API_TIMEOUT_MS", "")
    return int(text) / 1000 if text.isascii() and text.isdigit() and int(text) > 0 else DEFAULT
