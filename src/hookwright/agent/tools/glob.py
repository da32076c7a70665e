"""Glob: files by the pattern of their path."""

from __future__ import annotations

import time

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.projects.files import Refused
from hookwright.protocol.jsontext import Json

FILES = 100


async def run(arguments: Input, bench: ToolContext) -> ToolResult:
    """List the files, latest change first."""
    started = time.perf_counter()
    path = arguments.get("path", bench.cwd)
    try:
        found = await bench.search.ask("Glob", pattern=arguments["pattern"], path=path, most=FILES)
    except Refused as refusal:
        return failed(str(refusal))
    response = {
        "filenames": found["files"],
        "durationMs": round((time.perf_counter() - started) * 1000),
        "numFiles": len(found["files"]),
        "truncated": found["total"] > FILES or not found["complete"],
        "totalMatches": found["total"],
        "countIsComplete": found["complete"],
    }
    return ToolResult(response, render(response))


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
