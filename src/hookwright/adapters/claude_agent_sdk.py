"""Hooks in the Claude Agent SDK: `ClaudeAgentOptions(hooks=hooks("."), setting_sources=[])`, and `cli_path=cli()`."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from claude_agent_sdk import HookMatcher

from hookwright.adapters.bridge.portal import Portal
from hookwright.config import Places
from hookwright.errors import HookwrightError
from hookwright.interpret import refuse
from hookwright.protocol.answers import Answer, to_wire
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.events import CATALOGUE, Event, PostToolUse, SessionEnd, SessionStart, UserPromptSubmit
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Deny, EndTurn, Outcome
from hookwright.protocol.wire import decode_event
from hookwright.session import HookSession, open_session
from hookwright.text import flat
from hookwright.visibility import Reader, late_messages, messages

_LOG = logging.getLogger("hookwright.adapters")
#: Seconds: every hook has its own limit, so a callback needs none.
_NO_END = 86_400.0
#: Seconds for SessionEnd hooks and background work when the program ends.
_LAST = 5.0
#: Events for which a callback that does nothing is not the same as none; they are registered only where hooks exist.
_REPLACING = frozenset({"WorktreeCreate", "WorktreeRemove", "MessageDisplay"})


def hooks(project: str | Places = ".") -> dict[Any, list[HookMatcher]]:
    """Return the hooks of a project as the SDK's `hooks=`: one matcher per event, which fires the engine.

    Pass `setting_sources=[]`, or `["user"]`, too: with the project's settings the CLI would run the same hooks again.
    """
    places = Places(project=project) if isinstance(project, str) else project
    callbacks = Callbacks(places)
    declared = {entry.event for entry in places.load().hooks}
    names = [name for name in CATALOGUE if name != "SessionEnd" and (name in declared or name not in _REPLACING)]
    return {name: [HookMatcher(hooks=[callbacks.answer], timeout=_NO_END)] for name in names}


def cli() -> str:
    """Return the path of the installed `hookwright`, which the SDK can start as its `cli_path`."""
    here = os.path.join(os.path.dirname(sys.executable), "hookwright")
    found = here if os.access(here, os.X_OK) else shutil.which("hookwright")
    if found is None:
        raise HookwrightError("the program `hookwright` is not on PATH; install it: pip install hookwright")
    return found


class Callbacks:
    """Fires the events that the CLI reports, in one session of hooks, and writes the outcomes back."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._portal = Portal()
        self._opening = asyncio.Lock()
        self._closing = AsyncExitStack()
        self._session: HookSession | None = None
        #: The conversations that hooks know, by their id: the last event of each.
        self._known: dict[str, Event] = {}
        atexit.register(self.close)

    async def answer(self, given: Any, _tool_use_id: str | None, _context: Any) -> Any:
        """Answer one event; if the engine cannot, refuse what the event can refuse."""
        try:
            return await self._portal.submit(self._answer(given))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever fails here must not look like an approval
            text = f"hookwright could not run the hooks of this event: {type(error).__name__}: {error}"
            _LOG.error("%s", text)
            return _refusal(given, text)

    async def _answer(self, given: Mapping[str, Json]) -> dict[str, Json]:
        event = decode_event(dict(given))
        session = await self._opened()
        notes = await self._begin(event, session)
        outcome = self._heard(await session.fire(event), session)
        if "additional_context" in event.rules.output:
            late = [message.text for one in session.background.collect() for message in late_messages(one)]
            notes = (*notes, *outcome.context, *outcome.plain, *late)
        return to_wire(_as_answer(outcome, notes), event)

    async def _begin(self, event: Event, session: HookSession) -> tuple[str, ...]:
        """Fire SessionStart with the first prompt of a conversation: Claude Code does not report it to callbacks."""
        first = event.session_id not in self._known
        self._known[event.session_id] = event
        if not first or not isinstance(event, UserPromptSubmit):
            return ()
        started = self._heard(await session.fire(_sibling(event, SessionStart, source="startup")), session)
        return (*started.context, *started.plain)

    async def _opened(self) -> HookSession:
        async with self._opening:
            if self._session is None:
                self._session = await self._closing.enter_async_context(open_session(self._places))
                for problem in self._session.loaded.diagnostics:
                    if problem.severity is not Severity.INFO:
                        _LOG.warning("%s", flat(str(problem)))
            return self._session

    def _heard(self, outcome: Outcome, session: HookSession) -> Outcome:
        said = [message.text for message in messages(outcome) if message.reader is Reader.USER]
        for text in (*said, *map(str, outcome.diagnostics), *map(str, session.notices)):
            _LOG.warning("%s", flat(text))
        session.notices.clear()
        return outcome

    def close(self) -> None:
        """Fire SessionEnd for every conversation and end background hooks; the end of the program calls this."""
        atexit.unregister(self.close)
        if self._session is not None:
            with contextlib.suppress(Exception):  # the program ends, with or without these hooks
                self._portal.submit(self._end(self._session)).result(_LAST)
        self._portal.close()

    async def _end(self, session: HookSession) -> None:
        for event in self._known.values():
            self._heard(await session.fire(_sibling(event, SessionEnd, reason="other")), session)
        await self._closing.aclose()


def _sibling(event: Event, kind: type[Event], **fields: Json) -> Event:
    """Build another event of the same conversation."""
    shared = {name: getattr(event, name) for name in ("session_id", "transcript_path", "cwd")}
    return kind(**shared, **fields)


def _as_answer(outcome: Outcome, notes: tuple[str, ...]) -> Answer:
    """Return an outcome as the one answer of a callback."""
    decision = outcome.decision
    if isinstance(decision, Deny):
        decision = Deny(outcome.reason or decision.reason, decision.interrupt)
    return Answer(
        decision=decision,
        context="\n".join(notes) or None,
        system_message="\n".join(outcome.system_messages) or None,
        stop=outcome.stop,
        updated_input=outcome.updated_input,
        updated_output=outcome.updated_output,
        fields=outcome.fields,
    )


def _refusal(given: Any, text: str) -> dict[str, Json]:
    """Return the strictest answer that an event has; PostToolUse ends the turn, since the tool has run."""
    kind = CATALOGUE.get(str(given.get("hook_event_name"))) if isinstance(given, Mapping) else None
    if kind is None:
        return {"decision": "block", "reason": text}
    refused = refuse(kind.rules, text)
    stop = EndTurn(text) if kind is PostToolUse else refused.stop
    return to_wire(Answer(decision=refused.decision, stop=stop), kind)
