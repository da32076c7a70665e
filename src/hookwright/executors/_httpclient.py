"""One POST over a kept-alive connection: pooled, bounded, pinned to the checked address.

h11 implements the protocol. Proxies are not used, redirects are not followed, and nothing here depends on hooks.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Sequence

import h11

from hookwright.executors._httpguard import HttpTarget, RefusedAddress
from hookwright.executors._httpwire import MAX_BODY, AddressRefused, BadAnswer, Body, HttpResponse, Wire, too_large

MAX_HEAD = 64 * 1024
MAX_IDLE = 16
IDLE_SECONDS = 60.0
#: A dead address must not use up the time of the next one.
CONNECT_SECONDS = 3.0
_INTERIM_LIMIT = 8

#: Checks a host and the addresses it resolved to, and may refuse them.
Guard = Callable[[str, Sequence[str]], RefusedAddress | None]
Headers = Sequence[tuple[bytes, bytes]]


class _Stale(Exception):
    """A kept connection ended before the first byte of the answer."""


class HttpClient:
    """Sends POSTs and keeps connections between them; belongs to one event loop at a time."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: dict[tuple[str, str, int], list[_Connection]] = {}
        self._closed = False

    async def post(self, target: HttpTarget, headers: Headers, body: bytes, guard: Guard) -> HttpResponse:
        """Send one request and read its answer; raise OSError, AddressRefused or BadAnswer."""
        kept = self._take(target, guard)
        if kept is not None:
            try:
                return await self._exchange(kept, target, headers, body)
            except _Stale:
                pass  # the server just ended the idle connection; a guard must not fail because of that
        connection = await self._connect(target, guard)
        try:
            return await self._exchange(connection, target, headers, body)
        except _Stale:
            raise ConnectionResetError("the server closed the connection without an answer") from None

    async def aclose(self) -> None:
        """Close every kept connection; one in use is closed when its exchange ends."""
        self._closed = True
        kept = [connection for group in self._idle.values() for connection in group]
        self._idle.clear()
        for connection in kept:
            connection.abort()
        for connection in kept:
            await connection.wire.lost

    # ── connections ─────────────────────────────────────────────────────────

    def _take(self, target: HttpTarget, guard: Guard) -> _Connection | None:
        """Find a kept connection that is still good; the guard checks its address again."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # Transports of a closed loop can no longer be closed; dropping them closes their sockets.
            self._idle, self._loop = {}, loop
        group = self._idle.get((target.scheme, target.host, target.port), [])
        while group:
            connection = group.pop()
            if connection.wire.quiet and time.monotonic() - connection.since < IDLE_SECONDS:
                try:
                    _check(guard, target.hostname, [connection.address])
                except AddressRefused:
                    group.append(connection)
                    raise
                return connection
            connection.abort()
        return None

    def _keep(self, connection: _Connection, target: HttpTarget) -> None:
        group = self._idle.setdefault((target.scheme, target.host, target.port), [])
        if self._closed or len(group) >= MAX_IDLE or not connection.renew():
            connection.abort()
        else:
            group.append(connection)

    async def _connect(self, target: HttpTarget, guard: Guard) -> _Connection:
        host = target.hostname
        _check(guard, host, [])
        addresses = await _resolve(host, target.port)
        _check(guard, host, addresses)
        context = await self._tls() if target.scheme == "https" else None
        failure: OSError = OSError(f"{host} has no address")
        for position, address in enumerate(addresses):
            last = position == len(addresses) - 1
            try:
                async with asyncio.timeout(None if last else CONNECT_SECONDS):
                    return await _Connection.open(address, target, context)
            except OSError as error:  # TimeoutError is one
                failure = error
        raise failure

    async def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = await asyncio.to_thread(ssl.create_default_context)
        return self._context

    async def _exchange(
        self, connection: _Connection, target: HttpTarget, headers: Headers, body: bytes
    ) -> HttpResponse:
        try:
            response = await connection.exchange(target, headers, body)
        except BaseException:  # a cancellation also interrupts it
            connection.abort()
            raise
        self._keep(connection, target)
        return response


def _check(guard: Guard, host: str, addresses: Sequence[str]) -> None:
    refused = guard(host, addresses)
    if refused is not None:
        raise AddressRefused(refused.message)


async def _resolve(host: str, port: int) -> list[str]:
    """List the addresses of a host, each once, in the resolver's order."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class _Connection:
    """One socket to one address, with the state of its HTTP conversation."""

    def __init__(self, wire: Wire, address: str) -> None:
        self._talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self.wire = wire
        self.address = address
        self.since = 0.0

    @classmethod
    async def open(cls, address: str, target: HttpTarget, context: ssl.SSLContext | None) -> _Connection:
        """Connect to the address itself, so a second look-up cannot lead elsewhere."""
        loop = asyncio.get_running_loop()
        name = target.hostname if context is not None else None
        _, wire = await loop.create_connection(Wire, address, target.port, ssl=context, server_hostname=name)
        return cls(wire, address)

    def abort(self) -> None:
        """Close the socket now, also during an exchange."""
        self.wire.transport.abort()

    def renew(self) -> bool:
        """Prepare for the next request; return False if this was the last one."""
        talk, transport = self._talk, self.wire.transport
        if talk.our_state is not h11.DONE or talk.their_state is not h11.DONE or talk.trailing_data[0]:
            return False
        if not self.wire.quiet or transport.get_write_buffer_size():
            return False
        talk.start_next_cycle()
        self.since = time.monotonic()
        return True

    async def exchange(self, target: HttpTarget, headers: Headers, body: bytes) -> HttpResponse:
        """Send a POST and read the answer; the body is read for a 2xx only."""
        talk = self._talk
        request = h11.Request(method="POST", target=target.path, headers=list(headers))
        parts = (talk.send(request), talk.send(h11.Data(data=body)), talk.send(h11.EndOfMessage()))
        # Not drained: a server may answer before it has read everything.
        self.wire.transport.write(b"".join(part for part in parts if part))
        try:
            head = await self._head()
            if not 200 <= head.status_code < 300:
                self._skip_buffered()
                return HttpResponse(head.status_code)
            return HttpResponse(head.status_code, await self._body(head))
        except h11.RemoteProtocolError as error:
            raise BadAnswer(f"the answer is not valid HTTP: {error}") from None

    async def _head(self) -> h11.Response:
        interim, heard = 0, False
        while True:
            event = self._talk.next_event()
            if event is h11.NEED_DATA:
                try:
                    data = await self.wire.read()
                except OSError:
                    if heard:
                        raise
                    data = b""
                if not data and not heard:
                    raise _Stale
                heard = True
                self._talk.receive_data(data)
            elif isinstance(event, h11.Response):
                return event
            else:
                interim += 1
                if interim > _INTERIM_LIMIT:
                    raise BadAnswer("the server keeps sending interim answers")

    async def _body(self, head: h11.Response) -> bytes:
        body = Body(_header(head, b"content-encoding"))
        length = _header(head, b"content-length")
        if length.isdigit() and int(length[:20]) > MAX_BODY:
            raise BadAnswer(too_large())
        while True:
            event = self._talk.next_event()
            if event is h11.NEED_DATA:
                self._talk.receive_data(await self.wire.read())
            elif isinstance(event, h11.Data):
                body.add(bytes(event.data))
            else:
                return body.whole()

    def _skip_buffered(self) -> None:
        """Read what has already arrived, so the connection can be kept if that was all."""
        with contextlib.suppress(h11.RemoteProtocolError):
            while isinstance(self._talk.next_event(), h11.Data):
                pass


def _header(head: h11.Response, name: bytes) -> str:
    return next((value.decode("latin-1").strip().lower() for key, value in head.headers if key == name), "")
