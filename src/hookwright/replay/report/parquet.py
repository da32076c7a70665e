"""A report as a Parquet file: a row per change, for SQL."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookwright.errors import MissingExtra
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.replay.report.findings import Record, ReportFinding, change_record, totals_record

if TYPE_CHECKING:
    import pyarrow as pa

#: The key of the metadata with the rest of the report: coverage, settings, totals and handlers, as JSON.
METADATA = b"hookwright"

#: The columns that are fields of a change, by their types.
_FIELDS = {
    "call": "string",
    "event": "string",
    "tool": "string",
    "session": "string",
    "time": "time",
    "file": "string",
    "line": "int64",
    "fate": "string",
    "about": "string",
    "bucket": "string",
    "likely_false": "bool",
    "agrees": "bool",
    "after": "string",
    "handlers": "strings",
}
#: The columns of each outcome, with its name before them.
_OUTCOME = {
    "decision": "string",
    "reasons": "strings",
    "rewritten": "bool",
    "context": "int64",
    "undecided": "bool",
    "doubts": "strings",
    "ms": "double",
}


def check_installed() -> None:
    """Raise MissingExtra without pyarrow."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra("--format parquet", "parquet") from None


def as_parquet(found: ReportFinding, repeats: int) -> bytes:
    """Return the bytes of the file; raise MissingExtra without pyarrow.

    Law: the rows are the changes of the JSON report, in order; the metadata is the rest of it. An outcome that a doubt
    may touch has no decision.
    """
    check_installed()
    import pyarrow as pa
    from pyarrow import parquet

    rows = [_row(change_record(change, found.rows)) for change in found.changes]
    schema = pa.schema(
        [(name, _typed(pa, kind)) for name, kind in _columns().items()],
        metadata={METADATA: encode(totals_record(found, repeats))},
    )
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), out, compression="zstd")
    return out.getvalue()


def _columns() -> dict[str, str]:
    outcomes = {f"{side}_{name}": kind for side in ("before", "now") for name, kind in _OUTCOME.items()}
    return {**_FIELDS, **outcomes}


def _typed(pa: pa, kind: str) -> pa.DataType:
    if kind == "strings":
        return pa.list_(pa.string())
    if kind == "time":
        return pa.timestamp("us", tz="UTC")
    simple: Callable[[], pa.DataType] = {
        "string": pa.string,
        "int64": pa.int64,
        "bool": pa.bool_,
        "double": pa.float64,
    }[kind]
    return simple()


def _row(record: Record) -> Record:
    row: Record = {name: record[name] for name in _FIELDS}
    row["time"] = None if record["time"] is None else round(record["time"] * 1_000_000)
    for side in ("before", "now"):
        outcome: dict[str, Json] = record[side]
        row |= {f"{side}_{name}": outcome.get(name) for name in _OUTCOME}
        row[f"{side}_doubts"] = [doubt["text"] for doubt in outcome["doubts"]]
        row[f"{side}_ms"] = max((run["ms"] for run in outcome["runs"]), default=None)
    return row
