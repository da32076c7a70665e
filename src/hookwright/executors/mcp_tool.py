"""Run MCP tool handlers: fill in the input from the event, call the tool, read its text like a command's stdout.

The call goes directly to the server, not through the agent's own tools, so it fires no hooks; an elicitation during
the call is cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hookwright.errors import MissingExtra
from hookwright.mcp.servers import CallFailed, McpServers, ServerUnavailable
from hookwright.protocol.handlers import McpToolHandler
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.replies import Exited, Failed, Failure, Reply
from hookwright.protocol.wire import encode

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_MISSING = object()


class McpToolExecutor:
    """Calls tools of the host's MCP servers."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def __call__(self, job: Job) -> Reply:
        """Call the tool; its text is stdout at exit 0, and anything else is a failure that blocks nothing."""
        handler = job.handler
        assert isinstance(handler, McpToolHandler)
        arguments, notes = fill_in(handler.input, job.payload)
        reply = await self._call(handler, arguments)
        return msgspec.structs.replace(reply, notes=notes) if notes else reply

    async def _call(self, handler: McpToolHandler, arguments: dict[str, Json]) -> Exited | Failed:
        try:
            result = await self._servers.call(handler.server, handler.tool, arguments)
        except MissingExtra as error:
            return Failed(Failure.LAUNCH, str(error))
        except ServerUnavailable as error:
            return Failed(Failure.CONNECTION, str(error))
        except CallFailed as error:
            return Failed(Failure.EXCEPTION, str(error))
        if result.is_error:
            said = result.text or "no text"
            text = f"MCP server `{handler.server}`, tool `{handler.tool}` reported an error: {said}"
            return Failed(Failure.EXCEPTION, text, body=result.text)
        return Exited(0, result.text.encode("utf-8", "replace"))


def fill_in(template: Mapping[str, Json], payload: bytes) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Replace `${path.to.field}` in every string of an input, and return notes on missing fields.

    Law: a string field is inserted as it is, anything else as JSON, a missing field as an empty string; inserted text
    is not expanded again; a number in a path is an index into a list.
    """
    notes: list[str] = []
    fields = msgspec.json.decode(payload)

    def field(found: re.Match[str]) -> str:
        value = _at(fields, found[1])
        if value is _MISSING:
            notes.append(f"input: {found[0]} is not in this event; an empty string was used")
            return ""
        return value if isinstance(value, str) else encode(value).decode()

    def fill(value: Json) -> Any:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(field, value)
        if isinstance(value, Mapping):
            return {key: fill(item) for key, item in value.items()}
        return [fill(item) for item in value] if isinstance(value, list | tuple) else value

    filled = {key: fill(item) for key, item in template.items()}
    return filled, tuple(dict.fromkeys(notes))


def _at(value: Json, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _MISSING
    return value
