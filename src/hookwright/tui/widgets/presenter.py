"""What the app shows and does: the conductor behind it, the feed in front of it, commands and dialogs."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from textual.widget import Widget

from hookwright.agent.state.options import Start
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.config import Review, Reviewed
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.observers import Notice, RunEnded
from hookwright.tui.chat.chat import Chat
from hookwright.tui.chat.history import History
from hookwright.tui.chat.plan import ChatPlan, read_plan
from hookwright.tui.chat.sequence import allowed
from hookwright.tui.chat.slash_commands import carry_out
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import CallItem, CallState
from hookwright.tui.feed.words import flat, home_relative
from hookwright.tui.widgets.app import KEYS
from hookwright.tui.widgets.completion import Completion
from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.paint import Painter, estimate, estimate_detail

if TYPE_CHECKING:
    from hookwright.tui.widgets.app import ChatApp

P = TypeVar("P", bound=Widget)

#: Seconds between two repaints while much happens.
_PACE = 1 / 30


def open_stage(app: ChatApp) -> Presenter:
    """Read the command line and set the stage."""
    return Presenter(app, read_plan(app.launch.args, app.launch.env))


class Presenter:
    """Joins the conductor to the widgets; it is the conductor's face."""

    can_ask = True

    def __init__(self, app: ChatApp, plan: ChatPlan) -> None:
        self.app = app
        self.feed = Feed(plan.options.cwd)
        self.conductor = Chat(plan, self.feed, self)
        self.history = History(os.path.join(plan.options.places().state_folder, "history.jsonl"), plan.options.cwd)
        app.prompt.helper = Completion(app, self.conductor, self.history)
        self._views: list[LogView] = []
        self._painters: dict[tuple[str, bool], Painter] = {}
        self._generation = 0
        self._scheduled = False
        self._asking = asyncio.Lock()
        self._busy_since = 0.0
        self._ticker = app.set_interval(0.1, self._tick, pause=True)
        self.attach(app.log_view, detail=False)

    async def run(self) -> None:
        """Run the chat to its end."""
        if self.conductor.plan.picks:
            from hookwright.tui.screens.sessions import choose

            self.conductor.start_with(await choose(self))
        self.changed()
        await self.conductor.run()

    # ── views ───────────────────────────────────────────────────────────────

    def attach(self, view: LogView, *, detail: bool) -> None:
        """Keep a view up to date from now on."""
        painter = self.painter(detail=detail)
        view.use(
            lambda item, width: painter.paint(item, width, self.feed.banner.cwd),
            estimate_detail if detail else estimate,
        )
        if view not in self._views:
            self._views.append(view)
        view.show(self.feed.items)

    def detach(self, view: LogView) -> None:
        """Let a view go."""
        self._views.remove(view)

    def painter(self, *, detail: bool = False) -> Painter:
        """Give the painter of the present theme."""
        theme = self.app.current_theme
        key = (theme.name, detail)
        if key not in self._painters:
            self._painters[key] = Painter(theme, detail=detail)
        return self._painters[key]

    def use_theme(self, name: str) -> None:
        """Go on in other colours."""
        self.app.theme = name
        for view in self._views:
            self.attach(view, detail=view is not self.app.log_view)

    def changed(self) -> None:
        """Repaint soon; however much happens until then, it is painted once."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_later(_PACE, self.app.call_later, self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        feed = self.feed
        start = feed.dirty if feed.generation == self._generation else 0
        for view in self._views:
            view.show(feed.items, start)
        feed.dirty, self._generation = len(feed.items), feed.generation
        self._tick()
        works = feed.busy or bool(self.conductor.activity.running)
        if works:
            self._ticker.resume()
        else:
            self._ticker.pause()

    def _tick(self) -> None:
        """Draw the spinner and the foot."""
        now = time.monotonic()
        if not self.feed.busy:
            self._busy_since = now
        hook = self.conductor.activity.line(now)
        text, elapsed = hook if hook is not None else (self._deed(), now - self._busy_since)
        shown = text if hook is not None or self.feed.busy else None
        self.app.status.show(shown, elapsed, self.conductor.queued)
        self.app.foot.show(self._facts(), KEYS)

    def _deed(self) -> str:
        if self._asking.locked():
            return "Waiting for your answer"
        calls = [
            item for item in self.feed.items[-20:] if isinstance(item, CallItem) and item.state is CallState.RUNNING
        ]
        return f"Running {flat(calls[-1].name)}" if calls else "Thinking"

    def _facts(self) -> str:
        feed, agent = self.feed, self.conductor.agent
        mode = {"default": "asks before it acts", "acceptEdits": "accepts edits", "plan": "plans only"}
        words = [mode.get(feed.mode, feed.mode), feed.model, home_relative(feed.banner.cwd)]
        late = len(agent.session.hooks.background.running) if agent is not None else 0
        if late:
            words.insert(0, f"{late} hooks in the background")
        if agent is None:
            words.insert(0, "starting …")
        return " · ".join(word for word in words if word)

    # ── what a person does ──────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Carry out a command of the screen, or say it to the agent."""
        self.history.add(text)
        if not carry_out(self, text):
            self.conductor.submit(text)

    def interrupt(self) -> bool:
        """Break the running turn off."""
        return self.conductor.interrupt()

    def leave(self, reason: str) -> None:
        """End the chat."""
        self.app.foot.show("ending the session …", "")
        self.conductor.leave(reason)

    def resume(self, start: Start) -> None:
        """Go on with another conversation."""
        self.conductor.resume(start)

    def next_mode(self) -> None:
        """Go on in the next permission mode."""
        self.conductor.next_mode()

    def toggle_verbose(self) -> None:
        """Open or close the verbose view."""
        from hookwright.tui.screens.verbose import VerboseScreen

        if isinstance(self.app.screen, VerboseScreen):
            self.app.pop_screen()
        elif not self._asking.locked() or self.app.screen is self.app.screen_stack[0]:
            self.app.push_screen(VerboseScreen(self))

    # ── the conductor's face ────────────────────────────────────────────────

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask about a call; one question at a time."""
        from hookwright.tui.widgets.dialog import PermissionPanel

        async with self._asking:
            call = self._call(question.tool_use_id)
            async with self._in_place(PermissionPanel(question, call, self.painter(), self.feed.banner.cwd)) as panel:
                return await panel.answer

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        """Ask what an MCP server wants to know."""
        from hookwright.tui.widgets.form import FormPanel

        async with self._asking, self._in_place(FormPanel(asked, self.painter())) as panel:
            return await panel.answer

    @asynccontextmanager
    async def _in_place(self, panel: P) -> AsyncIterator[P]:
        """Let a panel stand in the place of the prompt."""
        self._come_back()
        self.app.prompt.display = False
        await self.app.bottom.mount(panel)
        try:
            yield panel
        finally:
            await panel.remove()
            self.app.prompt.display = True
            self.app.prompt.focus()

    def _come_back(self) -> None:
        """Show the question: leave a view that one only reads, and call from one where something is being done."""
        from hookwright.tui.screens.verbose import VerboseScreen

        if isinstance(self.app.screen, VerboseScreen):
            self.app.pop_screen()
        elif self.app.screen is not self.app.screen_stack[0]:
            self.app.notify("A question waits for you: esc goes back.", severity="warning", timeout=30)

    def _call(self, call_id: str) -> CallItem | None:
        found = (item for item in reversed(self.feed.items) if isinstance(item, CallItem) and item.id == call_id)
        return next(found, None)

    async def review(self, found: Review) -> Sequence[Reviewed]:
        """Let a person go through what the project would run."""
        from hookwright.tui.screens.trust import TrustScreen

        return await self.app.push_screen_wait(TrustScreen(found, self.painter()))

    def hear(self, notice: Notice) -> None:
        """Let a hook set the title of the terminal, notify, or ring."""
        sequence = allowed(notice.run.verdict.terminal_sequence) if isinstance(notice, RunEnded) else None
        if sequence is not None:
            self.app.send_to_terminal(sequence)
