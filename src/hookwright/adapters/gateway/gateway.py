"""The gateway: routes every message between a client and a server, and takes the few it owns through hooks."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine

from hookwright.adapters.gateway.calls import Ports, ToolCall
from hookwright.adapters.gateway.elicitations import Elicitations
from hookwright.adapters.gateway.hooks import Hooks, HooksFailed
from hookwright.adapters.gateway.messages import (
    CALL,
    INVALID_REQUEST,
    SERVER_GONE,
    Batch,
    Message,
    Opaque,
    error,
    hides_call,
    notification,
    read,
    request,
)
from hookwright.adapters.gateway.questions import Rounds, can_ask
from hookwright.adapters.gateway.results import Answer, with_instructions, without_schemas
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

Send = Callable[[bytes], Awaitable[None]]

#: Requests whose answers the gateway may change.
_GREETINGS = ("initialize", "server/discover")
_OWNED = (*_GREETINGS, "tools/list", "tasks/result")
#: Seconds for the hooks of calls that are cancelled when the connection ends.
LAST_HOOKS = 1.5
#: Calls that are over and whose ids are still recognised.
_REMEMBERED = 10_000


class Gateway:
    """The two directions of one connection.

    Law: messages the gateway does not own reach the other side byte for byte and in order. A call reaches the server
    only after its hooks, and its answer the client only after its hooks; a second answer to a call, or one after the
    client cancelled it, is dropped.
    """

    def __init__(self, hooks: Hooks, to_client: Send, to_server: Send, complain: Callable[[str], None]) -> None:
        self._hooks = hooks
        self._to_client = to_client
        self._to_server = to_server
        self._complain = complain
        self._asks = False
        #: Why the server cannot be called any more.
        self._gone: str | None = None
        self._rounds = Rounds()
        self._tasks: dict[str, Callable[[Answer], Awaitable[bytes]]] = {}
        self._elicitations = Elicitations(hooks, to_client, to_server)
        #: Calls in any stage, by the key of their id, and those that wait for the server's answer.
        self._calls: dict[str, tuple[ToolCall, asyncio.Task[None]]] = {}
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._over: OrderedDict[str, None] = OrderedDict()
        #: Other requests of the client that the server has not answered, and our own to the client.
        self._requests: dict[str, Message] = {}
        self._questions: dict[str, asyncio.Future[Json]] = {}
        self._numbers = itertools.count(1)
        self._batches = Batches(to_client)
        self._working: set[asyncio.Task[None]] = set()

    # ── from the client ─────────────────────────────────────────────────────

    async def from_client(self, line: bytes) -> None:
        """Take a line of the client."""
        found = read(line)
        if hides_call(line, found):
            await self._hold_back(found)
        elif isinstance(found, Opaque):
            await self._to_server(line)
        elif isinstance(found, Message):
            await self._client_message(found)
        elif any(self._owns(message) for message in found.messages):
            self._batches.expect(found)
            for message in found.messages:
                await self._client_message(message)
        else:
            for message in found.messages:
                self._note(message)
            await self._to_server(found.raw)

    async def _hold_back(self, found: Message | Batch | Opaque) -> None:
        text = "this line is not one plain JSON message, and some servers would read a tool call in it"
        self._complain(f"held back a line of the client: {text}")
        if isinstance(found, Message) and found.id is not None:
            await self._to_client(error(found.id, INVALID_REQUEST, text))

    def _owns(self, message: Message) -> bool:
        """Return whether a message of the client needs more than passing on."""
        if message.method is None:
            return message.key in self._questions or self._elicitations.awaits(message)
        return message.method in (CALL, "notifications/cancelled", *_OWNED)

    async def _client_message(self, message: Message) -> None:
        if message.method == CALL:
            await self._call(message)
        elif message.method == "notifications/cancelled":
            await self._cancelled(message)
        elif message.method is None and message.key in self._questions:
            _resolve(self._questions.pop(message.key), message.value.get("result"))
        elif message.method is None and self._elicitations.awaits(message):
            self._start(self._elicitations.answered(message))
        else:
            self._note(message)
            await self._to_server(message.raw)

    def _note(self, message: Message) -> None:
        """Remember a request that the server has to answer, and what the client can do."""
        if message.method is None or message.id is None:
            return
        self._requests[message.key] = message
        if message.method in _GREETINGS:
            self._asks = message.method == "initialize" and can_ask(message.params.get("capabilities"))
            self._hooks.begin()

    async def _call(self, message: Message) -> None:
        if message.id is None:
            self._complain("held back a tool call without an id: it could not be answered")
        elif message.key in self._calls:
            text = "this call has the id of another one that has not been answered"
            await self._to_client(error(message.id, INVALID_REQUEST, text))
        else:
            ports = Ports(self._hooks, self._rounds, self._made, self._ask if self._asks else None, self._tasks)
            call = ToolCall(message, ports)
            self._calls[message.key] = call, self._start(self._answer(call))

    async def _answer(self, call: ToolCall) -> None:
        key = call.message.key
        try:
            line = await call.answer()
        except Exception as problem:  # a defect of ours must not leave the client waiting, nor let the call through
            self._complain(f"{call.name}: {type(problem).__name__}: {problem}")
            line = error(call.message.id, SERVER_GONE, f"hookwright failed, so this call is refused: {problem}")
        finally:
            del self._calls[key]
            self._answers.pop(key, None)
            if call.started:
                self._over[key] = None
            while len(self._over) > _REMEMBERED:
                self._over.popitem(last=False)
        await self._batches.reply(key, line)

    async def _made(self, message: Message) -> Answer:
        """Send a call to the server and wait for its answer."""
        if self._gone is not None:
            raw = error(message.id, SERVER_GONE, self._gone)
            return Answer(raw, _decoded(raw))
        self._over.pop(message.key, None)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[message.key] = future
        await self._to_server(message.raw)
        return await future

    async def _cancelled(self, message: Message) -> None:
        """Cancel a call and its hooks; the server hears of it if it knows the call."""
        key = str(message.params.get("requestId"))
        call, task = self._calls.get(key, (None, None))
        if task is not None:
            task.cancel()
            await self._batches.forget(key)
        if call is None or call.started:
            self._requests.pop(key, None)
            await self._to_server(message.raw)

    async def _ask(self, params: dict[str, Json]) -> Json:
        """Ask the client's user; a call that is cancelled meanwhile takes the question back."""
        name = f"hookwright-{next(self._numbers)}-{os.urandom(8).hex()}"
        future = self._questions[name] = asyncio.get_running_loop().create_future()
        await self._to_client(request(name, "elicitation/create", params))
        try:
            return await future
        except asyncio.CancelledError:
            await self._to_client(notification("notifications/cancelled", {"requestId": name}))
            raise
        finally:
            self._questions.pop(name, None)

    # ── from the server ─────────────────────────────────────────────────────

    async def from_server(self, line: bytes) -> None:
        """Take a line of the server."""
        found = read(line)
        if isinstance(found, Opaque):
            await self._to_client(line)
        elif isinstance(found, Message):
            await self._server_message(found)
        elif any(self._touches(message) for message in found.messages):
            for message in found.messages:
                await self._server_message(message)
        else:
            for message in found.messages:
                self._requests.pop(message.key, None)
            await self._to_client(found.raw)

    def _touches(self, message: Message) -> bool:
        """Return whether a message of the server needs more than passing on."""
        if message.method is not None:
            return message.method == "elicitation/create"
        asked = self._requests.get(message.key)
        known = message.key in self._calls or message.key in self._over or self._batches.expects(message.key)
        return known or (asked is not None and asked.method in _OWNED)

    async def _server_message(self, message: Message) -> None:
        if message.method == "elicitation/create" and message.id is not None:
            self._start(self._elicitations.asked(message))
        elif message.method is not None:
            await self._to_client(message.raw)
        elif message.key in self._answers:
            _resolve(self._answers[message.key], Answer(message.raw, message.value))
        elif message.key in self._calls or message.key in self._over:
            self._complain(f"held back an answer of the server to request {message.key}: the call is over or not made")
        else:
            await self._response(message, self._requests.pop(message.key, None))

    async def _response(self, message: Message, asked: Message | None) -> None:
        found = message.value.get("result")
        result = found if isinstance(found, dict) else {}
        method = asked.method if asked is not None and result else None
        if method == "tasks/result" and asked is not None:
            later = self._tasks.get(str(asked.params.get("taskId")))
            if later is not None:
                self._start(self._later(message, later))
                return
        changed = None
        if method in _GREETINGS:
            changed = with_instructions(result, await self._greeting())
        elif method == "tools/list":
            changed = without_schemas(result, self._hooks.may_rewrite)
        raw = message.raw if changed is None else encode({**message.value, "result": changed}) + b"\n"
        await self._batches.reply(message.key, raw)

    async def _later(self, message: Message, later: Callable[[Answer], Awaitable[bytes]]) -> None:
        await self._batches.reply(message.key, await later(Answer(message.raw, message.value)))

    async def _greeting(self) -> tuple[str, ...]:
        try:
            return await asyncio.shield(self._hooks.begin())
        except HooksFailed as problem:
            self._complain(f"{problem}; every tool call will be refused")
            return ()

    # ── ends ────────────────────────────────────────────────────────────────

    @property
    def waiting(self) -> bool:
        """Whether a request of the client has no answer yet."""
        return bool(self._calls or self._requests or self._working)

    async def server_ended(self, text: str) -> None:
        """Answer everything that waits for the server with an error; hooks see the failure of each call."""
        self._gone = text
        for key, future in self._answers.items():
            raw = error(self._calls[key][0].message.id, SERVER_GONE, text)
            _resolve(future, Answer(raw, _decoded(raw)))
        for message in self._requests.values():
            await self._batches.reply(message.key, error(message.id, SERVER_GONE, text))
        self._requests.clear()

    async def settled(self) -> None:
        """Wait until every call that began is answered."""
        while self._working:
            await asyncio.wait(self._working)

    async def close(self) -> None:
        """Cancel what is left; hooks that see the end of a call have a moment for it."""
        for _ in range(2):
            for task in self._working:
                task.cancel()
            if self._working:
                await asyncio.wait(self._working, timeout=LAST_HOOKS)

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task


def _resolve(future: asyncio.Future[Json], value: Json) -> None:
    if not future.done():
        future.set_result(value)


def _decoded(line: bytes) -> dict[str, Json]:
    found = read(line)
    assert isinstance(found, Message), "our own line is a message"
    return found.value


class Batches:
    """Requests of the client that came as one array, and are answered as one."""

    def __init__(self, to_client: Send) -> None:
        self._to_client = to_client
        self._open: dict[str, list[bytes | None]] = {}
        self._place: dict[str, int] = {}

    def expect(self, batch: Batch) -> None:
        """Collect the answers to the requests of a batch."""
        keys = [one.key for one in batch.messages if one.method is not None and one.id is not None]
        answers: list[bytes | None] = [None] * len(keys)
        for place, key in enumerate(keys):
            self._open[key], self._place[key] = answers, place

    def expects(self, key: str) -> bool:
        """Return whether an answer belongs to a batch."""
        return key in self._open

    async def reply(self, key: str, line: bytes) -> None:
        """Send an answer, or the whole batch once it is complete."""
        if key not in self._open:
            await self._to_client(line)
            return
        await self._fill(key, line.strip())

    async def forget(self, key: str) -> None:
        """Complete a batch without the answer to a request that was cancelled."""
        if key in self._open:
            await self._fill(key, b"")

    async def _fill(self, key: str, answer: bytes) -> None:
        answers = self._open.pop(key)
        answers[self._place.pop(key)] = answer
        whole = [one for one in answers if one is not None]
        if len(whole) == len(answers) and any(whole):
            await self._to_client(b"[" + b",".join(one for one in whole if one) + b"]\n")
