"""The options of `hookwright replay`, and what they mean."""

from __future__ import annotations

import argparse
import os
import re

from hookwright.cli.history.output import FORMATS
from hookwright.cli.history.where import HERE
from hookwright.cli.options import add_places
from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.models.script import load_script
from hookwright.protocol.events import CATALOGUE
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.fleet import Fleet, fleet_level
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import CHOICES, choose
from hookwright.replay.labels import Labels, read_labels
from hookwright.replay.past_files import State
from hookwright.replay.run import Conditions, SampleSize
from hookwright.replay.sources import DEFAULT_DAYS
from hookwright.text import did_you_mean

#: The values of `--order`; the first is the default.
ORDERS = ("call", "session")
#: The value of `--model` that asks none.
NEVER = "never"
_SCRIPT = "script:"
_BUDGET = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)?")
_UNITS = {"s": 1, "m": 60, "h": 3600, None: 1}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="transcripts, recordings, folders, globs or URLs (s3://…); `-` reads stdin "
        f"(default: this project's transcripts of the last {DEFAULT_DAYS} days)",
    )
    parser.add_argument(
        "--candidate",
        default="current",
        metavar="WHAT",
        help="hooks to try: `current`, a settings file, JSON, `+FILE` (current with FILE added) or `git:REV` "
        "(default: current)",
    )
    parser.add_argument(
        "--baseline",
        metavar="WHAT",
        help="hooks to compare with, written in the same way, or `none` (default: current; none without --candidate)",
    )
    _add_choice(parser)
    add_places(parser)
    _add_running(parser)
    _add_report(parser)
    parser.epilog = (
        "Exit status: 0 if nothing of --fail-on was found, 1 if something was, 2 for usage errors and if there is "
        "nothing to replay, 130 after Ctrl+C, with a report of what was done. Hooks get PATH, LANG, TZ and "
        "HOOKWRIGHT_REPLAY=1. Nothing in a transcript is ever run."
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="output format (default: parquet if the name of the file ends like that, else pretty)",
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="write the report to a file that only you can read, or to a URL: s3://…"
    )
    parser.add_argument(
        "--fail-on",
        default="",
        metavar="LIST",
        help="exit with 1 for any of these: stricter, looser, rewritten, said, undecided, errors, slow:200ms",
    )
    parser.add_argument(
        "--max-likely-false",
        metavar="SHARE",
        help="exit with 1 if more of the calls now refused ran then and succeeded, for example 1%%",
    )
    parser.add_argument("--cases", metavar="FILE", help="write changed events as cases for `hookwright test`")
    parser.add_argument(
        "--labels",
        metavar="FILE",
        help='what you say about calls: {"SESSION:TOOL_USE_ID": "ok"} or "bad"; used instead of their fates',
    )
    parser.add_argument(
        "--raw", action="store_true", help="keep whole payloads in json and jsonl, neither redacted nor cut"
    )
    parser.add_argument(
        "--watch", action="store_true", help="replay again whenever a script or a settings file changes"
    )


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="WHEN", help="start at this time: 30m, 2h, 30d, or a date")
    parser.add_argument("--until", metavar="WHEN", help="end at this time, written in the same way")
    parser.add_argument("--event", action="append", default=[], metavar="NAME", help="only this event")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME", help="only events of this tool")
    parser.add_argument("--session", default="", metavar="ID", help="only sessions whose ID starts with this")
    parser.add_argument("--all-projects", action="store_true", help="read the transcripts of every project")
    parser.add_argument("--sample", metavar="N|N%", help="replay only this many events, spread over sessions")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="choose another sample (default: 0)")


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of worker processes on this machine (default: number of cores)",
    )
    parser.add_argument(
        "--on",
        default=HERE,
        metavar="WHERE",
        help=f"where hooks run: `{HERE}`, on this machine, or a dask scheduler: tcp://HOST:8786 (default: {HERE})",
    )
    parser.add_argument(
        "--isolation",
        choices=CHOICES,
        default="auto",
        help="how hooks are kept from changing anything; `none` needs --trust (default: auto)",
    )
    _add_seen(parser)
    parser.add_argument("--budget", metavar="TIME", help="begin nothing after this time, for example 60s")
    parser.add_argument(
        "--no-cache", action="store_true", help="ask every hook about every event, and use no index of transcripts"
    )


def _add_seen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state",
        choices=[state.value for state in State],
        default=State.OVERLAY.value,
        help="the files hooks see: the project as it is now (overlay), as of the commit before the event (commit), or "
        "an empty folder (none) (default: overlay)",
    )
    parser.add_argument(
        "--order",
        choices=ORDERS,
        default=ORDERS[0],
        help="call: a hook that answers by the event alone is asked once about equal events; session: every hook sees "
        "whole sessions in order (default: call)",
    )
    parser.add_argument(
        "--model",
        default=NEVER,
        metavar="WHICH",
        help="what prompt and agent hooks ask: `never`, which leaves them undecided, or `script:FILE` (default: never)",
    )
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME", help="let hooks inherit this variable as well"
    )


def conditions_of(args: argparse.Namespace, where: Places, fleet: Fleet | None) -> Conditions:
    """Read how a replay is to run; raise ConfigError for what cannot be."""
    if args.jobs < 1:
        raise ConfigError(f"--jobs {args.jobs}: write 1 or more")
    for name in args.event:
        if name not in CATALOGUE:
            raise ConfigError(f"--event {name}: is not an event{did_you_mean(name, CATALOGUE)}")
    isolation = _isolation(args, where, fleet)
    return Conditions(
        places=where,
        isolation=isolation,
        env=tuple(args.env),
        jobs=args.jobs,
        choice=Choice(events=frozenset(args.event), tools=frozenset(args.tool)),
        sample=None if args.sample is None else _sample(args.sample, args.seed),
        reuse=not args.no_cache,
        budget=None if args.budget is None else _seconds(args.budget),
        state=_state(args.state, isolation, fleet),
        in_order=args.order == "session",
        script=_script(args.model),
        labels=Labels() if args.labels is None else read_labels(args.labels),
    )


def _state(name: str, isolation: str, fleet: Fleet | None) -> State:
    state = State(name)
    if state is State.COMMIT and isolation == "none":
        raise ConfigError("--state commit: files would be checked out in the project itself; it needs isolation")
    if state is State.COMMIT and fleet is not None:
        raise ConfigError("--state commit: workers elsewhere do not have the repository; run it on this machine")
    return state


def _script(model: str) -> str:
    if model == NEVER:
        return ""
    path = model.removeprefix(_SCRIPT)
    if path == model or not path:
        raise ConfigError(f"--model {model}: write `{NEVER}` or `{_SCRIPT}FILE`")
    load_script(path)
    return os.path.abspath(path)


def _isolation(args: argparse.Namespace, where: Places, fleet: Fleet | None) -> str:
    if fleet is not None:
        return fleet_level(fleet, args.isolation, trusted=args.trust)
    around = where.surroundings
    bounds = Bounds(os.path.join(around.cwd, where.project), around.home)
    return choose(args.isolation, bounds, trusted=args.trust).name.value


def _sample(text: str, seed: int) -> SampleSize:
    number, share = text.removesuffix("%"), text.endswith("%")
    try:
        size = float(number) / 100 if share else float(int(number))
    except ValueError:
        size = 0.0
    if size <= 0 or (share and size >= 1):
        raise ConfigError(f"--sample {text}: write a number of events or a share of them, for example 500 or 10%")
    return SampleSize(size, seed)


def _seconds(text: str) -> float:
    found = _BUDGET.fullmatch(text)
    if found is None:
        raise ConfigError(f"--budget {text}: write a time, for example 60s or 5m")
    return float(found[1]) * _UNITS[found[2]]
