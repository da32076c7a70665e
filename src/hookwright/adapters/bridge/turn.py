"""One run of an agent, moment by moment, from its prompt to its stop."""

from __future__ import annotations

import contextvars
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from hookwright.adapters.bridge.bridge import Bridge
from hookwright.adapters.bridge.conversation import Conversation, Known, Log
from hookwright.adapters.bridge.orders import (
    After,
    Before,
    NativeCall,
    Prompted,
    Requested,
    StartOrder,
    Stopped,
    notes,
    parting,
    question,
    refusal,
    stop_reason,
)
from hookwright.adapters.bridge.portal import Pending
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.tools import Shaped, output_of, response, restored
from hookwright.agent.transcript import CallContext
from hookwright.protocol.events import (
    Event,
    ModeEvent,
    PermissionRequest,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionStart,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    UserPromptSubmit,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Outcome
from hookwright.protocol.plain import plain

#: What a second start finds: the hooks already ran.
NOTHING = StartOrder()

#: The turn whose tool runs in this context: an agent that starts here is its subagent.
_calling: contextvars.ContextVar[Turn | None] = contextvars.ContextVar("hookwright_calling", default=None)


def begin(bridge: Bridge, session_id: str | None, agent: str, source: str) -> Turn:
    """Begin a run by the law of `Bridge.turn`."""
    above = _calling.get()
    if above is None or above.bridge is not bridge:
        return Turn(bridge, bridge.conversation(session_id), source=source)
    return Turn(bridge, above.talk, agent=agent or "agent", prompt_id=above.prompt_id)


class Turn:
    """One run of an agent: `prompt`, then `request` before each model call, `pre` and `post` around each tool, `stop`.

    Every method returns a `Pending`: await it, or call `.result()` in code without an event loop.
    """

    def __init__(
        self,
        bridge: Bridge,
        talk: Conversation,
        *,
        agent: str = "",
        source: str = "startup",
        prompt_id: str | None = None,
    ) -> None:
        self.bridge = bridge
        self.talk = talk
        self.prompt_id = prompt_id
        #: Empty for the main agent.
        self.agent_type = agent
        self.agent_id = f"a{os.urandom(8).hex()}" if agent else ""
        self._source = source
        self._stops = bridge.stops()
        self._own: Log | None = None
        self._requested = False

    @property
    def session_id(self) -> str:
        """The id of the conversation."""
        return self.talk.id

    # ── the beginning ───────────────────────────────────────────────────────

    def start(self) -> Pending[StartOrder]:
        """Fire SessionStart the first time the conversation is seen, or SubagentStart for a subagent."""
        return self.bridge.submit(self._start())

    async def _start(self) -> StartOrder:
        if self.agent_id:
            if self._own is not None:
                return NOTHING
            self._own = self.talk.log().subagent(self.agent_id, self.agent_type)
            return self._begun(await self._fire(SubagentStart, {}))
        if self.talk.started and not self.talk.starting.locked():
            return NOTHING
        async with self.talk.starting:
            if self.talk.started:
                return NOTHING
            source = "resume" if self.talk.existed else self._source
            self.talk.started = True
            return self._begun(await self._fire(SessionStart, {"source": source}))

    def _begun(self, outcome: Outcome) -> StartOrder:
        first = outcome.fields.get("initial_user_message")
        self._record(outcome, notes(outcome))
        return StartOrder(notes(outcome), first if isinstance(first, str) else None)

    def prompt(self, text: str) -> Pending[Prompted]:
        """Start if nothing did, then fire UserPromptSubmit; a subagent's prompt is its parent's, so no event fires."""
        return self.bridge.submit(self._prompt(text))

    async def _prompt(self, text: str) -> Prompted:
        began = await self._start()
        if self.agent_id:
            self._log().user(text)
            return Prompted(None, began.notes)
        self.prompt_id = str(uuid.uuid4())
        self._stops = self.bridge.stops()
        outcome = await self._fire(UserPromptSubmit, {"prompt": text})
        if outcome.blocked or outcome.stop is not None:
            self._record(outcome, ())
            self._log().close()
            return Prompted(outcome.reason or stop_reason(outcome) or "A hook refused the prompt.")
        self._log().user(text, self.prompt_id)
        self._record(outcome, notes(outcome))
        return Prompted(None, (*began.notes, *notes(outcome)))

    # ── tools ───────────────────────────────────────────────────────────────

    def pre(self, call: NativeCall) -> Pending[Before]:
        """Fire PreToolUse, and PermissionRequest if a hook asks; call it once per call."""
        return self.bridge.submit(self._pre(call))

    async def _pre(self, call: NativeCall) -> Before:
        shaped = self.bridge.table.shaped(call.name, call.input, call.server)
        self.talk.waiting += (await self._start()).notes
        self.talk.ledger.fired(call.id)
        self._log().call(call, shaped)
        if shaped.unclear:
            self._end(call, shaped, shaped.input, shaped.unclear, shaped.unclear, error=True)
            return Before(refusal=shaped.unclear, input=call.input)
        event = self._tool_event(PreToolUse, call, shaped, shaped.input)
        outcome = await self.bridge.fire(event)
        final = shaped.input if outcome.updated_input is None else dict(outcome.updated_input)
        said = notes(outcome)
        self._record(outcome, said, CallContext(call.id, shaped.name, final))
        refused, ask = refusal(outcome), None
        if refused is None and isinstance(outcome.decision, Ask | Defer):
            ask = question(outcome)
            final, refused, ask = await self._permission(call, shaped, final, outcome, ask)
        order = Before(
            stop=stop_reason(outcome),
            refusal=refused,
            ask=ask,
            input=restored(shaped, final),
            notes=said if refused is not None else (),
        )
        if refused is not None:
            self.talk.waiting += parting(outcome)
            self._end(call, shaped, final, refused, refused, error=True)
        else:
            self.talk.calls[call.id] = Known(call, shaped, final, order, said)
        return order

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
        known = self._known(call)
        self._end(call, known.shaped, known.final, reason, reason, error=True)

    def post(self, call: NativeCall, output: Json) -> Pending[After]:
        """Fire PostToolUse."""
        return self.bridge.submit(self._post(call, output))

    async def _post(self, call: NativeCall, output: Json) -> After:
        known = self._known(call)
        shaped, name = known.shaped, known.shaped.name
        shown = plain(response(name, output))
        event = self._tool_event(PostToolUse, call, shaped, known.final, tool_response=shown)
        outcome = await self.bridge.fire(event)
        rewritten = outcome.updated_output is not None
        final = output_of(name, output, outcome.updated_output) if rewritten else output
        shown = outcome.updated_output if rewritten else shown
        said = (*known.notes, *notes(outcome))
        self._end(call, shaped, known.final, shown, _text(final), error=False)
        self._record(outcome, notes(outcome), CallContext(call.id, name, known.final))
        self.talk.waiting += parting(outcome)
        return After(stop=stop_reason(outcome), output=final, rewritten=rewritten, notes=said)

    def failed(self, call: NativeCall, error: str) -> Pending[After]:
        """Fire PostToolUseFailure."""
        return self.bridge.submit(self._failed(call, error))

    async def _failed(self, call: NativeCall, error: str) -> After:
        known = self._known(call)
        outcome = await self.bridge.fire(
            self._tool_event(PostToolUseFailure, call, known.shaped, known.final, error=str(error))
        )
        self._end(call, known.shaped, known.final, f"Error: {error}", str(error), error=True)
        self._record(outcome, notes(outcome), CallContext(call.id, known.shaped.name, known.final))
        return After(stop=stop_reason(outcome), notes=(*known.notes, *notes(outcome)))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run a tool: an agent that starts in this context is a subagent of this run."""
        token = _calling.set(self)
        try:
            yield
        finally:
            _calling.reset(token)

    def _known(self, call: NativeCall) -> Known:
        """Return what is known of a call; one whose PreToolUse another process fired is shaped again."""
        known = self.talk.calls.pop(call.id, None)
        if known is None:
            shaped = self.bridge.table.shaped(call.name, call.input, call.server)
            known = Known(call, shaped, shaped.input, Before(input=call.input))
        return known

    def _end(
        self, call: NativeCall, shaped: Shaped, final: Mapping[str, Json], shown: Json, text: str, error: bool
    ) -> None:
        self._log().result(call.id, shown, text, error)
        self._stops.progress()
        entry = {"tool_name": shaped.name, "tool_input": dict(final), "tool_use_id": call.id, "tool_response": shown}
        self.talk.ended.append(entry)

    # ── the model ───────────────────────────────────────────────────────────

    def later(self, texts: Iterable[str]) -> Pending[None]:
        """Keep texts for the next model call, after all results."""
        return self.bridge.submit(self._later(tuple(texts)))

    async def _later(self, texts: tuple[str, ...]) -> None:
        self.talk.waiting += texts

    def request(self, results: Iterable[SeenResult] = ()) -> Pending[Requested]:
        """Fire PostToolBatch after tool calls, check that hooks saw every result, and return the texts that wait.

        `results` are all tool results of the request and all calls that the provider ran itself, in any order.
        """
        return self.bridge.submit(self._request(tuple(results)))

    async def _request(self, results: tuple[SeenResult, ...]) -> Requested:
        if self._requested:
            await self._reconcile(results)
        else:
            self.talk.ledger.history(results)
            self._requested = True
        said: tuple[str, ...] = ()
        stop = None
        ended, self.talk.ended = self.talk.ended, []
        if ended:
            outcome = await self._fire(PostToolBatch, {"tool_calls": ended})
            said, stop = notes(outcome), stop_reason(outcome)
            self._record(outcome, said)
        await self.bridge.collect()
        refusals, self.talk.refusals = self.talk.refusals, []
        return Requested("\n".join(refusals) or None, stop, (*self.talk.texts(), *said))

    async def _reconcile(self, results: tuple[SeenResult, ...]) -> None:
        unhooked = self.talk.ledger.unhooked(results)
        if unhooked:
            none = Shaped("", {}, (), {}, {}, {})
            like = self._tool_event(PreToolUse, NativeCall("", {}), none, {})
            await self.bridge.reconcile(self.talk, unhooked, like)

    # ── the end ─────────────────────────────────────────────────────────────

    def stop(self, answer: str, results: Iterable[SeenResult] = ()) -> Pending[Stopped]:
        """Fire Stop, or SubagentStop; `results` are calls that the provider ran itself in the last answer."""
        return self.bridge.submit(self._stop(answer, tuple(results)))

    async def _stop(self, answer: str, results: tuple[SeenResult, ...]) -> Stopped:
        await self._reconcile(results)
        self._log().answer(answer)
        fields: dict[str, Json] = {"stop_hook_active": self._stops.active, "last_assistant_message": answer}
        if self.agent_id:
            outcome = await self._fire(SubagentStop, {**fields, "agent_transcript_path": self._log().path})
        else:
            outcome = await self._fire(Stop, fields)
        said = notes(outcome)
        self._record(outcome, said)
        again = outcome.stop is None and (outcome.blocked or bool(outcome.context))
        if again and self._stops.exhausted:
            self.bridge.setup.on_message(self._stops.cap_reached)
            again = False
        if again:
            self._stops.continued()
        else:
            self.talk.waiting += said
            self._log().close()
        return Stopped(said if again else (), stop_reason(outcome))

    def broke(self, error: str, kind: str = "unknown") -> Pending[None]:
        """Fire StopFailure: the model's API failed and the run is over."""
        return self.bridge.submit(self._broke(error, kind))

    async def _broke(self, error: str, kind: str) -> None:
        await self._fire(StopFailure, {"error": kind, "error_details": error})
        self._log().close()

    def end(self, reason: str = "other") -> Pending[None]:
        """Fire SessionEnd for the conversation, and forget it."""
        return self.bridge.end(self.talk.id, reason)

    # ── events ──────────────────────────────────────────────────────────────

    async def _fire(self, kind: type[Event], fields: Mapping[str, Json]) -> Outcome:
        return await self.bridge.fire(self.bridge.event(kind, self.talk, {**self._common(kind), **fields}))

    def _common(self, kind: type[Event]) -> dict[str, Json]:
        fields: dict[str, Json] = {}
        if self.prompt_id is not None:
            fields["prompt_id"] = self.prompt_id
        if self.agent_id:
            fields |= {"agent_id": self.agent_id, "agent_type": self.agent_type}
        if issubclass(kind, ModeEvent):
            fields["permission_mode"] = self.bridge.setup.permission_mode
        return fields

    def _tool_event(
        self, kind: type[Any], call: NativeCall, shaped: Shaped, final: Mapping[str, Json], **fields: Json
    ) -> Any:
        if "tool_use_id" in kind.__struct_fields__:
            fields["tool_use_id"] = call.id
        if call.server:
            fields["mcp_server"] = {"name": call.server}
        own = {"tool_name": shaped.name, "tool_input": dict(final), "also": shaped.also, **fields}
        return self.bridge.event(kind, self.talk, {**self._common(kind), **own})

    def _log(self) -> Log:
        return self._own if self._own is not None else self.talk.log()

    def _record(self, outcome: Outcome, reads: tuple[str, ...], call: CallContext | None = None) -> None:
        self._log().firing(outcome, call.id if call is not None else str(uuid.uuid4()), reads, call)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()
