"""The hooks of one connection: fired in its session, with every message for the user on stderr."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec

from hookwright.errors import HookwrightError
from hookwright.mcp.values import full_name
from hookwright.protocol.events import Event, PostToolUse, PreToolUse, SessionEnd, SessionStart
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome, Run, SkipReason
from hookwright.session import HookSession
from hookwright.text import flat
from hookwright.visibility import Form, Reader, late_messages, messages

E = TypeVar("E", bound=Event)

#: Skips that an edit of the settings or the next call may lift.
_ELSEWHERE = frozenset({SkipReason.MATCHER, SkipReason.DISABLED, SkipReason.MANAGED_ONLY, SkipReason.KIND})


class HooksFailed(HookwrightError):
    """The engine itself failed, so what the hooks would have decided is unknown."""


class Texts(msgspec.Struct, frozen=True):
    """What the model reads of an outcome: the error of a refused call, and everything else."""

    error: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def texts(outcome: Outcome) -> Texts:
    """Return what the model reads of an outcome; a rewritten output is the result itself."""
    read = [message for message in messages(outcome) if message.reader is Reader.MODEL]
    error = tuple(message.text for message in read if message.form is Form.TOOL_ERROR)
    return Texts(error, tuple(one.text for one in read if one.form not in (Form.TOOL_ERROR, Form.REWRITE)))


class Hooks:
    """Fires events for the client of one server."""

    def __init__(self, session: HookSession, server: str, complain: Callable[[str], None]) -> None:
        self.server = server
        self._session = session
        self._complain = complain
        self._start: asyncio.Task[tuple[str, ...]] | None = None

    # ── the session ─────────────────────────────────────────────────────────

    def begin(self) -> asyncio.Task[tuple[str, ...]]:
        """Fire SessionStart with the first message that needs it; the task returns its texts for the model."""
        if self._start is None:
            self._start = asyncio.create_task(self._started(), name="SessionStart")
        return self._start

    async def _started(self) -> tuple[str, ...]:
        outcome = await self.fire(SessionStart, source="startup")
        return texts(outcome).notes

    async def end(self) -> None:
        """Fire SessionEnd if the session began."""
        if self._start is None:
            return
        self._start.cancel()
        await asyncio.gather(self._start, return_exceptions=True)
        try:
            await self.fire(SessionEnd, reason="other")
        except HooksFailed as problem:
            self._complain(str(problem))

    # ── firing ──────────────────────────────────────────────────────────────

    async def fire(self, kind: type[Event], /, **fields: Json) -> Outcome:
        """Fire an event; raise HooksFailed if the engine cannot tell what the hooks decided."""
        try:
            outcome = await self._session.fire(kind, **fields)
        except Exception as error:  # the engine, an observer of the host or the settings: all of them fail closed
            raise HooksFailed(f"{kind.event_name}: {type(error).__name__}: {error}") from error
        return self._heard(outcome)

    async def recheck(self, before: tuple[Run, ...], /, **fields: Json) -> Outcome:
        """Let guards judge an input that was rewritten after they ran."""
        try:
            return self._heard(await self._session.recheck(self._session.event(PreToolUse, **fields), before))
        except Exception as error:  # as above
            raise HooksFailed(f"PreToolUse: {type(error).__name__}: {error}") from error

    def _heard(self, outcome: Outcome) -> Outcome:
        for message in messages(outcome):
            if message.reader is Reader.USER:
                self._complain(flat(message.text))
        for notice in (*outcome.diagnostics, *self._session.notices):
            self._complain(flat(str(notice)))
        self._session.notices.clear()
        return outcome

    def late(self) -> tuple[str, ...]:
        """Return what background hooks that ended say to the model."""
        ended = self._session.background.collect()
        return tuple(message.text for late in ended for message in late_messages(late))

    def named(self, tool: str) -> dict[str, Json]:
        """Return the fields of every event about a tool of this server."""
        return {"tool_name": full_name(self.server, tool), "mcp_server": {"name": self.server, "source": "dynamic"}}

    def may_rewrite(self, tool: str) -> bool:
        """Return whether a PostToolUse hook applies, or would apply once trusted, to a tool."""
        event = self._session.event(PostToolUse, tool_input={}, tool_use_id="", tool_response=None, **self.named(tool))
        found = self._session.engine.select(event)
        return bool(found.handlers) or any(skip.reason not in _ELSEWHERE for skip in found.skips)
