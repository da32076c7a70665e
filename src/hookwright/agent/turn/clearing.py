"""Clear a conversation: the old session ends, a new one starts in the same process."""

from __future__ import annotations

import uuid

from hookwright.agent.state.actor import Actor
from hookwright.agent.turn.opening import announce_instructions, first_system_prompt, opened, session_started
from hookwright.agent.turn.transcripts import new_path, open_dialogue
from hookwright.protocol.events import SessionEnd


async def clear(actor: Actor) -> None:
    """End with SessionEnd `clear`, start with SessionStart `clear`; nothing of the old conversation is sent again."""
    session = actor.session
    await actor.fire(actor.event(SessionEnd, reason="clear"))
    actor.dialogue.transcript.close()
    session_id = str(uuid.uuid4())
    session.state.restart(session_id, new_path(session, session_id))
    session.model.forget_context()
    actor.restart(open_dialogue(session))
    actor.instruct(first_system_prompt(session, announce_instructions(session)))
    session.tell(opened(session))
    await session_started(actor, "clear")
