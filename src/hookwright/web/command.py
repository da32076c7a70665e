"""Open a local page that shows what hooks do, live, in all sessions of this machine."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time

from hookwright.cli.journaloptions import moment
from hookwright.cli.options import add_places, places
from hookwright.config.locations import Surroundings
from hookwright.errors import MissingExtra
from hookwright.text import say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1 (default: a free one)")
    parser.add_argument(
        "--socket", metavar="PATH", help="listen on a private unix socket instead, for `ssh -L` and programs"
    )
    parser.add_argument("--open", action="store_true", help="open the page in your browser")
    parser.add_argument(
        "--since", default="7d", metavar="WHEN", help="show events since this time: 2h, 7d, or a date (default: 7d)"
    )
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        help="directory of the journal (default: $HOOKWRIGHT_STATE_DIR, else the XDG state directory)",
    )
    add_places(parser)
    parser.epilog = (
        "The address has a token that is new each time: keep it to yourself. A program that has it can read what your "
        "hooks did while the console runs. It only reads, and listens on this machine alone: use "
        "`ssh -L` from another one."
    )


def endless(args: argparse.Namespace) -> bool:  # noqa: ARG001 - every call of this command is
    """Return whether only its reader can end this command."""
    return True


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl+C."""
    try:
        from hookwright.web.serving import Wanted, serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise MissingExtra("The console", "web") from None

    where = places(args)
    state = args.state_dir if args.state_dir is not None else Surroundings.here(where.env, None, None).state_dir

    def opened(address: str) -> None:
        say([address, "Ctrl+C ends it"], sys.stdout)
        if args.open:
            import webbrowser

            webbrowser.open(address)

    since = moment(args.since, time.time())
    wanted = Wanted(places=where, state=str(state), port=args.port, socket=args.socket, since=since)
    with contextlib.suppress(KeyboardInterrupt):  # the ordinary way out
        serve(wanted, opened)
    return 0
