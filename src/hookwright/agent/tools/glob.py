"""Glob: files by the pattern of their path."""

from __future__ import annotations

import os
import time

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import Refused
from hookwright.projects.globs import rooted
from hookwright.protocol.jsontext import Json

FILES = 100
#: Files found, of which those that rules keep from being read are not listed.
_LOOKED_AT = 1000


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """List the files, latest change first."""
    started = time.perf_counter()
    path = arguments.get("path", context.cwd)
    try:
        found = await context.search.ask(
            "Glob",
            pattern=arguments["pattern"],
            path=path,
            most=_LOOKED_AT,
            base=context.cwd,
            inside=context.reading.directories(),
        )
    except Refused as refusal:
        return failed(str(refusal))
    names = [name for name in found["files"] if context.reading.may_read(os.path.join(context.cwd, name))]
    total = found["total"] - len(found["files"]) + len(names)
    response = {
        "filenames": names[:FILES],
        "durationMs": round((time.perf_counter() - started) * 1000),
        "numFiles": len(names[:FILES]),
        "truncated": total > FILES or not found["complete"],
        "totalMatches": total,
        "countIsComplete": found["complete"],
    }
    return ToolResult(response, render(response))


def folder_of(arguments: Input, cwd: str) -> Input:
    """Return the input with the folder that is really searched: a pattern may be absolute or begin with `..`."""
    folder, pattern = rooted(arguments.get("path", cwd), arguments["pattern"])
    return {**arguments, "path": folder, "pattern": pattern}


def render(response: Json) -> str:
    """Return one path per line."""
    if not response["filenames"]:
        return "No files found"
    note = ["(Results are truncated. Use a more specific path or pattern.)"] if response.get("truncated") else []
    return "\n".join([*response["filenames"], *note])


GLOB = Tool(
    name="Glob",
    description=(
        f"List files whose path matches a pattern such as src/**/*.py, latest change first, at most {FILES}. "
        "Folders such as .git and node_modules are skipped unless path or pattern names them."
    ),
    parameters=parameters(
        {
            "pattern": {
                "type": "string",
                "description": "** matches any folders, * and ? match inside a name, {a,b} matches either",
            }
        },
        {"path": {"type": "string", "description": "the folder to search; the working directory by default"}},
    ),
    effect=Effect.READ,
    run=run,
    output=shape(
        {"filenames": {"type": "array", "items": {"type": "string"}}, "numFiles": "number"},
        {"durationMs": "number", "truncated": "boolean", "totalMatches": "number", "countIsComplete": "boolean"},
    ),
    render=render,
    paths=("path",),
    really=folder_of,
)
