"""How long an API may be silent."""

from __future__ import annotations

from collections.abc import Mapping

#: Seconds; an answer that is not streamed may take that long before its first byte.
DEFAULT = 600.0


def api_timeout(env: Mapping[str, str]) -> float:
    """Read API_TIMEOUT_MS: after so much silence, also in the middle of a stream, a request has failed."""
    text = env.get("API_TIMEOUT_MS", "")
    return int(text) / 1000 if text.isascii() and text.isdigit() and int(text) > 0 else DEFAULT
