"""Background hooks: their late output, and how they wake the model."""

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
    """Report background hooks that end; put a wake-up into the inbox for one that asks for it."""

    def ended(late: Late) -> None:
        session.tell(HookEnded(late))
        if late.rewake is not None:
            session.inbox.put(Wake())

    session.hooks.background.on_end = ended


def deliver_late(actor: Actor) -> bool:
    """Add what background hooks said since the last answer; return whether there was anything.

    Their texts go to the main conversation, whichever agent's event started them, and each of them once.
    """
    if not actor.is_main:
        return False
    texts = actor.session.state.take_later()
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
