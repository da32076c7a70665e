"""Hooks that ran on in the background: what they say later, and how they wake the model."""

from __future__ import annotations

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.inbox import Wake
from hookwright.agent.state.prompts import BACKGROUND_NOTICE, reminder
from hookwright.agent.state.session import Session
from hookwright.agent.state.updates import HookEnded
from hookwright.agent.transcript import late_attachment
from hookwright.background import Late
from hookwright.protocol.matched import hook_name


def watch_background(session: Session) -> None:
    """Hear of background hooks that end; one that wakes the model goes to the inbox."""

    def ended(late: Late) -> None:
        session.tell(HookEnded(late))
        if late.rewake is not None:
            session.inbox.put(Wake())

    session.hooks.background.on_end = ended


def deliver_late(actor: Actor) -> bool:
    """Give the model what background hooks said since its last answer; tell whether there was anything.

    Their words go to the main conversation, whoever's event started them, and each of them once.
    """
    if not actor.is_main:
        return False
    texts = list(actor.session.later_texts)
    actor.session.later_texts.clear()
    woken: list[str] = []
    for late in actor.session.hooks.background.collect():
        name = hook_name(late.job.event)
        about = getattr(late.job.event, "tool_use_id", late.id)
        text = actor.dialogue.keep_late(late_attachment(late, name, about))
        texts += [] if text is None else [text]
        if late.rewake is not None:
            woken.append(_wake_text(name, late.rewake))
    for text in woken:
        actor.dialogue.add_reminder(reminder(text), "")
    actor.dialogue.add_system(texts)
    return bool(texts or woken)


def _wake_text(name: str, said: str) -> str:
    return (
        f"{BACKGROUND_NOTICE}<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
        f'Stop hook blocking error from command "{name}": {said}'
    )
