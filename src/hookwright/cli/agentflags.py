"""The flags of the agent: one table for `hookwright run` and `hookwright chat`.

A flag whose `dest` is the name of a field of `AgentOptions` sets that field, and keeps the field's default when it is
not given (`argparse.SUPPRESS`). So a new flag is one line here and one field there.

Each function returns its group, so that a command can add flags of its own to it.
"""

from __future__ import annotations

import argparse
import os


def configure_conversation(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags that choose a conversation."""
    group = parser.add_argument_group("Conversation")
    add = group.add_argument
    add("-c", "--continue", dest="continue_", action="store_true", help="continue this project's latest conversation")
    add("--fork-session", action="store_true", help="with --continue or --resume, continue in a copy")
    return group


def configure_model(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags that choose a model and what it reads."""
    group = parser.add_argument_group("Model", argument_default=argparse.SUPPRESS)
    add = group.add_argument
    add("--model", help="model name or alias: haiku, sonnet, opus")
    add("--script", default=None, metavar="FILE", help="play a script instead of calling a model")
    limit = "compact the conversation at this many tokens; 0 to never compact"
    add("--context-limit", type=_limit, metavar="TOKENS", help=limit)
    add("--append-system-prompt", metavar="TEXT", help="append to the default system prompt")
    return group


def configure_permissions(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags that say what the agent may do."""
    group = parser.add_argument_group("Permissions", argument_default=argparse.SUPPRESS)
    modes = "permission mode: default, plan, acceptEdits, dontAsk, bypassPermissions or auto"
    allow, deny = "allow calls that match these rules, such as 'Bash(git *)'", "deny calls that match these rules"
    add = group.add_argument
    add("--permission-mode", metavar="MODE", help=modes)
    add("--allowedTools", "--allowed-tools", dest="allowed_tools", action="append", metavar="RULES", help=allow)
    add("--disallowedTools", "--disallowed-tools", dest="disallowed_tools", action="append", metavar="RULES", help=deny)
    add("--trust", action="store_true", help="trust the project's hooks and settings for this session")
    return group


def configure_places(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags that say where settings, plugins, servers and files are."""
    group = parser.add_argument_group("Configuration", argument_default=argparse.SUPPRESS)
    sources = "load only these settings: user, project, local (comma-separated)"
    managed = "load managed hooks only and nothing from the project"
    folder, files = "DIR", "FILE|JSON"
    add = group.add_argument
    add("--settings", action="append", metavar=files, help="load additional settings from a file or a JSON string")
    add("--setting-sources", type=listed, metavar="LIST", help=sources)
    add("--plugin-dir", dest="plugin_dirs", action="append", metavar=folder, help="load a plugin from a directory")
    add("--mcp-config", action="append", metavar=files, help="load MCP servers from a file or a JSON string")
    add("--strict-mcp-config", action="store_true", help="ignore the project's .mcp.json")
    also = "also work in this directory"
    add("--add-dir", dest="add_dirs", type=os.path.abspath, action="append", metavar=folder, help=also)
    add("--safe-mode", "--bare", dest="safe_mode", action="store_true", help=managed)
    return group


def configure_hooks(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags that say how hooks run."""
    group = parser.add_argument_group("Hooks", argument_default=argparse.SUPPRESS)
    add = group.add_argument
    add("--sequential", action="store_true", help="run hooks one after another; a stop skips the rest")
    add("--no-timeouts", dest="timeouts", action="store_false", help="ignore the hooks' timeouts")
    shadow = "also run the hooks of this settings file, without any effect, and record what they would decide"
    add("--shadow", action="append", metavar="FILE|JSON", help=shadow)
    add("--frozen", action="store_true", help="keep the hooks of the start; ignore edits of settings files")
    return group


def configure_debugging(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the flags for finding out what went wrong."""
    group = parser.add_argument_group("Debugging")
    group.add_argument("--debug-file", metavar="FILE", help="append a log of events and hooks to a file")
    return group


def listed(text: str) -> tuple[str, ...]:
    """Read words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _limit(text: str) -> int | None:
    return int(text) or None
