"""Run the hooks' test cases."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import groupby

from hookwright.cases.case import Case, CaseResult, decision_word
from hookwright.cases.read import find_files, read_cases
from hookwright.cases.report import junit, tap
from hookwright.cases.run import Runner, need_trust
from hookwright.cases.update import update_file
from hookwright.cli.contract import contract
from hookwright.cli.options import add_places, places
from hookwright.cli.progress import Progress
from hookwright.cli.render import problems
from hookwright.cli.servers import add_servers, powers
from hookwright.cli.terminal import Style, columns, folded, remark
from hookwright.config import Loaded
from hookwright.errors import InvalidCase, TrustError
from hookwright.protocol.jsontext import Json
from hookwright.text import escaped, flat, plural, say

PASSED, FAILED, USAGE = 0, 1, 2
FORMATS = ("pretty", "tap", "junit", "json")
FOLDER = os.path.join(".claude", "hooks", "tests")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help=f"case files or directories (default: {FOLDER})")
    add_places(parser)
    add_servers(parser)
    parser.add_argument(
        "-k", action="append", default=[], metavar="TEXT", dest="only", help="run only cases whose name contains TEXT"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=_jobs(),
        metavar="N",
        help="number of parallel cases (default: number of cores)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list every case, not only failures")
    parser.add_argument("--format", choices=FORMATS, default="pretty", help="output format (default: pretty)")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    parser.add_argument("--out", metavar="FILE", help="write the report to a file")
    parser.add_argument("--update", action="store_true", help="rewrite failing cases to expect what happened")
    parser.add_argument("--scratch", action="store_true", help="run every case in a temporary copy of the project")
    parser.epilog = (
        "Exit status: 0 if all cases passed, 1 if some failed, 2 for usage errors and if there is nothing to run."
    )


def _jobs() -> int:
    return max(2, os.cpu_count() or 2)


def run(args: argparse.Namespace) -> int:
    """Read, run and report the cases."""
    if args.jobs < 1:
        raise InvalidCase(f"-j {args.jobs}: write 1 or more")
    return asyncio.run(_test(args))


async def _test(args: argparse.Namespace) -> int:
    began = time.perf_counter()
    async with AsyncExitStack() as closing:
        lent = powers(args)
        if lent.servers is not None:
            await closing.enter_async_context(lent.servers)
        runner = await closing.enter_async_context(Runner(places(args), powers=lent, always_scratch=args.scratch))
        cases = chosen_cases(args, runner.loaded)
        why_not = need_trust(cases, runner.loaded)
        if why_not is not None:
            raise TrustError(why_not)
        remark(problems(runner.loaded))
        progress = Progress(sys.stderr, "cases", len(cases))
        try:
            results = await runner.run_all(cases, args.jobs, lambda _: progress.step())
        finally:
            progress.end()
    _report(results, time.perf_counter() - began, args)
    if args.update:
        say(_updated(results), sys.stderr)
        return PASSED if all(result.fired for result in results) else FAILED
    return PASSED if all(result.passed for result in results) else FAILED


def chosen_cases(args: argparse.Namespace, loaded: Loaded) -> list[Case]:
    """Read the requested files and keep the selected cases; raise InvalidCase when none is left."""
    paths = args.paths or [place for place in _default_places(loaded, args) if os.path.isdir(place)]
    files = find_files(paths)
    cases = [case for path in files for case in read_cases(path)]
    if args.only:
        cases = [case for case in cases if any(text.lower() in case.id.lower() for text in args.only)]
    if not cases:
        where = ", ".join(paths) or os.path.join(loaded.project_dir, FOLDER)
        wanted = f" named like {' or '.join(args.only)}" if args.only and files else ""
        raise InvalidCase(
            f"no cases{wanted} in {where}. Write some with `hookwright new` (a hook with cases) or `hookwright record`."
        )
    return cases


def _default_places(loaded: Loaded, args: argparse.Namespace) -> list[str]:
    plugins = [os.path.join(folder, "hooks", "tests") for folder in args.plugin_dir]
    return [os.path.join(loaded.project_dir, FOLDER), *plugins]


# ── reports ─────────────────────────────────────────────────────────────────


def _report(results: Sequence[CaseResult], seconds: float, args: argparse.Namespace) -> None:
    if args.out is None:
        say(_lines(results, seconds, args, Style.of(sys.stdout)), sys.stdout)
        return
    with open(args.out, "w", encoding="utf-8") as file:
        say(_lines(results, seconds, args, Style(False)), file)
    say([summary(results, seconds)], sys.stderr)


def _lines(results: Sequence[CaseResult], seconds: float, args: argparse.Namespace, style: Style) -> Iterator[str]:
    match args.format:
        case "tap":
            return tap(results)
        case "junit":
            return junit(results, seconds)
        case "json":
            return iter([escaped(json.dumps(_record(results, seconds), ensure_ascii=False, default=str))])
        case _:
            width = columns(sys.stdout) if args.out is None else None
            return folded(pretty(results, seconds, style, args.verbose), width)


def pretty(results: Sequence[CaseResult], seconds: float, style: Style, verbose: bool) -> Iterator[str]:
    """Print every file with its failed cases."""
    for path, group in groupby(results, key=lambda result: result.case.path):
        members = list(group)
        failed = [result for result in members if not result.passed]
        count = style.bad(f"{len(failed)} of {len(members)} failed") if failed else f"{len(members)} passed"
        yield f"{style.good('✓') if not failed else style.bad('✗')} {flat(path)}  {count}"
        for result in members if verbose else failed:
            yield from _case_lines(result, style)
        empty = [result for result in members if result.vacuous]
        if empty:
            yield style.warn(
                f"    no hook ran in {len(empty)} of them, for example {empty[0].case.name!r}"
            ) + style.dim("; write `ran: 0` if that is intended")
    yield summary(results, seconds)


def _case_lines(result: CaseResult, style: Style) -> Iterator[str]:
    mark = style.good("✓") if result.passed else style.bad("✗")
    took = style.dim(
        f"{decision_word(result.outcome)}, {result.seconds * 1000:.0f} ms" if result.fired else "not fired"
    )
    yield f"  {mark} {flat(result.case.name)}  {took}"
    if result.problems:
        yield style.dim(f"      {flat(result.case.path)}:{result.case.line}")
    for problem in result.problems:
        yield f"      {flat(str(problem))}"
    if result.problems:
        for run in result.outcome.runs:
            yield style.dim(f"      ran {flat(run.handler.label)}: {run.verdict.ending.value}")
        for skip in result.outcome.skips:
            yield style.dim(f"      skipped {flat(skip.handler.label)}: {skip.reason.value}")


def summary(results: Sequence[CaseResult], seconds: float) -> str:
    """Return the counts on one line."""
    failed = sum(not result.passed for result in results)
    counts = f"{len(results) - failed} passed" + (f", {failed} failed" if failed else "")
    return f"{counts} in {seconds:.2f} s"


def _record(results: Sequence[CaseResult], seconds: float) -> dict[str, Json]:
    failed = sum(not result.passed for result in results)
    return {
        "passed": len(results) - failed,
        "failed": failed,
        "ms": round(seconds * 1000, 3),
        "cases": [
            {
                "file": result.case.path,
                "line": result.case.line,
                "name": result.case.name,
                "passed": result.passed,
                "problems": [{"key": problem.key, "text": problem.text} for problem in result.problems],
                "decision": decision_word(result.outcome),
                "ms": round(result.seconds * 1000, 3),
                "outcome": contract(result.outcome),
            }
            for result in results
        ],
    }


def _updated(results: Sequence[CaseResult]) -> Iterator[str]:
    changed = 0
    for path, group in groupby(results, key=lambda result: result.case.path):
        count = update_file(os.path.abspath(path), list(group))
        changed += count
        if count:
            yield f"{path}: recorded {plural(count, 'case')}; review the diff before you commit it"
    if not changed:
        yield "nothing to record"
