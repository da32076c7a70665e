"""What a client over HTTP reads: the answers to the requests of a POST, and the stream of a GET."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from hookwright.adapters.gateway.messages import Batch, Message, Opaque, read
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

#: Messages that a stream, or a client without one, keeps; one that does not read loses its stream.
MOST_KEPT = 1000
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Reply:
    """What one HTTP request is answered with: messages in order, until the last answer."""

    def __init__(self, keys: Iterable[str] = (), renamed: Mapping[str, Json] | None = None) -> None:
        #: The requests that are not answered yet, by the keys of their ids; a GET has none.
        self.open = set(keys)
        self._many = len(self.open) > 1
        self._renamed = dict(renamed or {})
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue()

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be read."""
        return self._queue.empty()

    def alone(self, message: Message) -> bool:
        """Return whether a message that was read is the answer to the only request."""
        return message.method is None and not self._many

    def put(self, message: Message) -> bool:
        """Add a message; return False for a client that does not read."""
        if self._queue.qsize() >= MOST_KEPT:
            self.end()
            return False
        self._queue.put_nowait(Message(encode(value) + b"\n", value) if (value := self._named(message)) else message)
        return True

    def answer(self, message: Message) -> None:
        """Add the answer to a request; after the last one the reply ends."""
        self.put(message)
        self.open.discard(message.key)
        if not self.open:
            self.end()

    def end(self) -> None:
        """End the reply after what it has."""
        self._queue.put_nowait(None)

    async def next(self) -> Message | None:
        """Wait for the next message; None is the end."""
        return await self._queue.get()

    def _named(self, message: Message) -> dict[str, Json] | None:
        """Return a message under the names that the client knows; None if it has none of ours."""
        if not self._renamed:
            return None
        if message.method is None:
            return {**message.value, "id": self._renamed.get(message.key, message.id)}
        params = dict(message.params)
        if "progressToken" in params:
            params["progressToken"] = self._renamed.get(str(params["progressToken"]), params["progressToken"])
        meta = params.get("_meta")
        if isinstance(meta, dict) and str(meta.get(_SUBSCRIPTION)) in self._renamed:
            params["_meta"] = {**meta, _SUBSCRIPTION: self._renamed[str(meta[_SUBSCRIPTION])]}
        return {**message.value, "params": params}


def renamed(message: Message, name: str) -> tuple[Message, dict[str, Json]]:
    """Return a request under a name of ours, with the client's own names.

    Clients without a session share one server, and each of them counts its requests from 1. The name replaces the id,
    and the token of the request's progress.
    """
    params = dict(message.params)
    meta = params.get("_meta")
    names: dict[str, Json] = {name: message.id}
    if isinstance(meta, dict) and "progressToken" in meta:
        token = f"{name}-progress"
        names[token] = meta["progressToken"]
        params["_meta"] = {**meta, "progressToken": token}
    value = {**message.value, "id": name, **({"params": params} if params else {})}
    return Message(encode(value) + b"\n", value), names


class Replies:
    """The open replies of one client; each message from its server goes to one of them.

    Law: an answer goes to the request it answers. A message about the progress of a request goes with that request;
    any other one goes with the newest request that waits, or on the stream of the client, or waits for either.
    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._posts: dict[str, Reply] = {}
        self._tokens: dict[str, str] = {}
        self._stream: Reply | None = None
        self._kept: deque[Message] = deque(maxlen=MOST_KEPT)

    @property
    def busy(self) -> bool:
        """Whether the client waits for something."""
        return bool(self._posts) or self._stream is not None

    def awaits(self, key: str) -> bool:
        """Return whether a request with this id is not answered yet."""
        return key in self._posts

    def expect(self, requests: Iterable[Message], names: Mapping[str, Json] | None = None) -> Reply:
        """Open the reply to a POST with these requests."""
        known = {one.key: one for one in requests}
        reply = Reply(known, names)
        for key, message in known.items():
            self._posts[key] = reply
            meta = message.params.get("_meta")
            if isinstance(meta, dict) and "progressToken" in meta:
                self._tokens[str(meta["progressToken"])] = key
        if known:
            self._flush(reply)
        return reply

    def stream(self) -> Reply | None:
        """Open the stream of the client; None if it has one."""
        if self._stream is not None:
            return None
        self._stream = Reply()
        self._flush(self._stream)
        return self._stream

    def _flush(self, reply: Reply) -> None:
        while self._kept:
            reply.put(self._kept.popleft())

    def left(self, reply: Reply) -> list[str]:
        """Forget a reply that is not read any more; return the requests in it that are not answered."""
        if reply is self._stream:
            self._stream = None
        unanswered = [key for key, found in self._posts.items() if found is reply]
        for key in unanswered:
            self._forget(key)
        return unanswered

    def end(self) -> None:
        """End every reply."""
        for reply in {*self._posts.values(), *([self._stream] if self._stream is not None else [])}:
            reply.end()

    def _forget(self, key: str) -> Reply | None:
        self._tokens = {token: other for token, other in self._tokens.items() if other != key}
        return self._posts.pop(key, None)

    async def send(self, line: bytes) -> None:
        """Take a line for the client."""
        found = read(line)
        if isinstance(found, Opaque):
            self._complain("dropped a line of the server: it is not a JSON message, and HTTP carries nothing else")
            return
        for message in found.messages if isinstance(found, Batch) else (found,):
            self._route(message)

    def _route(self, message: Message) -> None:
        if message.method is None:
            reply = self._forget(message.key)
            if reply is None:
                self._complain(f"dropped the answer to request {message.key}: its client does not wait for it")
            else:
                reply.answer(message)
            return
        place = self._place(message)
        if place is None:
            self._without_place(message)
        elif not place.put(message):
            self.left(place)
            self._complain("ended the stream of a client that does not read")

    def _about(self, message: Message) -> Reply | None:
        """Return the reply of the request that a message is about."""
        meta = message.params.get("_meta")
        subscription = meta.get(_SUBSCRIPTION) if isinstance(meta, dict) else None
        key = self._tokens.get(str(message.params.get("progressToken")), str(subscription))
        return self._posts.get(key)

    def _place(self, message: Message) -> Reply | None:
        newest = next(reversed(self._posts.values()), None)
        return self._about(message) or newest or self._stream

    def _without_place(self, message: Message) -> None:
        self._kept.append(message)


class SharedReplies(Replies):
    """The replies of clients without a session: a message that is about none of their requests is for none of them."""

    def _place(self, message: Message) -> Reply | None:
        return self._about(message)

    def _without_place(self, message: Message) -> None:
        self._complain(f"dropped {message.method} of the server: it is about no request, and clients share the server")
