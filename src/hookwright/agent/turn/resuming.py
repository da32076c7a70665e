"""Go on with an earlier conversation: calls that were put off run now, calls that were cut off are closed."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.endings import TurnEnd
from hookwright.agent.transcript import Conversation, closed, pending
from hookwright.agent.turn.loop import converse, run_tools
from hookwright.models.types import Block


def deferred_calls(told: Conversation) -> set[str]:
    """Name the calls that a hook put off."""
    return {
        str(entry["attachment"].get("toolUseID"))
        for entry in told.entries
        if entry.get("type") == "attachment"
        and isinstance(entry.get("attachment"), dict)
        and entry["attachment"].get("type") == "hook_deferred_tool"
    }


def close_lost_calls(actor: Actor, told: Conversation) -> list[Block]:
    """Give calls that were cut off a result; return those that were put off and wait for their turn."""
    waiting = deferred_calls(told)
    open_calls: list[Block] = list(pending(actor.dialogue.messages))
    if open_calls and all(call["id"] in waiting for call in open_calls):
        return open_calls
    actor.dialogue.messages = closed(actor.dialogue.messages)
    return []


def take_up(actor: Actor) -> Coroutine[Any, Any, TurnEnd] | None:
    """Make the work that goes on with calls that were put off; None where there is nothing to go on with."""
    calls = actor.waiting_calls
    if not calls:
        return None
    actor.waiting_calls = []
    return _go_on(actor, calls)


async def _go_on(actor: Actor, calls: list[Block]) -> TurnEnd:
    """Run the calls again from PreToolUse on, beside the results that their turn already has."""
    messages = actor.dialogue.messages
    asked = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
    tail = messages[asked + 1 :]
    del messages[asked + 1 :]
    earlier = [block for message in tail if message["role"] == "user" for block in message["content"]]
    ending = await run_tools(actor, calls, earlier)
    actor.dialogue.add_system([message["content"] for message in tail if message["role"] == "system"])
    return ending if ending is not None else await converse(actor)
