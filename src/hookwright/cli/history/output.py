"""Where a replay's report goes: stdout or a private file, at the end or while it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TextIO

from hookwright.cli.terminal import Style, columns, folded
from hookwright.errors import ConfigError
from hookwright.replay.fleet.remote import is_url, write_url
from hookwright.replay.gate import Gate
from hookwright.replay.model import Bucket, Change
from hookwright.replay.past import Coverage
from hookwright.replay.report.ci import as_sarif, github_lines, junit_lines, markdown_lines
from hookwright.replay.report.findings import Describe, ReportFinding, change_record
from hookwright.replay.report.html import html_lines
from hookwright.replay.report.machine import as_json, change_line, first_line, last_line
from hookwright.replay.report.parquet import as_parquet, check_installed
from hookwright.replay.report.terminal import Paint, terminal_lines
from hookwright.replay.run import HandlerRow
from hookwright.storage import replace_file
from hookwright.text import escaped, plural, say

FORMATS = ("pretty", "json", "jsonl", "html", "junit", "sarif", "github", "md", "parquet")
_PARQUET = ".parquet"
#: The width of a report that does not go to a terminal.
_WIDTH = 100


class ReportFile:
    """One report in one format."""

    def __init__(self, kind: str | None, path: str | None, gate: Gate, describe: Describe = change_record) -> None:
        self._kind = kind or ("parquet" if path is not None and path.endswith(_PARQUET) else "pretty")
        self._path = None if path is None else path if is_url(path) else os.path.abspath(path)
        self._gate = gate
        self._describe = describe
        if describe is not change_record and self._kind not in ("json", "jsonl"):
            raise ConfigError(f"--raw: the format {self._kind} has no payloads; use --format json or jsonl")
        self._stream: TextIO | None = None
        if self._path is not None and os.path.isdir(self._path):
            raise ConfigError(f"--out {path}: is a folder; name a file")
        if self._kind == "parquet":
            check_installed()
            if self._path is None:
                raise ConfigError(f"--format parquet: the report is a file; add --out report{_PARQUET}")

    def begin(self, coverage: Coverage, repeats: int) -> None:
        """Write what comes before the first event."""
        if self._kind == "jsonl":
            self._stream = sys.stdout if self._path is None else _opened(self._path)
            say([first_line(coverage, repeats)], self._stream)

    def change(self, change: Change, rows: tuple[HandlerRow, ...]) -> None:
        """Write one event, in formats that stream."""
        if self._stream is not None:
            say([escaped(change_line(change, rows, self._describe))], self._stream)

    def end(self, found: ReportFinding, repeats: int) -> None:
        """Write the rest."""
        if self._stream is not None:
            say([escaped(last_line(found, repeats))], self._stream)
            if self._path is not None:
                _close(self._stream, self._path)
        elif self._path is None:
            say(self._lines(found, repeats, sys.stdout), sys.stdout)
        elif is_url(self._path):
            write_url(self._path, self._bytes(found, repeats))
        else:
            replace_file(self._path, self._bytes(found, repeats), mode=0o600)
        if self._path is not None:
            counts = f"{plural(found.totals.events, 'event')}, {found.totals.changed:,} changed"
            undecided = found.totals.buckets[Bucket.UNDECIDED].events
            say([f"{self._path}: {counts}, {undecided:,} undecided"], sys.stderr)

    def _bytes(self, found: ReportFinding, repeats: int) -> bytes:
        if self._kind == "parquet":
            return as_parquet(found, repeats)
        return "".join(f"{line}\n" for line in self._lines(found, repeats, None)).encode("utf-8", "replace")

    def _lines(self, found: ReportFinding, repeats: int, stream: TextIO | None) -> Iterable[str]:
        match self._kind:
            case "json":
                return [escaped(as_json(found, repeats, self._describe))]
            case "html":
                return html_lines(found, repeats)
            case "junit":
                return junit_lines(found, repeats, self._gate)
            case "sarif":
                return [escaped(as_sarif(found, repeats))]
            case "github":
                return github_lines(found, repeats, self._gate)
            case "md":
                return markdown_lines(found, repeats, self._gate)
            case _:
                return _pretty(found, repeats, stream)


def _pretty(found: ReportFinding, repeats: int, stream: TextIO | None) -> Iterator[str]:
    width = columns(stream) if stream is not None else None
    style = Style.of(stream) if stream is not None else Style(False)
    paint = Paint(bold=style.bold, dim=style.dim, bad=style.bad, warn=style.warn)
    return folded(terminal_lines(found, repeats, width or _WIDTH, paint), width)


def _opened(path: str) -> TextIO:
    """Open a file that only this user can read; what goes to a URL is collected."""
    return StringIO() if is_url(path) else _private(path)


def _close(stream: TextIO, path: str) -> None:
    if isinstance(stream, StringIO):
        write_url(path, stream.getvalue().encode("utf-8", "replace"))
    stream.close()


def _private(path: str) -> TextIO:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise ConfigError(f"--out {path}: cannot be written: {error.strerror}") from None
    return open(descriptor, "w", encoding="utf-8", errors="replace")
