"""Try hooks on past sessions: what would they have refused, and would that have been right?"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import msgspec

from hookwright._version import __version__
from hookwright.cases.record import as_json as cases_as_json
from hookwright.cases.record import as_yaml as cases_as_yaml
from hookwright.cli.history.interrupts import Interrupts
from hookwright.cli.history.options import conditions_of, configure
from hookwright.cli.history.output import ReportFile
from hookwright.cli.history.where import workers
from hookwright.cli.journaloptions import moment
from hookwright.cli.options import places
from hookwright.cli.progress import Progress
from hookwright.cli.render import problems
from hookwright.cli.terminal import remark
from hookwright.config import Places
from hookwright.errors import ConfigError, HookwrightError
from hookwright.replay.choice import Choice
from hookwright.replay.fleet.reading import read_apart
from hookwright.replay.gate import read_gate
from hookwright.replay.index.store import IndexFolder
from hookwright.replay.model import Bucket, Change
from hookwright.replay.past import Coverage, Past
from hookwright.replay.report.cases import written_cases
from hookwright.replay.report.findings import ReportFinding, about, change_record, raw_record
from hookwright.replay.run import Replay, Wanted, prepared
from hookwright.replay.sources import DEFAULT_DAYS, ReadApart, all_sources, past_events, project_sources
from hookwright.replay.totals import Totals
from hookwright.storage import StrictStamp, replace_file, strict_stamp
from hookwright.text import flat, plural, say

__all__ = ["configure", "run"]

CLEAN, FOUND, USAGE, INTERRUPTED = 0, 1, 2, 130
#: Seconds between two looks at files that are watched.
_PAUSE = 0.3


def run(args: argparse.Namespace) -> int:
    """Read the history, replay it, and report; with `--watch` again after every change of a file that it ran."""
    if not args.watch:
        return _replay(args)[0]
    if args.cases is not None:
        raise ConfigError("--watch: write cases in a replay of its own, without --watch")
    files: frozenset[str] = frozenset()
    while True:
        before = {path: strict_stamp(path) for path in files}
        try:
            status, files = _replay(args)
        except HookwrightError as error:  # a file in the middle of an edit
            remark([f"hookwright: {flat(str(error))}"])
            status = USAGE
            if not files:
                return status
        if status == INTERRUPTED or not _changed(files, before):
            return status


def _changed(files: frozenset[str], before: Mapping[str, StrictStamp | None]) -> bool:
    """Wait until a file differs from what it was when it was read; return False after Ctrl+C."""
    known = {path: before.get(path) or strict_stamp(path) for path in files}
    remark([f"watching {plural(len(files), 'file')}; Ctrl+C ends"])
    try:
        while all(strict_stamp(path) == stamp for path, stamp in known.items()):
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return False
    return True


def _replay(args: argparse.Namespace) -> tuple[int, frozenset[str]]:
    """Replay once; return the exit status, and the files that were run or read as settings."""
    gate = read_gate(args.fail_on, args.max_likely_false)
    where, coverage = places(args), Coverage()
    output = ReportFile(args.format, args.out, gate, raw_record if args.raw else change_record)
    candidate, baseline = sides(args)
    began = time.perf_counter()
    with ExitStack() as closing:
        interrupts = closing.enter_context(Interrupts())
        fleet = closing.enter_context(workers(args.on))
        conditions = conditions_of(args, where, fleet)
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
    status = INTERRUPTED if found.interrupted else FOUND if failures else CLEAN
    return status, ready.files


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
