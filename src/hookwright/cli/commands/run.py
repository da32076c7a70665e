"""`hookwright run`: the reference agent, headless."""

from __future__ import annotations

import argparse
import os
import sys

from hookwright.cli.agentflags import (
    configure_conversation,
    configure_debugging,
    configure_hooks,
    configure_model,
    configure_permissions,
    configure_places,
    listed,
)

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags, with the names people know from other headless agents."""
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the prompt; read from stdin if omitted")
    _configure_output(parser)
    _configure_session(parser)
    _configure_agent(parser)
    configure_places(parser)
    configure_hooks(parser)
    configure_debugging(parser)


def _configure_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Input and output").add_argument
    add("-p", "--print", action="store_true", help="accepted for compatibility: `run` is always headless")
    add("--output-format", choices=("text", "json", "stream-json"), default="text", help="output format")
    add("--input-format", choices=("text", "stream-json"), default="text", help="input format")
    add("--verbose", action="store_true", help="also print the notes of hooks that are not warnings to stderr")
    add("--include-hook-events", action="store_true", help="include every hook run in stream-json output")
    add("--include-partial-messages", action="store_true", help="include partial messages in stream-json output")
    add("--replay-user-messages", action="store_true", help="repeat the prompts of stream-json input in the output")
    add("--session-mirror", action="store_true", help="repeat every line of the transcript in stream-json output")
    schema = "ask for an answer that fits this JSON schema, and print it as `structured_output`"
    add("--json-schema", dest="json_schema_text", default=None, metavar="JSON", help=schema)
    add("--no-journal", dest="journal", action="store_false", help="do not write to the journal")


def _configure_session(parser: argparse.ArgumentParser) -> None:
    add = configure_conversation(parser).add_argument
    add("-r", "--resume", metavar="ID", help="resume a conversation by ID")
    add("--resume-session-at", default=None, metavar="UUID", help="with --resume, continue after this message")
    drops = "refuse to resume if more than the turn of this prompt would be lost"
    add("--resume-drops-turn", default=None, metavar="UUID", help=drops)
    add("--session-id", metavar="ID", help="use this ID for the new session")
    add("--max-turns", type=int, default=argparse.SUPPRESS, metavar="N", help="stop after N model turns")
    budget = "stop when the session has cost this much, in US dollars; the price of the model must be known"
    add("--max-budget-usd", type=float, default=argparse.SUPPRESS, metavar="USD", help=budget)
    add("-w", "--worktree", default=argparse.SUPPRESS, metavar="NAME", help="start in a new git worktree")
    add("--init", action="store_true", help="run Setup hooks (trigger: init) before the session")
    add("--init-only", action="store_true", help="run Setup and SessionStart hooks, then exit")
    add("--maintenance", action="store_true", help="run Setup hooks (trigger: maintenance) before the session")


def _configure_agent(parser: argparse.ArgumentParser) -> None:
    add = configure_model(parser).add_argument
    add("--system-prompt", metavar="TEXT", help="replace the default system prompt")
    file = "replace the default system prompt by the text of a file"
    add("--system-prompt-file", default=None, metavar="FILE", help=file)
    add("--fallback-model", metavar="MODEL", help="model for requests that the model is too busy for")
    add("--effort", default=None, choices=EFFORTS, help="effort level, for models that take one")
    thinking = "`disabled` turns thinking off; `adaptive` leaves it to the model"
    add("--thinking", default=None, choices=("adaptive", "disabled"), help=thinking)
    add("--max-thinking-tokens", type=int, default=None, metavar="N", help="tokens for thinking; 0 turns it off")
    shown = "how thoughts are returned, for models that return them"
    add("--thinking-display", default=None, choices=("summarized", "omitted"), help=shown)
    budget = "tokens the model is asked to manage with; advisory, and for models that take it"
    add("--task-budget", type=int, default=None, metavar="N", help=budget)
    add("--betas", type=listed, default=(), metavar="NAMES", help="beta features of the API (comma-separated)")
    add("--agent", default=None, metavar="NAME", help="run the main agent as this agent type")
    add("--agents", dest="agents_json", default=None, metavar="JSON", help="define additional subagents")
    add = configure_permissions(parser).add_argument
    offered = "offer only these tools (comma-separated); `default` for all of them"
    add("--tools", type=_tools, metavar="NAMES", help=offered)
    host = "send permission requests to the host program (`stdio`), or to a tool of an MCP server"
    add("--permission-prompt-tool", default=None, metavar="NAME", help=host)


def _tools(text: str) -> tuple[str, ...] | None:
    return None if text.strip() == "default" else listed(text)


def run(args: argparse.Namespace) -> int:
    """Start the agent; a model's SDK is imported in a thread meanwhile."""
    from hookwright.models import prefetch

    if args.script is None:
        prefetch(os.environ)
    from hookwright.agent.headless.command import main

    return main(args, _prompt(args))


def _prompt(args: argparse.Namespace) -> str | None:
    """Return the prompt from the arguments or stdin; None if prompts come as a stream or none is needed."""
    if args.input_format == "stream-json" or args.init_only:
        return None
    if args.prompt is not None:
        return str(args.prompt)
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.read()
