"""Keep what a process prints: the head of each stream, a count of the rest, and the order of arrival."""

from __future__ import annotations

import io

import msgspec

from detent.executors._pipes import STDERR, STDOUT

#: So many reads keep their place in the merged output; a screen shows no more, and a flood costs no memory.
_ORDERED_READS = 256
#: Above this many bytes copies of what was kept begin to matter.
_LARGE = 1024 * 1024


class Captured(msgspec.Struct, frozen=True):
    """One stream: the bytes that were kept, and how many there were in all."""

    data: bytes
    total: int

    @property
    def truncated(self) -> bool:
        """Say whether bytes were dropped."""
        return self.total > len(self.data)


class Output(msgspec.Struct, frozen=True):
    """Both streams, and the sizes of the first reads in the order in which they came."""

    stdout: Captured
    stderr: Captured
    reads: tuple[tuple[int, int], ...] = ()

    def merged(self) -> bytes:
        """Join both streams as they arrived; beyond the recorded reads stdout comes before stderr."""
        streams = {STDOUT: self.stdout.data, STDERR: self.stderr.data}
        at = {STDOUT: 0, STDERR: 0}
        parts = []
        for stream, size in self.reads:
            parts.append(streams[stream][at[stream] : at[stream] + size])
            at[stream] += size
        parts += [streams[stream][at[stream] :] for stream in (STDOUT, STDERR)]
        return b"".join(parts)


class _Head:
    """The first bytes of a stream, up to a limit."""

    __slots__ = ("kept", "limit", "_large", "_parts", "total")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0
        self.kept = 0
        self._parts: list[bytes] = []
        self._large: io.BytesIO | None = None

    def add(self, chunk: bytes) -> None:
        room = self.limit - self.kept
        self.total += len(chunk)
        if room <= 0:
            return
        if len(chunk) > room:
            chunk = chunk[:room]
        self.kept += len(chunk)
        if self._large is not None:
            self._large.write(chunk)
            return
        self._parts.append(chunk)
        if self.kept > _LARGE:
            self._large = self._merge()

    def _merge(self) -> io.BytesIO:
        """Make one buffer of the full size: growing it step by step leaves holes of several times its size."""
        large = io.BytesIO()
        large.seek(self.limit - 1)
        large.write(b"\0")
        large.seek(0)
        large.writelines(self._parts)
        self._parts.clear()
        return large

    def so_far(self) -> Captured:
        data = b"".join(self._parts) if self._large is None else bytes(self._large.getbuffer()[: self.kept])
        return Captured(data, self.total)

    def final(self) -> Captured:
        if self._large is None:
            return self.so_far()
        self._large.truncate(self.kept)
        return Captured(self._large.getvalue(), self.total)  # the buffer itself, not a copy


class Capture:
    """Collects what arrives on stdout and stderr within fixed memory."""

    __slots__ = ("_heads", "_limits", "_reads")

    def __init__(self, stdout: int, stderr: int) -> None:
        self._limits = {STDOUT: stdout, STDERR: stderr}
        self._heads: dict[int, _Head] = {}
        self._reads: list[tuple[int, int]] = []

    def add(self, stream: int, chunk: bytes) -> None:
        """Take what one read brought."""
        if stream not in self._heads:
            self._heads[stream] = _Head(self._limits[stream])
        self._heads[stream].add(chunk)
        if len(self._reads) < _ORDERED_READS:
            self._reads.append((stream, len(chunk)))

    def stdout(self) -> Captured:
        """Say what came on stdout so far."""
        return self._heads[STDOUT].so_far() if STDOUT in self._heads else _NOTHING

    def so_far(self) -> Output:
        """Say what came on both streams so far."""
        streams = [self._heads[n].so_far() if n in self._heads else _NOTHING for n in (STDOUT, STDERR)]
        return Output(*streams, tuple(self._reads))

    def final(self) -> Output:
        """Say what came on both streams, now that no more will; nothing may be added afterwards."""
        streams = [self._heads[n].final() if n in self._heads else _NOTHING for n in (STDOUT, STDERR)]
        return Output(*streams, tuple(self._reads))


_NOTHING = Captured(b"", 0)
