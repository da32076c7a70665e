"""A real MCP server for tests, on the official SDK.

`mcp_server.py stdio`, `mcp_server.py http PORT`, or `mcp_server.py both PORT PORT`: over HTTP, and over SSE.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("tests", log_level="ERROR")


class Name(BaseModel):
    """The form of the question."""

    name: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say it again."""
    return f"echo:{text}"


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool(structured_output=False)
def picture() -> list[Any]:
    """Show a picture, and say so."""
    return ["a picture:", Image(data=b"\x89PNG", format="png")]


@server.tool()
def fail() -> str:
    """Break."""
    raise ToolError("MCP-BOOM")


@server.tool()
def pid() -> str:
    """Tell the process and its surroundings."""
    return f"{os.getpid()} {os.environ.get('FLAVOUR', '')} {os.getcwd()}"


@server.tool()
def die() -> str:
    """End the process in the middle of a call."""
    print("last words", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.sleep(3600)
    return "too late"


def question() -> Elicit[Name]:
    """Ask the person for a name, in the way of the protocol version that was agreed on."""
    return Elicit("Your name?", Name)


@server.tool()
async def ask(who: Annotated[ElicitationResult[Name], Resolve(question)]) -> str:
    """Greet whoever is there."""
    return f"hello {who.data.name}" if isinstance(who, AcceptedElicitation) else f"nobody: {who.action}"


@server.tool(structured_output=False)
def permit(tool_name: str, input: dict[str, Any], tool_use_id: str) -> str:  # noqa: A002 - the name it is called with
    """Answer a permission question."""
    command = str(input.get("command"))
    if "strange" in command:
        return "yes, of course"
    if "other" in command:
        return json.dumps({"behavior": "allow", "updatedInput": {**input, "command": "touch changed.txt"}})
    return json.dumps({"behavior": "allow" if "good" in command else "deny", "message": f"{tool_name} {tool_use_id}"})


async def both(http: int, sse: int) -> None:
    """Serve over HTTP and over SSE."""
    await asyncio.gather(server.run_streamable_http_async(port=http), server.run_sse_async(port=sse))


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", port=int(sys.argv[2]))
    elif sys.argv[1] == "both":
        asyncio.run(both(int(sys.argv[2]), int(sys.argv[3])))
    else:
        server.run("stdio")
