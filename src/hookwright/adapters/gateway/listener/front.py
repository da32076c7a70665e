"""The HTTP side of the gateway, as an ASGI application: POST for messages, GET for a stream, DELETE for the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from enum import Enum, auto
from types import MappingProxyType

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hookwright.adapters.gateway.listener.connection import Connection, Ended
from hookwright.adapters.gateway.listener.doors import Doors, turned_away
from hookwright.adapters.gateway.listener.replies import Reply
from hookwright.adapters.gateway.listener.sessions import Sessions, TooMany
from hookwright.adapters.gateway.messages import INVALID_REQUEST, SERVER_GONE, Batch, Message, Opaque, error, read
from hookwright.errors import HookwrightError

#: Bytes of a body, and seconds in which it must arrive.
MOST_BODY = 16 * 1024 * 1024
_BODY_LIMIT = 30.0
#: Seconds in which an answer that comes alone is sent as plain JSON, and seconds between signs of life in a stream.
_PATIENCE, _PING = 1.0, 15.0
PATH = "/mcp"
SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
#: The last version of the protocol, which are dates, that has sessions.
_LAST_WITH_SESSIONS = "2025-11-25"
_PARSE_ERROR = -32700
_NOT_OPEN = "this session is not open: initialize a new one"
_NO_STATUS: Mapping[int, int] = MappingProxyType({})


class Front:
    """The application: what each method does, for clients with a session and without one."""

    def __init__(self, doors: Doors, sessions: Sessions) -> None:
        self._doors = doors
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        answer = await self._answered(request, Exchange(scope, receive, send))
        if answer is not None:
            await answer(scope, receive, send)

    async def _answered(self, request: Request, exchange: Exchange) -> Response | None:
        """Return a plain answer; None if the exchange has answered."""
        turned = turned_away(self._doors, request.method, request.headers)
        if turned is not None:
            return _failed(turned.status, turned.why)
        if request.url.path.rstrip("/") != PATH:
            return _failed(404, f"the MCP endpoint is {PATH}")
        match request.method:
            case "POST":
                return await self._post(request, exchange)
            case "GET":
                return await self._get(request, exchange)
            case "DELETE":
                return await self._delete(request)
            case _:
                return Response(status_code=405, headers={"allow": "GET, POST, DELETE"})

    # ── POST ────────────────────────────────────────────────────────────────

    async def _post(self, request: Request, exchange: Exchange) -> Response | None:
        body = await _body(request)
        if isinstance(body, Response):
            return body
        found = read(body)
        if isinstance(found, Opaque) or (isinstance(found, Message) and not found.strict):
            return _failed(400, "the body is not a JSON-RPC message, or an array of them", _PARSE_ERROR)
        try:
            if request.headers.get(VERSION, "") > _LAST_WITH_SESSIONS:
                return await self._alone(request, found, exchange)
            if SESSION not in request.headers:
                return await self._greeting(found, exchange)
            return await self._handed(request, found, exchange)
        except Ended:
            return _failed(404, _NOT_OPEN)
        except TooMany as problem:
            return _failed(503, str(problem), SERVER_GONE)
        except HookwrightError as problem:
            return _failed(502, str(problem), SERVER_GONE)

    async def _greeting(self, found: Message | Batch, exchange: Exchange) -> Response | None:
        """Open a session for `initialize`; one whose server refuses the client, or whose client left, is ended."""
        if not isinstance(found, Message) or found.method != "initialize" or found.id is None:
            return _failed(400, f"the header {SESSION} is missing: only initialize comes without a session")
        name, connection = await self._sessions.open()
        welcome = False
        try:
            answer = await exchange.respond(connection, await connection.post(found), {SESSION: name})
            welcome = answer is not None and "result" in answer.value
        finally:
            if not welcome:
                await self._sessions.end(name)
        return None

    async def _handed(self, request: Request, found: Message | Batch, exchange: Exchange) -> Response | None:
        connection = self._sessions.get(request.headers[SESSION])
        if connection is None:
            return _no_session(request)
        try:
            reply = await connection.post(found)
        except ValueError as problem:
            return _failed(400, str(problem))
        if not reply.open and reply.empty:
            return Response(status_code=202)
        await exchange.respond(connection, reply)
        return None

    async def _alone(self, request: Request, found: Message | Batch, exchange: Exchange) -> Response | None:
        """Answer a request of the protocol without sessions; a client that closes the connection cancels it."""
        from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundLadderRejection, classify_inbound_request

        if not isinstance(found, Message):
            return _failed(400, "this version of the protocol has one message per request")
        if found.id is None or found.method is None:
            return Response(status_code=202)
        route = classify_inbound_request(found.value, headers=request.headers)
        if isinstance(route, InboundLadderRejection):
            text = error(found.id, route.code, route.message, route.data)
            return Response(text, ERROR_CODE_HTTP_STATUS.get(route.code, 400), media_type="application/json")
        connection = await self._sessions.shared()
        reply = await connection.post_alone(found)
        await exchange.respond(connection, reply, statuses=ERROR_CODE_HTTP_STATUS)
        await connection.cancel(exchange.unanswered)
        return None

    # ── GET and DELETE ──────────────────────────────────────────────────────

    async def _get(self, request: Request, exchange: Exchange) -> Response | None:
        connection = self._sessions.get(request.headers.get(SESSION, ""))
        if connection is None:
            return _no_session(request)
        reply = connection.stream()
        if reply is None:
            return _failed(409, "this session has a stream already")
        await exchange.stream(connection, reply)
        return None

    async def _delete(self, request: Request) -> Response:
        name = request.headers.get(SESSION, "")
        if self._sessions.get(name) is None:
            return _no_session(request)
        await self._sessions.end(name)
        return Response(status_code=200)


class Nothing(Enum):
    """Why there is no message."""

    YET = auto()
    MORE = auto()


class Exchange:
    """One HTTP request that is answered by messages as they come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._last: Message | None = None
        #: Requests that the client does not wait for any more.
        self.unanswered: list[str] = []

    async def respond(
        self,
        connection: Connection,
        reply: Reply,
        headers: Mapping[str, str] = MappingProxyType({}),
        statuses: Mapping[int, int] = _NO_STATUS,
    ) -> Message | None:
        """Answer a POST; return the last message that was sent.

        Law: an answer that is alone and comes soon is plain JSON; anything else is a stream of events.
        """
        gone = asyncio.create_task(self._until_gone())
        try:
            first = await _next(reply, gone, _PATIENCE)
            if isinstance(first, Message) and reply.alone(first):
                self._last = first
                status = statuses.get(_code(first), 200)
                answer = Response(first.raw, status, headers=headers, media_type="application/json")
                await answer(self._scope, self._receive, self._send)
            else:
                await self._events(reply, gone, headers, first)
        finally:
            gone.cancel()
            self.unanswered = connection.left(reply)
        return self._last

    async def stream(self, connection: Connection, reply: Reply) -> None:
        """Answer a GET until the session ends or the client leaves."""
        gone = asyncio.create_task(self._until_gone())
        try:
            await self._events(reply, gone, {}, Nothing.YET)
        finally:
            gone.cancel()
            connection.left(reply)

    async def _events(
        self, reply: Reply, gone: asyncio.Task[None], headers: Mapping[str, str], first: Message | Nothing
    ) -> None:
        async def events() -> AsyncIterator[bytes]:
            found = first
            while found is not Nothing.MORE:
                if isinstance(found, Message):
                    self._last = found
                    yield b"event: message\ndata: " + found.raw.strip() + b"\n\n"
                else:
                    yield b": still here\n\n"
                found = await _next(reply, gone, _PING)

        more = [(name.encode(), value.encode()) for name, value in headers.items()]
        kind = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
        await self._send({"type": "http.response.start", "status": 200, "headers": [*kind, *more]})
        async for data in events():
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def _next(reply: Reply, gone: asyncio.Task[None], seconds: float) -> Message | Nothing:
    """Wait for a message, the end of the reply, the end of the client, or a while."""
    getting = asyncio.ensure_future(reply.next())
    try:
        await asyncio.wait({getting, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result() or Nothing.MORE
        return Nothing.MORE if gone.done() else Nothing.YET
    finally:
        getting.cancel()


async def _body(request: Request) -> bytes | Response:
    """Read a body, bounded in size and time, as one line: outside its strings JSON has no meaning for line ends."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_LIMIT):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > MOST_BODY:
                    return _failed(413, f"the body is larger than {MOST_BODY} bytes")
    except TimeoutError:
        return _failed(408, f"the body did not arrive within {_BODY_LIMIT:.0f} seconds")
    except ClientDisconnect:
        return Response(status_code=400)
    return b"".join(parts).replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


def _code(message: Message) -> int:
    match message.value.get("error"):
        case {"code": int(code)}:
            return code
    return 0


def _failed(status: int, why: str, code: int = INVALID_REQUEST) -> Response:
    return Response(error(None, code, why), status, media_type="application/json")


def _no_session(request: Request) -> Response:
    if SESSION not in request.headers:
        return _failed(400, f"the header {SESSION} is missing")
    return _failed(404, _NOT_OPEN)
