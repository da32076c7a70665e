"""Read: lines of a text file, with their numbers."""

from __future__ import annotations

import asyncio
import os

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import LINES, Refused, numbered, read_lines
from hookwright.protocol.jsontext import Json

MAX_BYTES = 256 * 1024


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Read the lines; a missing file, a directory and a binary file are failures."""
    if "\0" not in arguments["file_path"] and not os.path.lexists(arguments["file_path"]):
        return failed(f"File does not exist. Note: your current working directory is {context.cwd}.")
    try:
        result = await asyncio.to_thread(_read, arguments)
    except Refused as refusal:
        return failed(str(refusal))
    if not result.is_error:
        context.seen.add(arguments["file_path"])
    return result


def _read(arguments: Input) -> ToolResult:
    path = arguments["file_path"]
    first = max(int(arguments.get("offset", 1)), 1)
    whole = not ({"offset", "limit"} & arguments.keys())
    if whole and os.path.isfile(path) and (size := os.path.getsize(path)) > MAX_BYTES:
        return failed(
            f"{path} has {size:,} bytes; at most {MAX_BYTES:,} are read at once. "
            "Set offset and limit to read a part of it, or search it with Grep."
        )
    found = read_lines(path, first, int(arguments.get("limit", LINES)), MAX_BYTES, MAX_BYTES + 1)
    if not found.complete:
        last = first + found.kept
        return failed(f"{path}: lines {first} to {last} have over {MAX_BYTES:,} bytes. Set a smaller limit.")
    if found.kept == 0 and found.total:
        return failed(f"{path} has {found.total} lines; offset {first} is past its end.")
    response = {
        "type": "text",
        "file": {
            "filePath": path,
            "content": found.text,
            "numLines": found.kept,
            "startLine": first,
            "totalLines": found.total,
        },
    }
    return ToolResult(response, render(response))


def render(response: Json) -> str:
    """Return the lines with their numbers."""
    file = response["file"]
    if file["numLines"] == 0 and not file["content"]:
        return "(the file is empty)"
    return numbered(file["content"], file["startLine"])


READ = Tool(
    name="Read",
    description=(
        f"Read a text file. Lines are numbered, at most {LINES} at once; set offset and limit to read further."
    ),
    parameters=parameters(
        {"file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"}},
        {
            "offset": {"type": "integer", "minimum": 0, "description": "the first line to read"},
            "limit": {"type": "integer", "minimum": 1, "description": "the number of lines to read"},
        },
    ),
    effect=Effect.READ,
    run=run,
    output=shape(
        {
            "type": "string",
            "file": shape(
                {
                    "filePath": "string",
                    "content": "string",
                    "numLines": "number",
                    "startLine": "number",
                    "totalLines": "number",
                }
            ),
        }
    ),
    render=render,
    paths=("file_path",),
    echoes_path=("file", "filePath"),
)
