"""System messages inside a conversation: each API accepts them in different places."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from hookwright.models.types import Message
from hookwright.protocol.jsontext import Json
from hookwright.text import system_reminder

#: What hooks said about a result is part of it; what they said before the call or about the whole turn is not.
_OF_RESULTS = "<system-reminder>\nPostToolUse:"


class SystemRole(enum.Enum):
    """Where an API accepts a message with the role `system`."""

    ANYWHERE = "anywhere"
    AFTER_USER = "after a user message, before an assistant message or at the end"
    NOWHERE = "nowhere"


def place_system_messages(messages: Sequence[Message], role: SystemRole) -> list[dict[str, Json]]:
    """Keep system messages where the API accepts them and turn the others into reminders.

    Law: no text is lost; system texts keep their order, and so does everything else; neighbouring system messages
    become one, joined by a blank line. An API that accepts them after a user message gets them after all user messages
    until the next answer. A reminder is a text `<system-reminder>…</system-reminder>` in a user message: the one before
    it (at the end of its last tool result, if it ends with one that is not an error and a hook said it about that;
    ahead of its text, if it has no results), else the front of the one after it (after its tool results, which must
    come first), else a new one.
    """
    turns = _merged(messages)
    if role is SystemRole.AFTER_USER:
        turns = _merged(_behind_prompts(turns))
    placed: list[dict[str, Json]] = []
    waiting: list[dict[str, Json]] = []
    for index, turn in enumerate(turns):
        if turn["role"] != "system":
            placed.append(_led_by(waiting, turn) if waiting else turn)
            waiting = []
        elif _stays(turns, index, role):
            placed.append(turn)
        elif placed and placed[-1]["role"] == "user":
            placed[-1] = {**placed[-1], "content": _followed_by(blocks(placed[-1]), _reminder(turn))}
        elif index + 1 < len(turns) and turns[index + 1]["role"] == "user":
            waiting.append(_reminder(turn))
        else:
            placed.append({"role": "user", "content": [_reminder(turn)]})
    return placed


def blocks(message: Message) -> list[dict[str, Json]]:
    """Return a message's content as blocks, also if it is a string."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [dict(block) for block in content]


def plain_text(message: Message) -> str:
    """Join the text of a message, without its other blocks."""
    return "\n\n".join(block["text"] for block in blocks(message) if block["type"] == "text")


def _merged(messages: Sequence[Message]) -> list[dict[str, Json]]:
    turns: list[dict[str, Json]] = []
    for message in messages:
        if message["role"] != "system":
            turns.append({"role": message["role"], "content": message["content"]})
            continue
        text = plain_text(message)
        if text and turns and turns[-1]["role"] == "system":
            turns[-1] = {"role": "system", "content": f"{turns[-1]['content']}\n\n{text}"}
        elif text:
            turns.append({"role": "system", "content": text})
    return turns


def _behind_prompts(turns: Sequence[Message]) -> list[dict[str, Json]]:
    """Move system messages behind the results and prompts they are among: what comes until the next answer."""
    moved: list[dict[str, Json]] = []
    said: list[dict[str, Json]] = []
    for turn in turns:
        if turn["role"] == "system":
            said.append(dict(turn))
            continue
        if turn["role"] == "assistant":
            moved, said = [*moved, *said], []
        moved.append(dict(turn))
    return [*moved, *said]


def _stays(turns: Sequence[Message], index: int, role: SystemRole) -> bool:
    if role is not SystemRole.AFTER_USER:
        return role is SystemRole.ANYWHERE
    follows_user = index > 0 and turns[index - 1]["role"] == "user"
    ends_turn = index + 1 == len(turns) or turns[index + 1]["role"] == "assistant"
    return follows_user and ends_turn


def _followed_by(content: list[dict[str, Json]], reminder: dict[str, Json]) -> list[dict[str, Json]]:
    """Add a reminder to the text of the last tool result, or as a block of its own: after an error, before a text."""
    last = content[-1] if content else None
    if last is None or last.get("is_error"):
        return [*content, reminder]
    if last["type"] != "tool_result":
        return [*content[:-1], reminder, last]
    if not reminder["text"].startswith(_OF_RESULTS):
        return [*content, reminder]
    said = last.get("content") or ""
    text = reminder["text"]
    joined = f"{said}\n\n{text}".lstrip("\n") if isinstance(said, str) else [*said, reminder]
    return [*content[:-1], {**last, "content": joined}]


def _led_by(reminders: list[dict[str, Json]], turn: Message) -> dict[str, Json]:
    content = blocks(turn)
    first = next((i for i, block in enumerate(content) if block["type"] != "tool_result"), len(content))
    return {"role": "user", "content": [*content[:first], *reminders, *content[first:]]}


def _reminder(turn: Message) -> dict[str, Json]:
    return {"type": "text", "text": system_reminder(turn["content"])}
