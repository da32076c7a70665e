"""Try hooks on past sessions: what would they have refused, and would that have been right?"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial

import msgspec

from hookwright._version import __version__
from hookwright.cases.record import as_json as cases_as_json
from hookwright.cases.record import as_yaml as cases_as_yaml
from hookwright.cli.history.interrupts import Interrupts
from hookwright.cli.history.output import FORMATS, ReportFile
from hookwright.cli.history.where import HERE, workers
from hookwright.cli.journaloptions import moment
from hookwright.cli.options import add_places, places
from hookwright.cli.progress import Progress
from hookwright.cli.render import problems
from hookwright.cli.terminal import remark
from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.protocol.events import CATALOGUE
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.fleet import Fleet, fleet_level
from hookwright.replay.fleet.reading import read_apart
from hookwright.replay.gate import read_gate
from hookwright.replay.index.store import IndexFolder
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import CHOICES, choose
from hookwright.replay.model import Bucket, Change
from hookwright.replay.past import Coverage, Past
from hookwright.replay.report.cases import written_cases
from hookwright.replay.report.findings import ReportFinding, about
from hookwright.replay.run import Conditions, Replay, SampleSize, Wanted, prepared
from hookwright.replay.sources import DEFAULT_DAYS, ReadApart, all_sources, past_events, project_sources
from hookwright.replay.totals import Totals
from hookwright.storage import replace_file
from hookwright.text import did_you_mean, plural, say

CLEAN, FOUND, USAGE, INTERRUPTED = 0, 1, 2, 130
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
    parser.epilog = (
        "Exit status: 0 if nothing of --fail-on was found, 1 if something was, 2 for usage errors and if there is "
        "nothing to replay, 130 after Ctrl+C, with a report of what was done. Hooks get PATH, LANG, TZ and "
        "HOOKWRIGHT_REPLAY=1. Nothing in a transcript is ever run."
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
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME", help="let hooks inherit this variable as well"
    )
    parser.add_argument("--budget", metavar="TIME", help="begin nothing after this time, for example 60s")
    parser.add_argument(
        "--no-cache", action="store_true", help="ask every hook about every event, and use no index of transcripts"
    )


def run(args: argparse.Namespace) -> int:
    """Read the history, replay it, and report."""
    gate = read_gate(args.fail_on, args.max_likely_false)
    where, coverage = places(args), Coverage()
    output = ReportFile(args.format, args.out, gate)
    candidate, baseline = sides(args)
    began = time.perf_counter()
    with ExitStack() as closing:
        interrupts = closing.enter_context(Interrupts())
        fleet = closing.enter_context(workers(args.on))
        conditions = _conditions(args, where, fleet)
        apart = None if fleet is None else partial(read_apart, fleet)
        source = _source(args, where, coverage, interrupts, apart)
        ready = closing.enter_context(prepared(source, candidate, baseline, conditions=conditions, executor=fleet))
        if not ready.total and not interrupts.noted:
            raise ConfigError(_nothing(args, coverage))
        remark(problems(where.load()))
        found = replayed(ready, coverage, output, interrupts)
        found = msgspec.structs.replace(found, seconds=time.perf_counter() - began)
        output.end(found, ready.repeats)
        if args.cases is not None:
            _write_cases(args.cases, found.changes)
    failures = [text for _, text in gate.failures(found.totals)]
    say((f"hookwright: {text}" for text in failures), sys.stderr)
    if found.interrupted:
        return INTERRUPTED
    return FOUND if failures else CLEAN


def sides(args: argparse.Namespace) -> tuple[str, str]:
    """Return the names of both configurations: what is tried is compared with what is current, else with none."""
    baseline = args.baseline if args.baseline is not None else "none" if args.candidate == "current" else "current"
    return args.candidate, baseline


def replayed(ready: Replay, coverage: Coverage, output: ReportFile, interrupts: Interrupts) -> ReportFinding:
    """Replay everything, or up to Ctrl+C; what is done until then is a valid report."""
    totals, kept = Totals.of(ready, coverage), []
    described = about(ready, __version__)
    progress = Progress(sys.stderr, "events", ready.total)
    output.begin(coverage, ready.repeats)
    changes = iter(ready)
    while (change := _next(changes, interrupts)) is not None:
        totals.add(change)
        progress.step()
        if change.bucket is not Bucket.SAME:
            kept.append(change)
            output.change(change, ready.handlers)
    progress.end()
    rows = {row.id: row for row in ready.handlers}
    for count in totals.handlers.values():
        count.row = rows[count.row.id]
    return ReportFinding(about=described, totals=totals, changes=tuple(kept), seconds=0.0, interrupted=interrupts.noted)


def _next(changes: Iterator[Change], interrupts: Interrupts) -> Change | None:
    """Return the next change; None at the end, and after Ctrl+C."""
    try:
        interrupts.waits = True
        return next(changes, None)
    except KeyboardInterrupt:
        return None
    finally:
        interrupts.waits = False


# ── options ─────────────────────────────────────────────────────────────────


def _conditions(args: argparse.Namespace, where: Places, fleet: Fleet | None) -> Conditions:
    if args.jobs < 1:
        raise ConfigError(f"--jobs {args.jobs}: write 1 or more")
    for name in args.event:
        if name not in CATALOGUE:
            raise ConfigError(f"--event {name}: is not an event{did_you_mean(name, CATALOGUE)}")
    return Conditions(
        places=where,
        isolation=_isolation(args, where, fleet),
        env=tuple(args.env),
        jobs=args.jobs,
        choice=Choice(events=frozenset(args.event), tools=frozenset(args.tool)),
        sample=None if args.sample is None else _sample(args.sample, args.seed),
        reuse=not args.no_cache,
        budget=None if args.budget is None else _seconds(args.budget),
    )


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


def _source(
    args: argparse.Namespace, where: Places, coverage: Coverage, interrupts: Interrupts, apart: ReadApart | None
) -> Callable[[Wanted], Iterable[Past]]:
    """Return what reads the history: the named sources, else the transcripts of the project or of every project."""
    now = time.time()
    since = f"{DEFAULT_DAYS}d" if args.since is None and not args.sources else args.since
    span = Choice(
        since=None if since is None else moment(since, now),
        until=None if args.until is None else moment(args.until, now, "--until"),
    )

    index = None if args.no_cache else IndexFolder(os.path.join(where.surroundings.state_dir, "replay"))

    def read(wanted: Wanted) -> Iterator[Past]:
        choice = msgspec.structs.replace(span, wanted=wanted)
        for past in past_events(_sources(args, where), choice, coverage, index, apart):
            if interrupts.noted:
                return
            if past.event.session_id.startswith(args.session):
                yield past

    return read


def _sources(args: argparse.Namespace, where: Places) -> Sequence[str]:
    if args.sources:
        return list(args.sources)
    around = where.surroundings
    if args.all_projects:
        return all_sources(around)
    return project_sources(os.path.realpath(os.path.join(around.cwd, where.project)), around)


def _nothing(args: argparse.Namespace, coverage: Coverage) -> str:
    if not args.sources and not coverage.files:
        return (
            f"there is no transcript of this project of the last {DEFAULT_DAYS} days. Name a file or a folder, add "
            "--all-projects, or --since with an earlier date."
        )
    read = f"{plural(coverage.files, 'file')} with {plural(coverage.calls, 'call')}"
    return f"nothing to replay: no event of {read} was chosen. Check --since, --event, --tool and --session."


def _write_cases(path: str, changes: Sequence[Change]) -> None:
    if os.path.lexists(path):
        raise ConfigError(f"--cases {path}: already exists; name a new file")
    cases = written_cases(changes)
    if not cases:
        say([f"{path}: not written; no event changed"], sys.stderr)
        return
    text = cases_as_json(cases) if path.endswith(".json") else cases_as_yaml(cases)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    replace_file(os.path.abspath(path), text.encode(), mode=0o600)
    say([f"{path}: {plural(len(cases), 'case')}", f"next: hookwright test {path}"], sys.stderr)
