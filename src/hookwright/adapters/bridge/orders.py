"""What an adapter has to do after hooks ran: one frozen value per moment, read from the outcome by pure functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from hookwright.adapters.tools import Shaped, restored
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import SILENT, Outcome
from hookwright.visibility import NOT_RUN, Form, Message, Place, Reader, as_sent, for_reader, model_texts


def new_call_id() -> str:
    """Return an id for a tool call of a framework that has none."""
    return f"toolu_{os.urandom(12).hex()}"


class NativeCall(msgspec.Struct, frozen=True):
    """A tool call as the framework knows it."""

    name: str
    input: Mapping[str, Json]
    id: str = msgspec.field(default_factory=new_call_id)
    #: The MCP server whose tool it is; `name` is then the name that the server gives the tool.
    server: str = ""


class StartOrder(msgspec.Struct, frozen=True):
    """After SessionStart or SubagentStart."""

    #: Texts for the model, after the first prompt.
    notes: tuple[str, ...] = ()
    #: A first prompt that a hook gives; most frameworks have their own and ignore it.
    prompt: str | None = None


class Prompted(msgspec.Struct, frozen=True):
    """After UserPromptSubmit."""

    #: The prompt must not reach the model, and this is why: tell the user.
    refusal: str | None = None
    #: Texts for the model, as a user message after the prompt.
    notes: tuple[str, ...] = ()


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """After PreToolUse, and PermissionRequest where a hook asked. Read the fields in this order."""

    #: The run ends now, without another model call, and this is why. The call is refused as well.
    stop: str | None = None
    #: The tool must not run; the model reads this as the failed result of the call.
    refusal: str | None = None
    #: A person has to decide, and this is the question.
    ask: str | None = None
    #: The native input to run the tool with: the same object unless a hook rewrote it.
    input: Mapping[str, Json]
    #: Texts for the model next to a refusal; those of a call that runs come with its result.
    notes: tuple[str, ...] = ()


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks said about one part of a call: a call that is a patch has a part per file, any other has one."""

    shaped: Shaped
    #: The input after every rewrite, as hooks read it.
    final: Mapping[str, Json]
    stop: str | None = None
    refusal: str | None = None
    ask: str | None = None
    notes: tuple[str, ...] = ()


def ordered(call: NativeCall, parts: Sequence[Judged]) -> Before:
    """Return the order for a call.

    Law: one refused part refuses the call, with the reasons of all; one part that a person has to decide about asks,
    with the questions of all; the first stop applies. The notes of all come next to the refusal.
    """
    refused = "\n".join(one.refusal for one in parts if one.refusal is not None) or None
    asked = "\n".join(one.ask for one in parts if one.ask is not None) or None
    (first, *more) = parts
    return Before(
        stop=next((one.stop for one in parts if one.stop is not None), None),
        refusal=refused,
        ask=asked if refused is None else None,
        input=call.input if more or first.shaped.touch else restored(first.shaped, first.final),
        notes=tuple(note for one in parts for note in one.notes) if refused is not None else (),
    )


class After(msgspec.Struct, frozen=True, kw_only=True):
    """After PostToolUse or PostToolUseFailure."""

    #: The run ends after this result, and this is why.
    stop: str | None = None
    #: The native result: the same object unless `rewritten`.
    output: Json = None
    rewritten: bool = False
    #: Texts for the model next to the result; where a result cannot carry them, pass them to `Turn.later`.
    notes: tuple[str, ...] = ()


class Requested(msgspec.Struct, frozen=True):
    """Before a model call."""

    #: The model must not be called, and this is why.
    refusal: str | None = None
    #: The run ends instead of calling the model, and this is why.
    stop: str | None = None
    #: Texts for the model, as user messages after everything else.
    notes: tuple[str, ...] = ()


class Stopped(msgspec.Struct, frozen=True):
    """After Stop or SubagentStop."""

    #: What sends the agent back to work, as a user message; empty if it may stop.
    again: tuple[str, ...] = ()
    #: Why a hook ended the turn for good.
    stop: str | None = None


# ── from an outcome ─────────────────────────────────────────────────────────


def silent(outcome: Outcome) -> bool:
    """Return whether no hook ran, or all that ran succeeded without an answer: then no one has anything to read."""
    return all(run.verdict == SILENT for run in outcome.runs)


def notes(outcome: Outcome) -> tuple[str, ...]:
    """Return what the model reads of an outcome in a message of its own: context and feedback, in order.

    Law: a refused or rewritten result is the result itself; the reason of a stop waits for the next model call, which
    is `parting`; everything else the model reads is a note.
    """
    return _sent(outcome, lambda message: message.form is not Form.STOP)


def parting(outcome: Outcome) -> tuple[str, ...]:
    """Return why a hook ended the run, for the model to read in the next run of the conversation."""
    return _sent(outcome, lambda message: message.form is Form.STOP)


def _sent(outcome: Outcome, wanted: Callable[[Message], bool]) -> tuple[str, ...]:
    if silent(outcome):
        return ()
    read = for_reader(outcome, Reader.MODEL)
    chosen = [one for one in read if one.place in (Place.USER, Place.REMINDER) and wanted(one)]
    return tuple(part.text for part in as_sent(one for one in chosen if one.form is not Form.PROMPT))


def refusal(outcome: Outcome) -> str | None:
    """Return the failed result of a call that hooks denied or ended the run before; None if they did neither."""
    texts = () if silent(outcome) else model_texts(outcome, Place.ERROR)
    if texts:
        return "\n".join(texts)
    return (outcome.reason or NOT_RUN) if outcome.blocked or outcome.stop is not None else None


def stop_reason(outcome: Outcome) -> str | None:
    """Return why a hook ended the run; None if no hook did."""
    if outcome.stop is None:
        return None
    return "\n".join(one.text for one in for_reader(outcome, Reader.USER) if one.form is Form.STOP)


def for_user(outcome: Outcome) -> tuple[str, ...]:
    """Return what a person has to read of an outcome: blocks, failures of hooks and their messages."""
    if silent(outcome):
        return ()
    return tuple(one.text for one in for_reader(outcome, Reader.USER) if one.form is not Form.QUESTION)


def question(outcome: Outcome) -> str:
    """Return what to ask a person about a call."""
    asked = [one.text for one in for_reader(outcome, Reader.USER) if one.form is Form.QUESTION]
    return "\n".join(asked) or outcome.reason or "A hook defers this call to a person."
