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
from hookwright.agent.state.updates import Diagnosed, Opened, Update
from hookwright.config import Loaded, Review, Reviewed, TrustPolicy, accept, review
from hookwright.errors import ConfigError, HookwrightError
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.models import from_environment, prefetch
from hookwright.models.scripted import Unconfigured
from hookwright.models.types import Model
from hookwright.observers import Notice
from hookwright.protocol.events import ConfigChange
from hookwright.protocol.handlers import Handler
from hookwright.text import plural
from hookwright.tui.chat.plan import ChatPlan
from hookwright.tui.feed.activity import Activity
from hookwright.tui.feed.entries import head_counts
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import Level, PromptItem

#: Seconds between two checks of the settings files while nothing happens.
LOOK = 0.5
NO_KEY = "No model: set ANTHROPIC_API_KEY (or OPENAI_API_KEY) to talk to one, or play a script with --script FILE."
#: The modes that a key cycles through.
MODES = ("default", "acceptEdits", "plan")
#: Why a session ends when the user leaves the chat.
EXIT = "prompt_input_exit"


class ChatView(Protocol):
    """What shows the conversation and asks the user."""

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked."""

    def changed(self) -> None:
        """Show the feed and the activity, which changed."""

    def observe(self, notice: Notice) -> None:
        """Take a notice of the engine."""

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask whether a call may run."""

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        """Ask an MCP server's question."""

    async def review(self, found: Review) -> Sequence[Reviewed]:
        """Ask which hooks of the project to trust."""


# ── phases of a chat ────────────────────────────────────────────────────────


class NoSession(msgspec.Struct, frozen=True):
    """No session is open yet, or the last one ended. Prompts wait for the next."""


class InSession(msgspec.Struct, frozen=True):
    """A session is open."""

    agent: Agent


class EndingSession(InSession, frozen=True):
    """The session is about to end, for this reason; None as `then` ends the chat with it."""

    reason: str
    then: Start | None


class Left(msgspec.Struct, frozen=True):
    """The user left without waiting for a session to end."""


Phase = NoSession | InSession | EndingSession | Left


class Chat:
    """Runs the agent for a view."""

    def __init__(self, plan: ChatPlan, feed: Feed, view: ChatView) -> None:
        self.plan = plan
        self.feed = feed
        self.activity = Activity()
        #: Prompts that wait for the turn before them.
        self.queued: list[str] = [] if plan.prompt is None else [plan.prompt]
        self._view = view
        self._phase: Phase = NoSession()
        self._first: Start = plan.options.start
        self._finishing = False
        self._task: asyncio.Task[Any] | None = None
        self._model: Model | None = None
        self._log = _debug_log(plan.debug_file)

    @property
    def agent(self) -> Agent | None:
        """The agent of the open session."""
        return self._phase.agent if isinstance(self._phase, InSession) else None

    @property
    def way_back(self) -> str | None:
        """The command that resumes the conversation; None if nothing was said in it."""
        said = any(isinstance(item, PromptItem) for item in self.feed.items)
        return f"hookwright chat --resume {self.feed.banner.session_id}" if said else None

    async def run(self) -> None:
        """Run until the user leaves; raise HookwrightError for a session that cannot be opened."""
        self._task = asyncio.current_task()
        try:
            await self.review_trust()
            start: Start | None = self._first
            while start is not None and not isinstance(self._phase, Left):
                start = await self._session(start)
        except asyncio.CancelledError:
            if not isinstance(self._phase, Left):
                raise
        finally:
            if self._log is not None:
                self._log.close()

    # ── what the user does ──────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Send a prompt; it waits for its turn."""
        self.queued.append(text)
        self._put(Prompt(text))
        self._view.changed()

    def finish(self) -> None:
        """End the chat after all prompts sent so far."""
        self._finishing = True
        self._put(Closed())

    def _put(self, item: InboxItem) -> None:
        """Put an item into the inbox; without a session, `_prompts` does that for the next one."""
        if isinstance(self._phase, InSession):
            self._phase.agent.session.inbox.put(item)

    def interrupt(self) -> bool:
        """Interrupt the running turn; return whether there was one."""
        if not isinstance(self._phase, InSession) or not self.feed.busy:
            return False
        self._phase.agent.interrupt()
        return True

    def leave(self, reason: str = EXIT) -> None:
        """End the session and the chat; the second time, and without a session, at once."""
        match self._phase:
            case EndingSession(then=None) | NoSession() | Left():
                self._phase = Left()
                if self._task is not None:
                    self._task.cancel()
            case InSession(agent=agent):
                self._end(EndingSession(agent, reason, None))

    def resume(self, start: Start) -> bool:
        """End the session and open another one; return False when no session is open, or it is ending already."""
        if not isinstance(self._phase, InSession) or isinstance(self._phase, EndingSession):
            return False
        self._end(EndingSession(self._phase.agent, "resume", start))
        return True

    def start_with(self, start: Start | None) -> None:
        """Choose the conversation before the first session; None starts a new one."""
        self._first = start if start is not None else NewSession()

    def _end(self, ending: EndingSession) -> None:
        self._phase = ending
        ending.agent.interrupt()
        ending.agent.session.inbox.put(Closed())

    def next_mode(self) -> None:
        """Switch to the next permission mode."""
        if isinstance(self._phase, InSession):
            place = MODES.index(self.feed.mode) if self.feed.mode in MODES else -1
            self._phase.agent.session.set_mode(MODES[(place + 1) % len(MODES)])
            self._view.changed()

    # ── trust ───────────────────────────────────────────────────────────────

    async def review_trust(self) -> None:
        """Ask about new or changed hooks and settings of the project (D12, D13)."""
        loaded = self._loaded()
        if loaded.gate.policy is not TrustPolicy.STORED:
            return
        found = review(loaded, self.plan.options.cwd)
        if found.pending:
            chosen = await self._view.review(found) if self._view.can_ask else ()
            if chosen:
                accept(loaded.gate.store, loaded.project_dir, chosen)
            self._apply_trust(len(chosen), len(found.pending))

    def _loaded(self) -> Loaded:
        if isinstance(self._phase, InSession):
            return self._phase.agent.session.hooks.loaded
        return self.plan.options.places().load()

    def _apply_trust(self, chosen: int, pending: int) -> None:
        """Apply newly trusted settings at once; hooks are checked before each run anyway. Report what stays off."""
        if chosen < pending:
            off = plural(pending - chosen, "item")
            text = f"{off} of the project not trusted: off until you trust them in /hooks or with: hookwright trust"
            self.feed.say(text, Level.WARNING, "untrusted")
        if isinstance(self._phase, InSession):
            session = self._phase.agent.session
            if chosen:
                session.hooks.reload()
                session.permissions.reload(session.hooks.loaded.settings.permissions)
            self._describe(session)
        self._view.changed()

    def distrust(self, session: Session, handler: Handler) -> str:
        """Switch a hook of the project off by removing its trust; return the result as a message."""
        loaded = session.hooks.loaded
        if not handler.source.from_project:
            return f"It does not come with the project; delete it in {handler.source} to switch it off."
        found = next((item for item, _ in loaded.gate.items() if item.source == handler.source), None)
        if found is None or loaded.gate.policy is not TrustPolicy.STORED:
            return "This session trusts everything in the project."
        loaded.gate.store.record(found.project or loaded.project_dir, (), superseded=(found.digest,))
        self._describe(session)
        self._view.changed()
        return "It is no longer trusted and does not run."

    # ── one session ─────────────────────────────────────────────────────────

    async def _session(self, start: Start) -> Start | None:
        """Run one session; return how the next one starts, None for none."""
        options = msgspec.structs.replace(self.plan.options, start=start)
        async with open_agent(
            options,
            model=await self._model_for(options.env),
            person=Person(self._view.permit, self._view.fill_in) if self._view.can_ask else Person(),
            on_message_update=self._update,
            observers=(self._notice,),
        ) as agent:
            self._phase = InSession(agent)
            try:
                await self._prompts(agent, start)
                await agent.end(self._phase.reason if isinstance(self._phase, EndingSession) else EXIT)
            finally:
                ended, self._phase = self._phase, self._phase if isinstance(self._phase, Left) else NoSession()
                self.feed.busy = False
        return ended.then if isinstance(ended, EndingSession) else None

    async def _prompts(self, agent: Agent, start: Start) -> None:
        session = agent.session
        if not isinstance(start, NewSession):
            self.feed.restore(agent.main.dialogue.messages)
        self._describe(session)
        if isinstance(self._model, Unconfigured):
            self.feed.say(NO_KEY, Level.WARNING, "no-model")
        session.accompany(self._watch_settings(session))
        for text in self.queued:
            session.inbox.put(Prompt(text))
        if self._finishing:
            session.inbox.put(Closed())
        await self._guarded(agent.run_deferred())
        if agent.first_message is not None:
            self.feed.prompted(agent.first_message, machine=True)
            await self._guarded(agent.run(agent.first_message))
        while True:
            self._view.changed()
            async with agent.waiting_for_user():
                item = await session.inbox.get()
            if isinstance(item, Closed):
                return
            await self._answer(agent, item)

    async def _answer(self, agent: Agent, item: InboxItem) -> None:
        hooks = agent.session.hooks.engine.hooks
        self.feed.holds_text = bool(hooks.of_event("MessageDisplay"))
        match item:
            case Prompt(text=text):
                if text in self.queued:
                    self.queued.remove(text)
                self.feed.prompted(text)
            case TaskNotice() | TeamMessage():
                self.feed.prompted(item.text, machine=True)
            case _:
                self.feed.busy = True
        self._view.changed()
        await self._guarded(agent.answer(item))

    async def _guarded(self, work: Any) -> None:
        """Run a turn; report a configuration error and keep the session."""
        try:
            await work
        except HookwrightError as error:
            self.feed.say(str(error), Level.ERROR)
        self.feed.busy = False
        self._view.changed()

    async def _model_for(self, env: Mapping[str, str]) -> Model:
        """Return a new model for each session; a script continues where it was. Clients are imported in a thread."""
        loading = prefetch(env) if self.plan.script is None else None
        if loading is not None:
            await asyncio.to_thread(loading.join)
        if self.plan.script is None or self._model is None:
            self._model = from_environment(env, script=self.plan.script)
        return self._model

    async def _watch_settings(self, session: Session) -> None:
        """Apply edits of settings files without waiting for the next event (R-361, R-362)."""
        while True:
            await asyncio.sleep(LOOK)
            await session.hooks.refresh(session.event(ConfigChange, source="user_settings", file_path=""))
            session.tell_of_changes()

    # ── updates and notices ─────────────────────────────────────────────────

    def _update(self, update: Update) -> None:
        if isinstance(update, Opened) and isinstance(self._model, Unconfigured):
            update = msgspec.structs.replace(update, model="no model")
        self.feed.take(update)
        if self._log is not None:
            self._log.update(update)
        if (
            isinstance(update, Diagnosed)
            and update.diagnostic.code == "reloaded"
            and isinstance(self._phase, InSession)
        ):
            self._reloaded(self._phase.agent.session)
        self._view.changed()

    def _notice(self, notice: Notice) -> None:
        self.activity.notice(notice)
        self.feed.notice(notice)
        self._view.observe(notice)
        if self._log is not None:
            self._log.notice(notice)
        self._view.changed()

    def _reloaded(self, session: Session) -> None:
        self._describe(session)
        loaded = session.hooks.loaded
        if loaded.gate.policy is TrustPolicy.STORED:
            held = len(review(loaded, self.plan.options.cwd).pending)
            if held:
                text = f"{plural(held, 'item')} of the project new or changed: off until you trust them in /hooks"
                self.feed.say(text, Level.WARNING, "untrusted")

    def _describe(self, session: Session) -> None:
        self.feed.describe(hooks=head_counts(session.hooks.engine.states()))


def _debug_log(path: str | None) -> DebugLog | None:
    if path is None:
        return None
    try:
        return DebugLog(path, machine_output=False)
    except OSError as error:
        raise ConfigError(f"--debug-file {path}: {error.strerror}") from None
