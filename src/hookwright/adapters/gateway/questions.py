"""Asking the user through the client: `elicitation/create`, in the two ways the protocol has for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.text import cut_middle

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
#: The name of our question among those of a result that asks for input.
QUESTION = "hookwright_permission"
#: Characters of an input that a question shows.
_SHOWN = 2000
#: Calls that wait for their next round. A forgotten one is judged again as a new call.
_MOST = 1000
#: How our own states begin; a server never sees them.
OURS = "hookwright-"


def can_ask(capabilities: Json) -> bool:
    """Return whether a client shows forms to its user; an empty capability means forms."""
    found = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(found, dict) and (not found or "form" in found)


def question(tool: str, arguments: Mapping[str, Json], reason: str) -> dict[str, Json]:
    """Return the parameters of the request that asks for approval: one yes or no."""
    shown = cut_middle(encode(dict(arguments)).decode(), _SHOWN)
    allow = {"type": "boolean", "title": f"Run {tool}?", "description": "A hook asks for your approval."}
    return {
        "mode": "form",
        "message": f"{reason}\n\n{tool} {shown}",
        "requestedSchema": {"type": "object", "properties": {"allow": allow}, "required": ["allow"]},
    }


def approves(answer: Json) -> bool:
    """Return whether an answer is a clear yes; everything else is a no."""
    match answer:
        case {"action": "accept", "content": {"allow": True}}:
            return True
    return False


class Approved(msgspec.Struct, frozen=True):
    """A call that may be made: its input, its id, and what the model reads with its result."""

    arguments: dict[str, Json]
    tool_use_id: str
    notes: tuple[str, ...] = ()
    #: Questions of the server in an earlier round, by their name: what hooks answered, and what the user was asked.
    answered: dict[str, Json] = msgspec.field(default_factory=dict)
    asked: dict[str, dict[str, Json]] = msgspec.field(default_factory=dict)


class Asked(msgspec.Struct, frozen=True):
    """A call that waits for the user's answer; the client repeats it together with that answer."""

    approved: Approved
    #: The parameters as the client sent them first.
    params: dict[str, Json]


class Rounds:
    """Calls that continue in a later request, in the versions of the protocol that have no requests to the client.

    Law: a request continues a call only if it repeats its name, its input and its state; it does so once. Anything else
    is a new call, which hooks judge.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[bytes, Approved | Asked] = OrderedDict()

    def keep(self, params: Mapping[str, Json], state: Json, call: Approved | Asked) -> None:
        """Keep a call until the client repeats it with this state."""
        self._waiting[_key(params, state)] = call
        while len(self._waiting) > _MOST:
            self._waiting.popitem(last=False)

    def take(self, params: Mapping[str, Json]) -> Approved | Asked | None:
        """Return the call that a request continues, once; None for a new call."""
        if params.get("requestState") is None and "inputResponses" not in params:
            return None
        return self._waiting.pop(_key(params, params.get("requestState")), None)


def _key(params: Mapping[str, Json], state: Json) -> bytes:
    return msgspec.json.encode([params.get("name"), params.get("arguments"), state], order="deterministic")
