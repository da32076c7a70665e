"""Questions that a server asks the user of its client: Elicitation and ElicitationResult hooks see them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

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
        """Let hooks answer a question, else pass it to the client; it is declined if the hooks cannot run."""
        params = message.params
        fields = {
            "mcp_server_name": self._hooks.server,
            "message": str(params.get("message", "")),
            "mode": str(params.get("mode", "form")),
            "url": params.get("url"),
            "elicitation_id": params.get("elicitationId"),
            "requested_schema": params.get("requestedSchema"),
        }
        try:
            outcome = await self._hooks.fire(Elicitation, **_given(fields))
        except HooksFailed:
            await self._to_server(response(message.id, DECLINE))
            return
        answer = _by_hook(outcome, None)
        if answer is not None:
            await self._to_server(response(message.id, answer))
        else:
            self._open[message.key] = message
            await self._to_client(message.raw)

    async def answered(self, message: Message) -> None:
        """Let hooks see and replace the user's answer; it is declined if they cannot run."""
        asked = self._open.pop(message.key)
        result = message.value.get("result")
        if not isinstance(result, dict):
            await self._to_server(message.raw)
            return
        content = result.get("content")
        fields = {
            "mcp_server_name": self._hooks.server,
            "action": str(result.get("action")),
            "mode": str(asked.params.get("mode", "form")),
            "elicitation_id": asked.params.get("elicitationId"),
            "content": content if isinstance(content, dict) else None,
        }
        try:
            outcome = await self._hooks.fire(ElicitationResult, **_given(fields))
        except HooksFailed:
            await self._to_server(response(message.id, DECLINE))
            return
        changed = _by_hook(outcome, content)
        raw = message.raw if changed is None else encode({**message.value, "result": changed}) + b"\n"
        await self._to_server(raw)


def _given(fields: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}


def _by_hook(outcome: Outcome, content: Json) -> dict[str, Json] | None:
    """Return the answer that hooks give, with the user's content if they give none; None if they leave it alone."""
    if outcome.blocked:
        return DECLINE
    action = outcome.fields.get("action")
    if action is None:
        return None
    said = outcome.fields.get("content", content)
    return {"action": action, **({"content": said} if action == "accept" and said is not None else {})}
