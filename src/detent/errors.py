"""What the host did wrong raises; what a hook author did wrong is a Diagnostic in the outcome.

DetentError
├── InvalidEvent      an event that does not fit its catalogue entry
├── InvalidCase       a file of cases that cannot be understood
├── ConfigError       a call for configuration that cannot be carried out (a missing --settings file, …)
├── TrustError        the trust store cannot be read or written
├── MissingExtra      an optional dependency is needed and not installed
├── ModelError        a model API did not answer as it should (subclasses in detent.models)
└── McpError          an MCP server did not answer as it should (subclasses in detent.mcp_servers)
"""

from __future__ import annotations


class DetentError(Exception):
    """The root of everything that Detent raises."""


class InvalidEvent(DetentError):
    """An event does not fit its catalogue entry."""


class InvalidCase(DetentError):
    """A file of cases cannot be understood."""


class ConfigError(DetentError):
    """Configuration was asked for that cannot be had."""


class TrustError(DetentError):
    """The trust store cannot be read or written."""


class MissingExtra(DetentError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'detent[{extra}]'")
        self.extra = extra


class ModelError(DetentError):
    """A model API did not answer as it should."""


class McpError(DetentError):
    """An MCP server did not answer as it should."""
