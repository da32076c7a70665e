"""The trust review: what the project would run and what changed since it was trusted, with a yes or no to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hookwright.config import Review, Reviewed
from hookwright.tui.chat.quiet import QuietTime
from hookwright.tui.chat.review import head_lines, item_lines, row
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.quiet_keys import QuietOptions, QuietScroll
from hookwright.tui.widgets.status import FootLine

_KEYS = "y trust · n refuse · a all · enter: done"

#: Below this width the list is above the diff.
_NARROW = 90


class _Items(QuietOptions):
    """The list of items; a click shows one and decides nothing."""

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if isinstance(clicked, int):
            self.highlighted = clicked


class TrustScreen(Screen[Sequence[Reviewed]]):
    """A list of what is new or changed; what the user does not accept does not run."""

    DEFAULT_CSS = """
    TrustScreen {
        & #head { padding: 1 2 0 2; height: auto; }
        & #body { height: 1fr; }
        & OptionList { width: 42%; height: 1fr; border: round $secondary; background: $background; padding: 0 1; }
        & OptionList:focus { border: round $primary; background: $background; }
        & VerticalScroll { border: round $secondary; padding: 0 1; border-title-color: $primary; }
        &.-narrow #body { layout: vertical; }
        &.-narrow OptionList { width: 100%; height: 40%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        Binding("a", "all", show=False),
        Binding("enter", "finish", show=False),
        Binding("escape,q", "leave", show=False),
    ]

    def __init__(self, found: Review, painter: Painter) -> None:
        super().__init__()
        self._found = found
        self._painter = painter
        self._diff = LinesView(painter, hang=2)
        self._decisions: dict[int, bool] = {}
        self._foot = FootLine(_KEYS, "esc: trust nothing")
        self._asks_about_all = False
        self._since_mark = QuietTime()

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        quiet, letters = QuietTime(), "ynaq"
        with Vertical(id="head"):
            yield LinesView(self._painter, head_lines(self._found), hang=2)
        with Horizontal(id="body"):
            rows = (Option(self._row(number)) for number in range(len(self._found.pending)))
            yield _Items(*rows, letters=letters, quiet=quiet)
            with QuietScroll(letters=letters, quiet=quiet) as body:
                body.border_title = "what it runs"
                yield self._diff
        yield self._foot

    def on_mount(self) -> None:
        """Show the first item."""
        self.query_one(OptionList).focus()
        self._show(0)

    def on_resize(self) -> None:
        """Put the list above the diff on a narrow screen."""
        self.set_class(self.size.width < _NARROW, "-narrow")

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        self._ask_about_all(False)
        self._show(message.option_index)

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        self.action_finish()

    def action_decide(self, trusted: bool) -> None:
        """Mark the selected item and select the next one without a mark; marks take effect with enter."""
        self._since_mark.restart()
        if self._asks_about_all:
            self._ask_about_all(False)
            return
        options = self.query_one(OptionList)
        number = options.highlighted if options.highlighted is not None else 0
        self._decide(number, trusted)
        rest = [place for place in range(len(self._found.pending)) if place not in self._decisions]
        if rest:
            options.highlighted = next((place for place in rest if place > number), rest[0])

    def action_all(self) -> None:
        """Ask whether to trust everything without a mark; enter confirms."""
        self._since_mark.restart()
        self._ask_about_all(True)

    @property
    def _ordinary(self) -> list[int]:
        """The items that a yes to everything includes; each other one needs its own yes."""
        return [number for number, item in enumerate(self._found.pending) if not item.item.caution]

    def _ask_about_all(self, asking: bool) -> None:
        self._asks_about_all = asking
        undecided = sum(number not in self._decisions for number in self._ordinary)
        ask = f"trust {undecided} more without a mark, as they are now? enter: yes · any other key: no"
        self._foot.show(ask if asking else _KEYS, "" if asking else "esc: trust nothing")

    def action_finish(self) -> None:
        """End the review: what is marked ✓ is trusted; what has no mark is not.

        An enter right after a letter may be the end of a word, so it has to be pressed again.
        """
        if not self._since_mark.reached:
            self.notify("Press enter again to confirm.", timeout=3)
            return
        if self._asks_about_all:
            for number in self._ordinary:
                if number not in self._decisions:
                    self._decide(number, True)
        self.dismiss([item for number, item in enumerate(self._found.pending) if self._decisions.get(number)])

    def action_leave(self) -> None:
        """End the review and trust nothing."""
        self.dismiss([])

    def _decide(self, number: int, trusted: bool) -> None:
        if trusted and self._found.pending[number].item.unbound:
            self.notify("This item cannot be trusted; the reason is shown with it.", severity="error")
            trusted = False
        self._decisions[number] = trusted
        self.query_one(OptionList).replace_option_prompt_at_index(number, self._row(number))

    def _row(self, number: int) -> Text:
        return self._painter.text([row(self._found.pending[number], self._decisions.get(number))])

    def _show(self, number: int) -> None:
        self._diff.show(item_lines(self._found.pending[number]))
        self.query_one(QuietScroll).scroll_home(animate=False)
