"""An ordinary example of every event, for trying hooks out without a session."""

from __future__ import annotations

import copy
import os
from typing import Any

from detent.events import CATALOGUE, Event
from detent.wire import decode_event

SESSION = "00000000-0000-4000-8000-000000000001"


def sample(name: str, *, cwd: str = "/tmp", **changes: Any) -> Event:
    """Make a complete event with the given fields changed."""
    common = {"session_id": SESSION, "transcript_path": os.path.join(cwd, f"{SESSION}.jsonl"), "cwd": cwd}
    return decode_event({**common, "hook_event_name": name, **sample_fields(name, cwd), **changes})


def sample_fields(name: str, cwd: str) -> dict[str, Any]:
    """Give an ordinary value to every field that an event must have."""
    fields = copy.deepcopy(_SAMPLES[name])
    if "permission_mode" in CATALOGUE[name].__struct_fields__:
        fields = {"permission_mode": "default", **fields}
    for key in ("file_path", "worktree_path", "directory", "old_cwd", "new_cwd", "agent_transcript_path"):
        if key in fields:
            fields[key] = os.path.join(cwd, fields[key])
    return fields


_MODEL_SWITCH: dict[str, Any] = {
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
_TOOL: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "echo hello", "description": "Say hello"},
    "tool_use_id": "toolu_sample",
}
_SAMPLES: dict[str, dict[str, Any]] = {
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
        "tool_response": {
            "stdout": "hello",
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        },
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
