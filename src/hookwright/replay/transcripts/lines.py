"""The lines of one file, which may be huge, torn, compressed, or growing while it is read."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import IO

from hookwright.agent.transcript.lines import MAX_LINE
from hookwright.replay.past import Coverage

_CHUNK = 1024 * 1024
_GZIP = b"\x1f\x8b"
#: A window of any size and a gzip header, as zlib wants it.
_GZIP_BITS = 31


def open_source(path: str) -> IO[bytes]:
    """Open a regular file for reading; raise OSError for anything else, and for a symbolic link."""
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


def lines_of(file: IO[bytes], coverage: Coverage, limit: int = MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines of a file with their numbers; count those that are not objects or too long.

    Law: only what the file has when reading begins is read, so a session that is still running is cut at its last
    whole line; a line is yielded only if it begins with `{` and ends with `}`.
    """
    for number, (chunk, ended) in enumerate(_pieces(file, coverage, limit), start=1):
        coverage.lines += 1
        if chunk is None:
            coverage.unreadable += 1
        elif chunk[:1] == b"{" and chunk[-1:] == b"}":
            yield number, chunk
        elif (stripped := chunk.strip())[:1] == b"{" and stripped[-1:] == b"}":
            yield number, stripped
        elif stripped:
            coverage.unreadable += 1
        elif not ended:
            coverage.lines -= 1


def _pieces(file: IO[bytes], coverage: Coverage, limit: int) -> Iterator[tuple[bytes | None, bool]]:
    """Split at newlines; None for a line over the limit, and whether the line has an end."""
    pending: list[bytes] = []
    size = 0
    for chunk in _chunks(file, coverage):
        *ended, rest = chunk.split(b"\n")
        if ended:
            first = b"".join((*pending, ended[0])) if size + len(ended[0]) <= limit else None
            yield first, True
            for part in ended[1:]:
                yield (part if len(part) <= limit else None), True
            pending, size = [], 0
        size += len(rest)
        if size <= limit:
            pending.append(rest)
        else:
            pending = []
    if size:
        yield (b"".join(pending) if size <= limit else None), False


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
