"""Small invented transcripts in Claude Code's formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hookwright.replay.choice import Choice
from hookwright.replay.past import Coverage, Past
from hookwright.replay.sources import past_events

Line = dict[str, Any]
CWD = "/home/me/project"
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def at(second: float) -> str:
    """Return a time as transcripts write it."""
    minutes, seconds = divmod(second, 60)
    return f"2026-11-03T09:{int(minutes):02}:{seconds:06.3f}Z"


def line(kind: str, second: float, session: str = "s1", **fields: Any) -> Line:
    """Make a line of a session."""
    around = {"uuid": f"u{second}", "timestamp": at(second), "cwd": CWD, "sessionId": session, "version": "2.1.325"}
    return {"parentUuid": None, "isSidechain": False, "type": kind, **fields, **around}


def prompt(text: str, second: float, mode: str | None = "default", **fields: Any) -> Line:
    """Make the line of a prompt."""
    named = {} if mode is None else {"permissionMode": mode, "promptId": f"p{second}"}
    return line("user", second, message={"role": "user", "content": text}, **{**named, **fields})


def says(text: str, second: float, reason: str | None = "end_turn", **fields: Any) -> Line:
    """Make the line of a text of the model."""
    return _message({"type": "text", "text": text}, second, reason, **fields)


def call(name: str, second: float, tool: str = "Bash", **fields: Any) -> Line:
    """Make the line of a call; `given` is its input."""
    given = fields.pop("given", {"command": f"echo {name}"})
    return _message({"type": "tool_use", "id": name, "name": tool, "input": given}, second, "tool_use", **fields)


def _message(block: dict[str, Any], second: float, reason: str | None, **fields: Any) -> Line:
    head = {"id": f"m{second}", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
    return line("assistant", second, message={**head, "content": [block], "stop_reason": reason}, **fields)


def result(name: str, second: float, text: str = "ok", **fields: Any) -> Line:
    """Make the line of a result that is not an error."""
    block = {"tool_use_id": name, "type": "tool_result", "content": text}
    given = {"toolUseResult": {"stdout": text}, **fields}
    return line("user", second, message={"role": "user", "content": [block]}, **given)


def error(name: str, second: float, text: str, **fields: Any) -> Line:
    """Make the line of a result that is an error."""
    block = {"type": "tool_result", "content": text, "is_error": True, "tool_use_id": name}
    given = {"toolUseResult": f"Error: {text}", **fields}
    return line("user", second, message={"role": "user", "content": [block]}, **given)


def progress(inner: Line, agent: str, parent: str) -> Line:
    """Make a line of an older version: a message of a subagent inside a line of its session."""
    kept = {key: inner[key] for key in ("type", "message", "uuid", "timestamp")}
    data = {"type": "agent_progress", "agentId": agent, "prompt": "search", "message": kept, "normalizedMessages": []}
    outer = line("progress", 0, data=data, toolUseID=f"agent_{agent}", parentToolUseID=parent)
    return {**outer, "timestamp": inner["timestamp"]}


def write(path: Path, lines: Iterable[Line | bytes]) -> Path:
    """Write a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (one if isinstance(one, bytes) else json.dumps(one, separators=(",", ":")).encode() for one in lines)
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return path


def past(*sources: Path, coverage: Coverage | None = None, **choice: Any) -> list[Past]:
    """Read all events of sources."""
    return list(past_events([str(source) for source in sources], Choice(**choice), coverage))


def shown(events: Iterable[Past]) -> list[str]:
    """Return events in short: name, call or text, and fate."""
    out: list[str] = []
    for one in events:
        about = next(
            (
                str(value)
                for name in ("tool_use_id", "prompt", "last_assistant_message", "source", "trigger", "agent_id")
                if isinstance(value := getattr(one.event, name, None), str)
            ),
            "",
        )
        fate = f" {one.fate.name}" if one.fate is not None and one.event.event_name == "PreToolUse" else ""
        out.append(f"{one.event.event_name} {about}{fate}")
    return out
