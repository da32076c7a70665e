"""All tables by name; each one is imported only when it is asked for."""

from __future__ import annotations

import importlib

from hookwright.dialects.model import Dialect
from hookwright.errors import ConfigError
from hookwright.text import did_you_mean

#: The agents that hooks can be exported to, by the word on the command line; then those that are read only.
BRIDGED = ("codex", "gemini", "qwen", "kimi", "copilot", "opencode")
READ_ONLY = ("cursor", "vscode")
AGENTS = (*BRIDGED, *READ_ONLY)


def dialect(name: str) -> Dialect:
    """Return the table of an agent; raise ConfigError for an unknown name."""
    if name not in AGENTS:
        raise ConfigError(f"`{name}` is not an agent; use one of {', '.join(AGENTS)}{did_you_mean(name, AGENTS)}")
    found = getattr(importlib.import_module(f"hookwright.dialects.agents.{name}"), name.upper())
    assert isinstance(found, Dialect)
    return found


def dialects() -> tuple[Dialect, ...]:
    """Return every table."""
    return tuple(dialect(name) for name in AGENTS)
