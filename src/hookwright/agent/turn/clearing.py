"""Forget a conversation: the old session ends, a new one begins in the same process."""

from __future__ import annotations

import uuid

from hookwright.agent.state.actor import Actor
from hookwright.agent.turn.opening import announce_instructions, first_system_prompt, opened, session_started
from hookwright.agent.turn.transcripts import new_path, open_dialogue
from hookwright.protocol.events import SessionEnd


async def clear(actor: Actor) -> None:
    """End with SessionEnd `clear`, begin with SessionStart `clear`; nothing of the old conversation is sent again."""
    session = actor.session
    await actor.fire(actor.event(SessionEnd, reason="clear"))
    actor.dialogue.transcript.close()
    session.id = str(uuid.uuid4())
    session.transcript_path = new_path(session, session.id)
    session.title = None
    session.voice.context_tokens = 0
    session.later_texts.clear()
    actor.dialogue = open_dialogue(session)
    actor.system = first_system_prompt(session, announce_instructions(session))
    session.tell(opened(session))
    await session_started(actor, "clear")
