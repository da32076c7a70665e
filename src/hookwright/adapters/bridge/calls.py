"""The tool calls of one run: PreToolUse, PermissionRequest, PostToolUse and PostToolUseFailure."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from hookwright.adapters.bridge.conversation import Known
from hookwright.adapters.bridge.events import TurnEvents
from hookwright.adapters.bridge.orders import (
    After,
    Before,
    Judged,
    NativeCall,
    notes,
    ordered,
    parting,
    question,
    refusal,
    stop_reason,
)
from hookwright.adapters.bridge.portal import Pending
from hookwright.adapters.tools import Shaped, output_of, response
from hookwright.agent.transcript import CallContext
from hookwright.protocol.events import PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Outcome
from hookwright.protocol.plain import plain

#: The run whose tool runs in this context: an agent that starts here is its subagent.
calling: contextvars.ContextVar[TurnEvents | None] = contextvars.ContextVar("hookwright_calling", default=None)

#: Why a patch that a hook changed does not run.
_REWRITTEN = "A hook rewrote a file of this patch, and a patch cannot be changed file by file, so it did not run."


class ToolMoments(TurnEvents):
    """One run of an agent, as far as its tools need it."""

    def pre(self, call: NativeCall) -> Pending[Before]:
        """Fire PreToolUse, and PermissionRequest if a hook asks; call it once per call.

        A patch is one event per file: the call is refused if one of them is.
        """
        return self.bridge.submit(self._pre(call))

    async def _pre(self, call: NativeCall) -> Before:
        parts = self.bridge.table.parts(call.name, call.input, call.server)
        self.talk.waiting += (await self._start()).notes
        self.talk.ledger.fired(call.id)
        self._log().call(call, self.bridge.table.shaped(call.name, call.input, call.server))
        judged = [await self._judged(call, part) for part in parts]
        order = ordered(call, judged)
        if order.refusal is not None:
            self._end(call, judged, order.refusal, order.refusal, error=True)
        else:
            self.talk.calls[call.id] = Known(call, tuple(judged), order)
        return order

    async def _judged(self, call: NativeCall, shaped: Shaped) -> Judged:
        """Let hooks judge one part of a call; one that guards could not judge is refused."""
        if shaped.unclear:
            return Judged(shaped=shaped, final=shaped.input, refusal=shaped.unclear)
        outcome = await self.bridge.fire(self._tool_event(PreToolUse, call, shaped, shaped.input))
        final = shaped.input if outcome.updated_input is None else dict(outcome.updated_input)
        said = notes(outcome)
        self._record(outcome, said, CallContext(call.id, shaped.name, final))
        refused, ask = refusal(outcome), None
        if refused is None and shaped.unreadable and outcome.runs:
            refused = f"{shaped.unreadable}, so hooks could not judge it and it did not run."
        if refused is None and isinstance(outcome.decision, Ask | Defer):
            ask = question(outcome)
            final, refused, ask = await self._permission(call, shaped, final, outcome, ask)
        if refused is None and shaped.touch and final != shaped.input:
            refused = _REWRITTEN
        if refused is not None:
            self.talk.waiting += parting(outcome)
        stop = stop_reason(outcome)
        return Judged(shaped=shaped, final=final, stop=stop, refusal=refused, ask=ask, notes=said)

    async def _permission(
        self, call: NativeCall, shaped: Shaped, final: dict[str, Json], pre: Outcome, ask: str
    ) -> tuple[dict[str, Json], str | None, str | None]:
        """Let PermissionRequest hooks answer a question, then the program; return the input, a refusal, a question."""
        outcome = await self.bridge.fire(self._tool_event(PermissionRequest, call, shaped, final))
        self._record(outcome, ())
        match outcome.decision:
            case Deny():
                return final, refusal(outcome), None
            case Allow() if outcome.updated_input is None:
                return final, None, None
            case Allow():
                final = dict(outcome.updated_input or {})
                event = self._tool_event(PreToolUse, call, shaped, final)
                judged = await self.bridge.recheck(event, pre)
                if not isinstance(judged.decision, Ask | Defer):
                    return final, refusal(judged), None
                ask = question(judged)
        match await self.bridge.answered(call, ask):
            case None:
                return final, None, ask
            case True:
                return final, None, None
            case _:
                return final, ask, None

    def resume(self, call: NativeCall) -> Pending[Before]:
        """Return the order of a call that a person approved; PreToolUse does not run a second time for it.

        Law: a call that this process asked about runs with the input that its hooks wrote. One that it never saw, as
        after a restart, or whose input the person changed, is judged as a new one, but a question is answered already.
        """
        return self.bridge.submit(self._resume(call))

    async def _resume(self, call: NativeCall) -> Before:
        known = self.talk.calls.get(call.id)
        seen = known is not None and call.name == known.call.name
        if known is None or not seen or call.input not in (known.call.input, known.order.input):
            order = await self._pre(call)
            return msgspec.structs.replace(order, ask=None)
        return msgspec.structs.replace(known.order, ask=None)

    def denied(self, call: NativeCall, reason: str) -> Pending[None]:
        """Note that a person refused a call that hooks asked about."""
        return self.bridge.submit(self._denied(call, reason))

    async def _denied(self, call: NativeCall, reason: str) -> None:
        self._end(call, self._known(call).parts, reason, reason, error=True)

    def post(self, call: NativeCall, output: Json) -> Pending[After]:
        """Fire PostToolUse; after a patch, once per file."""
        return self.bridge.submit(self._post(call, output))

    async def _post(self, call: NativeCall, output: Json) -> After:
        parts = self._known(call).parts
        shown, final, rewritten = output, output, False
        fired: list[tuple[Judged, Outcome]] = []
        for part in parts:
            shown = plain(response(part.shaped.name, final))
            event = self._tool_event(PostToolUse, call, part.shaped, part.final, tool_response=shown)
            outcome = await self.bridge.fire(event)
            fired.append((part, outcome))
            if outcome.updated_output is not None:
                shown, rewritten = outcome.updated_output, True
                final = output_of(part.shaped.name, output, outcome.updated_output)
        self._end(call, parts, shown, _text(final), error=False)
        for part, outcome in fired:
            self._record(outcome, notes(outcome), CallContext(call.id, part.shaped.name, part.final))
            self.talk.waiting += parting(outcome)
        return After(stop=_first_stop(fired), output=final, rewritten=rewritten, notes=_notes(fired))

    def failed(self, call: NativeCall, error: str) -> Pending[After]:
        """Fire PostToolUseFailure; after a patch, once per file."""
        return self.bridge.submit(self._failed(call, error))

    async def _failed(self, call: NativeCall, error: str) -> After:
        parts = self._known(call).parts
        fired: list[tuple[Judged, Outcome]] = []
        for part in parts:
            event = self._tool_event(PostToolUseFailure, call, part.shaped, part.final, error=str(error))
            fired.append((part, await self.bridge.fire(event)))
        self._end(call, parts, f"Error: {error}", str(error), error=True)
        for part, outcome in fired:
            self._record(outcome, notes(outcome), CallContext(call.id, part.shaped.name, part.final))
        return After(stop=_first_stop(fired), notes=_notes(fired))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run a tool: an agent that starts in this context is a subagent of this run."""
        token = calling.set(self)
        try:
            yield
        finally:
            calling.reset(token)

    def _known(self, call: NativeCall) -> Known:
        """Return what is known of a call; one whose PreToolUse another process fired is shaped again."""
        known = self.talk.calls.pop(call.id, None)
        if known is None:
            parts = self.bridge.table.parts(call.name, call.input, call.server)
            judged = tuple(Judged(shaped=part, final=part.input) for part in parts)
            known = Known(call, judged, Before(input=call.input))
        return known

    def _end(self, call: NativeCall, parts: Sequence[Judged], shown: Json, text: str, error: bool) -> None:
        self._log().result(call.id, shown, text, error)
        self._stops.progress()
        for part in parts:
            named: dict[str, Json] = {"tool_name": part.shaped.name, "tool_input": dict(part.final)}
            self.talk.ended.append({**named, "tool_use_id": call.id, "tool_response": shown})


def _first_stop(fired: Sequence[tuple[Judged, Outcome]]) -> str | None:
    return next((stop for _, outcome in fired if (stop := stop_reason(outcome)) is not None), None)


def _notes(fired: Sequence[tuple[Judged, Outcome]]) -> tuple[str, ...]:
    """Return the notes of PreToolUse, then those of the events after the call."""
    before = [note for part, _ in fired for note in part.notes]
    return (*before, *(note for _, outcome in fired for note in notes(outcome)))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()
