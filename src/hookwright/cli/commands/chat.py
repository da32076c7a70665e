"""`hookwright chat`: chat with the reference agent in the terminal and see what its hooks do."""

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
)

EPILOG = "If stdin or stdout is not a terminal, or with --plain, the chat is printed line by line."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="the first prompt")
    add("--theme", choices=("auto", "dark", "light"), default="auto", help="colour theme; NO_COLOR turns colours off")
    add("--plain", action="store_true", help="print line by line, for screen readers and simple terminals")
    configure_conversation(parser).add_argument(
        "-r", "--resume", nargs="?", const="", metavar="ID", help="resume a conversation by ID, or choose one"
    )
    configure_model(parser)
    configure_permissions(parser)
    configure_places(parser)
    configure_hooks(parser)
    configure_debugging(parser)


def run(args: argparse.Namespace) -> int:
    """Open the app, or chat line by line where there is no terminal."""
    if args.plain or not _has_screen():
        from hookwright.tui.chat.plain import talk

        return talk(args, os.environ)
    return _open(args)


def _has_screen() -> bool:
    """Return whether all three streams are terminals; the app itself draws on stderr."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) and _term() != "dumb"


def _term() -> str:
    return os.environ.get("TERM", "dumb")


def _open(args: argparse.Namespace) -> int:
    env = dict(os.environ)  # Textual removes NO_COLOR from the environment; hooks should still see it
    try:
        from hookwright.tui.widgets.app import AppLaunch, ChatApp
    except ImportError:
        from hookwright.errors import MissingExtra

        raise MissingExtra("the terminal app of `hookwright chat` (or use --plain)", "tui") from None
    app = ChatApp(AppLaunch(args=args, env=env, cwd=os.getcwd()))
    status = app.run()
    if app.failure is not None:
        raise app.failure
    way_back = app.presenter.chat.way_back if app.presenter is not None else None
    if way_back is not None:
        print(f"Resume with: {way_back}")
    return status or 0
