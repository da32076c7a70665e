"""Edit: replace a piece of text in a file."""

from __future__ import annotations

import asyncio
import os

import msgspec

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.files import TextFile, read_text, write_text
from hookwright.agent.tools.patch import hunks
from hookwright.agent.tools.tool import IN_CONTEXT, Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import Refused
from hookwright.protocol.jsontext import Json


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Replace the text; the file is read again, since it may have changed after the check."""
    path = arguments["file_path"]
    known = path in context.seen or not os.path.lexists(path)
    try:
        response = await asyncio.to_thread(_edit, arguments)
    except Refused as problem:
        return failed(str(problem))
    if known:
        context.seen.add(path)
    else:
        response["contentNotInModelContext"] = True
    return ToolResult(response, render(response))


def objection(arguments: Input) -> str | None:
    """Return why the edit is impossible: the file or text is missing, or the text appears more than once."""
    try:
        _edited(arguments)
    except Refused as problem:
        return str(problem)
    return None


def _edit(arguments: Input) -> dict[str, Json]:
    before, after = _edited(arguments)
    path = arguments["file_path"]
    write_text(path, after)
    return {
        "filePath": path,
        "oldString": arguments["old_string"],
        "newString": arguments["new_string"],
        "originalFile": before.text,
        "structuredPatch": hunks(before.text, after.text),
        "userModified": False,
        "replaceAll": arguments.get("replace_all", False),
    }


def _edited(arguments: Input) -> tuple[TextFile, TextFile]:
    path, old, new = arguments["file_path"], arguments["old_string"], arguments["new_string"]
    if old == new:
        raise Refused("No changes to make: old_string and new_string are exactly the same.")
    if old == "" and not os.path.lexists(path):
        return TextFile(""), TextFile(new)
    file = read_text(path)
    if old == "":
        if file.text.strip():
            raise Refused(f"{path} exists and is not empty; set old_string to the text to replace.")
        return file, msgspec.structs.replace(file, text=new)
    count = file.text.count(old)
    if count == 0 and file.crlf:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        count = file.text.count(old)
    if count == 0:
        raise Refused(f"String to replace not found in file.\nString: {old}")
    if count > 1 and not arguments.get("replace_all", False):
        raise Refused(
            f"Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, "
            "set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify "
            f"the instance.\nString: {old}"
        )
    return file, msgspec.structs.replace(file, text=file.text.replace(old, new))


def render(response: Json) -> str:
    """Return a line about what was replaced."""
    tail = "" if response.get("contentNotInModelContext") else IN_CONTEXT
    if response.get("replaceAll"):
        return f"The file {response['filePath']} has been updated. All occurrences were successfully replaced.{tail}"
    return f"The file {response['filePath']} has been updated successfully.{tail}"


EDIT = Tool(
    name="Edit",
    description=(
        "Replace text in a file. old_string must appear in the file exactly once, unless replace_all is true; "
        "an empty old_string creates a new file."
    ),
    parameters=parameters(
        {
            "file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
            "old_string": {"type": "string", "description": "the text to replace"},
            "new_string": {"type": "string", "description": "the replacement"},
        },
        {"replace_all": {"type": "boolean", "description": "replace every occurrence"}},
    ),
    effect=Effect.EDIT,
    run=run,
    output=shape(
        {"filePath": "string", "oldString": "string", "newString": "string"},
        {
            "originalFile": {"type": ["string", "null"]},
            "structuredPatch": "array",
            "userModified": "boolean",
            "replaceAll": "boolean",
            "contentNotInModelContext": "boolean",
        },
    ),
    render=render,
    objection=objection,
    paths=("file_path",),
    echoes_path=("filePath",),
    defaults={"replace_all": False},
)
