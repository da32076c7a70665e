"""Resume an earlier conversation: deferred calls run now, calls that were cut off are closed."""

from __future__ import annotations

from collections.abc import Sequence

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.dialogue import Dialogue
from hookwright.agent.state.endings import TurnEnd
from hookwright.agent.transcript import Conversation, pending
from hookwright.agent.turn.loop import converse, run_tools
from hookwright.models.types import Block


def deferred_calls(earlier: Conversation) -> set[str]:
    """Return the ids of calls a hook deferred."""
    return {
        str(entry["attachment"].get("toolUseID"))
        for entry in earlier.entries
        if entry.get("type") == "attachment"
        and isinstance(entry.get("attachment"), dict)
        and entry["attachment"].get("type") == "hook_deferred_tool"
    }


def close_lost_calls(dialogue: Dialogue, earlier: Conversation) -> tuple[Block, ...]:
    """Add a result for calls that were cut off; return the deferred calls, which run when the session continues."""
    deferred = deferred_calls(earlier)
    open_calls: tuple[Block, ...] = tuple(pending(dialogue.messages))
    if open_calls and all(call["id"] in deferred for call in open_calls):
        return open_calls
    dialogue.close_calls()
    return ()


async def run_deferred(actor: Actor, calls: Sequence[Block]) -> TurnEnd:
    """Run deferred calls again from PreToolUse on, next to the results their turn already has."""
    messages = actor.dialogue.messages
    asked = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
    tail = messages[asked + 1 :]
    del messages[asked + 1 :]
    earlier = [block for message in tail if message["role"] == "user" for block in message["content"]]
    actor.dialogue.wait_with([message["content"] for message in tail if message["role"] == "system"])
    ending = await run_tools(actor, calls, earlier)
    return ending if ending is not None else await converse(actor)
