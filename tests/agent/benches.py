"""A bench for tests, with everything in a folder of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookwright.agent.tools import TOOLS, EnvFiles, Shells, ToolContext, ToolResult
from hookwright.protocol.diagnostics import Diagnostic


def make_bench(
    folder: Path, env_files: Sequence[tuple[str, str]] = (), notes: list[Diagnostic] | None = None, **env: str
) -> ToolContext:
    """Set up a bench in `folder/project`."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    heard = notes if notes is not None else []
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), **env}
    session = str(folder / "session")
    return ToolContext(
        root=str(project),
        cwd=str(project),
        env=surroundings,
        folder=session,
        shells=Shells(session),
        env_files=EnvFiles(lambda: env_files, heard.append),
    )


async def call_in(bench: ToolContext, tool: str, **arguments: Any) -> ToolResult:
    """Call a tool as the loop does, without hooks and permissions."""
    known = TOOLS[tool]
    assert known.problem(arguments) is None
    home = bench.env["HOME"]
    given = known.resolve(known.normalise(arguments, bench.cwd, home), bench.cwd, home)
    return known.echoed(await known.run(given, bench), arguments)


def call(bench: ToolContext, tool: str, **arguments: Any) -> ToolResult:
    """Call a tool, and end what it left."""

    async def whole() -> ToolResult:
        try:
            return await call_in(bench, tool, **arguments)
        finally:
            await bench.shells.aclose()

    return asyncio.run(whole())
