"""The values of MCP servers (configuration, tools, elicitations, results), without the SDK."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from hookwright.errors import McpError
from hookwright.protocol.jsontext import Json


class StdioServer(msgspec.Struct, frozen=True):
    """A server that is a process: JSON-RPC over its stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class HttpServer(msgspec.Struct, frozen=True):
    """A server at a URL: streamable HTTP."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()


class SseServer(msgspec.Struct, frozen=True):
    """A server at a URL: the older transport with server-sent events."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()


#: Passes a JSON-RPC message to a server inside the host program and returns its answer.
Carry = Callable[[str, Mapping[str, Json]], Awaitable[Mapping[str, Json]]]


class HostServer(msgspec.Struct, frozen=True):
    """A server inside the host program, which passes its messages on."""

    #: None where no host program is connected.
    carry: Carry | None = None


ServerConfig = StdioServer | HttpServer | SseServer | HostServer


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of a server."""

    server: str
    name: str
    description: str = ""
    input_schema: Mapping[str, Json]
    output_schema: Mapping[str, Json] | None = None
    #: Hints such as `readOnlyHint`, by their wire names; the server's own claim, so never a reason to allow.
    annotations: Mapping[str, Json] = msgspec.field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """The tool's name for models, matchers and rules (R-041)."""
        return full_name(self.server, self.name)


def full_name(server: str, tool: str) -> str:
    """Return `mcp__<server>__<tool>`, with `_` for characters tool names cannot have."""
    return "__".join(("mcp", _plain(server), _plain(tool)))


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


class McpToolResult(msgspec.Struct, frozen=True):
    """The answer of a tool."""

    #: Content blocks in wire form: text, image, audio, resource, resource_link.
    content: tuple[Mapping[str, Json], ...] = ()
    #: `structuredContent`; None where the answer has none.
    structured: Any = None
    is_error: bool = False

    @property
    def text(self) -> str:
        """The text blocks, one per line."""
        return "\n".join(str(block.get("text", "")) for block in self.content if block.get("type") == "text")


class ElicitationRequest(msgspec.Struct, frozen=True):
    """A question of a server to the user while a tool runs."""

    server: str
    message: str
    #: `form` or `url`.
    mode: str
    requested_schema: Mapping[str, Json] | None = None
    url: str | None = None
    elicitation_id: str | None = None


class Elicited(msgspec.Struct, frozen=True):
    """The answer: `accept` with its content, `decline`, or `cancel`."""

    action: str
    content: Mapping[str, Json] | None = None


#: Answers an elicitation; the host decides how: hooks first, then the user.
Elicit = Callable[[ElicitationRequest], Awaitable[Elicited]]


class ServerUnavailable(McpError):
    """The server is not configured, could not be started or reached, or went away."""


class CallFailed(McpError):
    """The server answered that it refuses or cannot serve the request."""
