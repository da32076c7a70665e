"""Switch the model of a running session: hooks may refuse it before and add context afterwards."""

from __future__ import annotations

import msgspec

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.session_model import resolve
from hookwright.agent.state.updates import Note
from hookwright.protocol.events import PostModelSwitch, PreModelSwitch
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ask


class SwitchRefused(msgspec.Struct, frozen=True):
    """The model stays the same."""

    reason: str


async def try_switch(actor: Actor, requested: str, source: str) -> str | SwitchRefused:
    """Fire PreModelSwitch, switch, fire PostModelSwitch; its context goes with the next request."""
    model = actor.session.model
    target = resolve(requested)
    fields: dict[str, Json] = {
        "from_model": model.main_model,
        "to_model": target,
        "requested_model": requested,
        "source": source,
        "context_tokens": model.context_tokens,
        "prompt_cache_warm": model.cache_warm,
        "cache_ttl": "5m",
        "estimated_cache_write_usd": model.cache_write_usd,
        "pricing": "default",
    }
    before = await actor.fire(actor.event(PreModelSwitch, **fields))
    actor.dialogue.record_firing(before)
    if before.blocked:
        return SwitchRefused(before.reason or "a hook refused the switch")
    if isinstance(before.decision, Ask):
        # There is no question about models; a hook that asks for a person's decision is a refusal here.
        return SwitchRefused(before.decision.reason)
    model.switch(target)
    for text in model.ignored(actor.session.options.tuning):
        actor.session.tell(Note(text, level="warning", tag="option"))
    after = await actor.fire(actor.event(PostModelSwitch, **fields))
    actor.dialogue.record_firing(after)
    return target
