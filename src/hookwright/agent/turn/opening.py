"""How a session starts: setup, instructions, SessionStart and what its hooks return."""

from __future__ import annotations

import time
from typing import Any

from msgspec import UNSET

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.instructions import Instruction, as_text
from hookwright.agent.state.prompts import instructions_part, system_prompt
from hookwright.agent.state.session import Session
from hookwright.agent.state.session_model import CACHE_LIFE
from hookwright.agent.state.updates import Opened, Titled
from hookwright.protocol.events import InstructionsLoaded, SessionStart, Setup
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

#: Sources at which a hook may give the session its title.
_TITLED = ("startup", "resume", "fork")


async def set_up(actor: Actor, trigger: str) -> None:
    """Fire Setup; its hooks' answers have no effect."""
    actor.dialogue.record_firing(await actor.fire(actor.event(Setup, trigger=trigger)))


async def session_started(actor: Actor, source: str, **fields: Any) -> str | None:
    """Fire SessionStart and add its context; return the first message a hook asked for."""
    session = actor.session
    if source == "compact" or session.options.attended:
        fields.setdefault("model", session.model.main_model)
    if session.state.title is not None:
        fields.setdefault("session_title", session.state.title)
    outcome = await actor.fire(actor.event(SessionStart, source=source, **fields))
    if source in ("resume", "fork"):
        actor.dialogue.record_news(outcome)
    else:
        actor.dialogue.record_firing(outcome)
    actor.dialogue.deliver()
    take_watch_paths(session, outcome)
    title = outcome.fields.get("session_title")
    if isinstance(title, str) and source in _TITLED:
        entitle(actor, title)
    if outcome.fields.get("reload_skills"):
        session.equipment.equip()
    first = outcome.fields.get("initial_user_message")
    return first if isinstance(first, str) and first else None


def resume_fields(actor: Actor) -> dict[str, Json]:
    """Return what resuming a conversation costs, for SessionStart hooks."""
    model = actor.session.model
    if model.last_response is None:
        return {}
    seconds = max(0.0, time.time() - model.last_response)
    return {
        "seconds_since_last_response": round(seconds),
        "context_tokens": model.context_tokens,
        "prompt_cache_likely_expired": seconds > CACHE_LIFE,
        "estimated_cache_write_usd": model.cache_write_usd,
    }


def entitle(actor: Actor, title: str) -> None:
    """Give the session a title, unless it has this one."""
    if actor.session.state.title == title:
        return
    actor.session.state.rename(title)
    actor.dialogue.transcript.side("custom-title", customTitle=title)
    actor.session.tell(Titled(title))


def take_watch_paths(session: Session, outcome: Outcome) -> None:
    """Watch the files hooks asked for; an empty list ends that."""
    paths = outcome.fields.get("watch_paths")
    if paths is not None:
        session.state.watch(path for path in paths if path.startswith("/"))


# ── instructions ────────────────────────────────────────────────────────────


def announce_instructions(session: Session) -> list[Instruction]:
    """Read the instructions that apply from the start and fire InstructionsLoaded for each file."""
    if session.instructions is None:
        return []
    found = session.instructions.at_start()
    for notice in session.instructions.take_notices():
        session.report(notice)
    for one in found:
        session.fire_later(session.event(InstructionsLoaded, **one.fields))
    return found


def instructions_again(session: Session) -> list[Instruction]:
    """Read the instructions again after a compaction; InstructionsLoaded fires with the next prompt."""
    if session.instructions is None:
        return []
    found = session.instructions.at_start("compact")
    session.state.announce_later([session.event(InstructionsLoaded, effort=UNSET, **one.fields) for one in found])
    return found


def announce_waiting(session: Session) -> None:
    """Fire what waited for a prompt."""
    for event in session.state.take_announcements():
        session.fire_later(event)


def first_system_prompt(session: Session, found: list[Instruction]) -> str:
    """Build the system prompt of the main agent."""
    options = session.options
    parts = (instructions_part(as_text(found)), options.append_system_prompt or "")
    kind = session.equipment.components.agents.get(options.agent or "")
    base = options.system_prompt if kind is None or options.system_prompt is not None else kind.prompt
    return system_prompt(session.state.cwd, session.model.main_model, base, parts)


def opened(session: Session) -> Opened:
    """Describe the session for its listeners."""
    return Opened(
        session_id=session.state.id,
        cwd=session.state.cwd,
        model=session.model.main_model,
        permission_mode=session.permissions.mode.value,
        tools=tuple(name for name in session.equipment.tools if not session.permissions.rules.remove(name)),
        mcp_servers=session.servers.status,
        agents=tuple(session.equipment.components.agents),
        skills=tuple(session.equipment.components.skills),
    )
