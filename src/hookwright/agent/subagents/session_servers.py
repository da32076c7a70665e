"""The MCP servers of a session while it runs: their state and the tools they offer at the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from hookwright.agent.subagents.mcp_tools import ConfiguredServers, mcp_tool
from hookwright.agent.tools import Tool
from hookwright.errors import McpError
from hookwright.mcp.servers import McpServers, McpTool, McpToolResult
from hookwright.mcp.values import ServerUnavailable
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.events import McpServer
from hookwright.protocol.jsontext import Json


class SessionServers:
    """Connects the configured servers, one by one again where the host asks for it."""

    def __init__(self, servers: McpServers, config: ConfiguredServers) -> None:
        self._servers = servers
        self._config = config
        self._offered: dict[str, tuple[McpTool, ...]] = {}
        self._errors: dict[str, str] = {}
        self._disabled: set[str] = set()
        #: The server of each tool on offer.
        self._of_tools: dict[str, McpServer] = {}

    async def connect(self) -> None:
        """Connect to every server and list its tools; one that fails does not hide the others."""
        await asyncio.gather(*(self._try(name) for name in self._servers.names))
        self._list()

    async def _try(self, name: str) -> None:
        try:
            self._offered[name] = await self._servers.tools(name)
            self._errors.pop(name, None)
        except McpError as error:
            self._offered[name], self._errors[name] = (), str(error)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of connected servers, by full name."""
        return {tool.full_name: mcp_tool(tool, self._servers) for tool in self._listed()}

    @property
    def status(self) -> tuple[tuple[str, str], ...]:
        """Every server with its state: connected, failed or disabled."""
        return tuple((name, self._state(name)) for name in self._servers.names)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Findings about the configuration and about servers that failed."""
        return (*self._config.diagnostics, *(Diagnostic("mcp-failed", error) for error in self._errors.values()))

    def server_of(self, tool: str) -> McpServer | None:
        """Return the server a tool comes from; None for the agent's own tools."""
        return self._of_tools.get(tool)

    async def call(self, full_name: str, arguments: Mapping[str, Json]) -> McpToolResult:
        """Call a tool on offer by its full name; raise McpError unless the tool answered, also with an error."""
        for tool in self._listed():
            if tool.full_name == full_name:
                return await self._servers.call(tool.server, tool.name, arguments)
        raise ServerUnavailable(f"{full_name} is not on offer")

    def describe(self) -> list[dict[str, Json]]:
        """Describe every server, for a host."""
        return [self._description(name) for name in self._servers.names]

    # ── changes a host asks for ─────────────────────────────────────────────

    async def reconnect(self, name: str) -> None:
        """Close the connection to a server and open a new one; raise McpError if it fails."""
        self._known(name)
        self._disabled.discard(name)
        await self._servers.disconnect(name)
        await self._try(name)
        self._list()
        if name in self._errors:
            raise ServerUnavailable(self._errors[name])

    async def disable(self, name: str) -> None:
        """Close the connection to a server, and offer none of its tools."""
        self._known(name)
        self._disabled.add(name)
        self._list()
        await self._servers.disconnect(name)

    async def enable(self, name: str) -> None:
        """Offer the tools of a server again."""
        await self.reconnect(name)

    def _known(self, name: str) -> None:
        if name not in self._servers.names:
            known = ", ".join(self._servers.names) or "none"
            raise ServerUnavailable(f"Server not found: {name} (configured: {known})")

    def _list(self) -> None:
        self._of_tools = {
            tool.full_name: {"name": tool.server, "source": self._config.sources.get(tool.server, "dynamic")}
            for tool in self._listed()
        }

    def _listed(self) -> list[McpTool]:
        up = (name for name in self._servers.names if name not in self._disabled)
        return [tool for name in up for tool in self._offered.get(name, ())]

    def _state(self, name: str) -> str:
        if name in self._disabled:
            return "disabled"
        return "failed" if name in self._errors else "connected"

    def _description(self, name: str) -> dict[str, Json]:
        state = self._state(name)
        found: dict[str, Json] = {"name": name, "status": state, "scope": self._config.sources.get(name, "dynamic")}
        if state == "failed":
            found["error"] = self._errors[name]
        if state == "connected":
            found["tools"] = [
                {"name": tool.name, "description": tool.description, "annotations": dict(tool.annotations)}
                for tool in self._offered.get(name, ())
            ]
        return found


async def connect(servers: McpServers, config: ConfiguredServers) -> SessionServers:
    """Connect to the configured servers; a server that fails is reported."""
    found = SessionServers(servers, config)
    await found.connect()
    return found
