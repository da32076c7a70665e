"""The life of a turn: ask the model, run its tools, repeat, until it stops and no hook objects."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.endings import (
    ApiFailed,
    Deferred,
    Finished,
    HookStopped,
    Interrupted,
    OutOfBudget,
    OutOfTurns,
    SchemaUnmet,
    StopPrevented,
    TurnEnd,
)
from hookwright.agent.state.prompts import MEANWHILE, STOPPED_BY_USER
from hookwright.agent.state.stops import Stops
from hookwright.agent.state.updates import CallTyped, Note, Retried, Typed
from hookwright.agent.transcript import stop_summary
from hookwright.agent.turn.compaction import compact_if_full
from hookwright.agent.turn.display import display
from hookwright.agent.turn.late_hooks import deliver_late
from hookwright.agent.turn.tool_call import Handled, changes_nothing, handle
from hookwright.models.types import ApiError, Block, Request, Response, Retrying, TextDelta
from hookwright.protocol.events import PostToolBatch, Stop, StopFailure, SubagentStop, UserPromptSubmit
from hookwright.protocol.jsontext import Json
from hookwright.visibility import Place, model_texts

INVALID_REQUEST = 400
#: How often in a row the model is reminded of the schema of the options.
SCHEMA_REMINDERS = 5
CALL_STRUCTURED_OUTPUT = "You MUST call the StructuredOutput tool to complete this request. Call this tool now."


async def converse(actor: Actor) -> TurnEnd:
    """Run one agent until its turn ends."""
    stops = Stops(actor.session.options.env)
    while True:
        limit = actor.role.max_turns
        if limit is not None and actor.turns >= limit:
            return OutOfTurns(limit)
        if actor.session.over_budget:
            return OutOfBudget(actor.session.options.max_budget_usd or 0.0)
        response = await ask(actor)
        if isinstance(response, ApiFailed):
            return response
        if response.tool_uses:
            stops.progress()
            ending = await run_tools(actor, response.tool_uses)
        else:
            ending = reminded(actor) if unanswered(actor) else await at_stop(actor, response.text, stops)
        if ending is not None:
            return ending


# ── a value for a schema ────────────────────────────────────────────────────


def unanswered(actor: Actor) -> bool:
    """Return whether the main agent ends without the value that the options ask for."""
    return actor.is_main and actor.session.options.json_schema is not None and actor.session.state.structured is None


def reminded(actor: Actor) -> SchemaUnmet | None:
    """Remind the model of the tool that takes the value, a few times."""
    if actor.session.state.reminders >= SCHEMA_REMINDERS:
        return SchemaUnmet(SCHEMA_REMINDERS)
    actor.session.state.remind()
    actor.dialogue.add_reminder(CALL_STRUCTURED_OUTPUT)
    return None


# ── the model ───────────────────────────────────────────────────────────────


async def ask(actor: Actor) -> Response | ApiFailed:
    """Send the conversation, with what background hooks said in the meantime, and record the response."""
    deliver_late(actor)
    await compact_if_full(actor)
    try:
        response = await _asked_twice(actor)
    except ApiError as error:
        return _failed(actor, error.kind, f"API Error: {error}")
    actor.count(response)
    await display(actor, response, actor.dialogue.assistant(response, actor.session.effort))
    if response.stop_reason == "max_tokens" and not response.tool_uses:
        return _failed(actor, "max_output_tokens", "API Error: the answer went over the limit of output tokens")
    return response


async def _asked_twice(actor: Actor) -> Response:
    """Send the conversation; a request the API calls invalid (400) is sent once more."""
    try:
        return await _stream(actor)
    except ApiError as error:
        if error.status != INVALID_REQUEST:
            raise
    return await _stream(actor)


async def _stream(actor: Actor) -> Response:
    request = Request(
        messages=tuple(actor.dialogue.messages),
        system=actor.system,
        tools=actor.offers,
        model=actor.role.model,
        tuning=actor.session.options.tuning,
    )
    async for delta in actor.session.model.stream(request):
        if isinstance(delta, Response):
            return delta
        if isinstance(delta, Retrying):
            actor.session.tell(Retried(delta))
        elif isinstance(delta, TextDelta):
            actor.session.tell(Typed(delta.text, actor.role.parent_tool_use_id))
        else:
            actor.session.tell(CallTyped(delta.id, delta.name, delta.partial_json, actor.role.parent_tool_use_id))
    raise ApiError("the model's answer ended without a final response")


def _failed(actor: Actor, kind: str, text: str) -> ApiFailed:
    """Fire StopFailure instead of Stop, without waiting for its hooks."""
    actor.dialogue.transcript.system("api_error", text, level="error")
    actor.session.fire_later(actor.event(StopFailure, error=kind, error_details=text, last_assistant_message=text))
    return ApiFailed(kind, text)


# ── its tools ───────────────────────────────────────────────────────────────


async def run_tools(actor: Actor, calls: Sequence[Block], earlier: Sequence[Block] = ()) -> TurnEnd | None:
    """Run the calls of one turn in order.

    Law: calls that change nothing and follow each other run together; any other call runs alone, with its hooks, so
    that a later call sees what an earlier one did. A stop by one of them applies after all of them, and PostToolBatch
    does not fire then; an interrupt ends the turn at once.

    `earlier` are results the turn already has when its deferred calls run again.
    """
    try:
        handled = await _in_order(actor, calls)
    except asyncio.CancelledError:
        _close_turn(actor, calls, earlier)
        raise
    actor.count_calls(len(handled))
    if any(one.interrupts for one in handled):
        _close_turn(actor, calls, earlier)
        actor.dialogue.deliver()
        return Interrupted("a permission hook or the host interrupted the turn")
    blocks = [*earlier, *(one.block for one in handled if one.block is not None)]
    if blocks:
        actor.dialogue.results(blocks)
    deferred = next((one for one in handled if one.block is None), None)
    if deferred is not None:
        actor.dialogue.deliver()
        return Deferred(dict(deferred.call))
    stop = next((one.stop for one in handled if one.stop is not None), None)
    if stop is None:
        batch = await actor.fire(actor.event(PostToolBatch, tool_calls=[batched(one) for one in handled]))
        actor.dialogue.record_firing(batch)
        stop = batch.stop
    if stop is None and actor.is_main:
        await _read_queued(actor)
    actor.dialogue.deliver()
    return HookStopped(stop.reason) if stop is not None else None


async def _read_queued(actor: Actor) -> None:
    """Add prompts that came during the turn to its results, unless a UserPromptSubmit hook refuses one."""
    for prompt in actor.session.inbox.take_joining():
        outcome = await actor.fire(actor.event(UserPromptSubmit, prompt=prompt.text))
        if outcome.blocked or outcome.stop is not None:
            actor.dialogue.record_unread(outcome)
        else:
            actor.dialogue.add_note(MEANWHILE.format(prompt=prompt.text))
            actor.dialogue.record_firing(outcome)


async def _in_order(actor: Actor, calls: Sequence[Block]) -> list[Handled]:
    """Run the calls group by group, until one interrupts the turn."""
    handled: list[Handled] = []
    while len(handled) < len(calls) and not any(one.interrupts for one in handled):
        left = calls[len(handled) :]
        together = list(itertools.takewhile(lambda call: changes_nothing(actor, call), left)) or left[:1]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(handle(actor, call)) for call in together]
        handled += [task.result() for task in tasks]
    return handled


def batched(one: Handled) -> dict[str, Json]:
    """Return a call as PostToolBatch hooks read it."""
    call = one.call
    content = one.block["content"] if one.block is not None else ""
    return {
        "tool_name": call["name"],
        "tool_input": call["input"],
        "tool_use_id": call["id"],
        "tool_response": content,
    }


def _close_turn(actor: Actor, calls: Sequence[Block], earlier: Sequence[Block]) -> None:
    """After an interrupt add a result for every call, so that the conversation can continue."""
    for call in calls:
        if call["id"] not in actor.dialogue.kept:
            head = {"type": "tool_result", "tool_use_id": call["id"]}
            block = {**head, "content": STOPPED_BY_USER, "is_error": True}
            actor.dialogue.keep_result(block, STOPPED_BY_USER)
    kept = actor.dialogue.kept
    actor.dialogue.results([*earlier, *(kept[call["id"]] for call in calls)])


# ── the end ─────────────────────────────────────────────────────────────────


async def at_stop(actor: Actor, text: str, stops: Stops) -> TurnEnd | None:
    """Fire the stop hooks; return None when they send the agent back to work."""
    outcome = await actor.fire(_stop_event(actor, text, stops))
    dialogue = actor.dialogue
    continues = outcome.stop is None and (outcome.blocked or bool(outcome.context))
    overridden = continues and stops.exhausted
    if overridden:
        # The model reads the block all the same, with the next prompt.
        actor.session.tell(Note(stops.cap_reached, level="warning", tag="stop-cap"))
    for feedback in model_texts(outcome, Place.USER):
        dialogue.add_reminder(feedback, outcome.hook_name)
    dialogue.record_firing(outcome)
    if outcome.runs:
        dialogue.transcript.system("stop_hook_summary", **stop_summary(outcome, f"stop-{actor.turns}"))
    dialogue.deliver()
    if outcome.stop is not None:
        return StopPrevented(text, outcome.stop.reason)
    if overridden or not continues:
        return Finished(text, overridden)
    stops.continued()
    return None


def _stop_event(actor: Actor, text: str, stops: Stops) -> Stop | SubagentStop:
    fields: dict[str, Json] = {
        "stop_hook_active": stops.active,
        "last_assistant_message": text,
        "background_tasks": actor.session.background_tasks(),
        "session_crons": [],
    }
    if actor.identity is None:
        return actor.event(Stop, **fields)
    return actor.event(SubagentStop, agent_transcript_path=actor.dialogue.transcript.path, **fields)
