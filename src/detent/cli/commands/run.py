"""`detent run`: the reference agent without a screen."""

from __future__ import annotations

import argparse
import os
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags, by the names that people know from other headless agents."""
    add = parser.add_argument
    add("prompt", nargs="?", help="what to do; read from stdin if it is left out")
    add("-p", "--print", action="store_true", help="accepted: this command never opens a screen")
    add("--output-format", choices=("text", "json", "stream-json"), default="text", help="what stdout is")
    add("--input-format", choices=("text", "stream-json"), default="text", help="what stdin is")
    add("--verbose", action="store_true", help="tell notes of hooks on stderr, too")
    add("--include-hook-events", action="store_true", help="lines for every hook run in stream-json")
    add("--include-partial-messages", action="store_true", help="lines for text as it arrives in stream-json")
    add("--debug-file", metavar="FILE", help="append what happens, hooks above all, to a file")
    add("--no-journal", action="store_true", help="leave no line in the journal")
    _configure_session(parser)
    _configure_rules(parser)
    _configure_places(parser)


def _configure_session(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-c", "--continue", dest="continue_", action="store_true", help="go on with the project's last conversation")
    add("-r", "--resume", metavar="ID", help="go on with a certain conversation")
    add("--fork-session", action="store_true", help="with --continue or --resume: go on in a copy")
    add("--session-id", metavar="ID", help="the id of a new session")
    add("--model", help="a model's name, or haiku, sonnet, opus")
    add("--script", metavar="FILE", help="play this script instead of asking a model")
    add("--max-turns", type=int, metavar="N", help="end after so many model answers")
    add("--context-limit", type=int, metavar="TOKENS", help="compact when the model has read so many; 0 for never")
    add("--system-prompt", metavar="TEXT", help="in the place of the usual one")
    add("--append-system-prompt", metavar="TEXT", help="behind the usual one")
    add("--init", action="store_true", help="run Setup hooks (init) first")
    add("--init-only", action="store_true", help="run Setup and SessionStart hooks, then end")
    add("--maintenance", action="store_true", help="run Setup hooks (maintenance) first")


def _configure_rules(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--permission-mode", metavar="MODE", help="default, plan, acceptEdits, dontAsk, bypassPermissions or auto")
    add("--allowedTools", "--allowed-tools", action="append", default=[], metavar="RULES", help="allow rules")
    add("--disallowedTools", "--disallowed-tools", action="append", default=[], metavar="RULES", help="deny rules")
    add("--permission-prompt-tool", metavar="NAME", help="`stdio`: ask the program on the other end")
    add("--tools", metavar="NAMES", help="offer these tools only")
    add("--trust", action="store_true", help="count the project's hooks as trusted, this time")


def _configure_places(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--settings", action="append", default=[], metavar="FILE|JSON", help="further settings")
    add("--setting-sources", metavar="LIST", help="read only these of user,project,local")
    add("--plugin-dir", action="append", default=[], metavar="DIR", help="load a plugin from a folder")
    add("--mcp-config", action="append", default=[], metavar="FILE|JSON", help="MCP servers")
    add("--strict-mcp-config", action="store_true", help="leave the project's .mcp.json alone")
    add("--agents", metavar="JSON", help="further kinds of subagents")
    add("--add-dir", action="append", default=[], metavar="DIR", help="work in this directory, too")
    add("-w", "--worktree", metavar="NAME", help="start in a new worktree")
    add(
        "--safe-mode",
        "--bare",
        dest="safe_mode",
        action="store_true",
        help="managed hooks only, nothing of the project",
    )


def run(args: argparse.Namespace) -> int:
    """Start the agent; importing a model's SDK goes on in a thread meanwhile."""
    from detent.models import prefetch

    if args.script is None:
        prefetch(os.environ)
    from detent.agent.command import main

    return main(args, _prompt(args))


def _prompt(args: argparse.Namespace) -> str | None:
    """Take the prompt from the arguments, else from stdin; None when prompts come as a stream or none is needed."""
    if args.input_format == "stream-json" or args.init_only:
        return None
    if args.prompt is not None:
        return str(args.prompt)
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.read()
