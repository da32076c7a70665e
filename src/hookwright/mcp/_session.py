"""One connection to one MCP server, through the official SDK; imported only when a server is first needed."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar, assert_never

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext, Transport
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
)

from hookwright._version import __version__
from hookwright.mcp._host import host_transport
from hookwright.mcp.values import (
    CallFailed,
    Elicit,
    ElicitationRequest,
    HostServer,
    HttpServer,
    McpTool,
    McpToolResult,
    ServerConfig,
    ServerUnavailable,
    SseServer,
    StdioServer,
)
from hookwright.protocol.jsontext import Json

_TAIL = 2000
_LINES = 3
_PAGES = 100
#: Seconds: an answer may take as long as its caller waits.
_NO_END = 365 * 86_400.0
_T = TypeVar("_T")


class McpSession:
    """A server and the task that opened it: the SDK's scopes must be exited by the task that entered them."""

    def __init__(self, name: str, config: ServerConfig, env: Mapping[str, str], cwd: str, limit: float) -> None:
        self._name = name
        self._config = config
        self._env = env
        self._cwd = cwd
        self._limit = limit
        self._stderr: _Tail | None = None
        self._asking: list[Elicit] = []
        self._over = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(), name=f"mcp server {name}")

    @property
    def alive(self) -> bool:
        """Whether the session is open or opening."""
        return not self._over.is_set()

    async def tools(self) -> tuple[McpTool, ...]:
        """List the server's tools, page by page."""
        client = await asyncio.shield(self._opened)
        found: list[McpTool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._request("tools/list", client.list_tools(cursor=cursor))
            found += [_tool(self._name, each.model_dump(by_alias=True, exclude_none=True)) for each in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        return tuple(found)

    async def call(self, tool: str, arguments: Mapping[str, Json], on_elicitation: Elicit | None) -> McpToolResult:
        """Call a tool; its elicitations go to `on_elicitation`, or are cancelled without one."""
        client = await asyncio.shield(self._opened)
        if on_elicitation is not None:
            self._asking.append(on_elicitation)
        try:
            return _result(await self._request(f"tool `{tool}`", client.call_tool(tool, dict(arguments))))
        finally:
            if on_elicitation is not None:
                self._asking.remove(on_elicitation)

    async def close(self) -> None:
        """End the session and, with it, the server's process."""
        self._over.set()
        if not self._opened.done():
            self._task.cancel()
        await asyncio.wait({self._task})

    async def _request(self, what: str, work: Awaitable[_T]) -> _T:
        try:
            return await work
        except MCPError as error:
            if self._ended_with(error):
                self._over.set()
                raise self._unavailable(f"closed the connection during {what}") from None
            raise CallFailed(f"MCP server `{self._name}` refused {what}: {error}") from None
        except Exception as error:  # the SDK validates answers, and raises many kinds of errors
            raise CallFailed(f"MCP server `{self._name}`, {what}: {_leaf(error)}") from None

    def _ended_with(self, error: MCPError) -> bool:
        """Return whether the connection ended, as opposed to a refusal; over HTTP only the error shows it."""
        if not self.alive:
            return True
        gone = error.code == CONNECTION_CLOSED or error.message == "Session terminated"
        return gone and isinstance(self._config, HttpServer)

    def _unavailable(self, reason: str) -> ServerUnavailable:
        said = self._stderr.text() if self._stderr is not None else ""
        return ServerUnavailable(f"MCP server `{self._name}` {reason}" + (f"; it said: {said}" if said else ""))

    async def _elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002
        """Pass an elicitation to the newest call that can answer: the protocol does not name the call."""
        if not self._asking:
            return ElicitResult(action="cancel")
        form = params if isinstance(params, ElicitRequestFormParams) else None
        url = None if isinstance(params, ElicitRequestFormParams) else params
        answer = await self._asking[-1](
            ElicitationRequest(
                self._name,
                params.message,
                params.mode,
                form.model_dump(by_alias=True, exclude_none=True)["requestedSchema"] if form is not None else None,
                url.url if url is not None else None,
                url.elicitation_id if url is not None else None,
            )
        )
        content = dict(answer.content) if answer.action == "accept" and answer.content is not None else None
        return ElicitResult.model_validate({"action": answer.action, "content": content})

    # ── the owning task ─────────────────────────────────────────────────────

    async def _own(self) -> None:
        deadline = asyncio.get_running_loop().call_later(self._limit, self._expire)
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(self._connection(await self._transport(stack)))
                deadline.cancel()
                if not self._opened.done():
                    self._opened.set_result(client)
                await self._over.wait()
        except Exception as error:  # the SDK and the server may raise anything, and this task has no waiter
            self._fail(f"could not be reached: {_leaf(error)}")
        finally:
            deadline.cancel()
            self._over.set()
            self._fail("was closed before it answered")

    def _expire(self) -> None:
        """Answer the waiting caller at the time limit; ending a hanging process takes longer."""
        self._fail(f"did not answer within {self._limit:g} s (MCP_TIMEOUT)")
        self._over.set()
        self._task.cancel()

    def _fail(self, reason: str) -> None:
        if not self._opened.done():
            self._opened.set_exception(self._unavailable(reason))
            self._opened.exception()  # retrieved, even if the caller was cancelled meanwhile

    def _connection(self, transport: Transport) -> Client:
        return Client(
            _watched(transport, self._over.set),
            client_info=Implementation(name="hookwright", version=__version__),
            elicitation_callback=self._elicit,
        )

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        match self._config:
            case StdioServer(command=command, args=args, env=env):
                self._stderr = _Tail()
                stack.callback(self._stderr.close)
                whole = {**self._env, **dict(env)}
                parameters = StdioServerParameters(command=command, args=list(args), env=whole, cwd=self._cwd)
                return stdio_client(parameters, errlog=self._stderr.file)
            case HttpServer(url=url, headers=headers):
                # An answer may take as long as its caller waits; only connecting has its own limit.
                http = httpx2.AsyncClient(headers=dict(headers), timeout=httpx2.Timeout(self._limit, read=None))
                return streamable_http_client(url, http_client=await stack.enter_async_context(http))
            case SseServer(url=url, headers=headers):
                return sse_client(url, dict(headers), timeout=self._limit, sse_read_timeout=_NO_END)
            case HostServer(carry=carry):
                if carry is None:
                    raise ServerUnavailable("it lives in a host program, and none is connected")
                return host_transport(self._name, carry)
        assert_never(self._config)


class _Tail:
    """The end of a process's stderr, kept for the message when it dies."""

    def __init__(self) -> None:
        self._pipe, write = os.pipe()
        os.set_blocking(self._pipe, False)
        self.file = os.fdopen(write, "w")
        self._kept = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._pipe, self._drain)

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._kept = (self._kept + os.read(self._pipe, 65536))[-_TAIL:]

    def text(self) -> str:
        """Return the last lines that are not empty."""
        if not self.file.closed:
            self._drain()
        lines = [line.strip() for line in self._kept.decode("utf-8", "replace").splitlines()]
        return " / ".join([line for line in lines if line][-_LINES:])

    def close(self) -> None:
        """Keep the text and close the pipe."""
        self._drain()
        self._loop.remove_reader(self._pipe)
        self.file.close()
        os.close(self._pipe)


@asynccontextmanager
async def _watched(transport: Transport, ended: Callable[[], None]) -> AsyncGenerator[Any, None]:
    """Call `ended` when the server's side of a transport ends; the SDK reports it only at the next request."""
    async with transport as (read, write):
        yield _Watched(read, ended), write


class _Watched:
    """A read stream that reports its end."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:  # an end, an error or a cancellation: the dispatcher reads no further after any of them
            self._ended()
            raise

    async def __aenter__(self) -> _Watched:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


def _tool(server: str, raw: Mapping[str, Json]) -> McpTool:
    return McpTool(
        server=server,
        name=raw["name"],
        description=raw.get("description", ""),
        input_schema=raw["inputSchema"],
        output_schema=raw.get("outputSchema"),
        annotations=raw.get("annotations", {}),
    )


def _result(raw: CallToolResult) -> McpToolResult:
    blocks = (block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in raw.content)
    return McpToolResult(tuple(blocks), raw.structured_content, raw.is_error)


def _leaf(error: BaseException) -> str:
    """Return the message of the innermost exception in the SDK's exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error) or type(error).__name__
