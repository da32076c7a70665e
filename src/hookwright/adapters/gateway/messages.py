"""Lines of the MCP protocol: what the gateway reads, and what it passes on without looking.

Law: a line reaches the other side byte for byte unless it is a message the gateway answers or changes. A line is read
at least as leniently as any server would read it, so a call cannot hide in JSON that only a lenient parser accepts:

1. strict JSON is read as it is;
2. JSON with `NaN`, `Infinity` or bytes that are not UTF-8 is read as Python does; a call is then written again as hooks
   read it;
3. a line of the client that is neither, that some readers would split, or that has a key twice, is held back if it
   could hold a tool call.
"""

from __future__ import annotations

import json
import re

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

CALL = "tools/call"
#: JSON-RPC's own code, and the first one that is free for servers.
INVALID_REQUEST, SERVER_GONE = -32600, -32000

_ESCAPE = re.compile(rb"\\u00([0-9a-fA-F]{2})")


class Opaque(msgspec.Struct, frozen=True):
    """A line that is not a message, such as a note a server prints to stdout."""

    raw: bytes


class Message(msgspec.Struct, frozen=True):
    """A request, a notification or a response; `raw` is what is sent if nothing changes."""

    raw: bytes
    value: dict[str, Json]
    #: Whether every reader finds the same value in `raw`.
    strict: bool = True

    @property
    def method(self) -> str | None:
        """The method of a request or a notification; None for a response."""
        found = self.value.get("method")
        return found if isinstance(found, str) else None

    @property
    def id(self) -> Json:
        """The id of a request or a response; None for a notification."""
        return self.value.get("id")

    @property
    def key(self) -> str:
        """The id for lookups; a peer that answers 1 with "1" means the same request."""
        return str(self.id)

    @property
    def params(self) -> dict[str, Json]:
        """The parameters; empty if there are none or they are not an object."""
        found = self.value.get("params")
        return found if isinstance(found, dict) else {}


class Batch(msgspec.Struct, frozen=True):
    """An array of messages, which one version of the protocol allows."""

    raw: bytes
    messages: tuple[Message, ...]


def read(line: bytes) -> Message | Batch | Opaque:
    """Read one line, its end included."""
    value, strict = _parse(line)
    if isinstance(value, dict):
        return Message(line, value, strict)
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return Batch(line, tuple(Message(encode(one) + b"\n", one) for one in value))
    return Opaque(line)


def _parse(line: bytes) -> tuple[Json, bool]:
    try:
        return msgspec.json.decode(line), True
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return json.loads(_lenient(line)), False
    except (ValueError, RecursionError):
        return None, False


def _lenient(line: bytes) -> str:
    return line.decode("utf-8", "replace").removeprefix("\ufeff")


def hides_call(line: bytes, found: Message | Batch | Opaque) -> bool:
    """Return whether another reader could find a call in a line of the client where ours finds none."""
    if not _mentions_call(line):
        return False
    splits = b"\r" in line.rstrip(b"\r\n")  # some readers also end lines at CR
    return isinstance(found, Opaque) or splits or has_twins(found.raw)


def _mentions_call(line: bytes) -> bool:
    if b"\\" in line:
        line = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), line).replace(b"\\", b"")
    return CALL.encode() in line


def has_twins(line: bytes) -> bool:
    """Return whether an object of a message has a key twice: readers differ in which of the values they take."""
    twins = False

    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal twins
        twins = twins or len({name for name, _ in found}) != len(found)
        return dict(found)

    try:
        json.loads(_lenient(line), object_pairs_hook=pairs)
    except RecursionError:
        return True
    return twins


def request(id_: str, method: str, params: dict[str, Json]) -> bytes:
    """Write a request."""
    return encode({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + b"\n"


def notification(method: str, params: dict[str, Json]) -> bytes:
    """Write a notification."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params}) + b"\n"


def response(id_: Json, result: Json) -> bytes:
    """Write the answer to a request."""
    return encode({"jsonrpc": "2.0", "id": id_, "result": result}) + b"\n"


def error(id_: Json, code: int, text: str, data: Json = None) -> bytes:
    """Write the answer to a request that failed."""
    more = {} if data is None else {"data": data}
    return encode({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": text, **more}}) + b"\n"
