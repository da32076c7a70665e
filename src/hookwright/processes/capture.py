"""Keep what a process prints: the head of each stream, a count of the rest, and the order of arrival."""

from __future__ import annotations

import io

import msgspec

from hookwright.processes.pipes import STDERR, STDOUT

#: Reads that keep their place in the merged output; a screen shows no more, and a flood costs no memory.
_ORDERED_READS = 256


class Captured(msgspec.Struct, frozen=True):
    """One stream: the bytes kept, and how many there were in all."""

    data: bytes
    total: int

    @property
    def truncated(self) -> bool:
        """Return whether bytes were dropped."""
        return self.total > len(self.data)


class CapturedOutput(msgspec.Struct, frozen=True):
    """Both streams, and the sizes of the first reads in order of arrival."""

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

    __slots__ = ("_kept", "_limit", "total")

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        # getvalue() hands out the buffer itself: neither a list to join nor a bytearray to copy doubles the memory.
        self._kept = io.BytesIO()

    def add(self, chunk: bytes) -> None:
        room = self._limit - self.total
        self.total += len(chunk)
        if room > 0:
            self._kept.write(chunk if len(chunk) <= room else chunk[:room])

    def captured(self) -> Captured:
        return Captured(self._kept.getvalue(), self.total)


class Capture:
    """Collects what arrives on stdout and stderr within fixed memory."""

    __slots__ = ("_heads", "_limits", "_reads")

    def __init__(self, stdout: int, stderr: int) -> None:
        self._limits = {STDOUT: stdout, STDERR: stderr}
        self._heads: dict[int, _Head] = {}
        self._reads: list[tuple[int, int]] = []

    def add(self, stream: int, chunk: bytes) -> None:
        """Add the bytes of one read."""
        if stream not in self._heads:
            self._heads[stream] = _Head(self._limits[stream])
        self._heads[stream].add(chunk)
        if len(self._reads) < _ORDERED_READS:
            self._reads.append((stream, len(chunk)))

    def captured(self, stream: int) -> Captured:
        """Return what one stream received so far."""
        return self._heads[stream].captured() if stream in self._heads else _NOTHING

    def output(self) -> CapturedOutput:
        """Return what both streams received so far."""
        if not self._reads:
            return _SILENCE
        return CapturedOutput(self.captured(STDOUT), self.captured(STDERR), tuple(self._reads))


_NOTHING = Captured(b"", 0)
_SILENCE = CapturedOutput(_NOTHING, _NOTHING)
