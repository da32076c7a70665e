"""Write: create or replace a text file."""

from __future__ import annotations

import asyncio
import os

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.files import TextFile, read_text, write_text
from hookwright.agent.tools.patch import hunks
from hookwright.agent.tools.tool import IN_CONTEXT, Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import Refused
from hookwright.protocol.jsontext import Json


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Write the file, and create missing parent folders."""
    try:
        result = await asyncio.to_thread(_write, arguments["file_path"], arguments["content"])
    except Refused as problem:
        return failed(str(problem))
    context.seen.add(arguments["file_path"])
    return result


def _write(path: str, content: str) -> ToolResult:
    original = None
    if os.path.isfile(path):
        try:
            original = read_text(path).text or None  # an empty file is created like a missing one
        except Refused:  # a file that is not text is also replaced, without a diff
            original = ""
    write_text(path, TextFile(content))
    response = {
        "type": "create" if original is None else "update",
        "filePath": path,
        "content": content,
        "structuredPatch": [] if original is None else hunks(original, content),
        "originalFile": original,
        "userModified": False,
    }
    return ToolResult(response, render(response))


def render(response: Json) -> str:
    """Return a line about what was written."""
    if response["type"] == "create":
        return f"File created successfully at: {response['filePath']}{IN_CONTEXT}"
    return f"The file {response['filePath']} has been updated successfully.{IN_CONTEXT}"


WRITE = Tool(
    name="Write",
    description="Write a text file. An existing file is replaced; missing folders are created.",
    parameters=parameters(
        {
            "file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
            "content": {"type": "string", "description": "the whole text of the file"},
        }
    ),
    effect=Effect.EDIT,
    run=run,
    output=shape(
        {"type": "string", "filePath": "string", "content": "string"},
        {"structuredPatch": "array", "originalFile": {"type": ["string", "null"]}, "userModified": "boolean"},
    ),
    render=render,
    paths=("file_path",),
    echoes_path=("filePath",),
)
