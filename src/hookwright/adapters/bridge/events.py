"""The events of one run of an agent: what they have in common, the first of them, and their record."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from typing import Any

from hookwright.adapters.bridge.bridge import Bridge
from hookwright.adapters.bridge.conversation import Conversation, Log
from hookwright.adapters.bridge.orders import NativeCall, StartOrder, notes
from hookwright.adapters.bridge.portal import Pending
from hookwright.adapters.tools import Shaped
from hookwright.agent.transcript import CallContext
from hookwright.protocol.events import Event, ModeEvent, SessionStart, SubagentStart
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

#: What a second start finds: the hooks already ran.
NOTHING = StartOrder()


class TurnEvents:
    """One run of an agent, as far as every moment of it needs it."""

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
        #: Whether the model was called in this run.
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
