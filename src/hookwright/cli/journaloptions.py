"""The options that choose records of the journal."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Mapping
from datetime import datetime

from hookwright.config.locations import Surroundings
from hookwright.errors import ConfigError
from hookwright.observers.journal.reader import Filter
from hookwright.protocol.events import CATALOGUE
from hookwright.text import did_you_mean

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d|w)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def add_journal(parser: argparse.ArgumentParser, since: str | None) -> None:
    """Add the options that choose records."""
    parser.add_argument(
        "--since", default=since, metavar="WHEN", help="start at this time: 30m, 2h, 30d, or a date such as 2026-05-01"
    )
    parser.add_argument("--event", metavar="NAME", help="only records of this event")
    parser.add_argument("--tool", metavar="NAME", help="only records of this tool")
    parser.add_argument("--handler", metavar="TEXT", help="only hooks whose command contains TEXT")
    parser.add_argument("--session", metavar="ID", help="only sessions whose ID starts with this")
    parser.add_argument(
        "--agent", metavar="NAME", help="only events of this agent: codex, gemini, …, or hookwright for our own"
    )
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        help="directory of the journal (default: $HOOKWRIGHT_STATE_DIR, else the XDG state directory)",
    )


def read_filter(args: argparse.Namespace) -> Filter:
    """Read the options `add_journal` adds."""
    if args.event is not None and args.event not in CATALOGUE:
        raise ConfigError(f"--event {args.event}: is not an event{did_you_mean(args.event, CATALOGUE)}")
    return Filter(
        since=None if args.since is None else moment(args.since, time.time()),
        event=args.event,
        tool=args.tool,
        handler=args.handler,
        session=args.session,
        agent=args.agent,
    )


def moment(text: str, now: float, option: str = "--since") -> float:
    """Read a span back from now, or a date; raise ConfigError for anything else."""
    span = _SPAN.fullmatch(text)
    if span is not None:
        return now - float(span[1]) * _UNITS[span[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigError(f"{option} {text}: write 30m, 2h, 30d or a date such as 2026-05-01") from None


def journal_folder(args: argparse.Namespace, env: Mapping[str, str] = os.environ) -> str:
    """Return the folder of the journal."""
    return str(args.state_dir) if args.state_dir is not None else Surroundings.here(env, None, None).state_dir
