"""The tools of a verifying agent: the host's own, or a small set that only reads."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from hookwright.executors import _readtools
from hookwright.models.types import ToolDefinition
from hookwright.protocol.jsontext import Json


class ToolUse(msgspec.Struct, frozen=True):
    """One call by a verifying agent."""

    id: str
    name: str
    input: Mapping[str, Json]
    #: The agent that calls; its id begins with `hook-agent-`, so hooks of the call can tell who it is.
    agent_id: str


class ReadResult(msgspec.Struct, frozen=True):
    """What a call gave; an error is told to the agent and ends nothing."""

    text: str
    is_error: bool = False


class ToolBox(Protocol):
    """Tools that a host lends to verifying agents, under its own permission rules and without asking anybody."""

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """List the tools."""
        ...

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call; a call that is not allowed is an error result."""
        ...


def _schema(required: Sequence[str], **properties: tuple[str, str]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {name: {"type": kind, "description": text} for name, (kind, text) in properties.items()},
        "required": list(required),
    }


_TOOLS = (
    ToolDefinition(
        "Read",
        f"Read a text file; lines are numbered. At most {_readtools.LINES} lines at once.",
        _schema(
            ["file_path"],
            file_path=("string", "the file, absolute or relative to the working directory"),
            offset=("integer", "the first line, from 1"),
            limit=("integer", "how many lines"),
        ),
    ),
    ToolDefinition(
        "Grep",
        "Search files for a regular expression (Python syntax), line by line. Gives path:line:text.",
        _schema(
            ["pattern"],
            pattern=("string", "the regular expression"),
            path=("string", "a file or folder; the working directory if left out"),
            glob=("string", "only files whose name matches, for example *.py"),
            ignore_case=("boolean", "whether case does not matter"),
        ),
    ),
    ToolDefinition(
        "Glob",
        "List files by a glob pattern such as **/*.py, newest first.",
        _schema(
            ["pattern"],
            pattern=("string", "the glob pattern"),
            path=("string", "the folder; the working directory if left out"),
        ),
    ),
)


class ReadTools:
    """Read, Grep and Glob. They read whatever the user may read, not only the project: transcripts lie elsewhere.

    Each call is a process of its own, so that a search that takes too long, or a pattern that explodes, can be ended.
    """

    def __init__(self, cwd: str, *, limit: float = 20.0) -> None:
        self._cwd = cwd
        self._limit = limit

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """List the three tools."""
        return _TOOLS

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call within its time limit."""
        question = msgspec.json.encode({"name": use.name, "input": dict(use.input), "cwd": self._cwd})
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-X",
            "utf8",
            _readtools.__file__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(self._limit):
                answer, _ = await process.communicate(question)
        except TimeoutError:
            return ReadResult(f"{use.name} took longer than {self._limit:g} s; ask for less", True)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            return msgspec.json.decode(answer, type=ReadResult)
        except msgspec.DecodeError:
            return ReadResult(f"{use.name} ended without a result (exit status {process.returncode})", True)
