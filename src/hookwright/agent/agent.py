"""The agent as a program uses it: open it, give it prompts, ask it to stop, let it end.

async with open_agent(AgentOptions(cwd=project)) as agent:
    result = await agent.run("Fix the failing test.")
    print(result.success, result.text)
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import msgspec

from hookwright.agent.assembly import HostParts, Parts, assemble
from hookwright.agent.state.actor import Actor
from hookwright.agent.state.endings import Interrupted, Result, TurnEnd
from hookwright.agent.state.inbox import InboxItem, Prompt, TaskNotice, TeamMessage, Wake
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.prompts import STOPPED_BY_USER
from hookwright.agent.state.session import Person, Session
from hookwright.agent.state.updates import Ended, Listener, Note
from hookwright.agent.turn.late_hooks import deliver_late
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.opening import opened, resume_fields, session_started, set_up
from hookwright.agent.turn.resuming import take_up
from hookwright.agent.turn.slash_commands import add_directory
from hookwright.agent.turn.submission import submit
from hookwright.agent.turn.surroundings import watch_files
from hookwright.agent.turn.switching import SwitchRefused, try_switch
from hookwright.code_hooks import Hooks
from hookwright.models.types import Model
from hookwright.observers import Observer
from hookwright.protocol.events import SessionEnd

#: Seconds that hooks in the background may still run when everything else is over.
BACKGROUND_GRACE = 0.5


class Agent:
    """One session of the reference agent; `open_agent` makes it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turn: asyncio.Task[TurnEnd] | None = None
        self._interrupted = False
        #: What a SessionStart hook wants to be said first.
        self.first_message: str | None = None
        self._ended = False

    @property
    def session(self) -> Session:
        """The session's state, for whoever shows it."""
        return self._parts.session

    @property
    def main(self) -> Actor:
        """The agent that the user talks to."""
        return self._parts.main

    @property
    def busy(self) -> bool:
        """Tell whether something goes on beside the conversation whose end the model must hear of."""
        return self._parts.crew.busy or bool(self.main.bench.shells.running()) or not self.session.inbox.empty

    # ── prompts ─────────────────────────────────────────────────────────────

    async def begin(self) -> None:
        """Fire Setup and SessionStart; `first_message` is then what a hook wants to be said."""
        session, options = self.session, self.session.options
        session.tell(opened(session))
        if options.setup is not None:
            await set_up(self.main, options.setup)
        begun = self._parts.begun
        fields = {} if begun.source == "startup" else resume_fields(self.main)
        self.first_message = await session_started(self.main, begun.source, **fields)
        session.accompany(watch_files(session))

    async def run(self, prompt: str) -> Result:
        """Deal with one prompt; the result is complete however it ends."""
        await self._parts.toolset.refresh(self.main)
        return await self._measured(lambda: submit(self.main, prompt))

    async def take_up(self) -> Result | None:
        """Go on with calls that an earlier run put off; None where there are none."""
        work = take_up(self.main)
        return None if work is None else await self._measured(lambda: work)

    async def answer(self, letter: InboxItem) -> Result | None:
        """Deal with whatever came into the inbox; None where nothing has to be said."""
        match letter:
            case Prompt(text=text):
                return await self.run(text)
            case TaskNotice() | TeamMessage():
                return await self.run(letter.text)
            case Wake():
                return await self._measured(lambda: converse(self.main)) if deliver_late(self.main) else None
            case _:
                return None

    async def _measured(self, work: Callable[[], Coroutine[Any, Any, TurnEnd]]) -> Result:
        """Run a turn in a task of its own, so that it can be interrupted, and say what it came to."""
        session, main = self.session, self.main
        main.begin()
        session.denials.clear()
        started, spoken = time.monotonic(), session.voice.seconds
        ending = await self._interruptible(work)
        result = Result(
            ending=ending,
            session_id=session.id,
            turns=main.turns,
            tool_calls=main.tool_calls,
            duration=time.monotonic() - started,
            api_duration=session.voice.seconds - spoken,
            usage=main.usage,
            messages=tuple(main.dialogue.messages),
            denials=tuple(session.denials),
            displayed=main.displayed,
        )
        session.tell(Ended(result))
        return result

    async def _interruptible(self, work: Callable[[], Coroutine[Any, Any, TurnEnd]]) -> TurnEnd:
        self._interrupted = False
        self._turn = asyncio.get_running_loop().create_task(work())
        try:
            return await asyncio.shield(self._turn)
        except asyncio.CancelledError:
            if not self._turn.cancelled():
                self._turn.cancel()
                with suppress(asyncio.CancelledError):
                    await self._turn
            if not self._interrupted:
                raise
            self.main.dialogue.add_reminder(STOPPED_BY_USER)
            return Interrupted()
        finally:
            self._turn = None

    def interrupt(self) -> None:
        """Break the running turn off: its hooks and tools are ended, no Stop hook runs."""
        if self._turn is not None:
            self._interrupted = True
            self._turn.cancel()

    # ── what a host may want in between ─────────────────────────────────────

    async def switch_model(self, name: str, source: str = "sdk") -> str | SwitchRefused:
        """Switch the model, unless a hook refuses."""
        return await try_switch(self.main, name, source)

    def add_directory(self, path: str, source: str = "register_repo_root") -> str:
        """Let the agent work in another directory, too."""
        return add_directory(self.main, path, source)

    def notify(self, message: str, notification_type: str, title: str | None = None) -> None:
        """Send a notification to the hooks."""
        self.session.notify(message, notification_type, title)

    @asynccontextmanager
    async def waiting_for_user(self) -> AsyncIterator[None]:
        """Notice when nobody says anything for a while (R-346)."""
        session = self.session

        async def nudge() -> None:
            await asyncio.sleep(session.options.idle_notice)
            session.notify("Hookwright is waiting for your input", "idle_prompt")

        waiting = asyncio.ensure_future(nudge())
        try:
            yield
        finally:
            waiting.cancel()

    async def end(self, reason: str = "other") -> None:
        """Fire SessionEnd, once."""
        if self._ended:
            return
        self._ended = True
        await self.session.settle()
        outcome = await self.main.fire(self.main.event(SessionEnd, reason=reason))
        self.main.dialogue.record_firing(outcome)
        with suppress(TimeoutError):
            async with asyncio.timeout(BACKGROUND_GRACE):
                await self.session.hooks.background.wait()
        for run in outcome.runs:
            if run.verdict.error is not None:
                text = f"SessionEnd hook [{run.handler.label}] failed: {run.verdict.error}"
                self.session.tell(Note(text, level="error", tag="session-end"))
        self.main.dialogue.transcript.close()


@asynccontextmanager
async def open_agent(
    options: AgentOptions | None = None,
    *,
    model: Model | None = None,
    hooks: Hooks | None = None,
    person: Person | None = None,
    on_message_update: Listener | None = None,
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Agent]:
    """Open a session: load its hooks, connect its servers, take up its transcript; everything ends with it.

    `on_message_update` hears of every message at once, those that hooks add included; `person` can be asked.
    """
    chosen = options if options is not None else AgentOptions()
    chosen = msgspec.structs.replace(chosen, cwd=os.path.realpath(chosen.cwd))
    async with AsyncExitStack() as closing:
        brought = HostParts(
            model=model,
            hooks=hooks,
            person=person if person is not None else Person(),
            listeners=() if on_message_update is None else (on_message_update,),
            observers=observers,
        )
        agent = Agent(await assemble(chosen, brought, closing))
        try:
            await agent.begin()
            yield agent
        finally:
            await agent.end()
