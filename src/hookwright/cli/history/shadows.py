"""What hooks in shadow mode would have refused, beside what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from hookwright.cli.terminal import Style
from hookwright.observers.journal.records import Record
from hookwright.protocol.events import PostToolUse, PostToolUseFailure
from hookwright.protocol.jsontext import Json
from hookwright.text import one_line, plural

_REFUSALS = ("deny", "block", "stop")


class ShadowCount(msgspec.Struct, kw_only=True):
    """The verdicts of one hook in shadow mode."""

    event: str
    handler: str
    source: str
    runs: int = 0
    #: Runs that gave no verdict, which is neither a refusal nor an approval.
    failed: int = 0
    would_refuse: int = 0
    #: Of those: calls that another hook refused, that ran and succeeded, that ran and failed.
    refused_anyway: int = 0
    succeeded: int = 0
    failed_then: int = 0
    #: Of those: nothing shows that the call ran. The person may have rejected it.
    unknown: int = 0


def shadow_counts(records: Sequence[Record]) -> list[ShadowCount]:
    """Compare what hooks in shadow mode would have refused with what happened, busiest first.

    Law: a refusal in shadow is `refused_anyway` if another hook refused the same firing; `succeeded` or `failed_then`
    if the journal has the end of the same call; else `unknown`. A run without a verdict is none of these.
    """
    blocked = {record.get("fire") for record in records if record.get("kind") == "event" and _refused(record)}
    ended = {
        str(record.get("call")): record.get("event")
        for record in records
        if record.get("kind") == "event"
        and record.get("event") in (PostToolUse.event_name, PostToolUseFailure.event_name)
    }
    rows: dict[tuple[str, ...], ShadowCount] = {}
    for record in records:
        if record.get("kind") == "run" and record.get("shadow"):
            key = (str(record.get("event")), str(record.get("handler")), str(record.get("source", "")))
            row = rows.setdefault(key, ShadowCount(event=key[0], handler=key[1], source=key[2]))
            _add(row, record, record.get("fire") in blocked, ended.get(str(record.get("call"))))
    return sorted(rows.values(), key=lambda row: (-row.runs, row.event, row.handler))


def _refused(record: Record) -> bool:
    return bool(record.get("blocked") or record.get("stop"))


def _add(row: ShadowCount, record: Record, refused: bool, end: Json) -> None:
    row.runs += 1
    if record.get("ending") in ("non-blocking error", "cancelled"):
        row.failed += 1
    elif record.get("would") in _REFUSALS:
        row.would_refuse += 1
        row.refused_anyway += refused
        row.succeeded += not refused and end == PostToolUse.event_name
        row.failed_then += not refused and end == PostToolUseFailure.event_name
        row.unknown += not refused and end is None


def shadow_lines(rows: Iterable[ShadowCount], style: Style) -> Iterator[str]:
    """Write the counts for people."""
    rows = list(rows)
    if rows:
        yield style.bold("in shadow mode: these hooks decided nothing")
    for row in rows:
        yield f"  {row.event}  {one_line(row.handler, 70)}  {style.dim(row.source)}"
        refused = f"would have refused {row.would_refuse:,} of {plural(row.runs, 'run')}"
        failed = f"; {row.failed:,} gave no verdict" if row.failed else ""
        yield f"    {refused}{failed}"
        if row.would_refuse:
            yield (
                f"    of these {row.succeeded:,} ran and succeeded, {row.failed_then:,} ran and failed, "
                f"{row.refused_anyway:,} were refused anyway, {row.unknown:,} have no recorded end"
            )
