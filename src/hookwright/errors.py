"""Errors of the host are raised; errors of a hook author are diagnostics in the outcome.

HookwrightError
├── InvalidEvent      an event that does not match its catalogue entry
├── InvalidCase       a file of cases that cannot be read
├── ConfigError       requested configuration that is not available (a missing --settings file, …)
├── TrustError        the trust store cannot be read or written
├── HookFailed        a hook that has to succeed failed (WorktreeCreate)
├── HooksRefused      hooks refused a prompt or a model call of a framework that an adapter connects
├── CallbackGone      the program that answers a callback is gone (raised inside the callback)
├── ViewEnded         the process that replays hooks in isolation ended without a result
├── MissingExtra      an optional dependency is needed and not installed
├── ModelError        a model API failed or gave an unusable answer (subclasses in hookwright.models)
└── McpError          an MCP server failed or gave an unusable answer (subclasses in hookwright.mcp.servers)
"""

from __future__ import annotations


class HookwrightError(Exception):
    """The base class of every error Hookwright raises."""


class InvalidEvent(HookwrightError):
    """An event that does not match its catalogue entry."""


class InvalidCase(HookwrightError):
    """A file of cases that cannot be read."""


class ConfigError(HookwrightError):
    """Requested configuration that is not available."""


class TrustError(HookwrightError):
    """A trust store that cannot be read or written."""


class HookFailed(HookwrightError):
    """A hook that has to succeed failed, so what it prepares cannot start."""


class HooksRefused(HookwrightError):
    """A prompt or a model call that hooks refused; the message is their reason."""


class CallbackGone(HookwrightError):
    """The program that answers a callback is gone; where a callback's silence refuses, this refuses."""


class ViewEnded(HookwrightError):
    """The process in a view was killed, or exited, before it gave its result."""


class MissingExtra(HookwrightError):
    """An optional dependency that is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'hookwright[{extra}]'")
        self.extra = extra


class ModelError(HookwrightError):
    """A model API that failed or gave an unusable answer."""


class McpError(HookwrightError):
    """An MCP server that failed or gave an unusable answer."""
