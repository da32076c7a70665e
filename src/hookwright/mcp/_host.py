"""The transport to a server inside the host program: each message goes out as a request of the control protocol."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter

from hookwright.mcp.values import Carry
from hookwright.protocol.jsontext import Json

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def host_transport(name: str, carry: Carry) -> AsyncGenerator[Streams, None]:
    """Open the two streams of a session; notifications keep their order, requests are answered as they come."""
    answers, read = anyio.create_memory_object_stream[SessionMessage | Exception](100)
    write, messages = anyio.create_memory_object_stream[SessionMessage](100)

    async def ask(message: JSONRPCRequest) -> None:
        answer = await _answer(name, carry, message)
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the session is over
            await answers.send(answer)

    async def pump(group: anyio.abc.TaskGroup) -> None:
        async for message in messages:
            if isinstance(message.message, JSONRPCRequest):
                group.start_soon(ask, message.message)
            else:
                with contextlib.suppress(Exception):  # nothing waits for the answer to a notification
                    await carry(name, _wire(message.message))

    async with answers, read, write, messages, anyio.create_task_group() as group:
        group.start_soon(pump, group)
        try:
            yield read, write
        finally:
            group.cancel_scope.cancel()


async def _answer(name: str, carry: Carry, request: JSONRPCRequest) -> SessionMessage:
    try:
        return SessionMessage(
            jsonrpc_message_adapter.validate_python(dict(await carry(name, _wire(request))), by_name=False)
        )
    except Exception as error:  # the host may be gone, or answer with something else
        data = ErrorData(code=INTERNAL_ERROR, message=str(error) or type(error).__name__)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=data))


def _wire(message: JSONRPCMessage) -> Mapping[str, Json]:
    found: dict[str, Json] = message.model_dump(by_alias=True, mode="json", exclude_none=True)
    return found
