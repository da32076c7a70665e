"""A real HTTP server on 127.0.0.1 that answers with the bytes a test wants, well-formed or not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from hookwright.executors.http import HttpExecutor
from hookwright.protocol.handlers import HttpHandler
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Reply
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode_event
from support import event, open_fds

USER = Source(Scope.USER)
PROJECT = Source(Scope.PROJECT, from_project=True)
ENV = {"MY_TOKEN": "tok-value", "OTHER": "other-value", "EVIL": "a\r\nX-Injected: 1\0", "LATIN": "caf\udce9"}


class Request(msgspec.Struct, frozen=True):
    """A request as it came over the wire."""

    line: str
    headers: dict[str, str]
    #: Header lines exactly as sent, with repetitions and case.
    raw: list[str]
    body: bytes


Answer = Callable[[Request, asyncio.StreamWriter], Coroutine[Any, Any, None]]


def answer(
    body: bytes | str = b"", status: str = "200 OK", headers: tuple[str, ...] = ("Content-Type: application/json",)
) -> Answer:
    """Make a plain answer with a length."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", *headers]
    if not status.startswith("204"):
        lines.append(f"Content-Length: {len(data)}")
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + data)


def raw(data: bytes) -> Answer:
    """Make an answer of these bytes."""

    async def write(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return write


class Server:
    """Serves one answer for every request and remembers what it saw."""

    def __init__(self, respond: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        self.connections = 0
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.port = 0
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/hook"

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._client, "127.0.0.1", 0, ssl=self._tls, backlog=256)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until_idle(self) -> None:
        """Wait until every client went away."""
        async with asyncio.timeout(5):
            await self._idle.wait()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self._open += 1
        self._idle.clear()
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                await _while_there(self.respond(request, writer), reader)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()
            self._tasks.discard(task)
            writer.transport.abort()


async def _while_there(work: Coroutine[Any, Any, None], reader: asyncio.StreamReader) -> None:
    """Stop answering when the client went away."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=0.01)
            if reader.at_eof() or reader.exception():
                break
    finally:
        task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *lines = head.decode("utf-8", "surrogateescape").rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line, headers, lines, body)


# ── the executor under test ──


def job(url: str, source: Source = USER, **fields: Any) -> Job:
    """Make the job of one HTTP handler."""
    fired = event("PreToolUse")
    return Job(HttpHandler(source=source, url=url, **fields), fired, encode_event(fired), 0, "run-1", 5.0)


def executor(
    urls: list[str] | None = None, env: list[str] | None = None, tls: ssl.SSLContext | None = None
) -> HttpExecutor:
    """Make an executor with the test environment."""
    return HttpExecutor(ENV, urls, env, tls=tls)


def ask(respond: Answer, **fields: Any) -> tuple[Reply, Server]:
    """Ask a server once."""

    async def main() -> tuple[Reply, Server]:
        async with Server(respond) as server:
            run = executor()
            try:
                async with asyncio.timeout(10):
                    return await run(job(server.url, **fields)), server
            finally:
                await run.aclose()

    return asyncio.run(main())


def with_server(respond: Answer, work: Callable[[Server, HttpExecutor], Awaitable[None]]) -> None:
    """Work with a server and one executor; afterwards no descriptor and no task may be left."""
    before = open_fds()

    async def main() -> None:
        async with Server(respond) as server:
            run = executor()
            await work(server, run)
            await run.aclose()
            await server.until_idle()
            assert len(asyncio.all_tasks()) == 1

    async def quick() -> None:
        pass

    asyncio.run(quick())
    asyncio.run(main())
    assert open_fds() <= before
