"""Versions of Claude Code, and other agents, to check for."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from hookwright.errors import ConfigError

Version = tuple[int, int, int]

#: The first version that knows a key of a handler.
KEY_SINCE: Mapping[str, Version] = {
    "if": (2, 1, 85),
    "args": (2, 1, 139),
    "continueOnBlock": (2, 1, 139),
    "onFailure": (2, 1, 295),
}
#: The first version that knows a type of handler.
TYPE_SINCE: Mapping[str, Version] = {"http": (2, 1, 63), "mcp_tool": (2, 1, 118)}
#: From here on an unknown event no longer makes the whole file be skipped.
EVENTS_TOLERATED: Version = (2, 1, 101)
COMMA_LISTS: Version = (2, 1, 191)


class TargetHost(msgspec.Struct, frozen=True):
    """Another agent, as far as it differs from Claude Code."""

    name: str
    #: Its names for events; an event not listed does not exist there.
    events: Mapping[str, str]
    #: What it calls the tools, where the name differs.
    tools: Mapping[str, str]
    #: The handler types it runs.
    types: frozenset[str]
    #: Keys it accepts and ignores.
    ignored: frozenset[str]
    milliseconds: bool = False
    #: It sets `CLAUDE_PROJECT_DIR`.
    project_variable: bool = False


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_CORE = ("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
_SUBAGENTS = ("SubagentStart", "SubagentStop")
_COMMON_IGNORED = frozenset({"if", "once", "args", "asyncRewake", "onFailure"})

HOSTS: Mapping[str, TargetHost] = {
    host.name: host
    for host in (
        TargetHost(
            "codex",
            _same(*_CORE, *_SUBAGENTS, "PermissionRequest", "PreCompact", "PostCompact"),
            {"Bash": "exec_command", "Edit": "apply_patch", "Write": "apply_patch"},
            frozenset({"command", "mcp_tool"}),
            _COMMON_IGNORED,
        ),
        TargetHost(
            "gemini",
            {
                **_same("SessionStart", "SessionEnd", "Notification"),
                "UserPromptSubmit": "BeforeAgent",
                "PreToolUse": "BeforeTool",
                "PostToolUse": "AfterTool",
                "Stop": "AfterAgent",
                "PreCompact": "PreCompress",
            },
            {
                "Bash": "run_shell_command",
                "Read": "read_file",
                "Write": "write_file",
                "Edit": "replace",
                "Glob": "glob",
                "Grep": "search_file_content",
                "WebFetch": "web_fetch",
                "WebSearch": "google_web_search",
            },
            frozenset({"command"}),
            _COMMON_IGNORED | {"async"},
            milliseconds=True,
        ),
        TargetHost(
            "qwen",
            _same(
                *_CORE,
                *_SUBAGENTS,
                "UserPromptExpansion",
                "PermissionRequest",
                "PermissionDenied",
                "PostToolUseFailure",
                "PostToolBatch",
                "Notification",
                "MessageDisplay",
                "StopFailure",
                "InstructionsLoaded",
                "PreCompact",
                "PostCompact",
            ),
            {},
            frozenset({"command", "http", "prompt"}),
            _COMMON_IGNORED,
            milliseconds=True,
        ),
        TargetHost(
            "cursor",
            {
                "SessionStart": "sessionStart",
                "SessionEnd": "sessionEnd",
                "UserPromptSubmit": "beforeSubmitPrompt",
                "PreToolUse": "beforeShellExecution",
                "PostToolUse": "afterFileEdit",
                "PreCompact": "preCompact",
                "Stop": "stop",
                "SubagentStop": "subagentStop",
            },
            {},
            frozenset({"command", "prompt"}),
            _COMMON_IGNORED | {"async"},
        ),
        TargetHost(
            "copilot",
            {
                "SessionStart": "sessionStart",
                "SessionEnd": "sessionEnd",
                "UserPromptSubmit": "userPromptSubmitted",
                "PreToolUse": "preToolUse",
                "PostToolUse": "postToolUse",
                "Notification": "notification",
                "PreCompact": "preCompact",
                "Stop": "agentStop",
                "SubagentStop": "subagentStop",
            },
            {},
            frozenset({"command", "http"}),
            _COMMON_IGNORED | {"async"},
        ),
        TargetHost(
            "openhands",
            _same(*_CORE),
            {"Bash": "terminal", "Edit": "file_editor", "Write": "file_editor", "Read": "file_editor"},
            frozenset({"command", "prompt", "agent"}),
            _COMMON_IGNORED,
        ),
    )
}
WINDOWS = "windows"


class Target(msgspec.Struct, frozen=True):
    """What a file is meant for."""

    version: Version | None = None
    hosts: tuple[TargetHost, ...] = ()
    windows: bool = False


def read_target(words: str) -> Target:
    """Read `2.1.200`, `codex`, `windows`, or several of them with commas."""
    version: Version | None = None
    hosts: list[TargetHost] = []
    windows = False
    for word in filter(None, (part.strip().lower() for part in words.split(","))):
        if re.fullmatch(r"\d+\.\d+(\.\d+)?", word):
            major, minor, *patch = map(int, word.split("."))
            version = (major, minor, patch[0] if patch else 0)
        elif word == WINDOWS:
            windows = True
        elif word in HOSTS:
            hosts.append(HOSTS[word])
        else:
            known = ", ".join((*HOSTS, WINDOWS))
            raise ConfigError(f"--target {word}: write a version such as 2.1.200, or one of {known}.")
    return Target(version, tuple(hosts), windows)


def dotted(version: Version) -> str:
    """Write a version."""
    return ".".join(map(str, version))
