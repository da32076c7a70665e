"""WebFetch: the text of a web page. Off unless enabled by name."""

from __future__ import annotations

import asyncio
import http.client
import re
import time
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import msgspec

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.errors import ModelError
from hookwright.protocol.jsontext import Json
from hookwright.text import cut_middle

TIMEOUT = 30.0
MAX_BYTES = 5 * 1024 * 1024
MAX_TEXT = 100_000
MAX_REDIRECTS = 5
_READABLE = ("text/", "application/json", "application/xml", "application/xhtml+xml", "application/javascript")


class Unfetched(Exception):
    """A page that cannot be fetched; the message is for the model."""


class _Page(msgspec.Struct, frozen=True):
    url: str
    code: int
    reason: str
    kind: str
    data: bytes
    charset: str


async def run(arguments: Input, context: ToolContext) -> ToolResult:
    """Fetch the page, turn it into text and, if there is a model, ask it the question."""
    started = time.perf_counter()
    try:
        page = await asyncio.to_thread(_fetch, arguments["url"], dict(context.env))
        text = cut_middle(await asyncio.to_thread(_text, page), MAX_TEXT)
        result = text if context.ask_model is None else await context.ask_model(arguments["prompt"], text)
    except (Unfetched, ModelError) as problem:
        return failed(str(problem))
    response = {
        "bytes": len(page.data),
        "code": page.code,
        "codeText": page.reason,
        "result": result,
        "durationMs": round((time.perf_counter() - started) * 1000),
        "url": page.url,
    }
    return ToolResult(response, render(response))


def _fetch(url: str, env: Mapping[str, str]) -> _Page:
    host = _host(url)
    for _ in range(MAX_REDIRECTS + 1):
        page, onward = _get(url, env)
        if onward is None:
            return page
        if _host(onward) != host:
            raise Unfetched(f"{url} redirects to another host: {onward}\nFetch that address if you want to follow it.")
        url = onward
    raise Unfetched(f"{url}: more than {MAX_REDIRECTS} redirects")


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise Unfetched(f"{url} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Unfetched(f"{url} is not a web address; use one that starts with http:// or https://.")
    return host


def _get(url: str, env: Mapping[str, str]) -> tuple[_Page, str | None]:
    from urllib import request  # imported here: it takes milliseconds, and few sessions fetch anything

    # Only these handlers: no files, no ftp; redirects and error statuses are returned unchanged.
    opener = request.OpenerDirector()
    proxies = {name: env[key] for name in ("http", "https") for key in (f"{name}_proxy",) if key in env}
    for handler in (request.ProxyHandler(proxies), request.HTTPHandler(), request.HTTPSHandler()):
        opener.add_handler(handler)
    asked = request.Request(url, headers={"User-Agent": "hookwright", "Accept": "text/html, text/*, application/json"})
    try:
        with opener.open(asked, timeout=TIMEOUT) as answer:
            data = answer.read(MAX_BYTES + 1)
            headers, code, reason = answer.headers, answer.status, answer.reason
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unfetched(f"{url} could not be fetched: {error}") from None
    if len(data) > MAX_BYTES:
        raise Unfetched(f"{url} has more than {MAX_BYTES:,} bytes")
    target = headers.get("Location") if code in (301, 302, 303, 307, 308) else None
    page = _Page(url, code, reason, headers.get_content_type(), data, headers.get_content_charset("utf-8"))
    return page, None if target is None else urljoin(url, target)


def _text(page: _Page) -> str:
    if not page.kind.startswith(_READABLE):
        raise Unfetched(f"{page.url} is {page.kind}, not text")
    try:
        text = page.data.decode(page.charset, "replace")
    except LookupError:
        text = page.data.decode("utf-8", "replace")
    return text_of_html(text) if page.kind in ("text/html", "application/xhtml+xml") else text


class _TextReader(HTMLParser):
    """Collects the visible text of a page."""

    HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe"})
    BREAKS = re.compile(
        "address|article|aside|blockquote|br|d[dlt]|div|figure|footer|form|h[1-6r]|header|li|main|nav|[ou]l|p|pre|section"
        "|t[dhr]|table|title"
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's
        self._hidden += tag in self.HIDDEN
        if self.BREAKS.fullmatch(tag):
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self.HIDDEN and self._hidden > 0
        if self.BREAKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(" ".join(data.split("\n")))


def text_of_html(html: str) -> str:
    """Return the text of a page, one line per block."""
    reader = _TextReader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line and line != "-")


def render(response: Json) -> str:
    """Return the text, with an error status above it."""
    result = str(response["result"])
    code = response.get("code", 200)
    return result if code < 400 else f"HTTP {code} {response.get('codeText', '')}\n{result}"


WEB_FETCH = Tool(
    name="WebFetch",
    description="Fetch a web page and answer a question about it, or return its text.",
    parameters=parameters(
        {
            "url": {"type": "string", "description": "an http or https address"},
            "prompt": {"type": "string", "description": "what you want to know from the page"},
        }
    ),
    effect=Effect.OTHER,
    run=run,
    output=shape(
        {"result": "string"},
        {"bytes": "number", "code": "number", "codeText": "string", "durationMs": "number", "url": "string"},
    ),
    render=render,
    by_default=False,
)
