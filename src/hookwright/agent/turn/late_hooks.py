"""Background hooks: their late output, and how they wake the model."""

from __future__ import annotations

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.inbox import Wake
from hookwright.agent.state.session import Session
from hookwright.agent.state.updates import HookEnded
from hookwright.protocol.outcome import Late


def watch_background(session: Session) -> None:
    """Report background hooks that end; put a wake-up into the inbox for one that asks for it."""

    def ended(late: Late) -> None:
        session.tell(HookEnded(late))
        if late.rewake is not None:
            session.inbox.put(Wake())

    session.hooks.background.on_end = ended


def deliver_late(actor: Actor) -> bool:
    """Add what hooks said since the last message; return whether there was anything.

    The texts of background hooks go to the main conversation, whichever agent's event started them, each of them once.
    """
    if actor.is_main:
        for late in actor.session.hooks.background.collect():
            actor.dialogue.record_late(late)
    return actor.dialogue.deliver()
