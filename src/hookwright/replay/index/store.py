"""Tables on disk, each bound to the content of its transcript."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import time
import zlib
from typing import IO

import msgspec

from hookwright._version import __version__
from hookwright.protocol.wire import encode
from hookwright.replay.index.table import EventTable
from hookwright.storage import StrictStamp, make_folder, replace_file

#: Changes whenever a table of an earlier version would be read differently.
_FORMAT = f"1 {__version__}"
_ENDING = ".events"
#: The most bytes of all tables together; the ones that were used longest ago are removed first.
MOST = 1024 * 1024 * 1024
#: A file that was just written may be written again within the same tick of the clock.
_SETTLED = 2.0
#: Bytes at the start and the end of a file that are compared besides its stamp.
_EDGE = 4096
#: A table that was used within this many seconds is not marked as used again.
_RECENT = 24 * 3600

_ENCODER = msgspec.msgpack.Encoder()


class _Header(msgspec.Struct, frozen=True, array_like=True):
    """What a table is of; it is used only for exactly that."""

    format: str
    #: Who speaks in the file, and everything else that its events depend on.
    about: str
    stamp: tuple[int, ...]
    edges: int
    table: EventTable


_DECODER = msgspec.msgpack.Decoder(_Header)


class FileState(msgspec.Struct, frozen=True):
    """The content of an open file, as far as it can be told without reading it."""

    stamp: StrictStamp
    #: A checksum of the start and the end.
    edges: int

    @classmethod
    def of(cls, file: IO[bytes]) -> FileState:
        """Look at an open file."""
        facts = os.fstat(file.fileno())
        stamp = StrictStamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        start = os.pread(file.fileno(), _EDGE, 0)
        end = os.pread(file.fileno(), _EDGE, max(0, stamp.size - _EDGE))
        return cls(stamp, zlib.crc32(end, zlib.crc32(start)))


class IndexFolder:
    """The tables of one user.

    Law: a table is used only if its file has the device, inode, size, times and edges that it had when it was read, if
    it was read the same way, and by the same version; anything else, a damaged table included, is as if there were
    none. Tables and their folder are for the user alone, and together they never have more than `most` bytes.
    """

    def __init__(self, path: str, most: int = MOST) -> None:
        self._path = path
        self._most = most
        self._written = False

    def load(self, path: str, about: str, state: FileState) -> tuple[EventTable, memoryview] | None:
        """Return the table of a file and its rows."""
        place = self._place(path, about)
        try:
            with open(place, "rb", buffering=0) as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                used = os.fstat(file.fileno()).st_mtime
            size = int.from_bytes(data[:8], "little")
            header = _DECODER.decode(memoryview(data)[8 : 8 + size])
        except (OSError, ValueError, msgspec.MsgspecError):
            return None  # ValueError: an empty file
        known = (_FORMAT, about, tuple(state.stamp), state.edges, len(data) - 8 - size)
        if known != (header.format, header.about, header.stamp, header.edges, header.table.columns.size):
            return None
        if time.time() - used > _RECENT:
            with contextlib.suppress(OSError):
                os.utime(place)
        return header.table, memoryview(data)[8 + size :]

    def save(self, path: str, about: str, state: FileState, table: EventTable, rows: bytes) -> None:
        """Keep a table; a folder that cannot be written to keeps none."""
        if time.time() - state.stamp.modified / 1e9 < _SETTLED or len(rows) > self._most:
            return
        header = _ENCODER.encode(_Header(_FORMAT, about, tuple(state.stamp), state.edges, table))
        with contextlib.suppress(OSError):
            make_folder(self._path)
            data = b"".join((len(header).to_bytes(8, "little"), header, rows))
            replace_file(self._place(path, about), data, mode=0o600)
            self._written = True

    def close(self) -> None:
        """Remove what is over the limit."""
        if not self._written:
            return
        found = []
        with contextlib.suppress(OSError), os.scandir(self._path) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDING):
                    facts = entry.stat(follow_symlinks=False)
                    found.append((facts.st_mtime, facts.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._most:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size

    def _place(self, path: str, about: str) -> str:
        name = hashlib.sha256(encode([path, about])).hexdigest()[:32]
        return os.path.join(self._path, name + _ENDING)
