"""What the app shows and does: it joins the chat and its feed to the widgets, and opens dialogs and screens."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.config import Review, Reviewed
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.observers import Notice, RunEnded
from hookwright.text import flat, plural, short_path
from hookwright.tui.chat.chat import Chat
from hookwright.tui.chat.history import History
from hookwright.tui.chat.plan import ChatPlan, read_plan
from hookwright.tui.chat.quiet import QuietTime
from hookwright.tui.chat.sequence import allowed
from hookwright.tui.chat.slash_commands import run_command
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import CallItem, CallState
from hookwright.tui.feed.words import Line
from hookwright.tui.widgets.app import KEYS
from hookwright.tui.widgets.completion import Completion
from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.paint import Painter, estimate, estimate_detail
from hookwright.tui.widgets.palette import THEMES

if TYPE_CHECKING:
    from hookwright.tui.widgets.app import ChatApp
    from hookwright.tui.widgets.dialog import PermissionPanel
    from hookwright.tui.widgets.form import FormPanel

P = TypeVar("P", bound="PermissionPanel | FormPanel")

#: Seconds between two repaints at most.
_PACE = 1 / 30


def open_presenter(app: ChatApp) -> Presenter:
    """Read the command line and build the presenter."""
    return Presenter(app, read_plan(app.launch.args, app.launch.env))


class Presenter:
    """The chat's view on a terminal screen."""

    can_ask = True

    def __init__(self, app: ChatApp, plan: ChatPlan) -> None:
        self.app = app
        self.feed = Feed(plan.options.cwd)
        self.chat = Chat(plan, self.feed, self)
        self.history = History(os.path.join(plan.options.places().state_folder, "history.jsonl"), plan.options.cwd)
        app.prompt.helper = Completion(app, self.chat, self.history)
        self._views: list[LogView] = []
        self._painters: dict[tuple[str, bool], Painter] = {}
        self._generation = 0
        self._scheduled = False
        self._asking = asyncio.Lock()
        #: The open question.
        self._panel: PermissionPanel | FormPanel | None = None
        #: What the spinner says, and since when.
        self._doing: tuple[str | None, float] = (None, 0.0)
        self._ticker = app.set_interval(0.1, self._tick, pause=True)
        self.attach(app.log_view, detail=False)

    async def run(self) -> None:
        """Run the chat until it ends."""
        if self.chat.plan.picks:
            from hookwright.tui.screens.sessions import choose

            self.chat.start_with(await choose(self))
        self.changed()
        await self.chat.run()

    # ── views ───────────────────────────────────────────────────────────────

    def attach(self, view: LogView, *, detail: bool) -> None:
        """Start updating a view."""
        painter = self.painter(detail=detail)
        view.use(
            lambda item, width: painter.paint(item, width, self.feed.banner.cwd),
            estimate_detail if detail else estimate,
        )
        if view not in self._views:
            self._views.append(view)
        view.show(self.feed.items)

    def detach(self, view: LogView) -> None:
        """Stop updating a view."""
        self._views.remove(view)

    def painter(self, *, detail: bool = False) -> Painter:
        """Return the painter of the current theme."""
        theme = self.app.current_theme
        key = (theme.name, detail)
        if key not in self._painters:
            self._painters[key] = Painter(theme, detail=detail)
        return self._painters[key]

    def use_theme(self, name: str) -> None:
        """Switch to another theme and repaint."""
        self.app.theme = name
        for view in self._views:
            self.attach(view, detail=view is not self.app.log_view)

    def changed(self) -> None:
        """Repaint soon; all changes until then are painted at once."""
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
        if feed.busy or self.chat.activity.running:
            self._ticker.resume()
        else:
            self._ticker.pause()

    def _tick(self) -> None:
        """Draw the spinner and the footer."""
        now = time.monotonic()
        doing = self._working_on() if self.feed.busy else None
        if doing != self._doing[0]:
            self._doing = (doing, now)
        hook = self.chat.activity.line(now)
        text, elapsed = hook if hook is not None else (doing, now - self._doing[1])
        self.app.status.show(text, elapsed, self.chat.queued)
        self.app.foot.show(self._facts(), KEYS)

    def _working_on(self) -> str:
        if self._asking.locked():
            return "Waiting for your answer"
        calls = [
            item for item in self.feed.items[-20:] if isinstance(item, CallItem) and item.state is CallState.RUNNING
        ]
        return f"Running {flat(calls[-1].name)}" if calls else "Thinking"

    def _facts(self) -> str:
        feed, agent = self.feed, self.chat.agent
        mode = {"default": "asks before acting", "acceptEdits": "accepts edits", "plan": "plans only"}
        facts = [mode.get(feed.mode, feed.mode), feed.model, short_path(feed.banner.cwd, home=os.path.expanduser("~"))]
        late = len(agent.session.hooks.background.running) if agent is not None else 0
        if late:
            facts.insert(0, f"{plural(late, 'hook')} in the background")
        if agent is None:
            facts.insert(0, "starting …")
        return " · ".join(fact for fact in facts if fact)

    # ── what the user does ──────────────────────────────────────────────────

    def submit(self, text: str) -> None:
        """Run a command of the screen, or send a prompt to the agent."""
        self.history.add(text)
        if not run_command(self, text):
            self.chat.submit(text)

    def interrupt(self) -> bool:
        """Interrupt the running turn; return whether there was one."""
        return self.chat.interrupt()

    def refuse(self) -> bool:
        """Answer the open question with no; return whether there was one."""
        if self._panel is None:
            return False
        self._panel.action_refuse()
        return True

    def leave(self, reason: str) -> None:
        """End the chat."""
        self.app.foot.show("ending the session …", "")
        self.chat.leave(reason)

    def next_mode(self) -> None:
        """Switch to the next permission mode."""
        self.chat.next_mode()

    def show_page(self, title: str, lines: Iterable[Line]) -> None:
        """Open a page of text."""
        from hookwright.tui.screens.page import PageScreen

        self.app.push_screen(PageScreen(title, tuple(lines), self.painter()))

    def browse_hooks(self) -> None:
        """Open the hooks browser."""
        from hookwright.tui.screens.hooks import HooksScreen

        self.app.push_screen(HooksScreen(self))

    def pick_session(self) -> None:
        """Let the user choose a conversation and resume it."""
        self.app.run_worker(self._pick_session(), name="resume")

    async def _pick_session(self) -> None:
        from hookwright.tui.screens.sessions import choose

        chosen = await choose(self)
        if chosen is not None:
            self.chat.resume(chosen)

    def switch_theme(self, name: str) -> None:
        """Switch to a theme, or to the opposite of the current one if the name is unknown."""
        opposite = "light" if self.app.current_theme.dark else "dark"
        self.use_theme(f"hookwright-{name if name in THEMES else opposite}")

    def toggle_verbose(self) -> None:
        """Open or close the verbose view."""
        from hookwright.tui.screens.verbose import VerboseScreen

        if isinstance(self.app.screen, VerboseScreen):
            self.app.pop_screen()
        elif not self._asking.locked() or self.app.screen is self.app.screen_stack[0]:
            self.app.push_screen(VerboseScreen(self))

    # ── the view of the chat ────────────────────────────────────────────────

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask whether a call may run; one question at a time."""
        from hookwright.tui.widgets.dialog import PermissionPanel

        async with self._asking:
            call = self._call(question.tool_use_id)
            cwd, quiet = self.feed.banner.cwd, self.app.prompt.quiet
            async with self._in_place(PermissionPanel(question, call, self.painter(), cwd, quiet)) as panel:
                return await panel.answer

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        """Ask for the input an MCP server requests."""
        from hookwright.tui.widgets.form import FormPanel

        async with self._asking, self._in_place(FormPanel(asked, self.painter())) as panel:
            return await panel.answer

    @asynccontextmanager
    async def _in_place(self, panel: P) -> AsyncIterator[P]:
        """Show a panel; it replaces the prompt as soon as the user has stopped typing."""
        self._come_back()
        self._panel = panel
        self.app.prompt.given_up.clear()
        await self.app.bottom.mount(panel, before=self.app.prompt)
        handing = asyncio.create_task(self._hand_over(panel), name="hand over the keyboard")
        try:
            yield panel
        finally:
            handing.cancel()
            self._panel = None
            await panel.remove()
            self.app.prompt.display = True
            self.app.prompt.focus()

    async def _hand_over(self, panel: PermissionPanel | FormPanel) -> None:
        """Give a panel the keyboard once it is visible and the prompt is empty and idle, or when tab is pressed.

        Until then keys are text for the prompt, so that nothing begun as text answers a question.
        """
        prompt, visible = self.app.prompt, QuietTime()
        while not prompt.given_up.is_set():
            if self.app.screen is not self.app.screen_stack[0] or prompt.text:
                visible.restart()
            if visible.reached and prompt.quiet.reached:
                break
            await asyncio.sleep(0.05)
        prompt.display = False
        panel.take_keys()

    def _come_back(self) -> None:
        """Make the question visible: close the verbose view, and notify the user on any other screen."""
        from hookwright.tui.screens.verbose import VerboseScreen

        if isinstance(self.app.screen, VerboseScreen):
            self.app.pop_screen()
        elif self.app.screen is not self.app.screen_stack[0]:
            self.app.notify("A question is waiting for you. Press esc to go back.", severity="warning", timeout=30)

    def _call(self, call_id: str) -> CallItem | None:
        found = (item for item in reversed(self.feed.items) if isinstance(item, CallItem) and item.id == call_id)
        return next(found, None)

    async def review(self, found: Review) -> Sequence[Reviewed]:
        """Let the user review what the project would run."""
        from hookwright.tui.screens.trust import TrustScreen

        return await self.app.push_screen_wait(TrustScreen(found, self.painter()))

    def observe(self, notice: Notice) -> None:
        """Let a hook set the terminal's title, notify, or ring the bell."""
        sequence = allowed(notice.run.verdict.terminal_sequence) if isinstance(notice, RunEnded) else None
        if sequence is not None:
            self.app.send_to_terminal(sequence)
