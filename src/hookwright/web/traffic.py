"""The journal as the console needs it: one slim row per firing in memory, its lines on disk.

A row is a list of numbers; texts that many rows share are in one table of names. The page gets rows and new names, and
asks for the lines of a firing only when somebody looks at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.observers.journal.reader import expanded, journal_files
from hookwright.observers.journal.records import Expansion, Record

#: The fields of a row, in order; `event` to `decision` are numbers of names.
FIELDS = (
    "time", "event", "tool", "session", "cwd", "agent", "decision", "ran", "skipped", "errors", "micros", "flags",
)  # fmt: skip
#: Flags of a row.
STOPPED, SHADOW, UNLINKED, OBSERVED = 1, 2, 4, 8
Row = tuple[int, ...]
#: Lines that are read at once: 4 MB of a journal that is being opened.
_CHUNK = 4 * 1024 * 1024
#: A firing whose event record has not come; more than this many of them are forgotten, oldest first.
_WAITING = 4096


class Line(msgspec.Struct, frozen=True):
    """Where a line of the journal is."""

    file: int
    start: int
    size: int


class Names:
    """A table of texts that rows refer to by number; it only grows."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: object) -> int:
        """Return the number of a text; nothing and the empty text are 0."""
        if text is None:
            return 0
        known = str(text)
        if known not in self._numbers:
            self._numbers[known] = len(self.texts)
            self.texts.append(known)
        return self._numbers[known]


class JournalFile:
    """One file of the journal, held open: its name changes when it is rotated, and its lines can still be read."""

    def __init__(self, path: str, number: int) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        facts = os.fstat(self.descriptor)
        self.number = number
        self.identity = (facts.st_dev, facts.st_ino)
        #: Lines before this place are complete and were read.
        self.end = 0
        self.expansion = Expansion()

    def grown(self) -> Iterator[tuple[Line, bytes]]:
        """Yield the complete lines that were added."""
        while data := os.pread(self.descriptor, _CHUNK, self.end):
            whole, mark, _ = data.rpartition(b"\n")
            if not mark:
                if len(data) < _CHUNK:
                    return
                self.end += len(data)  # one line of several megabytes is not one of ours
                continue
            for line in whole.split(b"\n"):
                yield Line(self.number, self.end, len(line)), line
                self.end += len(line) + 1

    def shrunk(self) -> bool:
        """Return whether somebody has cut the file."""
        return os.fstat(self.descriptor).st_size < self.end

    def read(self, line: Line) -> bytes:
        """Return the bytes of a line."""
        return os.pread(self.descriptor, line.size, line.start)

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


class Traffic:
    """All firings in the journal of a folder, and those that are added.

    Law: every event record is one row, in the order of the files and of their lines, once; a line that came after its
    event (the end of a background hook) changes that row and does not add one. What was rotated, cut or removed between
    two looks is counted in `gaps`, never passed over in silence.
    """

    def __init__(self, folder: str, since: float = 0.0) -> None:
        self._folder = folder
        self._since = since
        self.names = Names()
        self.rows: list[Row] = []
        #: The numbers of rows in the order in which they came or changed, for streams.
        self.changes: list[int] = []
        self.gaps = 0
        self._lines: list[tuple[Line, ...]] = []
        #: Events that are in no file: their records, by row.
        self._observed: dict[int, Record] = {}
        self._of_firing: dict[str, int] = {}
        self._waiting: dict[str, list[Line]] = {}
        self._shadowed: set[str] = set()
        self._files: dict[tuple[int, int], JournalFile] = {}
        self._by_number: dict[int, JournalFile] = {}

    def poll(self) -> bool:
        """Read what was added since the last time; return whether anything was."""
        before = len(self.changes)
        self._open_new()
        for file in list(self._files.values()):
            if file.shrunk():
                self.gaps += 1
                self._forget(file)
                continue
            for place, data in file.grown():
                self._take(file, place, data)
        return len(self.changes) > before

    def _open_new(self) -> None:
        for path in journal_files(self._folder):
            try:
                facts = os.stat(path)
                if (facts.st_dev, facts.st_ino) not in self._files:
                    file = JournalFile(path, len(self._by_number))
                    self._files[file.identity] = self._by_number[file.number] = file
            except OSError:  # rotated or removed at this moment: the next look finds it under its new name
                continue

    def _forget(self, file: JournalFile) -> None:
        """Read a file that was cut from its beginning, as another file."""
        del self._files[file.identity]
        if not os.fstat(file.descriptor).st_nlink:
            return
        try:
            again = JournalFile(f"/dev/fd/{file.descriptor}", len(self._by_number))
        except OSError:
            return
        self._files[again.identity] = self._by_number[again.number] = again

    def _take(self, file: JournalFile, place: Line, data: bytes) -> None:
        for record in expanded(data, file.expansion):
            firing = str(record.get("fire", ""))
            match record.get("kind"):
                case "event" if float(record.get("t", 0.0)) >= self._since:
                    self._add(record, firing, place)
                case "run" | "late" if firing:
                    self._link(record, firing, place)

    def _link(self, record: Record, firing: str, place: Line) -> None:
        """Put a line to its firing: one that has ended, or one whose event record is still to come."""
        if record.get("shadow") and record.get("would") not in (None, "none"):
            self._shadowed.add(firing)
        known = self._of_firing.get(firing)
        if known is not None:
            self._lines[known] = (*self._lines[known], place)
            self.changes.append(known)
            return
        self._waiting.setdefault(firing, []).append(place)
        if len(self._waiting) > _WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _add(self, record: Record, firing: str, place: Line) -> None:
        flags = STOPPED if record.get("stop") else 0
        flags |= SHADOW if firing in self._shadowed else 0
        flags |= UNLINKED if not firing and record.get("ran") else 0
        self._row(record, flags)
        self._lines.append((place, *self._waiting.pop(firing, ())))
        self._shadowed.discard(firing)
        if firing:
            self._of_firing[firing] = len(self.rows) - 1
        self.changes.append(len(self.rows) - 1)

    def _row(self, record: Record, flags: int) -> None:
        number = self.names.number
        self.rows.append(
            (
                round(float(record.get("t", 0.0)) * 1000),
                number(record.get("event")),
                number(record.get("tool")),
                number(record.get("session")),
                number(record.get("cwd")),
                number(record.get("src", "hookwright")),
                number(record.get("decision")),
                _whole(record.get("ran")),
                _whole(record.get("skipped")),
                _whole(record.get("errors")),
                round(float(record.get("ms", 0.0)) * 1000),
                flags,
            )
        )

    def observe(self, record: Record) -> None:
        """Add an event that an observer saw: what its hooks did is not known."""
        self._observed[len(self.rows)] = record
        self._row(record, OBSERVED)
        self._lines.append(())
        self.changes.append(len(self.rows) - 1)

    def records(self, number: int) -> list[Record]:
        """Return the records of a row: its event, then runs, skips and late ends; IndexError for an unknown row."""
        if number in self._observed:
            return [self._observed[number]]
        found: list[Record] = []
        for line in self._lines[number]:
            file = self._by_number[line.file]
            found += expanded(file.read(line), file.expansion)
        return sorted(found, key=lambda record: record.get("kind") != "event")

    def search(self, text: str) -> list[int]:
        """Return the rows in whose records or handlers a text is, in any case, oldest first."""
        wanted = {
            number: (text.lower().encode(), *(key.encode() for key in file.expansion.keys_of(text)))
            for number, file in self._by_number.items()
        }
        return [
            number
            for number, lines in enumerate(self._lines)
            if any(self._holds(line, wanted[line.file]) for line in lines)
        ]

    def _holds(self, line: Line, wanted: tuple[bytes, ...]) -> bool:
        data = self._by_number[line.file].read(line).lower()
        return any(text in data for text in wanted)

    def all_records(self) -> Iterable[Record]:
        """Yield every record of every row."""
        for number in range(len(self.rows)):
            yield from self.records(number)

    def close(self) -> None:
        """Close the files."""
        for file in self._by_number.values():
            file.close()


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
