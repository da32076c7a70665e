"""Hooks a host answers: registered by one control request, called by another for each run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hookwright.code_hooks import Hooks
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import CallbackHandler, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope, Source

#: Sends a request to the host and returns its answer; raises when there is none.
AskHost = Callable[[Mapping[str, Json]], Awaitable[Mapping[str, Json]]]


class InvalidCallbacks(ValueError):
    """An invalid registration; the message names the place."""


def callback_hooks(given: Json, ask: AskHost) -> Hooks:
    """Read `{event: [{matcher, hookCallbackIds, timeout}]}`, the timeout in seconds."""
    hooks = Hooks()
    for event, matchers in _mapping(given, "hooks").items():
        if event not in CATALOGUE:
            raise InvalidCallbacks(f"hooks.{event}: not an event; known are {', '.join(CATALOGUE)}")
        for index, value in enumerate(_list(matchers, f"hooks.{event}")):
            at = f"hooks.{event}[{index}]"
            entry = _mapping(value, at)
            matcher, limit = entry.get("matcher"), entry.get("timeout")
            if not isinstance(matcher, str | None):
                raise InvalidCallbacks(f"{at}.matcher: {matcher!r} is not a string")
            if isinstance(limit, bool) or not isinstance(limit, int | float | None) or (limit or 1) <= 0:
                raise InvalidCallbacks(f"{at}.timeout: {limit!r} is not a positive number of seconds")
            try:
                on_failure = OnFailure(entry.get("onFailure") or "continue")
            except ValueError:
                raise InvalidCallbacks(f"{at}.onFailure: write continue or block") from None
            for name in _list(entry.get("hookCallbackIds"), f"{at}.hookCallbackIds"):
                handler = CallbackHandler(
                    source=Source(Scope.PROGRAM, "control request", f"{at} {name}"),
                    function=_asking(str(name), ask),
                    timeout=limit,
                    on_failure=on_failure,
                )
                hooks.add(event, handler, matcher)
    return hooks


def _asking(name: str, ask: AskHost) -> Callable[..., Awaitable[Mapping[str, Json]]]:
    async def callback(given: Mapping[str, Json], tool_use_id: str | None, _context: object) -> Mapping[str, Json]:
        return await ask({"subtype": "hook_callback", "callback_id": name, "input": given, "tool_use_id": tool_use_id})

    return callback


def _mapping(value: Json, at: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise InvalidCallbacks(f"{at}: {value!r} is not an object")
    return value


def _list(value: Json, at: str) -> list[Json]:
    if not isinstance(value, list):
        raise InvalidCallbacks(f"{at}: {value!r} is not a list")
    return value
