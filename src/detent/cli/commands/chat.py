"""`detent chat`: talk to the reference agent in the terminal, with its hooks in plain sight."""

from __future__ import annotations

import argparse
import os
import sys

EPILOG = "Where stdin or stdout is no terminal, or with --plain, the conversation goes line by line."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add("prompt", nargs="?", help="what to say first")
    add("-c", "--continue", dest="continue_", action="store_true", help="go on with the project's last conversation")
    add("-r", "--resume", nargs="?", const="", metavar="ID", help="go on with a conversation; without ID you choose")
    add("--fork-session", action="store_true", help="with --continue or --resume: go on in a copy")
    add("--model", help="a model's name, or haiku, sonnet, opus")
    add("--script", metavar="FILE", help="play this script instead of asking a model")
    add("--context-limit", type=int, metavar="TOKENS", help="compact when the model has read so many; 0 for never")
    add("--append-system-prompt", metavar="TEXT", help="behind the usual one")
    add("--theme", choices=("auto", "dark", "light"), default="auto", help="colours; NO_COLOR switches them off")
    add("--plain", action="store_true", help="line by line, without a screen: for screen readers and dumb terminals")
    add("--debug-file", metavar="FILE", help="append what happens, hooks above all, to a file")
    _configure_rules(parser)
    _configure_places(parser)


def _configure_rules(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--permission-mode", metavar="MODE", help="default, plan, acceptEdits, dontAsk, bypassPermissions or auto")
    add("--allowedTools", "--allowed-tools", action="append", default=[], metavar="RULES", help="allow rules")
    add("--disallowedTools", "--disallowed-tools", action="append", default=[], metavar="RULES", help="deny rules")
    add("--trust", action="store_true", help="count the project's hooks as trusted, this time")


def _configure_places(parser: argparse.ArgumentParser) -> None:
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


def run(args: argparse.Namespace) -> int:
    """Open the screen, or talk line by line where there is none."""
    if args.plain or not _has_screen():
        from detent.tui.plain import talk

        return talk(args, os.environ)
    return _open(args)


def _has_screen() -> bool:
    """Tell whether there is a terminal on every side; the screen itself is drawn on stderr."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) and _term() != "dumb"


def _term() -> str:
    return os.environ.get("TERM", "dumb")


def _open(args: argparse.Namespace) -> int:
    env = dict(os.environ)  # Textual takes NO_COLOR out of the environment; hooks are to see it as it was
    try:
        from detent.tui.app import ChatApp, Launch
    except ImportError:
        from detent.errors import MissingExtra

        raise MissingExtra("the screen of `detent chat` (or use --plain)", "tui") from None
    app = ChatApp(Launch(args=args, env=env, cwd=os.getcwd()))
    status = app.run()
    if app.failure is not None:
        raise app.failure
    return status or 0
