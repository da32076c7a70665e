"""The flags that the agent has on a screen and without one."""

from __future__ import annotations

import argparse


def configure_conversation(parser: argparse.ArgumentParser) -> None:
    """Add what says which conversation goes on, and with which model."""
    add = parser.add_argument
    add("-c", "--continue", dest="continue_", action="store_true", help="go on with the project's last conversation")
    add("--fork-session", action="store_true", help="with --continue or --resume: go on in a copy")
    add("--model", help="a model's name, or haiku, sonnet, opus")
    add("--script", metavar="FILE", help="play this script instead of asking a model")
    add("--context-limit", type=int, metavar="TOKENS", help="compact when the model has read so many; 0 for never")
    add("--append-system-prompt", metavar="TEXT", help="behind the usual one")
    add("--debug-file", metavar="FILE", help="append what happens, hooks above all, to a file")


def configure_rules(parser: argparse.ArgumentParser) -> None:
    """Add what says what the agent may do."""
    add = parser.add_argument
    add("--permission-mode", metavar="MODE", help="default, plan, acceptEdits, dontAsk, bypassPermissions or auto")
    add("--allowedTools", "--allowed-tools", action="append", default=[], metavar="RULES", help="allow rules")
    add("--disallowedTools", "--disallowed-tools", action="append", default=[], metavar="RULES", help="deny rules")
    add("--trust", action="store_true", help="count the project's hooks as trusted, this time")


def configure_places(parser: argparse.ArgumentParser) -> None:
    """Add what says where settings, plugins, servers and files are."""
    add = parser.add_argument
    add("--settings", action="append", default=[], metavar="FILE|JSON", help="further settings")
    add("--setting-sources", metavar="LIST", help="read only these of user,project,local")
    add("--plugin-dir", action="append", default=[], metavar="DIR", help="load a plugin from a folder")
    add("--mcp-config", action="append", default=[], metavar="FILE|JSON", help="MCP servers")
    add("--strict-mcp-config", action="store_true", help="leave the project's .mcp.json alone")
    add("--add-dir", action="append", default=[], metavar="DIR", help="work in this directory, too")
    add(
        "--safe-mode",
        "--bare",
        dest="safe_mode",
        action="store_true",
        help="managed hooks only, nothing of the project",
    )
