"""Read: lines of a text file, with their numbers."""

from __future__ import annotations

import asyncio
import os
from typing import BinaryIO

import msgspec

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.files import FileProblem, is_binary, open_regular
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.protocol.jsontext import Json

LINES = 2000
#: Characters of a line that the model sees.
WIDTH = 2000
MAX_BYTES = 256 * 1024
_CHUNK = 1024 * 1024


class _Lines(msgspec.Struct, frozen=True):
    text: str
    count: int
    total: int


async def run(arguments: Input, bench: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets the bench
    """Read the lines; a missing file, a directory and a binary file are failures."""
    try:
        return await asyncio.to_thread(_read, arguments)
    except FileProblem as problem:
        return failed(str(problem))


def _read(arguments: Input) -> ToolResult:
    path = arguments["file_path"]
    first = max(int(arguments.get("offset", 1)), 1)
    wanted = int(arguments.get("limit", LINES))
    with open(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES and not ({"offset", "limit"} & arguments.keys()):
            raise FileProblem(
                f"{path} has {size:,} bytes, and at most {MAX_BYTES:,} are read at once. "
                "Give offset and limit to read a part of it, or search it with Grep."
            )
        if is_binary(file.read(8192)):
            raise FileProblem(f"{path} is a binary file; use a command that understands it.")
        file.seek(0)
        found = _lines(file, path, first, wanted) if size else _Lines("", 0, 0)
    if found.count == 0 and found.total:
        return failed(f"{path} has {found.total} lines; offset {first} is behind its end.")
    response = {
        "type": "text",
        "file": {
            "filePath": path,
            "content": found.text,
            "numLines": found.count,
            "startLine": first,
            "totalLines": found.total,
        },
    }
    return ToolResult(response, render(response))


def _lines(file: BinaryIO, path: str, first: int, wanted: int) -> _Lines:
    """Count all lines and keep the wanted ones; what follows the last newline is a line, even if it is empty."""
    kept: list[bytes] = []
    number, size = 1, 0
    while piece := file.readline(_CHUNK):
        if first <= number < first + wanted:
            kept.append(piece)
            size += len(piece)
            if size > MAX_BYTES:
                text = f"{path}: lines {first} to {number} have over {MAX_BYTES:,} bytes. Give a smaller limit."
                raise FileProblem(text)
        number += piece.endswith(b"\n")
    last = min(first + wanted - 1, number)
    text = b"".join(kept).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return _Lines(text if last == number else text.removesuffix("\n"), max(last - first + 1, 0), number)


def render(response: Json) -> str:
    """Show the lines as `cat -n` does."""
    file = response["file"]
    if file["numLines"] == 0 and not file["content"]:
        return "(the file is empty)"
    lines = file["content"].split("\n")
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]}... [line truncated]" for line in lines]
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(shown, file["startLine"]))


READ = Tool(
    name="Read",
    description=(
        f"Read a text file. Lines come with their numbers, at most {LINES} at once; give offset and limit to read on."
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
)
