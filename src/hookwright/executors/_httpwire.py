"""The bytes of an HTTP answer, decompressed within limits. Uses only the standard library."""

from __future__ import annotations

import asyncio
import zlib

import msgspec

MAX_BODY = 4 * 1024 * 1024
#: Many one-byte chunks would cost far more time than their size suggests.
MAX_PIECES = 65_536
_READ_AHEAD = 256 * 1024


class HttpResponse(msgspec.Struct, frozen=True):
    """A status, and for a 2xx the whole decoded body."""

    status: int
    body: bytes = b""


class AddressRefused(Exception):
    """The guard refused the host or one of its addresses."""


class BadAnswer(Exception):
    """The answer cannot be used: too large, broken, or in an unknown encoding."""


class Wire(asyncio.Protocol):
    """The bytes of one socket, buffered up to a limit."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._paused = False
        self._error: Exception | None = None
        self.transport: asyncio.Transport
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def quiet(self) -> bool:
        """Whether the connection is open and no unexpected bytes arrived."""
        return not (self._buffer or self._ended or self.transport.is_closing())

    async def read(self) -> bytes:
        """Wait for bytes; empty bytes mean the end."""
        if not self._buffer and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._error is not None and not self._buffer:
            raise self._error
        data = bytes(self._buffer)
        self._buffer.clear()
        if self._paused and not self._ended:
            self._paused = False
            self.transport.resume_reading()
        return data

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > _READ_AHEAD and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended, self._error = True, exc
        self._wake()
        if not self.lost.done():
            self.lost.set_result(None)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Body:
    """A body, decoded as it arrives and bounded, compressed or not."""

    def __init__(self, encoding: str) -> None:
        self._unpacked = bytearray()
        self._packed = self._pieces = 0
        self._unpack = None
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._unpack = zlib.decompressobj(32 + zlib.MAX_WBITS)
        elif encoding not in ("", "identity"):
            raise BadAnswer(f"the answer has the content encoding {encoding!r}; only gzip and deflate were asked for")

    def add(self, data: bytes) -> None:
        """Add the next piece as it was sent."""
        self._packed += len(data)
        self._pieces += 1
        if self._unpack is not None:
            try:
                data = self._unpack.decompress(data, MAX_BODY - len(self._unpacked) + 1)
            except zlib.error as error:
                raise BadAnswer(f"the answer cannot be decompressed: {error}") from None
        self._unpacked += data
        if max(len(self._unpacked), self._packed) > MAX_BODY:
            raise BadAnswer(too_large())
        if self._pieces > MAX_PIECES:
            raise BadAnswer(f"the answer has more than {MAX_PIECES} pieces; the rest was not read")

    def whole(self) -> bytes:
        """Return the whole body, once it is complete."""
        if self._unpack is not None and self._packed and not self._unpack.eof:
            raise BadAnswer("the answer cannot be decompressed: it ends too early")
        return bytes(self._unpacked)


def too_large() -> str:
    """Return the message for an answer over the size limit."""
    return f"the answer is over {MAX_BODY // (1024 * 1024)} MiB; the rest was not read"
