"""The routes of the console, its stream and its headers."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import importlib.resources
import os
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from hookwright._version import __version__
from hookwright.errors import HookwrightError
from hookwright.protocol.jsontext import Json
from hookwright.web import views
from hookwright.web.door import HEADERS, Door, judge
from hookwright.web.traffic import FIELDS, Traffic
from hookwright.web.views import Console

Scope: TypeAlias = MutableMapping[str, object]
Message: TypeAlias = MutableMapping[str, object]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

#: Pages that may follow the traffic at once.
STREAMS = 8
#: Seconds between two looks at the files while a page is open, and while none is.
_LOOK, _REST = 0.03, 1.0
#: Seconds between two signs of life, and those that a page may take to read.
_ALIVE, _PATIENCE = 15.0, 30.0
#: Rows of one frame; a page that was away gets several.
_FRAME = 5000
_PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8") for name in ("main", "rows", "show", "ask")},
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


class Guarded:
    """Everything outside the application: the door and the headers."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what the door lets pass; a socket is never opened."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]  # type: ignore[misc]
            await send(message)

        turned = judge(self._door, str(scope["method"]), str(scope["path"]), scope["headers"])  # type: ignore[arg-type]
        if turned is not None:
            await PlainTextResponse(turned.why + "\n", turned.status)(scope, receive, sent)
            return
        await self._app(scope, receive, sent)


class Watch:
    """Looks at the files, and wakes the streams when something came."""

    def __init__(self, console: Console) -> None:
        self.console = console
        #: Told apart from another run of the console: row numbers are only valid within one.
        self.boot = os.urandom(6).hex()
        self.pages = 0
        self._news = asyncio.Event()
        self._opened = asyncio.Event()
        #: The console closes: streams end by themselves.
        self.ended = False

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            touched = self.console.wires.poll()
            for record in self.console.wires.observed():
                self.console.traffic.observe(record)
            if self.console.traffic.poll() or touched:
                self._news.set()
                self._news = asyncio.Event()
            if self.pages:
                await asyncio.sleep(_LOOK)
            else:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._opened.wait(), _REST)
                self._opened.clear()

    def end(self) -> None:
        """Let every stream end."""
        self.ended = True
        self._news.set()

    async def news(self, seconds: float) -> None:
        """Wait until something came, or some seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    @contextlib.contextmanager
    def page(self) -> Iterator[None]:
        """Count an open page."""
        self.pages += 1
        self._opened.set()
        try:
            yield
        finally:
            self.pages -= 1


class Stream:
    """Rows as they come, as server-sent events; the page reads them with `fetch`, which can send a header.

    Law: a stream has no queue. It knows which change it sent last, so a slow page costs nothing but its own delay, and
    one that does not read for half a minute is closed and may continue where it was.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the page leaves."""
        request = Request(scope, receive)
        if self._watch.pages >= STREAMS:
            text = f"{STREAMS} pages are open; close one of them\n"
            await PlainTextResponse(text, 503)(scope, receive, send)
            return
        with self._watch.page():
            left = asyncio.ensure_future(_left(receive))
            sending = asyncio.ensure_future(self._send(request, send))
            try:
                await asyncio.wait((left, sending), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (left, sending):
                    task.cancel()
                await asyncio.gather(left, sending, return_exceptions=True)

    async def _send(self, request: Request, send: Send) -> None:
        async def part(data: bytes) -> None:
            await asyncio.wait_for(send({"type": "http.response.body", "body": data, "more_body": True}), _PATIENCE)

        traffic, watch = self._watch.console.traffic, self._watch
        same = request.query_params.get("boot") == watch.boot
        at = _number(request.query_params.get("after")) if same else 0
        names = _number(request.query_params.get("names")) if same else 0
        head = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        running: list[dict[str, Json]] | None = None
        while not watch.ended:
            at, names, frame = changes(traffic, watch.boot, at, names)
            now = watch.console.wires.running()
            if frame or now != running:
                running = now
                await part(_event(at, frame | {"running": [views.clean(record) for record in now]}))
            elif at >= len(traffic.changes):
                await part(b": alive\n\n")
            if at >= len(traffic.changes):
                await watch.news(_ALIVE)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def changes(traffic: Traffic, boot: str, at: int, names: int) -> tuple[int, int, dict[str, Json]]:
    """Return what came after a change: the new place, the number of names, and the frame; it is empty for nothing."""
    known = len(traffic.names.texts)
    numbers = list(dict.fromkeys(traffic.changes[at : at + _FRAME]))
    end = min(at + _FRAME, len(traffic.changes))
    if not numbers:
        return end, known if at else names, {}
    frame: dict[str, Json] = {
        "boot": boot,
        "at": end,
        "from": names,
        "names": traffic.names.texts[names:],
        "rows": [[number, *traffic.rows[number]] for number in numbers],
        "gaps": traffic.gaps,
    }
    return end, known, frame


def _event(at: int, frame: Json) -> bytes:
    return b"id: %d\ndata: " % at + msgspec.json.encode(frame) + b"\n\n"


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 12 else 0


def application(console: Console, watch: Watch, door: Door) -> Guarded:
    """Return the whole application, behind its door."""

    async def page(request: Request) -> Response:
        name, kind = _PAGE[request.url.path]
        data = importlib.resources.files("hookwright.web").joinpath("page", name).read_bytes()
        return Response(data, media_type=kind)

    async def about(request: Request) -> Response:
        facts = {"version": __version__, "boot": watch.boot, "fields": list(FIELDS)}
        return answer(request, facts | {"project": console.places.project, "posts": sorted(door.posts)})

    def asked(view: Callable[[Request], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                return answer(request, await run_in_threadpool(view, request))
            except HookwrightError as error:
                return PlainTextResponse(str(error) + "\n", 422)
            except (IndexError, ValueError):
                return PlainTextResponse("there is no such row; load the page again\n", 404)

        return endpoint

    def project(request: Request) -> str | None:
        return request.query_params.get("project")

    def row(request: Request) -> int:
        return int(request.path_params["number"])

    paths: dict[str, Callable[[Request], Json]] = {
        "/api/event/{number:int}": lambda request: views.detail(console, row(request)),
        "/api/explain/{number:int}": lambda request: views.explained(console, row(request)),
        "/api/search": lambda request: console.traffic.search(request.query_params.get("q", "")[:200]),
        "/api/sessions": lambda _: views.sessions(console),
        "/api/hooks": lambda request: views.hooks(console, project(request)),
        "/api/hooks/{number:int}": lambda request: views.script(console, project(request), row(request)),
        "/api/trust": lambda request: views.trust(console, project(request)),
    }
    routes = [
        *(Route(path, page) for path in _PAGE),
        Route("/api/about", about),
        Route("/api/stream", Stream(watch)),
        *(Route(path, asked(view)) for path, view in paths.items()),
    ]
    return Guarded(Starlette(routes=routes), door)


def answer(request: Request, value: Json) -> Response:
    """Return a value as JSON, compressed if that is worth it and the page can read it."""
    data = msgspec.json.encode(value)
    if len(data) < 4096 or "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(data, media_type="application/json")
    packed = gzip.compress(data, 5)
    return Response(packed, media_type="application/json", headers={"content-encoding": "gzip"})
