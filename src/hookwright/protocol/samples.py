"""An ordinary example of every event, to try hooks without a session."""

from __future__ import annotations

import copy
import os
from typing import Any

from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import decode_event
from hookwright.text import did_you_mean

SESSION = "00000000-0000-4000-8000-000000000001"


def sample(name: str, /, *, cwd: str = "/tmp", **changes: Any) -> Event:
    """Return a complete event with the given fields changed."""
    common = {"session_id": SESSION, "transcript_path": os.path.join(cwd, f"{SESSION}.jsonl"), "cwd": cwd}
    return decode_event({**common, "hook_event_name": name, **sample_fields(name, cwd), **changes})


def new_session_id() -> str:
    """Return a random UUID, without the `uuid` module, which takes longer to import than all samples."""
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def sample_fields(name: str, cwd: str, variant: str | None = None) -> dict[str, Json]:
    """Return an ordinary value for every required field of an event; a variant is a tool, or a target value."""
    fields = copy.deepcopy(_SAMPLES[name])
    if variant is not None:
        fields |= _variant(name, variant, cwd)
    if "permission_mode" in CATALOGUE[name].__struct_fields__:
        fields = {"permission_mode": "default", **fields}
    for key in ("file_path", "worktree_path", "directory", "old_cwd", "new_cwd", "agent_transcript_path"):
        if key in fields:
            fields[key] = os.path.join(cwd, fields[key])
    return fields


def tool_input(tool: str, cwd: str) -> dict[str, Json] | None:
    """Return an ordinary input of a tool with absolute paths, or None for an unknown tool."""
    found = _TOOLS.get(tool)
    if found is None:
        return {"query": "hello"} if tool.startswith("mcp__") else None
    return {key: _absolute(key, value, cwd) for key, value in found.items()}


def tool_names() -> tuple[str, ...]:
    """Return the tools that have samples; every `mcp__server__tool` has one as well."""
    return tuple(_TOOLS)


def _variant(name: str, variant: str, cwd: str) -> dict[str, Json]:
    """Return the fields that differ from the event's plain sample."""
    target = CATALOGUE[name].rules.target
    if target is None:
        raise InvalidEvent(f"{name} has no matcher, so it only has one sample; remove `{variant}`")
    values = CATALOGUE[name].rules.values
    if target != "tool_name" and values and variant not in values:
        hint = did_you_mean(variant, values)
        raise InvalidEvent(f"`{variant}` is not a {target} of {name} (known: {', '.join(values)}){hint}")
    if target != "tool_name":
        return {target: variant}
    given = tool_input(variant, cwd)
    if given is None:
        known = ", ".join(_TOOLS)
        hint = did_you_mean(variant, _TOOLS)
        raise InvalidEvent(f"there is no sample of the tool `{variant}` (known: {known}, mcp__server__tool){hint}")
    fields: dict[str, Json] = {"tool_name": variant, "tool_input": given}
    if variant.startswith("mcp__"):
        fields["mcp_server"] = {"name": variant.split("__")[1], "source": "user"}
    if name == "PostToolUse":
        fields["tool_response"] = _response(variant, given)
    return fields


def _absolute(key: str, value: Json, cwd: str) -> Any:
    return os.path.join(cwd, value) if key in ("file_path", "notebook_path", "path") else value


def _response(tool: str, given: dict[str, Json]) -> Any:
    """Return the result of a tool in the form hooks read."""
    path = given.get("file_path", "")
    match tool:
        case "Write":
            made = {"type": "create", "filePath": path, "content": given["content"], "structuredPatch": []}
            return {**made, "originalFile": None, "userModified": False}
        case "Edit":
            words = {"oldString": given["old_string"], "newString": given["new_string"], "replaceAll": False}
            return {
                "filePath": path,
                **words,
                "originalFile": "print(1)\n",
                "structuredPatch": [],
                "userModified": False,
            }
        case "Read":
            file = {"filePath": path, "content": "print(1)\n", "numLines": 1, "startLine": 1, "totalLines": 1}
            return {"type": "text", "file": file}
        case "Agent":
            said = [{"type": "text", "text": "Three call sites."}]
            return {"status": "completed", "prompt": given["prompt"], "agentId": "agent-sample", "content": said}
        case _ if tool.startswith("mcp__"):
            return [{"type": "text", "text": "hello"}]
        case _:
            return copy.deepcopy(_RESPONSES[tool])


#: An ordinary input of each tool; relative paths are made absolute.
_TOOLS: dict[str, dict[str, Json]] = {
    "Bash": {"command": "echo hello", "description": "Say hello"},
    "Write": {"file_path": "src/app.py", "content": "print(2)\n"},
    "Edit": {"file_path": "src/app.py", "old_string": "print(1)", "new_string": "print(2)", "replace_all": False},
    "NotebookEdit": {"notebook_path": "notes.ipynb", "new_source": "print(2)", "cell_type": "code"},
    "Read": {"file_path": "src/app.py"},
    "Glob": {"pattern": "**/*.py"},
    "Grep": {"pattern": "print", "output_mode": "files_with_matches"},
    "WebFetch": {"url": "https://example.com/", "prompt": "What does it say?"},
    "WebSearch": {"query": "hello"},
    "Agent": {"description": "Find callers", "prompt": "Find all callers of print", "subagent_type": "Explore"},
    "Skill": {"skill": "greet", "args": "Bob"},
    "TaskCreate": {"subject": "Implement login", "description": "Add endpoints"},
    "ExitPlanMode": {"plan": "1. Write a test. 2. Make it pass."},
}
_RESPONSES: dict[str, Json] = {
    "Bash": {"stdout": "hello", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
    "NotebookEdit": {"new_source": "print(2)", "cell_type": "code", "language": "python", "error": ""},
    "Glob": {"filenames": ["src/app.py"], "durationMs": 3, "numFiles": 1, "truncated": False},
    "Grep": {"mode": "files_with_matches", "numFiles": 1, "filenames": ["src/app.py"], "content": "", "numLines": 0},
    "WebFetch": {"bytes": 1256, "code": 200, "codeText": "OK", "result": "An example.", "url": "https://example.com/"},
    "WebSearch": {"query": "hello", "results": [], "durationSeconds": 0.4},
    "Skill": {"success": True, "commandName": "greet"},
    "TaskCreate": {"task": {"id": "1", "subject": "Implement login"}},
    "ExitPlanMode": {"plan": "1. Write a test. 2. Make it pass.", "isAgent": False},
}
_MODEL_SWITCH: dict[str, Json] = {
    "from_model": "claude-sonnet-5",
    "to_model": "claude-opus-5",
    "requested_model": "opus",
    "source": "command",
    "context_tokens": 0,
    "prompt_cache_warm": False,
    "cache_ttl": "5m",
    "estimated_cache_write_usd": 0.0,
    "pricing": "default",
}
_TOOL: dict[str, Json] = {
    "tool_name": "Bash",
    "tool_input": _TOOLS["Bash"],
    "tool_use_id": "toolu_sample",
}
_SAMPLES: dict[str, dict[str, Json]] = {
    "SessionStart": {"source": "startup"},
    "Setup": {"trigger": "init"},
    "InstructionsLoaded": {"file_path": "CLAUDE.md", "memory_type": "Project", "load_reason": "session_start"},
    "UserPromptSubmit": {"prompt": "Write a factorial function"},
    "UserPromptExpansion": {
        "expansion_type": "slash_command",
        "command_name": "greet",
        "command_args": "Bob",
        "prompt": "/greet Bob",
    },
    "MessageDisplay": {"turn_id": "turn", "message_id": "message", "index": 0, "final": True, "delta": "Hello."},
    "PreToolUse": _TOOL,
    "PermissionRequest": {key: value for key, value in _TOOL.items() if key != "tool_use_id"},
    "PermissionDenied": {**_TOOL, "reason": "Classifier unavailable"},
    "PostToolUse": {
        "tool_name": _TOOL["tool_name"],
        "tool_input": _TOOL["tool_input"],
        "tool_response": _RESPONSES["Bash"],
        "tool_use_id": _TOOL["tool_use_id"],
        "duration_ms": 12,
    },
    "PostToolUseFailure": {**_TOOL, "error": "Exit code 1", "is_interrupt": False, "duration_ms": 12},
    "PostToolBatch": {"tool_calls": [{**_TOOL, "tool_response": "hello"}]},
    "Notification": {"message": "Permission needed", "notification_type": "permission_prompt"},
    "SubagentStart": {"agent_id": "agent-sample", "agent_type": "Explore"},
    "SubagentStop": {
        "agent_id": "agent-sample",
        "agent_type": "Explore",
        "stop_hook_active": False,
        "agent_transcript_path": "agent-sample.jsonl",
        "last_assistant_message": "Done.",
        "background_tasks": [],
        "session_crons": [],
    },
    "TaskCreated": {"task_id": "1", "task_subject": "Implement login", "task_description": "Add endpoints"},
    "TaskCompleted": {"task_id": "1", "task_subject": "Implement login", "task_description": "Add endpoints"},
    "Stop": {
        "stop_hook_active": False,
        "last_assistant_message": "Done.",
        "background_tasks": [],
        "session_crons": [],
    },
    "StopFailure": {"error": "rate_limit", "last_assistant_message": "API Error: Rate limit reached"},
    "TeammateIdle": {"teammate_name": "researcher", "team_name": "team"},
    "ConfigChange": {"source": "project_settings", "file_path": ".claude/settings.json"},
    "CwdChanged": {"old_cwd": "", "new_cwd": "src"},
    "DirectoryAdded": {"directory": "other", "source": "slash_command"},
    "FileChanged": {"file_path": ".envrc", "event": "change"},
    "WorktreeCreate": {"name": "feature"},
    "WorktreeRemove": {"worktree_path": ".claude/worktrees/feature"},
    "PreCompact": {"trigger": "manual", "custom_instructions": None},
    "PostCompact": {"trigger": "manual", "compact_summary": "Summary."},
    "PreModelSwitch": _MODEL_SWITCH,
    "PostModelSwitch": _MODEL_SWITCH,
    "Elicitation": {
        "mcp_server_name": "tracker",
        "message": "Project key?",
        "mode": "form",
        "requested_schema": {"type": "object", "properties": {"key": {"type": "string"}}},
    },
    "ElicitationResult": {"mcp_server_name": "tracker", "action": "accept", "mode": "form", "content": {"key": "D"}},
    "SessionEnd": {"reason": "other"},
}
