"""Show what hooks did, record by record, from the journal."""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Iterable
from datetime import datetime

import msgspec

from hookwright.cli.journaloptions import add_journal, journal_folder, read_filter
from hookwright.cli.terminal import Style, columns, folded
from hookwright.observers.journal.reader import Filter, follow, records
from hookwright.observers.journal.records import Record
from hookwright.text import escaped, flat, one_line, say

DECISIONS = ("allow", "deny", "ask", "defer", "block", "none")
OUTCOMES = ("success", "error", "cancelled", "async", "skipped")
KINDS = ("run", "late", "skip", "event")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "-f", "--follow", action="store_true", help="keep running and show new records as they are written"
    )
    parser.add_argument(
        "-n", type=int, default=20, metavar="N", help="show the last N records, 0 for all (default: 20)"
    )
    add_journal(parser, since=None)
    parser.add_argument("--all", action="store_true", help="also show events for which no hook is configured")
    parser.add_argument("--decision", choices=DECISIONS, help="show only records with this decision")
    parser.add_argument("--outcome", choices=OUTCOMES, help="show only runs with this outcome")
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="show only records of this kind; can be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print the records as JSON, one per line")


def endless(args: argparse.Namespace) -> bool:
    """Return whether only its reader can end this command."""
    return bool(args.follow)


def run(args: argparse.Namespace) -> int:
    """Print the end of the journal, then what follows."""
    wanted = msgspec.structs.replace(
        read_filter(args),
        decision=args.decision,
        outcome=args.outcome,
        kinds=frozenset(args.kind) if args.kind else Filter().kinds,
    )
    folder = journal_folder(args)
    found: Iterable[Record] = (record for record in records(folder, wanted) if args.all or _had_hooks(record))
    if args.n > 0:
        found = deque(found, maxlen=args.n)
    style = Style.of(sys.stdout)
    shown = 0
    for record in found:
        shown += 1
        _tell(record, args.json, style)
    if not shown and not args.follow and not args.json:
        say([f"no such records in {folder}"], sys.stderr)
    if args.follow:
        try:
            for record in follow(folder, wanted):
                if args.all or _had_hooks(record):
                    _tell(record, args.json, style)
        except KeyboardInterrupt:  # the ordinary way out of following
            pass
    return 0


def _had_hooks(record: Record) -> bool:
    """Return whether a record says something: it is about a hook, or about an event that had one."""
    return record.get("kind") != "event" or bool(record.get("ran") or record.get("skipped"))


def _tell(record: Record, as_json: bool, style: Style) -> None:
    if as_json:
        say([escaped(json.dumps(record, ensure_ascii=False))], sys.stdout)
    else:
        say(folded([trace_line(record, style)], columns(sys.stdout)), sys.stdout)


def trace_line(record: Record, style: Style) -> str:
    """Write one record on one line: time, event, result, duration, hook, reason."""
    when = datetime.fromtimestamp(float(record.get("t", 0))).strftime("%m-%d %H:%M:%S")
    tool = record.get("tool")
    agent = f"{record['src']} " if "src" in record else ""
    what = agent + flat(f"{record.get('event')}:{tool}" if tool else str(record.get("event")))
    took = f"{float(record['ms']):.0f} ms" if "ms" in record else ""
    tail = _tail(record)
    return f"{style.dim(when)}  {what.ljust(22)} {_verdict(record, style)} {took.rjust(8)}  {tail}".rstrip()


_WIDTH = 9


def _verdict(record: Record, style: Style) -> str:
    decision, outcome = record.get("decision"), record.get("outcome")
    if record.get("kind") == "skip":
        return style.dim("skipped".ljust(_WIDTH))
    if record.get("shadow"):
        return style.dim(f"shadow: {record.get('would')}".ljust(_WIDTH))
    if decision in ("deny", "block") or record.get("stop"):
        return style.bad(str(decision or "stop").ljust(_WIDTH))
    if outcome in ("error", "cancelled"):
        return style.warn(str(outcome).ljust(_WIDTH))
    if decision is not None:
        return style.good(str(decision).ljust(_WIDTH))
    return (str(outcome) if outcome is not None else "proceed").ljust(_WIDTH)


def _tail(record: Record) -> str:
    if record.get("kind") == "event":
        counts = [f"{record.get('ran', 0)} ran", f"{record.get('skipped', 0)} skipped"]
        counts += [f"{record['errors']} without a verdict"] if record.get("errors") else []
        return "= " + ", ".join(counts)
    reason = record.get("skip") or record.get("reason")
    handler = one_line(str(record.get("handler", "")), 60)
    handler = f"in the background: {handler}" if record.get("kind") == "late" else handler
    return f"{handler}  {one_line(str(reason), 100)}" if reason else handler
