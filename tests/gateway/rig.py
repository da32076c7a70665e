"""A gateway with real hooks, between a client and a server that the test plays line by line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hookwright.adapters.gateway.gateway import Gateway
from hookwright.adapters.gateway.hooks import Hooks
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.session import open_session

LIMIT = 20.0
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Rig:
    """The two ends of a gateway."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.said: list[str] = []
        self.client: asyncio.Queue[bytes] = asyncio.Queue()
        self.server: asyncio.Queue[bytes] = asyncio.Queue()
        self.gateway: Gateway

    async def ask(self, method: str, id_: Any = 1, **params: Any) -> None:
        """Send a request of the client."""
        await self.line({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    async def call(self, tool: str = "run", id_: Any = 1, **more: Any) -> None:
        """Send a tool call of the client."""
        await self.ask("tools/call", id_, name=tool, **{"arguments": {"x": 1}, **more})

    async def line(self, value: Any) -> None:
        """Send a line of the client."""
        await self.gateway.from_client(_bytes(value))

    async def reply(self, result: Any, id_: Any = 1) -> None:
        """Send a result of the server."""
        await self.gateway.from_server(_bytes({"jsonrpc": "2.0", "id": id_, "result": result}))

    async def greet(self, **capabilities: Any) -> dict[str, Any]:
        """Open the connection as clients of the handshake do; return the server's answer as the client reads it."""
        await self.ask("initialize", "hello", protocolVersion="2025-11-25", capabilities=capabilities)
        await self.at_server()
        await self.reply({"serverInfo": {"name": "s"}, "capabilities": {}, "instructions": "OWN"}, "hello")
        return dict((await self.at_client())["result"])

    async def at_client(self) -> Any:
        """Wait for the next line that the client gets."""
        return json.loads(await asyncio.wait_for(self.client.get(), LIMIT))

    async def at_server(self) -> Any:
        """Wait for the next line that the server gets."""
        return json.loads(await asyncio.wait_for(self.server.get(), LIMIT))

    async def result(self) -> dict[str, Any]:
        """Wait for the next result that the client gets."""
        return dict((await self.at_client())["result"])

    async def quiet(self) -> bool:
        """Return whether nothing is on its way to either side once all work is done."""
        await asyncio.wait_for(self.gateway.settled(), LIMIT)
        return self.client.empty() and self.server.empty()

    def log(self, name: str = "log") -> list[Any]:
        """Read what hooks wrote with `tee`."""
        path = self.project / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


def command(text: str, matcher: str = "", **more: Any) -> dict[str, Any]:
    """Make a group with one command hook."""
    return {"matcher": matcher, "hooks": [{"type": "command", "command": text, **more}]}


def answers(event: str, **fields: Any) -> str:
    """Write a command that notes its input in `log` and answers with these fields."""
    out = json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})
    return f"tee -a log >/dev/null; printf '%s' '{out}'"


NOTE = "tee -a log >/dev/null"


@asynccontextmanager
async def rig(project: Path, hooks: Mapping[str, Any]) -> AsyncIterator[Rig]:
    """Open a gateway for a project with these hooks."""
    (project / ".claude").mkdir(parents=True, exist_ok=True)
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": dict(hooks)}))
    places = Places(project=str(project), home=str(project / "home"), trust=TrustPolicy.EVERYTHING)
    made = Rig(project)
    async with open_session(places) as session:
        fired = Hooks(session, "files", made.said.append)
        made.gateway = Gateway(fired, made.client.put, made.server.put, made.said.append)
        yield made
        await made.gateway.close()
        await fired.end()
