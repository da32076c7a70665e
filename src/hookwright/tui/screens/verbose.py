"""The verbose view: the conversation with every hook run, skip and reason, and who saw what."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.status import FootLine

if TYPE_CHECKING:
    from hookwright.tui.widgets.presenter import Presenter


class VerboseScreen(Screen[None]):
    """A detailed view that follows the conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", show=False),
        Binding("up,k", "line(-1)", show=False),
        Binding("down,j", "line(1)", show=False),
        Binding("home,g", "app.top", show=False),
        Binding("end,G", "app.bottom", show=False),
    ]

    def __init__(self, presenter: Presenter) -> None:
        super().__init__()
        self._presenter = presenter
        self._view = LogView()

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield self._view
        yield FootLine("verbose: what every hook did and who saw what", "ctrl+o or esc: back")

    def on_mount(self) -> None:
        """Start following the conversation."""
        self._presenter.attach(self._view, detail=True)

    def on_unmount(self) -> None:
        """Stop following."""
        self._presenter.detach(self._view)

    def action_line(self, step: int) -> None:
        """Scroll by one line."""
        self._view.scroll_to(y=self._view.scroll_offset.y + step, animate=False)
