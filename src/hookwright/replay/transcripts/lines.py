"""The lines of one file, which may be huge, torn, compressed, or growing while it is read."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from hookwright.agent.transcript.lines import MAX_LINE
from hookwright.replay.fleet.remote import is_url, open_url
from hookwright.replay.past import Coverage

#: Small enough for the cache of a processor: the bytes are searched several times.
_CHUNK = 256 * 1024
_GZIP = b"\x1f\x8b"
#: A window of any size and a gzip header, as zlib wants it.
_GZIP_BITS = 31


def open_source(path: str) -> IO[bytes]:
    """Open a regular file or a URL for reading; raise OSError for anything else, and for a symbolic link."""
    if is_url(path):
        return open_url(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return open(descriptor, "rb", buffering=0)


def unpacked_head(data: bytes) -> bytes:
    """Return the start of a file, unpacked if it is compressed."""
    if data[:2] != _GZIP:
        return data
    try:
        return zlib.decompressobj(_GZIP_BITS).decompress(data, _CHUNK)
    except zlib.error:
        return b""


#: Returns whether a line is needed, by a buffer and the places where the line begins and ends in it.
Needed = Callable[[bytes, int, int], bool]


def every_line(_buffer: bytes, _start: int, _end: int) -> bool:
    """Need every line."""
    return True


def lines_of(
    file: IO[bytes],
    coverage: Coverage,
    needed: Needed = every_line,
    limit: int = MAX_LINE,
    places: dict[int, tuple[int, int]] | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Yield the needed lines of a file with their numbers; count lines, and those that are not objects or too long.

    Law: only what the file has when reading begins is read, so a session that is still running is cut at its last
    whole line; a line is readable only if it begins with `{` and ends with `}`. Lines that are not needed are not
    copied. `places` gets where each needed line begins and how long it is.
    """
    number = 0
    for base, buffer, start, stop in _whole_lines(file, coverage, limit):
        while start < stop:
            end = buffer.find(b"\n", start)
            number += 1
            # 123 and 125 are the brackets of an object.
            if buffer[start] == 123 and buffer[end - 1] == 125 and 1 < end - start <= limit:
                if needed(buffer, start, end):
                    if places is not None:
                        places[number] = base + start, end - start
                    yield number, buffer[start:end]
            else:
                text = buffer[start:end].strip()
                if end - start > limit or len(text) < 2 or text[0] != 123 or text[-1] != 125:
                    coverage.unreadable += bool(text)
                elif needed(text, 0, len(text)):
                    if places is not None:
                        places[number] = base + start, end - start
                    yield number, text
            start = end + 1
    coverage.lines += number


def _whole_lines(file: IO[bytes], coverage: Coverage, limit: int) -> Iterator[tuple[int, bytes, int, int]]:
    """Yield where buffers begin in the file, and the part of each that is whole lines.

    Only lines that two buffers share are copied.

    Of a line over the limit only so much is kept that it is still over it.
    """
    pending: list[bytes] = []
    held = read = first = 0
    for chunk in _chunks(file, coverage):
        start, stop = chunk.find(b"\n") + 1 if held else 0, chunk.rfind(b"\n") + 1
        if held and start:
            shared = b"".join((*pending, chunk[:start]))
            yield first, shared, 0, len(shared)
        if start < stop:
            yield read, chunk, start, stop
        if stop or not held:
            pending, held, first = [], 0, read + stop
        read += len(chunk)
        if stop < len(chunk) and held <= limit:
            pending.append(chunk[stop:])
            held += len(chunk) - stop
    if held:
        shared = b"".join((*pending, b"\n"))
        yield first, shared, 0, len(shared)


def _chunks(file: IO[bytes], coverage: Coverage) -> Iterator[bytes]:
    chunks = _read(file)
    head = next(chunks, b"")
    whole = itertools.chain((head,), chunks)
    for chunk in _unpacked(whole, coverage) if head[:2] == _GZIP else whole:
        coverage.bytes += len(chunk)
        yield chunk


def _read(file: IO[bytes]) -> Iterator[bytes]:
    left = _size(file)
    while left > 0 and (chunk := file.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _size(file: IO[bytes]) -> int:
    """Return how many bytes to read: the size of a file now; everything of a stream."""
    with contextlib.suppress(OSError, ValueError):
        facts = os.fstat(file.fileno())
        if stat.S_ISREG(facts.st_mode):
            return facts.st_size
    return sys.maxsize


def _unpacked(chunks: Iterable[bytes], coverage: Coverage) -> Iterator[bytes]:
    """Unpack gzip data of one or more members, a bounded piece at a time; damaged data ends at the damage."""
    unpacker = zlib.decompressobj(_GZIP_BITS)
    try:
        for chunk in chunks:
            while chunk:
                if unpacker.eof:
                    unpacker = zlib.decompressobj(_GZIP_BITS)
                if data := unpacker.decompress(chunk, _CHUNK):
                    yield data
                chunk = unpacker.unconsumed_tail or unpacker.unused_data
    except zlib.error:
        coverage.unreadable += 1
        return
    coverage.unreadable += not unpacker.eof
