"""What the environment says about requests to any API: how long it may be silent, and for which program they are."""

from __future__ import annotations

from collections.abc import Mapping

from hookwright._version import __version__

#: Seconds; an answer that is not streamed may take this long before its first byte.
DEFAULT = 600.0


def api_timeout(env: Mapping[str, str]) -> float:
    """Return API_TIMEOUT_MS in seconds: a request that is silent for longer, also during a stream, has failed."""
    text = env.get("API_TIMEOUT_MS", "")
    return int(text) / 1000 if text.isascii() and text.isdigit() and int(text) > 0 else DEFAULT


def client_headers(env: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request; the `client_app` of the Agent SDK is part of the User-Agent."""
    app = env.get("CLAUDE_AGENT_SDK_CLIENT_APP", "")
    return {"User-Agent": f"hookwright/{__version__} (client-app/{app})"} if app else {}
