"""A server at a URL, through the SDK's own transport for streamable HTTP; imported only for `--url`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

from hookwright.adapters.gateway.messages import Batch, Message, Opaque, read
from hookwright.adapters.gateway.questions import VERSION_KEY
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

#: Seconds for connecting; an answer may take as long as the client waits.
_CONNECT = 30.0


class RemoteServer:
    """A server over HTTP: each line of the client is a request to it, and what it sends becomes lines."""

    def __init__(self, url: str, headers: Mapping[str, str], complain: Callable[[str], None]) -> None:
        self._url = url
        self._headers = dict(headers)
        self._complain = complain
        self._out, self._sending = anyio.create_memory_object_stream[SessionMessage](100)
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._over = asyncio.Event()
        self._why = "closed the connection"
        self._greeting: Json = None
        self._version: str | None = None
        self._listing: set[str] = set()
        #: Which arguments of a tool are also sent as headers.
        self._mirrored: dict[str, dict[tuple[str, ...], str]] = {}
        self._task = asyncio.create_task(self._own(), name=f"mcp server {url}")

    # ── to the server ───────────────────────────────────────────────────────

    async def send(self, line: bytes) -> None:
        """Send a message; HTTP has no way to send anything else."""
        found = read(line)
        if isinstance(found, Opaque):
            self._complain("dropped a line of the client: it is not a JSON message, and HTTP carries nothing else")
            return
        for message in found.messages if isinstance(found, Batch) else (found,):
            try:
                wire = jsonrpc_message_adapter.validate_python(message.value, by_name=False)
            except ValueError:
                self._complain("dropped a line of the client: it is not a JSON-RPC message")
                continue
            metadata = ClientMessageMetadata(headers=self._stamped(message))
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._out.send(SessionMessage(wire, metadata=metadata))

    def _stamped(self, message: Message) -> dict[str, str] | None:
        """Return the headers that the protocol wants with a message; they repeat what the message says."""
        params, method = message.params, message.method
        if method == "initialize":
            self._greeting, self._version = message.id, None
            return None
        if method == "tools/list":
            self._listing.add(message.key)
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str) or method is None:
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version is not None else None
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            arguments = params.get("arguments")
            if method == "tools/call" and isinstance(arguments, dict):
                headers |= mcp_param_headers(self._mirrored.get(name, {}), arguments)
        return headers

    # ── from the server ─────────────────────────────────────────────────────

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the server's messages as lines, until the connection ends."""
        while line := await self._lines.get():
            yield line

    async def ended(self) -> tuple[int, str]:
        """Return status 1 and why the connection ended."""
        return 1, self._why

    async def close(self) -> None:
        """End the session with the server."""
        self._over.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._task), 2.0)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._out.close()
        self._sending.close()

    def _note(self, value: Mapping[str, Json]) -> None:
        """Remember what later requests need: the version that was agreed on, and headers of tools."""
        result = value.get("result")
        if not isinstance(result, dict):
            return
        if self._greeting is not None and value.get("id") == self._greeting:
            self._version = str(result.get("protocolVersion"))
        if str(value.get("id")) in self._listing:
            self._listing.discard(str(value.get("id")))
            for tool in result.get("tools", ()):
                self._mirrored[str(tool.get("name"))] = x_mcp_header_map(tool.get("inputSchema"))

    async def _receive(self, incoming: Any) -> None:
        async for found in incoming:
            if isinstance(found, Exception):
                self._complain(f"the MCP server sent something else than a message: {found}")
                continue
            value = found.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            self._note(value)
            self._lines.put_nowait(encode(value) + b"\n")

    async def _forward(self, outgoing: Any) -> None:
        async for message in self._sending:
            await outgoing.send(message)

    async def _own(self) -> None:
        """Own the transport: the SDK's scopes must be exited by the task that entered them."""
        try:
            timeout = httpx2.Timeout(_CONNECT, read=None)
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=timeout) as client,
                streamable_http_client(self._url, http_client=client, max_sse_event_size=None) as (incoming, outgoing),
            ):
                reading = asyncio.create_task(self._receive(incoming))
                sending = asyncio.create_task(self._forward(outgoing))
                ending = asyncio.create_task(self._over.wait())
                await asyncio.wait({reading, sending, ending}, return_when=asyncio.FIRST_COMPLETED)
                for task in (reading, sending, ending):
                    task.cancel()
                await asyncio.gather(reading, sending, ending, return_exceptions=True)
        except Exception as error:  # the SDK raises many kinds of errors, in groups
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            self._why = f"at {self._url} cannot be reached: {str(error) or type(error).__name__}"
        finally:
            self._lines.put_nowait(b"")
