"""The agent as a library: open it, run prompts, interrupt it, end it.

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
from hookwright.agent.state.session import Person, Session, ignore
from hookwright.agent.state.updates import Ended, Listener, Note, TurnBegan
from hookwright.agent.subagents.session_servers import SessionServers
from hookwright.agent.turn.late_hooks import deliver_late
from hookwright.agent.turn.loop import converse
from hookwright.agent.turn.opening import opened, resume_fields, session_started, set_up
from hookwright.agent.turn.resuming import run_deferred
from hookwright.agent.turn.slash_commands import add_directory
from hookwright.agent.turn.submission import submit
from hookwright.agent.turn.surroundings import watch_files
from hookwright.agent.turn.switching import SwitchRefused, try_switch
from hookwright.code_hooks import Hooks
from hookwright.models.types import Model
from hookwright.observers import Observer
from hookwright.protocol.events import SessionEnd

#: Seconds that background hooks may still run when everything else has ended.
BACKGROUND_GRACE = 0.5


class Agent:
    """One session of the reference agent; `open_agent` opens it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turn: asyncio.Task[TurnEnd] | None = None
        self._interrupted = False
        #: The first message a SessionStart hook asked for.
        self.first_message: str | None = None
        self._deferred = parts.deferred
        self._ended = False

    @property
    def session(self) -> Session:
        """The session, for hosts that display it."""
        return self._parts.session

    @property
    def servers(self) -> SessionServers:
        """The MCP servers of the session."""
        return self._parts.servers

    @property
    def main(self) -> Actor:
        """The agent the user talks to."""
        return self._parts.main

    @property
    def busy(self) -> bool:
        """Whether background work is running or waiting whose end the model must be informed of."""
        return self._parts.subagents.busy or bool(self.main.context.shells.running()) or not self.session.inbox.empty

    # ── prompts ─────────────────────────────────────────────────────────────

    async def begin(self) -> None:
        """Fire Setup and SessionStart; `first_message` is then the message a hook asked for."""
        session, options = self.session, self.session.options
        session.tell(opened(session))
        if options.setup is not None:
            await set_up(self.main, options.setup)
        source = self._parts.source
        fields = {} if source == "startup" else resume_fields(self.main)
        self.first_message = await session_started(self.main, source, **fields)
        session.accompany(watch_files(session))

    async def run(self, prompt: str | Prompt) -> Result:
        """Run one prompt, a text or one with images; the result is complete however it ends."""
        await self._parts.toolset.refresh(self.main)
        given = Prompt(prompt) if isinstance(prompt, str) else prompt
        return await self._measured(lambda: submit(self.main, given))

    async def run_deferred(self) -> Result | None:
        """Run the calls an earlier run deferred; return None if there are none."""
        calls, self._deferred = self._deferred, ()
        return await self._measured(lambda: run_deferred(self.main, calls)) if calls else None

    async def answer(self, item: InboxItem) -> Result | None:
        """Handle an item of the inbox; return None if it needs no answer."""
        match item:
            case Prompt():
                return await self.run(item)
            case TaskNotice() | TeamMessage():
                return await self.run(item.text)
            case Wake():
                return await self._measured(lambda: converse(self.main)) if deliver_late(self.main) else None
            case _:
                return None

    async def _measured(self, work: Callable[[], Coroutine[Any, Any, TurnEnd]]) -> Result:
        """Run a turn in its own task, so that it can be interrupted, and return its result."""
        session, main = self.session, self.main
        main.begin()
        session.state.forget_denials()
        session.state.answer(None)
        session.tell(TurnBegan(opened(session)))
        started, waited = time.monotonic(), session.model.seconds
        ending = await self._interruptible(work)
        result = Result(
            ending=ending,
            session_id=session.state.id,
            turns=main.turns,
            tool_calls=main.tool_calls,
            duration=time.monotonic() - started,
            api_duration=session.model.seconds - waited,
            usage=main.usage,
            model_usage=dict(session.model.usage_by_model),
            model_costs=dict(session.model.cost_by_model),
            structured=session.state.structured,
            messages=tuple(main.dialogue.messages),
            denials=session.state.denials,
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
            in_tools = self.main.dialogue.ends_with_results
            self.main.dialogue.add_reminder(STOPPED_BY_USER)
            return Interrupted(word="aborted_tools" if in_tools else "aborted_streaming")
        finally:
            self._turn = None

    def interrupt(self) -> bool:
        """Interrupt the running turn: its hooks and tools end, no Stop hook runs. Return whether there was one."""
        if self._turn is None:
            return False
        self._interrupted = True
        self._turn.cancel()
        return True

    # ── requests of a host ──────────────────────────────────────────────────

    async def switch_model(self, name: str, source: str = "sdk") -> str | SwitchRefused:
        """Switch the model, unless a hook refuses."""
        return await try_switch(self.main, name, source)

    def add_directory(self, path: str, source: str = "register_repo_root") -> str:
        """Also let the agent work in another directory."""
        return add_directory(self.main, path, source)

    async def stop_task(self, task_id: str) -> bool:
        """Stop a background command or subagent; return False if there is none of that id."""
        return self._parts.subagents.stop(task_id) or await self.main.context.shells.kill(task_id)

    def notify(self, message: str, notification_type: str, title: str | None = None) -> None:
        """Send a notification to the hooks."""
        self.session.notify(message, notification_type, title)

    @asynccontextmanager
    async def waiting_for_user(self) -> AsyncIterator[None]:
        """Send a notification when the user says nothing for a while (R-346)."""
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
    """Open a session: load its hooks, connect its servers, open its transcript; all of it is closed at the end.

    `on_message_update` receives every message at once, including those hooks add; `person` answers questions.
    """
    chosen = options if options is not None else AgentOptions()
    chosen = msgspec.structs.replace(chosen, cwd=os.path.realpath(chosen.cwd))
    async with AsyncExitStack() as closing:
        host_parts = HostParts(
            model=model,
            hooks=hooks,
            person=person if person is not None else Person(),
            listener=ignore if on_message_update is None else on_message_update,
            observers=observers,
        )
        agent = Agent(await assemble(chosen, host_parts, closing))
        try:
            await agent.begin()
            yield agent
        finally:
            await agent.end()
