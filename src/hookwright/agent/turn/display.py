"""Display the model's answer the way hooks ask for."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.dialogue import AnsweredPrompt
from hookwright.agent.state.updates import Said
from hookwright.models.types import Response
from hookwright.protocol.events import MessageDisplay
from hookwright.protocol.jsontext import Json


async def display(actor: Actor, response: Response, answered: AnsweredPrompt) -> None:
    """Fire MessageDisplay for the main agent's text, then show it; transcript and model keep the original."""
    shown = response.text
    if shown and actor.is_main:
        outcome = await actor.fire(
            actor.event(
                MessageDisplay,
                turn_id=actor.session.state.prompt_id or actor.session.state.id,
                message_id=str(uuid.uuid4()),
                index=0,
                final=True,
                delta=response.text,
            )
        )
        shown = outcome.fields.get("display_content", shown)
        actor.display(shown if shown != response.text else None)
    message = _completed(actor, answered.message)
    actor.session.tell(Said(message, shown, actor.role.parent_tool_use_id, answered.uuids, actor.context.cwd))


def _completed(actor: Actor, message: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the message with the defaults of its calls filled in."""
    return {**message, "content": [_with_defaults(actor, block) for block in message["content"]]}


def _with_defaults(actor: Actor, block: Mapping[str, Json]) -> Mapping[str, Json]:
    tool = actor.tools.get(block["name"]) if block["type"] == "tool_use" else None
    if tool is None or not isinstance(block["input"], dict):
        return block
    return {**block, "input": tool.with_defaults(block["input"])}
