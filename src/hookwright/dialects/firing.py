"""One payload of an agent, answered by the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

import msgspec

from hookwright.config import FileStatus, Loaded, Places
from hookwright.dialects.incoming import Translated, UnreadablePayload, translate
from hookwright.dialects.model import Dialect, Moment
from hookwright.dialects.native import NativeAnswer
from hookwright.dialects.once import claim, mark_of
from hookwright.dialects.outgoing import Settled, join, refused_for_failure, settle, speak
from hookwright.engine import Options
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import parse_json
from hookwright.protocol.outcome import Late, Outcome, SkipReason
from hookwright.session import HookSession, open_session
from hookwright.wiring import Powers

#: Seconds between our own limit and the agent's, so that a late refusal still reaches it.
MARGIN = 1.0
_UNTRUSTED = (SkipReason.UNTRUSTED, SkipReason.CHANGED)


def limit_of(dialect: Dialect, moment: Moment | None, configured: float | None) -> float:
    """Return the seconds after which we answer: a second, or half of a short time, before the agent stops waiting."""
    exported = dialect.clock.seconds(dialect.clock.exported)
    limit = configured or exported or float(dialect.clock.exported)
    if moment is not None and moment.limit is not None:
        limit = min(limit, moment.limit)
    return max(limit - MARGIN, limit / 2)


class ForeignRequest(msgspec.Struct, frozen=True):
    """What an agent sent, as far as it could be read."""

    dialect: Dialect
    call: Translated | UnreadablePayload
    #: The agent was already sent back to work at the end of this turn.
    returning: bool = False
    #: What a second firing of the same event has as well.
    mark: str = ""

    def refused(self, problem: str) -> NativeAnswer:
        """Answer for a failure of our own."""
        return refused_for_failure(self.dialect, self.call.moment, problem, self.returning)


def read_request(dialect: Dialect, data: bytes) -> ForeignRequest:
    """Read what an agent wrote to stdin. Never raise."""
    value, problem = parse_json(data.decode("utf-8", "replace").removeprefix("\ufeff").strip())
    if problem is not None:
        return ForeignRequest(dialect, UnreadablePayload(None, f"the payload is not valid JSON: {problem}"))
    returning = isinstance(value, Mapping) and bool(value.get("stop_hook_active"))
    return ForeignRequest(dialect, translate(dialect, value), returning, mark_of(dialect, value))


Opener = Callable[[Places, Event], AbstractAsyncContextManager[HookSession]]


def opened(places: Places, first: Event, powers: Powers | None = None) -> AbstractAsyncContextManager[HookSession]:
    """Open the session of one payload, whose first event this is."""
    return open_session(
        places,
        session_id=first.session_id,
        transcript_path=first.transcript_path,
        powers=powers,
        options=Options(await_rewake=True),
        journal=True,
        frozen=True,
    )


async def answered(
    request: ForeignRequest, places: Callable[[str], Places], limit: float, opened: Opener = opened
) -> NativeAnswer:
    """Fire the events of a request at the hooks of its directory, and answer in the agent's dialect.

    Law: an answer that is not a refusal means that every configured hook was asked and none refused. A payload that
    cannot be translated, a settings file that cannot be read, an exception and our own time limit are refusals
    wherever the agent can be refused.
    """
    call = request.call
    if isinstance(call, UnreadablePayload):
        return request.refused(call.reason)
    if not call.events:
        return speak(request.dialect, call.moment, Settled())
    where = places(call.events[0].cwd)
    claimed = claim(where.state_folder, request.mark)
    try:
        settled = await claimed.answer(limit) if claimed is not None else None
        if settled is None:
            settled = await _fired(request.dialect, call, opened(where, call.events[0]), limit)
            if claimed is not None:
                claimed.keep(settled)
    finally:
        if claimed is not None:
            claimed.close()
    return request.refused(settled) if isinstance(settled, str) else speak(request.dialect, call.moment, settled)


async def _fired(
    dialect: Dialect, call: Translated, opening: AbstractAsyncContextManager[HookSession], limit: float
) -> Settled | str:
    try:
        async with asyncio.timeout(limit):
            async with opening as session:
                return await _settled(dialect, call, session)
    except TimeoutError:
        return f"they took longer than {limit:g} s"


async def _settled(dialect: Dialect, call: Translated, session: HookSession) -> Settled | str:
    broken = _broken(session.loaded)
    if broken:
        return broken
    outcomes = [await session.engine.fire(event) for event in call.events]
    await session.background.wait()
    outcome = _with_late(join(outcomes), session.background.collect())
    settled = settle(dialect, call, outcome)
    reported = (*_untrusted(outcome), *_twice(dialect, outcome), *(notice.message for notice in session.notices))
    return msgspec.structs.replace(settled, losses=(*settled.losses, *reported))


def _broken(loaded: Loaded) -> str:
    """Name the settings files that exist and cannot be read; a guard in one of them would be silently off."""
    paths = [file.path or "--settings" for file in loaded.files if file.status is FileStatus.BROKEN]
    return f"{', '.join(paths)} cannot be read; `hookwright check` says why" if paths else ""


def _with_late(outcome: Outcome, lates: tuple[Late, ...]) -> Outcome:
    """Add what hooks in the background said; this process has waited for them, since it ends with its event."""
    texts = [text for late in lates for text in (late.rewake, late.context) if text]
    messages = [late.system_message for late in lates if late.system_message]
    return msgspec.structs.replace(
        outcome, context=(*outcome.context, *texts), system_messages=(*outcome.system_messages, *messages)
    )


def _twice(dialect: Dialect, outcome: Outcome) -> tuple[str, ...]:
    """Report hooks that the agent also runs by itself; they run here all the same, since only here they can refuse."""
    scopes = dialect.claude_scopes
    files = dict.fromkeys(scopes[scope] for run in outcome.runs if (scope := run.handler.source.scope.value) in scopes)
    return tuple(
        f"{dialect.title} loads {file} by itself, so its hooks may run twice: remove them there, or run "
        f"`hookwright export --to {dialect.name} --setting-sources user`"
        for file in files
    )


def _untrusted(outcome: Outcome) -> tuple[str, ...]:
    skipped = dict.fromkeys(skip.handler.label for skip in outcome.skips if skip.reason in _UNTRUSTED)
    if not skipped:
        return ()
    return (f"not run, because this project's hooks are not trusted: {', '.join(skipped)}; run `hookwright trust`",)
