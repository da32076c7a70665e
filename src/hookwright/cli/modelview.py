"""What a model would receive because of one firing: every text, in order, as the request has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from hookwright.background import Late
from hookwright.protocol.events import CATALOGUE, Event, Exit2
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.visibility import Form, Reader, for_reader

RETRY = "The PermissionDenied hook indicated you may retry this tool call."


class Part(msgspec.Struct, frozen=True):
    """One text and where in the request it stands."""

    place: str
    text: str


def model_view(event: Event, outcome: Outcome) -> tuple[Part, ...]:
    """List what reaches the model.

    Law (observed §4): a denial is the error result of the tool call; a rewritten output is its result; feedback at the
    end of a turn is a user message; everything else that hooks add stands in system-reminder tags behind it.
    """
    parts: list[Part] = []
    if outcome.updated_output is not None:
        parts.append(Part("tool result", _shown(outcome.updated_output)))
    if isinstance(first := outcome.fields.get("initial_user_message"), str):
        parts.append(Part("user message", first))
    rules = CATALOGUE[event.event_name].rules
    for message in for_reader(outcome, Reader.MODEL):
        if message.form is Form.TOOL_ERROR:
            parts.append(Part("tool result (error)", message.text))
        elif message.form is Form.FEEDBACK and rules.exit_2 is not Exit2.FEEDBACK:
            parts.append(Part("user message", message.text))
        else:
            parts.append(Part("reminder", reminder(message.text)))
    if outcome.fields.get("retry") is True:
        parts.append(Part("user message", RETRY))
    return tuple(parts)


def later_view(lates: Iterable[Late]) -> Iterator[Part]:
    """List what background hooks add to the next request."""
    for late in lates:
        for text in (late.context, late.system_message, late.rewake):
            if text:
                yield Part("reminder on the next turn", reminder(text))


def reminder(text: str) -> str:
    """Wrap a text as the program's own words."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
