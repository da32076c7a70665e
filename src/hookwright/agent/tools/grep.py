"""Grep: files by a regular expression in their text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import OUTPUT_LIMIT, Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import Refused
from hookwright.protocol.jsontext import Json
from hookwright.text import cut_middle, plural

CONTENT, FILES, COUNT = "content", "files_with_matches", "count"
#: Lines or files shown by default.
HEAD = 250


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Search in a separate process, which is ended when it takes too long."""
    around = int(arguments.get("-C", 0))
    mode = arguments.get("output_mode", FILES)
    try:
        found = await context.search.ask(
            "Grep",
            pattern=arguments["pattern"],
            path=arguments.get("path", context.cwd),
            base=context.cwd,
            glob=arguments.get("glob"),
            mode=mode,
            ignore_case=arguments.get("-i", False),
            multiline=arguments.get("multiline", False),
            before=int(arguments.get("-B", around)),
            after=int(arguments.get("-A", around)),
            numbers=arguments.get("-n", True),
            inside=context.reading.directories(),
        )
    except Refused as refusal:
        return failed(str(refusal))
    files = [tuple(file) for file in found["files"] if context.reading.may_read(os.path.join(context.cwd, file[0]))]
    response = _response(files, mode, int(arguments.get("head_limit", HEAD)))
    return ToolResult(response, render(response))


def _response(files: Sequence[tuple[str, int, list[str]]], mode: str, limit: int) -> dict[str, Json]:
    """Return the fields of each mode: files, lines, or the number of matches of each file."""
    if mode == FILES:
        paths = [path for path, _, _ in files]
        names = paths[:limit] if limit else paths
        found = {"mode": mode, "filenames": names, "numFiles": len(names), "totalFiles": len(paths)}
        return {**found, "appliedLimit": limit} if len(names) < len(paths) else found
    counts = [f"{path}:{count}" for path, count, _ in files]
    lines = counts if mode == COUNT else [line for _, _, shown in files for line in shown]
    shown = lines[:limit] if limit else lines
    content = cut_middle("\n".join(shown), OUTPUT_LIMIT)
    if mode == COUNT:
        matches = sum(count for _, count, _ in files)
        return {"mode": mode, "numFiles": len(files), "filenames": [], "content": content, "numMatches": matches}
    sizes = {"numLines": len(shown), "totalLines": len(lines)}
    cut = {"appliedLimit": limit} if len(shown) < len(lines) else {}
    return {"mode": mode, "numFiles": 0, "filenames": [], "content": content, **sizes, **cut}


def render(response: Json) -> str:
    """Return the lines or files, and how many more there are."""
    if response["mode"] == FILES:
        names = response.get("filenames", [])
        more = response.get("totalFiles", response["numFiles"]) - len(names)
        head = f"Found {plural(response['numFiles'], 'file')}"
        return "\n".join([head, *names, *([f"({more} more)"] if more > 0 else [])]) if names else "No files found"
    if not response.get("content"):
        return "No matches found"
    if response["mode"] == COUNT:
        total = plural(response.get("numMatches", 0), "total occurrence")
        return f"{response['content']}\n\nFound {total} across {plural(response['numFiles'], 'file')}."
    more = response.get("totalLines", 0) - response.get("numLines", 0)
    note = f"\n({more} more lines; raise head_limit to see them)" if more > 0 else ""
    return f"{response['content']}{note}"


def _number(text: str) -> dict[str, Json]:
    return {"type": "integer", "minimum": 0, "description": text}


def _flag(text: str) -> dict[str, Json]:
    return {"type": "boolean", "description": text}


GREP = Tool(
    name="Grep",
    description=(
        "Search the text of files with a regular expression (Python syntax). "
        "Folders such as .git and node_modules are skipped unless path or glob names them."
    ),
    parameters=parameters(
        {"pattern": {"type": "string", "description": "the regular expression"}},
        {
            "path": {"type": "string", "description": "a file or folder; the working directory by default"},
            "glob": {"type": "string", "description": "only files that match, such as *.py or src/**/*.{js,ts}"},
            "output_mode": {"type": "string", "enum": [CONTENT, FILES, COUNT], "description": f"{FILES} by default"},
            "-i": _flag("ignore case"),
            "-n": _flag("number the lines of content; true by default"),
            "-A": _number("lines to show after each match"),
            "-B": _number("lines to show before each match"),
            "-C": _number("lines to show around each match"),
            "multiline": _flag("the expression may span lines"),
            "head_limit": _number(f"lines or files to show; {HEAD} by default, 0 for all"),
        },
    ),
    effect=Effect.READ,
    run=run,
    output=shape(
        {"mode": {"type": "string", "enum": [CONTENT, FILES, COUNT]}, "numFiles": "number"},
        {
            "filenames": {"type": "array", "items": {"type": "string"}},
            "content": "string",
            "numLines": "number",
            "totalLines": "number",
            "totalFiles": "number",
            "numMatches": "number",
            "appliedLimit": "number",
        },
    ),
    render=render,
    paths=("path",),
)
