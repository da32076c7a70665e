"""MCP servers for hosts: configured once, connected when first needed, reconnected after they die.

`async with McpServers(config.servers, env=…, cwd=…) as servers:` closes every connection and ends every process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from hookwright.errors import McpError, MissingExtra
from hookwright.mcp.config import McpConfig, read_mcp_config
from hookwright.mcp.values import (
    CallFailed,
    Elicit,
    ElicitationRequest,
    Elicited,
    HostServer,
    HttpServer,
    McpTool,
    McpToolResult,
    ServerConfig,
    ServerUnavailable,
    SseServer,
    StdioServer,
    full_name,
)
from hookwright.protocol.jsontext import Json
from hookwright.text import did_you_mean

if TYPE_CHECKING:
    from hookwright.mcp._session import McpSession

__all__ = [
    "CallFailed",
    "Elicit",
    "ElicitationRequest",
    "Elicited",
    "HostServer",
    "HttpServer",
    "Listing",
    "McpConfig",
    "McpServers",
    "McpTool",
    "McpToolResult",
    "ServerConfig",
    "ServerUnavailable",
    "SseServer",
    "StdioServer",
    "full_name",
    "read_mcp_config",
]

START_TIMEOUT = 30.0
#: Processes then get the SDK's default environment: PATH, HOME, SHELL, TERM, USER and LOGNAME.
NO_ENV: Mapping[str, str] = MappingProxyType({})


class Listing(msgspec.Struct, frozen=True):
    """The tools of all servers that answered, and the errors of the others."""

    tools: tuple[McpTool, ...] = ()
    failures: tuple[McpError, ...] = ()


class McpServers:
    """Owns the connections to a session's MCP servers; never starts a login."""

    def __init__(self, servers: Mapping[str, ServerConfig], *, env: Mapping[str, str] = NO_ENV, cwd: str = ".") -> None:
        self._configs = dict(servers)
        self._env = env
        self._cwd = cwd
        self._limit = _start_timeout(env)
        self._sessions: dict[str, McpSession] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self._open: type[McpSession] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The configured servers."""
        return tuple(self._configs)

    async def __aenter__(self) -> McpServers:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def tools(self, server: str) -> tuple[McpTool, ...]:
        """List the tools of one server, with their schemas."""
        return await (await self._session(server)).tools()

    async def list_tools(self) -> Listing:
        """List the tools of every server; one that fails does not hide the others."""
        found = await asyncio.gather(*(self._try_tools(name) for name in self._configs))
        tools = tuple(tool for each in found if not isinstance(each, McpError) for tool in each)
        return Listing(tools, tuple(each for each in found if isinstance(each, McpError)))

    async def _try_tools(self, server: str) -> tuple[McpTool, ...] | McpError:
        try:
            return await self.tools(server)
        except McpError as error:
            return error

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, on_elicitation: Elicit | None = None
    ) -> McpToolResult:
        """Call a tool; raise McpError unless the tool itself answered, also with an error."""
        return await (await self._session(server)).call(tool, arguments, on_elicitation)

    async def disconnect(self, server: str) -> None:
        """Close the connection to one server; the next request opens a new one."""
        session = self._sessions.pop(server, None)
        if session is not None:
            await session.close()

    async def aclose(self) -> None:
        """Close every connection and end every process."""
        self._closed = True
        sessions, self._sessions = list(self._sessions.values()), {}
        await asyncio.gather(*(session.close() for session in sessions), *self._ending)

    async def _session(self, server: str) -> McpSession:
        """Return the open session of a server, or a new one; a cancelled caller does not end it."""
        config = self._configs.get(server)
        if config is None:
            known = ", ".join(self._configs) or "none"
            hint = did_you_mean(server, self._configs)
            raise ServerUnavailable(f"MCP server `{server}` is not configured (configured: {known}){hint}")
        if self._open is None:
            # This takes over half a second, during which the loop must keep running.
            self._open = await asyncio.to_thread(_import_sdk)
        if self._closed:
            raise ServerUnavailable(f"MCP server `{server}` is not connected: the session is over")
        session = self._sessions.get(server)
        if session is None or not session.alive:
            if session is not None:
                self._reap(session)
            session = self._sessions[server] = self._open(server, config, self._env, self._cwd, self._limit)
        return session

    def _reap(self, session: McpSession) -> None:
        """Let a dead session finish its clean-up without delaying the next one."""
        task = asyncio.create_task(session.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _import_sdk() -> type[McpSession]:
    try:
        from hookwright.mcp._session import McpSession
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("hookwright"):
            raise
        raise MissingExtra("an MCP server", "mcp") from None
    return McpSession


def _start_timeout(env: Mapping[str, str]) -> float:
    """Return MCP_TIMEOUT, which is in milliseconds, in seconds."""
    text = env.get("MCP_TIMEOUT", "")
    return int(text) / 1000 if text.isascii() and text.isdigit() and int(text) > 0 else START_TIMEOUT
