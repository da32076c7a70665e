"""`hookwright run`: the reference agent without a screen."""

from __future__ import annotations

import argparse
import os
import sys

from hookwright.cli.agentflags import configure_conversation, configure_places, configure_rules


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
    add("--no-journal", action="store_true", help="leave no line in the journal")
    _configure_session(parser)


def _configure_session(parser: argparse.ArgumentParser) -> None:
    configure_conversation(parser)
    add = parser.add_argument
    add("-r", "--resume", metavar="ID", help="go on with a certain conversation")
    add("--session-id", metavar="ID", help="the id of a new session")
    add("--max-turns", type=int, metavar="N", help="end after so many model answers")
    add("--system-prompt", metavar="TEXT", help="in the place of the usual one")
    add("--init", action="store_true", help="run Setup hooks (init) first")
    add("--init-only", action="store_true", help="run Setup and SessionStart hooks, then end")
    add("--maintenance", action="store_true", help="run Setup hooks (maintenance) first")
    configure_rules(parser)
    add("--permission-prompt-tool", metavar="NAME", help="`stdio`: ask the program on the other end")
    add("--tools", metavar="NAMES", help="offer these tools only")
    configure_places(parser)
    add("--agents", metavar="JSON", help="further kinds of subagents")
    add("-w", "--worktree", metavar="NAME", help="start in a new worktree")


def run(args: argparse.Namespace) -> int:
    """Start the agent; importing a model's SDK goes on in a thread meanwhile."""
    from hookwright.models import prefetch

    if args.script is None:
        prefetch(os.environ)
    from hookwright.agent.headless.command import main

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
