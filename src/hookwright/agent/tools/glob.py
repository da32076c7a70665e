"""Glob: files by the pattern of their path."""

from __future__ import annotations

import asyncio
import os
import time

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.search import Refused, Walk, glob_regex
from hookwright.protocol.jsontext import Json

FILES = 100


async def run(arguments: Input, bench: ToolContext) -> ToolResult:
    """List the files, latest change first."""
    try:
        return await asyncio.to_thread(_find, arguments["pattern"], arguments.get("path", bench.cwd))
    except Refused as refusal:
        return failed(str(refusal))


def _find(pattern: str, folder: str) -> ToolResult:
    started = time.perf_counter()
    folder, pattern = _rooted(folder, pattern)
    if not os.path.isdir(folder):
        return failed(f"Directory does not exist: {folder}")
    wanted = glob_regex(pattern)
    walk = Walk(folder)
    found = [(_modified(path), path) for relative, path in walk if wanted.fullmatch(relative)]
    names = [path for _, path in sorted(found, key=lambda pair: (-pair[0], pair[1]))]
    response = {
        "filenames": names[:FILES],
        "durationMs": round((time.perf_counter() - started) * 1000),
        "numFiles": len(names[:FILES]),
        "truncated": len(names) > FILES or not walk.complete,
        "totalMatches": len(names),
        "countIsComplete": walk.complete,
    }
    return ToolResult(response, render(response))


def _rooted(folder: str, pattern: str) -> tuple[str, str]:
    """Start at the folder that the pattern itself names, however far up that is."""
    plain = []
    parts = pattern.split("/")
    while len(parts) > 1 and not set(parts[0]) & set("*?[{"):
        plain.append(parts.pop(0))
    if not plain:
        return folder, pattern
    return os.path.normpath(os.path.join(folder, "/".join(plain) or "/")), "/".join(parts)


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def render(response: Json) -> str:
    """Show one path a line."""
    if not response["filenames"]:
        return "No files found"
    note = ["(Results are truncated. Use a more specific path or pattern.)"] if response.get("truncated") else []
    return "\n".join([*response["filenames"], *note])


GLOB = Tool(
    name="Glob",
    description=f"List files whose path fits a pattern such as src/**/*.py, latest change first, at most {FILES}.",
    parameters=parameters(
        {
            "pattern": {
                "type": "string",
                "description": "** stands for folders, * and ? stay in a name, {a,b} is either",
            }
        },
        {"path": {"type": "string", "description": "the folder to look in; the working directory if not given"}},
    ),
    effect=Effect.READ,
    run=run,
    output=shape(
        {"filenames": {"type": "array", "items": {"type": "string"}}, "numFiles": "number"},
        {"durationMs": "number", "truncated": "boolean", "totalMatches": "number", "countIsComplete": "boolean"},
    ),
    render=render,
    paths=("path",),
)
