"""The hooks browser: every event and handler, its source, state and results; try one out, copy it, trust it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hookwright.protocol.events import CATALOGUE
from hookwright.text import plural
from hookwright.tui.feed.entries import ListedHook, as_json, details, head_counts, listed, row, try_out
from hookwright.tui.feed.firings import firing_lines
from hookwright.tui.feed.items import Firing
from hookwright.tui.feed.words import Line
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.status import FootLine

if TYPE_CHECKING:
    from hookwright.agent.state.session import Session
    from hookwright.tui.widgets.presenter import Presenter

#: Below this width the list is above the details.
_NARROW = 90


class HooksScreen(Screen[None]):
    """Lists the configured hooks, with what they did so far."""

    DEFAULT_CSS = """
    HooksScreen {
        & #head { padding: 1 2 0 2; height: auto; }
        & #body { height: 1fr; }
        & OptionList { width: 50%; height: 1fr; border: round $secondary; background: $background; padding: 0 1; }
        & OptionList:focus { border: round $primary; background: $background; }
        & VerticalScroll { border: round $secondary; padding: 0 1; border-title-color: $primary; }
        &.-narrow #body { layout: vertical; }
        &.-narrow OptionList { width: 100%; height: 50%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", show=False),
        Binding("f", "fire", show=False),
        Binding("c", "copy", show=False),
        Binding("t", "trust", show=False),
        Binding("x", "distrust", show=False),
        Binding("r", "reload", show=False),
    ]

    def __init__(self, presenter: Presenter) -> None:
        super().__init__()
        self._presenter = presenter
        self._rows: dict[str, ListedHook] = {}
        self._painter = presenter.painter()
        self._details = LinesView(self._painter, hang=10)

    @property
    def _session(self) -> Session:
        agent = self._presenter.chat.agent
        assert agent is not None
        return agent.session

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static("", id="head", markup=False)
        with Horizontal(id="body"):
            yield OptionList()
            with VerticalScroll(can_focus=True):
                yield self._details
        yield FootLine("f fire a sample · c copy JSON · t trust review · x distrust · r refresh", "esc back")

    def on_mount(self) -> None:
        """Fill the list."""
        self.action_reload()
        self.query_one(OptionList).focus()

    def on_resize(self) -> None:
        """Put the list above the details on a narrow screen."""
        self.set_class(self.size.width < _NARROW, "-narrow")

    # ── the list ────────────────────────────────────────────────────────────

    def action_reload(self) -> None:
        """Refresh states and counts; keep the place in the list."""
        states = self._session.hooks.states()
        options = self.query_one(OptionList)
        place = options.highlighted
        options.clear_options()
        self._rows.clear()
        for event, found in listed(states, self._presenter.chat.activity).items():
            self._add_event(options, event, found)
        lines: list[Line] = [
            (("bold", "Hooks"), ("dim", f"  {head_counts(states)}")),
        ]
        self.query_one("#head", Static).update(self._painter.text(lines))
        options.highlighted = place if place is not None else 1 if self._rows else 0

    def _add_event(self, options: OptionList, event: str, found: list[ListedHook]) -> None:
        count = ("dim", f"  {plural(len(found), 'hook')}" if found else "  –")
        options.add_option(Option(self._painter.text([(("bold" if found else "dim", event), count)]), id=event))
        for number, one in enumerate(found):
            name = f"{event}/{number}"
            self._rows[name] = one
            options.add_option(Option(self._painter.text([(("", "  "), *row(one))]), id=name))

    def _chosen(self) -> ListedHook | None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._rows.get(options.get_option_at_index(options.highlighted).id or "")

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        found = self._rows.get(message.option_id or "")
        if found is not None:
            self._show("handler", list(details(found)))
        elif message.option_id in CATALOGUE:
            rules = CATALOGUE[message.option_id].rules
            lines: list[Line] = [
                (("bold", message.option_id),),
                (("", rules.when),),
                (("dim", f"exit 2 {rules.exit_2.value}"),),
            ]
            self._show("event", lines)

    def _show(self, title: str, lines: list[Line]) -> None:
        body = self.query_one(VerticalScroll)
        body.border_title = title
        body.scroll_home(animate=False)
        self._details.show(lines)

    # ── actions ───────────────────────────────────────────────────────────────

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_fire()

    def action_fire(self) -> None:
        """Fire a sample event at the chosen hook alone, for real."""
        found = self._chosen()
        if found is not None:
            self.run_worker(self._fire(found), exclusive=True, name="fire")

    async def _fire(self, found: ListedHook) -> None:
        self._show("firing …", [(("dim", "waiting for the hook"),)])
        session = self._session
        event, outcome, took = await try_out(session.hooks.engine, found.entry, session.state.cwd)
        firing = Firing(event=event, at=time.time(), runs=outcome.runs, outcome=outcome, seconds=took)
        self._show("a sample event, fired at this hook alone", list(firing_lines(firing)))

    def action_copy(self) -> None:
        """Copy the hook as JSON for a settings file, and show it."""
        found = self._chosen()
        if found is not None:
            text = as_json(found.entry)
            self.app.copy_to_clipboard(text)
            self._show("copied", [(("", line),) for line in text.splitlines()])
            self.notify("Copied as JSON.")

    def action_trust(self) -> None:
        """Review what is new or changed (R-358)."""
        self.run_worker(self._review(), exclusive=True, name="review")

    async def _review(self) -> None:
        await self._presenter.chat.review_trust()
        self.action_reload()

    def action_distrust(self) -> None:
        """Switch off a hook of the project by no longer trusting it (R-359)."""
        found = self._chosen()
        if found is None:
            return
        said = self._presenter.chat.distrust(self._session, found.entry.handler)
        self.notify(said)
        self.action_reload()
