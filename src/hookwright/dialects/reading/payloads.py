"""An event of Claude Code as an agent would send it to its own hooks."""

from __future__ import annotations

from collections.abc import Mapping

from hookwright.dialects.model import Dialect, Moment, ToolMap
from hookwright.protocol.jsontext import Json

_PATCHED = ("Write", "Edit", "MultiEdit")


def native_payload(dialect: Dialect, moment: Moment, fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the payload of an agent for the fields of Claude Code's event.

    Law: a field that the agent does not send is left out, one with another name is renamed; the tool and its keys have
    the agent's names; a tool without a counterpart keeps its own. Fields that only the agent has are not invented.
    """
    sent: dict[str, Json] = {}
    for name, value in fields.items():
        known = dialect.field(name)
        if known is None or known.name:
            sent[known.name if known is not None else name] = value
    sent["hook_event_name"] = moment.name
    mode = next((theirs for theirs, ours in dialect.modes if ours == fields.get("permission_mode")), None)
    if mode is not None and "permission_mode" in sent:
        sent["permission_mode"] = mode
    called, given = fields.get("tool_name"), fields.get("tool_input")
    tool = tool_of(dialect, called) if isinstance(called, str) else None
    if tool is not None:
        sent["tool_name"] = tool.name
        if isinstance(given, Mapping):
            sent["tool_input"] = _input(tool, str(called), given)
    return sent


def tool_of(dialect: Dialect, name: str) -> ToolMap | None:
    """Return the agent's tool for a name of its own or of Claude Code; None if it has none."""
    own = dialect.tool(name)
    if own is not None:
        return own
    by_claude = next((tool for tool in dialect.tools if tool.claude == name), None)
    return by_claude or next((tool for tool in dialect.tools if tool.patch and name in _PATCHED), None)


def claude_tool(dialect: Dialect, name: str) -> str:
    """Return Claude Code's name of a tool of the agent; the name itself if there is none."""
    own = dialect.tool(name)
    return own.claude if own is not None and own.claude else name


def _input(tool: ToolMap, claude: str, given: Mapping[str, Json]) -> dict[str, Json]:
    if tool.patch:
        return {"command": _patch(claude, given)}
    theirs = {ours: their for their, ours in reversed(tool.keys)}
    return {theirs.get(key, key): value for key, value in given.items()}


def _patch(claude: str, given: Mapping[str, Json]) -> str:
    """Write a new file or one replacement as a patch."""
    path = given.get("file_path", "file.txt")
    if claude == "Write":
        lines = [f"+{line}" for line in str(given.get("content", "")).splitlines()]
        return "\n".join(["*** Begin Patch", f"*** Add File: {path}", *lines, "*** End Patch"])
    old = [f"-{line}" for line in str(given.get("old_string", "")).splitlines()]
    new = [f"+{line}" for line in str(given.get("new_string", "")).splitlines()]
    return "\n".join(["*** Begin Patch", f"*** Update File: {path}", "@@", *old, *new, "*** End Patch"])
