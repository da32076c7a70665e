"""What the host did wrong raises; what a hook author did wrong is a Diagnostic in the outcome.

HookwrightError
├── InvalidEvent      an event that does not fit its catalogue entry
├── InvalidCase       a file of cases that cannot be understood
├── ConfigError       a call for configuration that cannot be carried out (a missing --settings file, …)
├── TrustError        the trust store cannot be read or written
├── MissingExtra      an optional dependency is needed and not installed
├── ModelError        a model API did not answer as it should (subclasses in hookwright.models)
└── McpError          an MCP server did not answer as it should (subclasses in hookwright.mcp.servers)
"""

from __future__ import annotations


class HookwrightError(Exception):
    """The root of everything that Hookwright raises."""


class InvalidEvent(HookwrightError):
    """An event does not fit its catalogue entry."""


class InvalidCase(HookwrightError):
    """A file of cases cannot be understood."""


class ConfigError(HookwrightError):
    """Configuration was asked for that cannot be had."""


class TrustError(HookwrightError):
    """The trust store cannot be read or written."""


class MissingExtra(HookwrightError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'hookwright[{extra}]'")
        self.extra = extra


class ModelError(HookwrightError):
    """A model API did not answer as it should."""


class McpError(HookwrightError):
    """An MCP server did not answer as it should."""
