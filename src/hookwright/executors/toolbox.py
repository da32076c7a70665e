"""The tools of a verifying agent: the host's own, or a read-only set."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from hookwright.models.types import ToolDefinition
from hookwright.projects.files import LINES, WIDTH, Refused, numbered
from hookwright.projects.folders import MAX_ENTRIES
from hookwright.projects.lookup import Search
from hookwright.protocol.jsontext import Json

#: Characters of one result, and entries of one list.
_TEXT = 30_000
_ENTRIES = 200
_SEARCH = Search()


class ToolUse(msgspec.Struct, frozen=True):
    """One call by a verifying agent."""

    id: str
    name: str
    input: Mapping[str, Json]
    #: The calling agent; its id starts with `hook-agent-`, so hooks on the call can recognise it.
    agent_id: str
    #: The transcript of the conversation that fired the hook, which the agent may read.
    transcript: str = ""


class ReadResult(msgspec.Struct, frozen=True):
    """The result of one call; an error goes to the agent, which continues."""

    text: str
    is_error: bool = False


class ToolBox(Protocol):
    """Tools a host provides to verifying agents, under its own permission rules and without asking the user."""

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """The tools on offer."""
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
        f"Read a text file; lines are numbered. At most {LINES} lines at once.",
        _schema(
            ["file_path"],
            file_path=("string", "the file, absolute or relative to the working directory"),
            offset=("integer", "the first line, from 1"),
            limit=("integer", "the number of lines"),
        ),
    ),
    ToolDefinition(
        "Grep",
        "Search files for a regular expression (Python syntax), line by line. Returns path:line:text. "
        "Folders such as .git and node_modules are skipped unless path or glob names them.",
        _schema(
            ["pattern"],
            pattern=("string", "the regular expression"),
            path=("string", "a file or folder; the working directory by default"),
            glob=("string", "only files that match, for example *.py or src/**/*.ts"),
            ignore_case=("boolean", "whether to ignore case"),
        ),
    ),
    ToolDefinition(
        "Glob",
        "List files by a glob pattern such as **/*.py, newest first. "
        "Folders such as .git and node_modules are skipped unless path or pattern names them.",
        _schema(
            ["pattern"],
            pattern=("string", "the glob pattern"),
            path=("string", "the folder; the working directory by default"),
        ),
    ),
)


class ReadTools:
    """Read, Grep and Glob. They read everything the user may read, not only the project: transcripts are elsewhere."""

    def __init__(self, cwd: str, search: Search = _SEARCH) -> None:
        self._cwd = cwd
        self._search = search

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """The three tools."""
        return _TOOLS

    async def call(self, use: ToolUse) -> ReadResult:
        """Run one call in its own process, within the time limit."""
        run = {"Read": self._read, "Grep": self._grep, "Glob": self._glob}.get(use.name)
        try:
            if run is None:
                raise Refused(f"There is no tool {use.name}; use Read, Grep or Glob.")
            return ReadResult(await run(use.input))
        except Refused as refusal:
            return ReadResult(str(refusal), True)

    async def _read(self, given: Mapping[str, Json]) -> str:
        found = await self._search.ask(
            "Read",
            path=self._path(given, "file_path"),
            first=max(_whole(given, "offset", 1), 1),
            wanted=min(_whole(given, "limit", LINES), LINES),
            most=_TEXT,
            widest=4 * WIDTH + 4,
        )
        if not found["kept"]:
            return "(the file is empty)" if not found["size"] else f"(the file has {found['total']} lines)"
        after = found["first"] + found["kept"]
        more = [f"(more lines follow; continue with offset {after})"] if after < found["total"] else []
        return "\n".join([numbered(found["text"], found["first"]), *more])

    async def _grep(self, given: Mapping[str, Json]) -> str:
        found = await self._search.ask(
            "Grep",
            pattern=_string(given, "pattern"),
            path=self._path(given, "path", "."),
            glob=_string(given, "glob") if "glob" in given else None,
            mode="content",
            ignore_case=given.get("ignore_case") is True,
            multiline=False,
            before=0,
            after=0,
            numbers=True,
        )
        total = sum(count for _, count, _ in found["files"])
        lines = [line for _, _, shown in found["files"] for line in shown]
        return _listed(lines, total, "matches") or "(no matches)"

    async def _glob(self, given: Mapping[str, Json]) -> str:
        path = self._path(given, "path", ".")
        found = await self._search.ask("Glob", path=path, pattern=_string(given, "pattern"), most=_ENTRIES)
        if not found["complete"]:
            raise Refused(f"{path} has more than {MAX_ENTRIES:,} entries; search a smaller folder")
        return _listed(found["files"], found["total"], "files") or "(no files)"

    def _path(self, given: Mapping[str, Json], key: str, default: str | None = None) -> str:
        path = default if default is not None and key not in given else _string(given, key)
        return path if path.startswith("~") else os.path.normpath(os.path.join(self._cwd, path))


def _listed(entries: Sequence[str], total: int, what: str) -> str:
    """Join the first entries, and say how many there are if not all are shown."""
    shown: list[str] = []
    room = _TEXT
    for entry in entries[:_ENTRIES]:
        room -= len(entry)
        if room < 0:
            break
        shown.append(entry)
    note = [f"({len(shown)} of {total} {what}; narrow the search)"] if len(shown) < total else []
    return "\n".join([*shown, *note])


def _string(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise Refused(f"`{key}` must be a string, not {value!r}")
    return value


def _whole(given: Mapping[str, Json], key: str, default: int) -> int:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"`{key}` must be a whole number, not {value!r}")
    return value
