"""A block of lines, wrapped with a hanging indent."""

from __future__ import annotations

from collections.abc import Iterable

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from hookwright.tui.feed.words import Line
from hookwright.tui.widgets.paint import Painter


class LinesView(Widget):
    """A widget as high as its lines; its container scrolls."""

    DEFAULT_CSS = "LinesView { height: auto; }"

    def __init__(self, painter: Painter, lines: Iterable[Line] = (), *, hang: int = 0) -> None:
        super().__init__()
        self._painter = painter
        self._lines = tuple(lines)
        self._hang = hang
        self._strips: dict[int, list[Strip]] = {}

    def show(self, lines: Iterable[Line]) -> None:
        """Replace the lines."""
        self._lines = tuple(lines)
        self._strips.clear()
        self.refresh(layout=True)

    def _at(self, width: int) -> list[Strip]:
        if width not in self._strips:
            self._strips = {width: list(self._painter.lines(self._lines, max(width, 10), self._hang))}
        return self._strips[width]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual asks
        """Return the number of lines at a width."""
        return len(self._at(width))

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        strips, style = self._at(self.size.width), self.rich_style
        if y >= len(strips):
            return Strip.blank(self.size.width, style)
        return strips[y].apply_style(style).crop_extend(0, self.size.width, style)
