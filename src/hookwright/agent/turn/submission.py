"""The life of a prompt: commands, UserPromptSubmit, UserPromptExpansion, then the conversation."""

from __future__ import annotations

import re
import uuid

import msgspec

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.components import Skill
from hookwright.agent.state.endings import TurnAnswered, TurnEnd, TurnRefused
from hookwright.agent.state.inbox import Prompt
from hookwright.agent.state.updates import Note
from hookwright.agent.state.user_notes import failed_closed
from hookwright.agent.transcript import pending
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.opening import announce_waiting, entitle
from hookwright.agent.turn.slash_commands import COMMANDS
from hookwright.protocol.events import UserPromptExpansion, UserPromptSubmit
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.replies import Exited
from hookwright.visibility import Place, model_texts

_COMMAND = re.compile(r"/([A-Za-z0-9][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)


class TypedPrompt(msgspec.Struct, frozen=True):
    """A prompt that starts with the name of a command."""

    name: str
    arguments: str


def typed_command(prompt: str) -> TypedPrompt | None:
    """Read `/name arguments`; return None for any other prompt."""
    found = _COMMAND.match(prompt.strip())
    return TypedPrompt(found[1], (found[2] or "").strip()) if found is not None else None


async def submit(actor: Actor, given: Prompt) -> TurnEnd:
    """Handle one prompt from start to end."""
    actor.session.state.begin(str(uuid.uuid4()))
    prompt = given.text
    typed = None if given.verbatim else typed_command(prompt)
    if typed is not None and typed.name in COMMANDS:
        return TurnAnswered(await COMMANDS[typed.name](actor, typed.arguments), typed.name)

    announce_waiting(actor.session)
    outcome = await actor.fire(actor.event(UserPromptSubmit, prompt=prompt, **_title(actor)))
    if outcome.blocked:
        return _blocked(actor, [outcome], prompt)
    title = outcome.fields.get("session_title")
    if isinstance(title, str) and title:
        entitle(actor, title)
    skill = actor.session.equipment.components.skills.get(typed.name) if typed is not None else None
    if outcome.stop is not None or typed is None or skill is None:
        return await _send(actor, given, prompt, [outcome])
    return await _expand(actor, given, typed, skill, outcome)


async def _expand(actor: Actor, given: Prompt, typed: TypedPrompt, skill: Skill, submitted: Outcome) -> TurnEnd:
    """Expand a command file or skill into its prompt."""
    outcome = await actor.fire(
        actor.event(
            UserPromptExpansion,
            expansion_type="slash_command",
            command_name=typed.name,
            command_args=typed.arguments,
            command_source=skill.source,
            prompt=given.text,
        )
    )
    if outcome.blocked:
        return _blocked(actor, [submitted, outcome], given.text)
    if skill.hooks:
        actor.session.hooks.activate(skill.hooks)
    head = f"<command-message>{typed.name}</command-message>\n<command-name>/{typed.name}</command-name>\n"
    if typed.arguments:
        head += f"<command-args>{typed.arguments}</command-args>\n"
    return await _send(actor, given, head + skill.instruct(typed.arguments), [outcome, submitted])


async def _send(actor: Actor, given: Prompt, text: str, outcomes: list[Outcome]) -> TurnEnd:
    """Add the prompt and hooks' context to the conversation and continue it, unless a hook stops here."""
    dialogue, session = actor.dialogue, actor.session
    if pending(dialogue.messages):
        dialogue.close_calls()
    about = {"promptId": session.state.prompt_id, "permissionMode": session.permissions.mode}
    dialogue.user(given.content(text), given.uuid, **about)
    for outcome in outcomes:
        dialogue.record_firing(outcome)
    dialogue.deliver()
    stops = [(text, outcome.hook_name) for outcome in outcomes for text in model_texts(outcome, Place.USER)]
    for text, name in stops:
        dialogue.add_reminder(text, name)
    return TurnRefused(stops[0][0]) if stops else await converse(actor)


def _blocked(actor: Actor, outcomes: list[Outcome], prompt: str) -> TurnRefused:
    """Keep a prompt from the model; show the user why, and note it in the transcript."""
    outcome = outcomes[-1]
    text = f"{outcome.event} operation blocked by hook:\n{_reason(outcome)}"
    if not outcome.fields.get("suppress_original_prompt") and not failed_closed(outcome):
        text += f"\n\nOriginal prompt: {prompt}"
    for fired in outcomes:
        actor.dialogue.record_unread(fired)
    actor.dialogue.transcript.system("informational", text, level="warning")
    actor.session.tell(Note(text, level="warning", tag="prompt-blocked"))
    return TurnRefused(text)


def _reason(outcome: Outcome) -> str:
    """Return why a prompt is blocked, with the line ends that a hook at exit 2 printed after its reason."""
    reason = outcome.reason or ""
    for run in outcome.runs:
        if isinstance(run.reply, Exited) and run.reply.status == 2:
            said = run.reply.stderr.decode("utf-8", "replace")
            if said.strip() and reason.endswith(f"[{run.handler.label}]: {said.strip()}"):
                return reason + said[len(said.rstrip()) :]
    return reason


def _title(actor: Actor) -> dict[str, Json]:
    title = actor.session.state.title
    return {} if title is None else {"session_title": title}
