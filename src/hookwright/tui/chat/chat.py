"""The life of a chat: trust, a session, prompts as they come, another session, the end. It knows no widget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from hookwright.agent.agent import Agent, open_agent
from hookwright.agent.headless.debug_log import DebugLog
from hookwright.agent.state.inbox import Closed, InboxItem, Prompt, TaskNotice, TeamMessage
from hookwright.agent.state.options import NewSession, Start
from hookwright.agent.state.session import Permission, PermissionQuestion, Person, Session
from hookwright.agent.state.updates import Diagnosed, Update
from hookwright.config import Loaded, Review, Reviewed, TrustPolicy, accept, review
from hookwright.errors import ConfigError, HookwrightError
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.models import from_environment, prefetch
from hookwright.models.types import Model
from hookwright.observers import Notice
from hookwright.protocol.events import ConfigChange
from hookwright.protocol.handlers import Handler
from hookwright.tui.chat.plan import ChatPlan
from hookwright.tui.feed.activity import Activity
from hookwright.tui.feed.entries import head_counts
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import Level
from hookwright.tui.feed.words import plural

#: Seconds between two looks at the settings files while nothing happens.
LOOK = 0.5
#: The modes that a key goes through.
MODES = ("default", "acceptEdits", "plan")


class ChatView(Protocol):
    """Whoever shows the conversation and can be asked."""

    @property
    def can_ask(self) -> bool:
        """Tell whether a person is there."""

    def changed(self) -> None:
        """Something in the feed or the activity is different now."""

    def hear(self, notice: Notice) -> None:
        """The engine did something."""

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask whether a call may be made."""

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        """Ask what an MCP server wants to know."""

    async def review(self, found: Review) -> Sequence[Reviewed]:
        """Ask which hooks of the project are trusted from now on."""


class Chat:
    """Runs the agent for a face."""

    def __init__(self, plan: ChatPlan, feed: Feed, face: ChatView) -> None:
        self.plan = plan
        self.feed = feed
        self.activity = Activity()
        self.agent: Agent | None = None
        #: Prompts that wait for the turn before them.
        self.queued: list[str] = [] if plan.prompt is None else [plan.prompt]
        self._face = face
        self._first: Start = plan.options.start
        self._next: Start | None = None
        self._reason = "prompt_input_exit"
        self._leaving = self._finishing = False
        self._task: asyncio.Task[Any] | None = None
        self._model: Model | None = None
        self._log = _debug_log(plan.debug_file)

    async def run(self) -> None:
        """Run until somebody leaves; raise HookwrightError for what cannot be carried out."""
        self._task = asyncio.current_task()
        try:
            await self.review_trust()
            start: Start | None = self._first
            while start is not None and not self._leaving:
                start = await self._session(start)
        except asyncio.CancelledError:
            if not self._leaving:
                raise
        finally:
            if self._log is not None:
                self._log.close()

    # ── what a person does ──────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Say something to the agent; it waits for its turn."""
        self.queued.append(text)
        if self.agent is not None:
            self.agent.session.inbox.put(Prompt(text))
        self._face.changed()

    def interrupt(self) -> bool:
        """Break the running turn off; tell whether there was one."""
        if self.agent is None or not self.feed.busy:
            return False
        self.agent.interrupt()
        return True

    def leave(self, reason: str = "prompt_input_exit") -> None:
        """End the session and the chat; said twice, without waiting for anybody."""
        if self._leaving or self.agent is None:
            self._leaving = True
            if self._task is not None:
                self._task.cancel()
            return
        self._leaving, self._reason = True, reason
        self._close()

    def finish(self) -> None:
        """End the chat when everything that was said is dealt with."""
        self._finishing = True
        if self.agent is not None:
            self.agent.session.inbox.put(Closed())

    def start_with(self, start: Start | None) -> None:
        """Choose the conversation before the first session; None begins a new one."""
        self._first = start if start is not None else NewSession()

    def resume(self, start: Start) -> None:
        """End the session and go on with another one."""
        self._next, self._reason = start, "resume"
        self._close()

    def _close(self) -> None:
        assert self.agent is not None
        self.agent.interrupt()
        self.agent.session.inbox.put(Closed())

    def next_mode(self) -> None:
        """Go on in the next permission mode."""
        if self.agent is not None:
            place = MODES.index(self.feed.mode) if self.feed.mode in MODES else -1
            self.agent.session.set_mode(MODES[(place + 1) % len(MODES)])
            self._face.changed()

    # ── trust ───────────────────────────────────────────────────────────────

    async def review_trust(self) -> None:
        """Ask about hooks and settings of the project that are new or changed (D12, D13)."""
        options = self.plan.options
        loaded = self.agent.session.hooks.loaded if self.agent is not None else options.places().load()
        if loaded.gate.policy is not TrustPolicy.STORED:
            return
        found = review(loaded, options.cwd)
        if found.pending:
            chosen = await self._face.review(found) if self._face.can_ask else ()
            if chosen:
                accept(loaded.gate.store, loaded.project_dir, chosen)
                self._take_up_trust()
            self._tell_of_trust(len(chosen), len(found.pending))

    def _take_up_trust(self) -> None:
        """Let settings that are trusted now count at once; hooks are looked at before each run anyway."""
        if self.agent is not None:
            session = self.agent.session
            session.hooks.reload()
            session.permissions.reload(session.hooks.loaded.settings.permissions)

    def distrust(self, handler: Handler) -> str:
        """Switch a hook of the project off by taking its trust back; say what came of it."""
        assert self.agent is not None
        loaded = self.agent.session.hooks.loaded
        if not handler.source.from_project:
            return f"It does not come with the project; delete it in {handler.source} to switch it off."
        found = next((item for item, _ in loaded.gate.items() if item.source == handler.source), None)
        if found is None or loaded.gate.policy is not TrustPolicy.STORED:
            return "This session trusts whatever the project says."
        loaded.gate.store.record(loaded.project_dir, (), superseded=(found.digest,))
        self._describe()
        self._face.changed()
        return "It is not trusted any longer and does not run."

    def _tell_of_trust(self, chosen: int, pending: int) -> None:
        if chosen < pending:
            off = plural(pending - chosen, "item")
            text = f"{off} of the project not trusted: off until you trust them in /hooks or with: hookwright trust"
            self.feed.say(text, Level.WARNING, "untrusted")
        if self.agent is not None:
            self._describe()
        self._face.changed()

    # ── one session ─────────────────────────────────────────────────────────

    async def _session(self, start: Start) -> Start | None:
        options = msgspec.structs.replace(self.plan.options, start=start)
        self._next = None
        async with open_agent(
            options,
            model=await self._model_to_ask(options.env),
            person=Person(self._face.permit, self._face.fill_in) if self._face.can_ask else Person(),
            on_message_update=self._update,
            observers=(self._notice,),
        ) as agent:
            self.agent = agent
            try:
                await self._prompts(agent, start)
                await agent.end(self._reason)
            finally:
                self.agent = None
                self.feed.busy = False
        return self._next

    async def _prompts(self, agent: Agent, start: Start) -> None:
        session = agent.session
        if not isinstance(start, NewSession):
            self.feed.restore(agent.main.dialogue.messages)
        self._describe()
        session.accompany(self._look_at_settings(session))
        for text in self.queued:
            session.inbox.put(Prompt(text))
        if self._finishing:
            session.inbox.put(Closed())
        await self._guarded(agent.run_deferred())
        if agent.first_message is not None:
            self.feed.prompted(agent.first_message, machine=True)
            await self._guarded(agent.run(agent.first_message))
        while True:
            self._face.changed()
            async with agent.waiting_for_user():
                letter = await session.inbox.get()
            if isinstance(letter, Closed):
                return
            await self._answer(agent, letter)

    async def _answer(self, agent: Agent, letter: InboxItem) -> None:
        hooks = agent.session.hooks.engine.hooks
        self.feed.holds_text = bool(hooks.of_event("MessageDisplay"))
        match letter:
            case Prompt(text=text):
                if text in self.queued:
                    self.queued.remove(text)
                self.feed.prompted(text)
            case TaskNotice() | TeamMessage():
                self.feed.prompted(letter.text, machine=True)
            case _:
                self.feed.busy = True
        self._face.changed()
        await self._guarded(agent.answer(letter))

    async def _guarded(self, work: Any) -> None:
        """Let a turn fail alone: what is missing or misconfigured is told, and the session goes on."""
        try:
            await work
        except HookwrightError as error:
            self.feed.say(str(error), Level.ERROR)
        self.feed.busy = False
        self._face.changed()

    async def _model_to_ask(self, env: Mapping[str, str]) -> Model:
        """Make a model for each session; a script goes on where it was. A client is imported beside the loop."""
        loading = prefetch(env) if self.plan.script is None else None
        if loading is not None:
            await asyncio.to_thread(loading.join)
        if self.plan.script is None or self._model is None:
            self._model = from_environment(env, script=self.plan.script)
        return self._model

    async def _look_at_settings(self, session: Session) -> None:
        """Take up edits of settings files without waiting for the next event (R-361, R-362)."""
        while True:
            await asyncio.sleep(LOOK)
            await session.hooks.refresh(session.event(ConfigChange, source="user_settings", file_path=""))
            session.tell_of_changes()

    # ── what is heard ───────────────────────────────────────────────────────

    def _update(self, update: Update) -> None:
        self.feed.take(update)
        if self._log is not None:
            self._log.update(update)
        if isinstance(update, Diagnosed) and update.diagnostic.code == "reloaded" and self.agent is not None:
            self._reloaded(self.agent.session.hooks.loaded)
        self._face.changed()

    def _notice(self, notice: Notice) -> None:
        self.activity.notice(notice)
        self.feed.notice(notice)
        self._face.hear(notice)
        if self._log is not None:
            self._log.notice(notice)
        self._face.changed()

    def _reloaded(self, loaded: Loaded) -> None:
        self._describe()
        if loaded.gate.policy is TrustPolicy.STORED:
            held = len(review(loaded, self.plan.options.cwd).pending)
            if held:
                text = f"{plural(held, 'item')} of the project new or changed: off until you trust them in /hooks"
                self.feed.say(text, Level.WARNING, "untrusted")

    def _describe(self) -> None:
        assert self.agent is not None
        self.feed.describe(hooks=head_counts(self.agent.session.hooks.engine.states()))


def _debug_log(path: str | None) -> DebugLog | None:
    if path is None:
        return None
    try:
        return DebugLog(path, machine_output=False)
    except OSError as error:
        raise ConfigError(f"--debug-file {path}: {error.strerror}") from None
