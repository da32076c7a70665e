"""Switch the model of a running session: hooks may refuse it before and add context after it."""

from __future__ import annotations

import msgspec

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.session_model import resolve
from hookwright.protocol.events import PostModelSwitch, PreModelSwitch
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ask


class SwitchRefused(msgspec.Struct, frozen=True):
    """The model stays."""

    reason: str


async def switch_model(actor: Actor, requested: str, source: str) -> str:
    """Switch by command and say what came of it."""
    done = await try_switch(actor, requested, source)
    if isinstance(done, SwitchRefused):
        return f"The model stays {actor.session.voice.main_model}: {done.reason}"
    return f"The model is {done} now."


async def try_switch(actor: Actor, requested: str, source: str) -> str | SwitchRefused:
    """Ask PreModelSwitch hooks, switch, tell PostModelSwitch hooks; their context goes with the next request."""
    voice = actor.session.voice
    target = resolve(requested)
    fields: dict[str, Json] = {
        "from_model": voice.main_model,
        "to_model": target,
        "requested_model": requested,
        "source": source,
        "context_tokens": voice.context_tokens,
        "prompt_cache_warm": voice.cache_warm,
        "cache_ttl": "5m",
        "estimated_cache_write_usd": voice.cache_write_usd,
        "pricing": "default",
    }
    before = await actor.fire(actor.event(PreModelSwitch, **fields))
    actor.dialogue.record_firing(before)
    if before.blocked:
        return SwitchRefused(before.reason or "a hook refused the switch")
    if isinstance(before.decision, Ask):
        # Nobody is asked about a model; a hook that wants a person to decide is a refusal here.
        return SwitchRefused(before.decision.reason)
    voice.main_model = target
    after = await actor.fire(actor.event(PostModelSwitch, **fields))
    actor.session.later_texts[:] = actor.dialogue.record_firing(after)
    return target
