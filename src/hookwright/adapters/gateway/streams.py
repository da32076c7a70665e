"""The client's side: lines from stdin and to stdout, which may be any kind of file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable

_CHUNK = 65_536


async def lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Split chunks into lines of any length, each with its end; the last one may have none."""
    begun: list[bytes] = []
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join((*begun, line, b"\n"))
            begun.clear()
        if rest:
            begun.append(rest)
    if begun:
        yield b"".join(begun)


class Inlet:
    """A file that is read in a daemon thread: it may be of any kind, and it may not end."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        #: One chunk at a time: a client that sends faster than the server reads has to wait.
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(1)
        threading.Thread(target=self._read, name="hookwright-mcp-in", daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):  # the loop has ended
            while True:
                try:
                    chunk = os.read(self._file, _CHUNK)
                except OSError:  # as good as its end
                    chunk = b""
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), self._loop).result()
                if not chunk:
                    return

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what arrives until the end."""
        while chunk := await self._chunks.get():
            yield chunk


class Outlet:
    """A file that is written in a daemon thread, in the order of `send`; its reader may be slow, or leave."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        #: Set when the reader has left.
        self.lost = asyncio.Event()
        threading.Thread(target=self._write, name="hookwright-mcp-out", daemon=True).start()

    async def send(self, data: bytes) -> None:
        """Write, and wait until it is written; afterwards nothing is, if the reader has left."""
        done = self._loop.create_future()
        self._queue.put((data, done))
        await done

    def reader_left(self) -> bool:
        """Return whether nothing reads this file any more."""
        poll = select.poll()
        poll.register(self._file, 0)
        return self.lost.is_set() or any(found & (select.POLLERR | select.POLLHUP) for _, found in poll.poll(0))

    def _write(self) -> None:
        write: Callable[[bytes], None] = self._whole
        with contextlib.suppress(RuntimeError):  # the loop has ended
            while True:
                data, done = self._queue.get()
                try:
                    write(data)
                except OSError:
                    write = _dropped
                    self._loop.call_soon_threadsafe(self.lost.set)
                self._loop.call_soon_threadsafe(_finish, done)

    def _whole(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._file, left) :]
            except BlockingIOError:  # the other side made it non-blocking
                select.select([], [self._file], [])


def _dropped(data: bytes) -> None:
    """Write nothing: the reader has left."""


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
