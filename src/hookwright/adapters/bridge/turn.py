"""One run of an agent, moment by moment, from its prompt to its stop."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from hookwright.adapters.bridge.bridge import Bridge
from hookwright.adapters.bridge.calls import ToolMoments, calling
from hookwright.adapters.bridge.orders import NativeCall, Prompted, Requested, Stopped, notes, stop_reason
from hookwright.adapters.bridge.portal import Pending
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.tools import Shaped
from hookwright.protocol.events import (
    PostToolBatch,
    PreToolUse,
    Stop,
    StopFailure,
    SubagentStop,
    UserPromptSubmit,
)
from hookwright.protocol.jsontext import Json


def begin(bridge: Bridge, session_id: str | None, agent: str, source: str) -> Turn:
    """Begin a run by the law of `Bridge.turn`."""
    above = calling.get()
    if above is None or above.bridge is not bridge:
        return Turn(bridge, bridge.conversation(session_id), source=source)
    return Turn(bridge, above.talk, agent=agent or "agent", prompt_id=above.prompt_id)


class Turn(ToolMoments):
    """One run of an agent: `prompt`, then `request` before each model call, `pre` and `post` around each tool, `stop`.

    Every method returns a `Pending`: await it, or call `.result()` in code without an event loop.
    """

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

    def seen(self, results: Iterable[SeenResult]) -> Pending[None]:
        """Check that hooks saw results that appear outside a model request, as in a live conversation."""
        return self.bridge.submit(self._reconcile(tuple(results)))

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
