"""A page of text."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from hookwright.tui.feed.words import Line
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.status import FootLine


class PageScreen(Screen[None]):
    """A screen of fixed lines."""

    DEFAULT_CSS = """
    PageScreen { & VerticalScroll { border: round $secondary; border-title-color: $primary; padding: 0 1; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "app.pop_screen", show=False)]

    def __init__(self, title: str, lines: tuple[Line, ...], painter: Painter) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._painter = painter

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        with VerticalScroll() as body:
            body.border_title = self._title
            yield LinesView(self._painter, self._lines, hang=22)
        yield FootLine("", "esc: back")
