"""The trust review: what the project would run and what changed since it was trusted, with a yes or no to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hookwright.config import Review, Reviewed
from hookwright.tui.chat.review import head_lines, item_lines, row
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.status import FootLine

#: Below this width the list is above the diff.
_NARROW = 90


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
        Binding("y,space", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        Binding("a", "all", show=False),
        Binding("escape,q", "finish", show=False),
    ]

    def __init__(self, found: Review, painter: Painter) -> None:
        super().__init__()
        self._found = found
        self._painter = painter
        self._diff = LinesView(painter, hang=2)
        self._decisions: dict[int, bool] = {}

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        with Vertical(id="head"):
            yield LinesView(self._painter, head_lines(self._found), hang=2)
        with Horizontal(id="body"):
            yield OptionList(*(Option(self._row(number)) for number in range(len(self._found.pending))))
            with VerticalScroll(can_focus=True) as body:
                body.border_title = "what it runs"
                yield self._diff
        yield FootLine("y trust · n refuse · a trust all · tab scroll the diff", "esc done")

    def on_mount(self) -> None:
        """Show the first item."""
        self.query_one(OptionList).focus()
        self._show(0)

    def on_resize(self) -> None:
        """Put the list above the diff on a narrow screen."""
        self.set_class(self.size.width < _NARROW, "-narrow")

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        self._show(message.option_index)

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_decide(True)

    def action_decide(self, trusted: bool) -> None:
        """Decide about the selected item and select the next; after the last one the review is done."""
        options = self.query_one(OptionList)
        number = options.highlighted if options.highlighted is not None else 0
        self._decide(number, trusted)
        rest = [place for place in range(len(self._found.pending)) if place not in self._decisions]
        if not rest:
            self.action_finish()
            return
        options.highlighted = next((place for place in rest if place > number), rest[0])

    def action_all(self) -> None:
        """Trust everything not decided yet."""
        for number in range(len(self._found.pending)):
            if number not in self._decisions:
                self._decide(number, True)
        self.action_finish()

    def action_finish(self) -> None:
        """End the review; undecided items are not trusted."""
        self.dismiss([item for number, item in enumerate(self._found.pending) if self._decisions.get(number)])

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
        self.query_one(VerticalScroll).scroll_home(animate=False)
