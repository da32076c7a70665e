"""Small makers that tests share: events, handlers, projects on disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from detent.events import CATALOGUE, Event
from detent.handlers import CommandHandler, OnFailure
from detent.outcome import Run, Timing, Verdict
from detent.replies import Exited
from detent.sources import Scope, Source
from detent.wire import decode_event

SESSION = "00000000-0000-4000-8000-000000000001"

#: A complete example of every event: what stands after the common fields.
SAMPLES: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "Setup": {"trigger": "init"},
    "InstructionsLoaded": {"file_path": "/p/CLAUDE.md", "memory_type": "Project", "load_reason": "session_start"},
    "UserPromptSubmit": {"prompt": "hi"},
    "UserPromptExpansion": {
        "expansion_type": "slash_command",
        "command_name": "greet",
        "command_args": "Bob",
        "prompt": "/greet Bob",
    },
    "MessageDisplay": {"turn_id": "t", "message_id": "m", "index": 0, "final": True, "delta": "text"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"},
    "PermissionRequest": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PermissionDenied": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "toolu_1",
        "reason": "Classifier unavailable",
    },
    "PostToolUse": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a", "stderr": "", "interrupted": False, "isImage": False},
        "tool_use_id": "toolu_1",
    },
    "PostToolUseFailure": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "toolu_1",
        "error": "Exit code 1",
    },
    "PostToolBatch": {"tool_calls": []},
    "Notification": {"message": "m", "notification_type": "idle_prompt"},
    "SubagentStart": {"agent_id": "a1", "agent_type": "Explore"},
    "SubagentStop": {
        "agent_id": "a1",
        "agent_type": "Explore",
        "stop_hook_active": False,
        "agent_transcript_path": "/t/a.jsonl",
    },
    "TaskCreated": {"task_id": "1", "task_subject": "s"},
    "TaskCompleted": {"task_id": "1", "task_subject": "s"},
    "Stop": {"stop_hook_active": False},
    "StopFailure": {"error": "rate_limit"},
    "TeammateIdle": {"teammate_name": "n", "team_name": "t"},
    "ConfigChange": {"source": "project_settings"},
    "CwdChanged": {"old_cwd": "/a", "new_cwd": "/b"},
    "DirectoryAdded": {"directory": "/d", "source": "slash_command"},
    "FileChanged": {"file_path": "/p/.envrc", "event": "change"},
    "WorktreeCreate": {"name": "feature"},
    "WorktreeRemove": {"worktree_path": "/w"},
    "PreCompact": {"trigger": "manual", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": "s"},
    "PreModelSwitch": {
        "from_model": "a",
        "to_model": "b",
        "requested_model": "b",
        "source": "command",
        "context_tokens": 1,
        "prompt_cache_warm": False,
        "cache_ttl": "5m",
        "estimated_cache_write_usd": 0.0,
        "pricing": "default",
    },
    "Elicitation": {"mcp_server_name": "s", "message": "name?"},
    "ElicitationResult": {"mcp_server_name": "s", "action": "accept"},
    "SessionEnd": {"reason": "other"},
}
SAMPLES["PostModelSwitch"] = SAMPLES["PreModelSwitch"]

assert set(SAMPLES) == set(CATALOGUE)


def event(name: str, **changes: Any) -> Event:
    """Make a complete event of the given name."""
    base = {"session_id": SESSION, "transcript_path": "/tmp/detent-test/t.jsonl", "cwd": "/tmp"}
    return decode_event({**base, "hook_event_name": name, **SAMPLES[name], **changes})


def command(text: str = "true", scope: Scope = Scope.USER, pointer: str = "", **fields: Any) -> CommandHandler:
    """Make a command handler."""
    return CommandHandler(source=Source(scope, pointer=pointer), command=text, **fields)


def failing_closed(text: str = "true") -> CommandHandler:
    """Make a command handler with `onFailure: block`."""
    return command(text, on_failure=OnFailure.BLOCK)


def exited(status: int = 0, stdout: str | dict[str, Any] = "", stderr: str = "") -> Exited:
    """Make a reply of a process; a dict is printed as JSON."""
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return Exited(status, text.encode("utf-8", "surrogateescape"), stderr.encode())


def specific(name: str, **fields: Any) -> dict[str, Any]:
    """Make an output object with the event's own fields."""
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


def run_of(verdict: Verdict, number: int = 0) -> Run:
    """Wrap a verdict as the run of some handler."""
    return Run(command(f"hook-{number}"), Exited(0), verdict, Timing(0.0, 0.0))


def script(path: Path, body: str) -> Path:
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body if body.startswith("#!") else f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def settings(folder: Path, value: Any, name: str = "settings.json") -> Path:
    """Write a settings file below `folder/.claude`."""
    path = folder / ".claude" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
    return path


def hooks_for(name: str, *handlers: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
    """Make a settings object with one group."""
    group: dict[str, Any] = {"hooks": list(handlers)}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {name: [group]}}


def open_fds() -> int:
    """Count the open file descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))
