"""Count what hooks did: runs, times, refusals and failures, and which hooks never ran."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from hookwright.cli.history.shadows import ShadowCount, shadow_counts, shadow_lines
from hookwright.cli.journaloptions import add_journal, journal_folder, read_filter
from hookwright.cli.options import add_places, places
from hookwright.cli.terminal import Style, columns, folded
from hookwright.config import Loaded
from hookwright.config.files import is_inside
from hookwright.hookset import Entry
from hookwright.observers.journal import short
from hookwright.observers.journal.reader import Filter, records, removed_up_to
from hookwright.observers.journal.records import Record
from hookwright.observers.journal.writer import DAYS_VARIABLE, MEGABYTES_VARIABLE
from hookwright.observers.percentiles import percentile
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import place
from hookwright.text import one_line, say

_REFUSALS = ("deny", "block")

#: From this width on, a hook is on the line of its numbers.
_WIDE = 110


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_journal(parser, since="30d")
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


class Window(msgspec.Struct, frozen=True):
    """The time the figures are about: what was asked for, and what the journal still has."""

    since: float | None
    begins: float | None
    #: Records up to this time were removed to keep the journal within its limits.
    removed: float | None

    @property
    def cut(self) -> float | None:
        """When the figures begin later than asked, because older records were removed: when they begin."""
        if self.removed is None or self.begins is None or (self.since is not None and self.since >= self.removed):
            return None
        return self.begins


class Counted(msgspec.Struct, kw_only=True):
    """What one hook did on one event."""

    event: str
    handler: str
    source: str
    runs: int = 0
    refused: int = 0
    failed: int = 0
    timed_out: int = 0
    #: Runs in the background without a record of their end: still running, killed, or written by an older version.
    no_end: int = 0
    skipped: int = 0
    times: list[float] = msgspec.field(default_factory=list)
    last: float = 0.0

    def add(self, record: Record) -> None:
        """Count one record."""
        match record.get("kind"):
            case "skip":
                self.skipped += 1
            case "late":
                self.no_end -= 1
                self._end(record)
            case _:
                self.runs += 1
                self.refused += record.get("decision") in _REFUSALS
                self.last = max(self.last, float(record.get("t", 0.0)))
                if record.get("outcome") == "async":
                    self.no_end += 1
                else:
                    self._end(record)

    def _end(self, record: Record) -> None:
        self.failed += record.get("ending") in ("non-blocking error", "cancelled")
        self.timed_out += record.get("outcome") == "cancelled"
        self.times.append(float(record.get("ms", 0.0)))


def run(args: argparse.Namespace) -> int:
    """Count the records, compare them with the configured hooks, and print."""
    folder, wanted = journal_folder(args), read_filter(args)
    kept = list(records(folder, msgspec.structs.replace(wanted, kinds=frozenset({"run", "late", "skip"}))))
    rows, shadows = count(kept), _shadows(folder, wanted, kept)
    loaded = places(args).load()
    silent = never_fired(loaded, kept, wanted)
    window = Window(wanted.since, _beginning(folder), removed_up_to(folder))
    if args.json:
        in_shadow = {"shadow": [msgspec.to_builtins(row) for row in shadows]}
        print(json.dumps(_summary(rows, silent, window) | in_shadow, indent=1))
        return 0
    lines = [*_lines(rows, silent, window), *shadow_lines(shadows, Style.of(sys.stdout))]
    say(folded(lines, columns(sys.stdout)), sys.stdout)
    return 0


def _shadows(folder: str, wanted: Filter, kept: Sequence[Record]) -> list[ShadowCount]:
    """Compare the chosen runs in shadow mode with what happened, which other events say."""
    if not any(record.get("shadow") for record in kept):
        return []
    ends = msgspec.structs.replace(wanted, kinds=frozenset({"event"}), handler=None, event=None)
    return shadow_counts([*kept, *records(folder, ends)])


def count(kept: Iterable[Record]) -> list[Counted]:
    """Sum up records by hook and event, busiest first."""
    rows: dict[tuple[str, ...], Counted] = {}
    for record in kept:
        source = str(record.get("source", ""))
        key = (str(record.get("event")), str(record.get("handler")), source)
        rows.setdefault(key, Counted(event=key[0], handler=key[1], source=source)).add(record)
    return sorted(rows.values(), key=lambda row: (-row.runs, row.event, row.handler))


def never_fired(loaded: Loaded, kept: Sequence[Record], wanted: Filter) -> list[Entry]:
    """Return configured hooks that did not run; for a hook of this project only runs in this project matter."""
    runs = [record for record in kept if record.get("kind") == "run"]
    folders = {str(record.get("cwd", "")) for record in runs}
    inside = {folder for folder in folders if is_inside(folder, loaded.project_dir)}
    ran = {(record.get("event"), record.get("handler")) for record in runs}
    here = {(record.get("event"), record.get("handler")) for record in runs if record.get("cwd") in inside}
    return [
        entry
        for entry in loaded.hooks
        if (entry.event, short(entry.handler.label)) not in (here if entry.handler.source.from_project else ran)
        and wanted.event in (None, entry.event)
        and (wanted.handler is None or wanted.handler in entry.handler.label)
    ]


def _beginning(folder: str) -> float | None:
    record = next(records(folder, Filter()), None)
    return None if record is None else float(record.get("t", 0.0))


def _summary(rows: Sequence[Counted], silent: Sequence[Entry], window: Window) -> dict[str, Json]:
    return {
        "since": window.since,
        "journal_begins": window.begins,
        "window_cut_at": window.cut,
        "hooks": [
            {
                "event": row.event,
                "handler": row.handler,
                "source": row.source,
                "runs": row.runs,
                "p50_ms": percentile(row.times, 0.50),
                "p95_ms": percentile(row.times, 0.95),
                "max_ms": max(row.times, default=0.0),
                "refused": row.refused,
                "refused_rate": row.refused / row.runs if row.runs else 0.0,
                "failed": row.failed,
                "timed_out": row.timed_out,
                "no_end": max(0, row.no_end),
                "skipped": row.skipped,
                "last": row.last or None,
            }
            for row in rows
        ],
        "never_fired": [
            {"event": entry.event, "handler": entry.handler.label, "source": place(entry.handler.source)}
            for entry in silent
        ],
    }


def _lines(rows: Sequence[Counted], silent: Sequence[Entry], window: Window) -> Iterator[str]:
    style = Style.of(sys.stdout)
    begins = window.begins
    if begins is None:
        yield "the journal is empty: run `hookwright run`, `hookwright fire` or a host that keeps a journal"
    else:
        first = max(begins, window.since or 0.0)
        yield style.dim(f"since {_date(first)}" + ("" if first > begins else ", when the journal begins"))
    if window.cut is not None:
        limits = f"{DAYS_VARIABLE} and {MEGABYTES_VARIABLE}"
        yield style.warn(f"window cut at {_date(window.cut)}: older records were removed ({limits} set the limits)")
    if rows:
        yield style.bold(_row("runs", "p50 ms", "p95 ms", "refused", "failed", "skipped", "hook"))
    for row in rows:
        yield _row(
            str(row.runs),
            f"{percentile(row.times, 0.50):.0f}" if row.times else "",
            f"{percentile(row.times, 0.95):.0f}" if row.times else "",
            f"{row.refused / row.runs:.0%}" if row.runs else "",
            str(row.failed) if row.failed else "",
            str(row.skipped) if row.skipped else "",
            f"{row.event}  {one_line(row.handler, 70)}" + (f"  last {_date(row.last)}" if row.last else "  never ran"),
        )
        if row.failed:
            kind = f", {row.timed_out} of them at the time limit" if row.timed_out else ""
            times = "once" if row.failed == 1 else f"{row.failed} times"
            yield style.warn(f"{'':>14}gave no verdict {times}{kind}")
        if row.no_end > 0:
            yield style.dim(f"{'':>14}{row.no_end} of them in the background without a recorded end")
    if silent:
        yield style.bold(f"never fired {_span(window)}")
        for entry in silent:
            yield f"  {entry.event}  {one_line(entry.handler.label, 70)}  {style.dim(place(entry.handler.source))}"


def _row(*cells: str) -> str:
    """Write the numbers and the hook on one line, or on two where the terminal is narrow."""
    numbers = "".join(cell.rjust(9) for cell in cells[:-1])
    width = columns(sys.stdout)
    if width is None or width >= _WIDE:
        return f"{numbers}  {cells[-1]}"
    narrow = "".join(cell.rjust(max(8, width // 7)) for cell in cells[:-1])
    return f"{cells[-1]}\n{narrow}"


def _span(window: Window) -> str:
    """Write the time span in words; it never starts before the journal does."""
    if window.begins is None:
        return "as far as is known"
    days = (time.time() - max(window.begins, window.since or 0.0)) / 86400
    if days >= 1.5:
        return f"in {days:.0f} days"
    hours = days * 24
    if hours >= 1.5:
        return f"in {hours:.0f} hours"
    return "in the last hour" if hours >= 0.75 else f"in {max(1, round(hours * 60))} min"


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")
