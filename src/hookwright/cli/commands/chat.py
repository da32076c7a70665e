"""`hookwright chat`: talk to the reference agent in the terminal, with its hooks in plain sight."""

from __future__ import annotations

import argparse
import os
import sys

from hookwright.cli.agentflags import configure_conversation, configure_places, configure_rules

EPILOG = "Where stdin or stdout is no terminal, or with --plain, the conversation goes line by line."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add("prompt", nargs="?", help="what to say first")
    add("-r", "--resume", nargs="?", const="", metavar="ID", help="go on with a conversation; without ID you choose")
    add("--theme", choices=("auto", "dark", "light"), default="auto", help="colours; NO_COLOR switches them off")
    add("--plain", action="store_true", help="line by line, without a screen: for screen readers and dumb terminals")
    configure_conversation(parser)
    configure_rules(parser)
    configure_places(parser)


def run(args: argparse.Namespace) -> int:
    """Open the screen, or talk line by line where there is none."""
    if args.plain or not _has_screen():
        from hookwright.tui.chat.plain import talk

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
        from hookwright.tui.widgets.app import AppLaunch, ChatApp
    except ImportError:
        from hookwright.errors import MissingExtra

        raise MissingExtra("the screen of `hookwright chat` (or use --plain)", "tui") from None
    app = ChatApp(AppLaunch(args=args, env=env, cwd=os.getcwd()))
    status = app.run()
    if app.failure is not None:
        raise app.failure
    return status or 0
