"""Typed answers for callbacks: state the decision; the wire form follows from the event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Block, Decision, Defer, Deny, EndTurn, NoOpinion
from hookwright.protocol.wire import camel


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a hook may answer; an omitted part has no effect."""

    decision: Decision | None = None
    context: str | None = None
    system_message: str | None = None
    stop: EndTurn | None = None
    updated_input: Mapping[str, Json] | None = None
    updated_output: Json = None
    suppress_output: bool = False
    #: Other fields of the event's own output object, by their Python names.
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)


def answer_of(value: object) -> Answer | None:
    """Return a bare decision or stop as an answer; None for any other value."""
    if isinstance(value, Answer):
        return value
    if isinstance(value, EndTurn):
        return Answer(stop=value)
    if isinstance(value, NoOpinion | Allow | Ask | Defer | Deny | Block):
        return Answer(decision=value)
    return None


def to_wire(answer: Answer, event: Event | type[Event]) -> dict[str, Json]:
    """Return an answer as the output object of its event, or of a class of events."""
    out: dict[str, Json] = {}
    specific: dict[str, Json] = {camel(name): value for name, value in answer.fields.items()}
    if answer.stop is not None:
        out["continue"] = False
        if answer.stop.reason is not None:
            out["stopReason"] = answer.stop.reason
    if answer.system_message is not None:
        out["systemMessage"] = answer.system_message
    if answer.suppress_output:
        out["suppressOutput"] = True
    for name, value in (
        ("additional_context", answer.context),
        ("updated_input", answer.updated_input),
        ("updated_tool_output", answer.updated_output),
    ):
        if value is not None:
            specific[camel(name)] = value
    if answer.decision is not None:
        _write_decision(answer.decision, event, out, specific)
    if specific:
        out["hookSpecificOutput"] = {"hookEventName": event.event_name, **specific}
    return out


def _write_decision(
    decision: Decision, event: Event | type[Event], out: dict[str, Json], specific: dict[str, Json]
) -> None:
    output = event.rules.output
    match decision:
        case NoOpinion():
            return
        case Deny(reason=reason, interrupt=interrupt) if "decision" in output:
            specific["decision"] = {"behavior": "deny", "message": reason, "interrupt": interrupt}
        case Allow() if "decision" in output:
            updated = specific.pop("updatedInput", None)
            rewrite = {} if updated is None else {"updatedInput": updated}
            specific["decision"] = {"behavior": "allow", **rewrite}
        case Allow() | Ask() | Defer() | Deny() if "permission_decision" in output:
            specific["permissionDecision"] = type(decision).__name__.lower()
            if decision.reason is not None:
                specific["permissionDecisionReason"] = decision.reason
        case Block(reason=reason) | Deny(reason=reason):
            out.update(decision="block", reason=reason)
        case Allow() | Ask() | Defer():
            word = type(decision).__name__
            raise TypeError(f"{word} has no meaning on {event.event_name}: this event has no permission decision")
        case _:
            assert_never(decision)
