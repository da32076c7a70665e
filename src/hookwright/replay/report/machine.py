"""Reports for programs: one JSON object, or one line per event while the replay runs."""

from __future__ import annotations

from hookwright.protocol.wire import encode
from hookwright.replay.model import Change
from hookwright.replay.past import Coverage
from hookwright.replay.report.findings import (
    VERSION,
    Describe,
    ReportFinding,
    change_record,
    coverage_record,
    totals_record,
)
from hookwright.replay.run import HandlerRow


def as_json(found: ReportFinding, repeats: int, describe: Describe = change_record) -> str:
    """Return the whole report as one JSON object."""
    changes = [describe(change, found.rows) for change in found.changes]
    return encode({**totals_record(found, repeats), "changes": changes}).decode()


def first_line(coverage: Coverage, repeats: int) -> str:
    """Return the first line of JSONL: what was read and what was not."""
    return encode({"kind": "coverage", "version": VERSION, "coverage": coverage_record(coverage, repeats)}).decode()


def change_line(change: Change, rows: tuple[HandlerRow, ...], describe: Describe = change_record) -> str:
    """Return one event that is not the same, as a line of JSONL."""
    return encode({"kind": "change", **describe(change, rows)}).decode()


def last_line(found: ReportFinding, repeats: int) -> str:
    """Return the last line of JSONL: the totals. A file without it was cut off."""
    return encode({"kind": "report", **totals_record(found, repeats)}).decode()
