"""Questions that a server asks the user of its client: Elicitation and ElicitationResult hooks see them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hookwright.adapters.gateway.hooks import Hooks, HooksFailed
from hookwright.adapters.gateway.messages import Message, response
from hookwright.protocol.events import Elicitation, ElicitationResult
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.wire import encode

DECLINE = {"action": "decline"}


class Elicitations:
    """The questions of one server that wait for an answer."""

    def __init__(
        self,
        hooks: Hooks,
        to_client: Callable[[bytes], Awaitable[None]],
        to_server: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self._hooks = hooks
        self._to_client = to_client
        self._to_server = to_server
        self._open: dict[str, Message] = {}

    def awaits(self, message: Message) -> bool:
        """Return whether a response of the client answers a question of the server."""
        return message.key in self._open

    async def asked(self, message: Message) -> None:
        """Let hooks answer a question, else pass it to the client."""
        answer = await by_hooks(self._hooks, message.params)
        if answer is not None:
            await self._to_server(response(message.id, answer))
        else:
            self._open[message.key] = message
            await self._to_client(message.raw)

    async def answered(self, message: Message) -> None:
        """Let hooks see and replace the user's answer."""
        asked = self._open.pop(message.key)
        changed = await after_user(self._hooks, asked.params, message.value.get("result"))
        raw = message.raw if changed is None else encode({**message.value, "result": changed}) + b"\n"
        await self._to_server(raw)


async def by_hooks(hooks: Hooks, params: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return the answer of Elicitation hooks to a question; None leaves it to the user."""
    fields = {
        "mcp_server_name": hooks.server,
        "message": str(params.get("message", "")),
        "mode": str(params.get("mode", "form")),
        "url": params.get("url"),
        "elicitation_id": params.get("elicitationId"),
        "requested_schema": params.get("requestedSchema"),
    }
    try:
        return _answer(await hooks.fire(Elicitation, **_given(fields)), None)
    except HooksFailed:
        return DECLINE


async def after_user(hooks: Hooks, asked: Mapping[str, Json], result: Json) -> dict[str, Json] | None:
    """Return what ElicitationResult hooks make of the user's answer; None leaves it as it is."""
    if not isinstance(result, dict):
        return None
    content = result.get("content")
    fields = {
        "mcp_server_name": hooks.server,
        "action": str(result.get("action")),
        "mode": str(asked.get("mode", "form")),
        "elicitation_id": asked.get("elicitationId"),
        "content": content if isinstance(content, dict) else None,
    }
    try:
        return _answer(await hooks.fire(ElicitationResult, **_given(fields)), content)
    except HooksFailed:
        return DECLINE


def _given(fields: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}


def _answer(outcome: Outcome, content: Json) -> dict[str, Json] | None:
    """Return the answer that hooks give, with the user's content if they give none; None if they leave it alone."""
    if outcome.blocked:
        return DECLINE
    action = outcome.fields.get("action")
    if action is None:
        return None
    said = outcome.fields.get("content", content)
    return {"action": action, **({"content": said} if action == "accept" and said is not None else {})}
