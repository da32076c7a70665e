"""The conversation as lines; only the visible part is painted, however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from hookwright.tui.feed.items import Item

#: Paints one item at a width.
Paint = Callable[[Item, int], list[Strip]]
#: Estimates the height of one item at a width.
Estimate = Callable[[Item, int], int]

#: Painted items kept after they scroll out of view.
_KEPT = 1_000


class _Row:
    """One item and its height, an estimate until it is painted."""

    __slots__ = ("height", "is_true", "item", "strips")

    def __init__(self, item: Item, height: int) -> None:
        self.item = item
        self.height = height
        #: The height was measured, not estimated.
        self.is_true = False
        self.strips: list[Strip] | None = None


def _nothing(item: Item, width: int) -> list[Strip]:  # noqa: ARG001 - until `use` is called
    return []


def _no_height(item: Item, width: int) -> int:  # noqa: ARG001 - until `use` is called
    return 0


class LogView(ScrollView, can_focus=False):
    """A list of items that grows at its end and follows it unless the user scrolls up."""

    DEFAULT_CSS = """
    LogView { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._paint: Paint = _nothing
        self._estimate: Estimate = _no_height
        self._rows: list[_Row] = []
        self._starts: list[int] = [0]
        self._valid = 0
        self._width = 0
        #: Whether the view follows new lines.
        self.follows = True

    @property
    def allow_select(self) -> bool:
        """Whether text can be selected with the mouse."""
        return True

    # ── content ─────────────────────────────────────────────────────────────

    def show(self, items: Sequence[Item], start: int = 0) -> None:
        """Show these items; those before `start` have not changed."""
        rows = self._rows
        start = min(start, len(rows))
        for index in range(start, min(len(rows), len(items))):
            if rows[index].item is not items[index]:
                rows[index] = self._row(items[index])
                self._valid = min(self._valid, index)
        del rows[len(items) :]
        self._valid = min(self._valid, len(rows))
        rows += [self._row(item) for item in items[len(rows) :]]
        self._settle()

    def use(self, paint: Paint, estimate: Estimate) -> None:
        """Set how items are painted, and repaint them."""
        self._paint, self._estimate = paint, estimate
        self._reset()

    def _row(self, item: Item) -> _Row:
        return _Row(item, self._estimate(item, self._width))

    def _reset(self) -> None:
        self._rows = [self._row(row.item) for row in self._rows]
        self._valid = 0
        self._settle()

    # ── layout ──────────────────────────────────────────────────────────────

    def _layout(self) -> list[int]:
        """Return the first line of every item, then the total number of lines."""
        if self._valid < len(self._rows) or len(self._starts) != len(self._rows) + 1:
            known = self._starts[: self._valid + 1]
            heights = (row.height for row in self._rows[self._valid :])
            self._starts = [*known[:-1], *accumulate(heights, initial=known[-1])]
            self._valid = len(self._rows)
        return self._starts

    def _painted(self, index: int) -> list[Strip]:
        row = self._rows[index]
        if row.strips is None:
            row.strips = self._paint(row.item, self._width)
            row.is_true = True
            if row.height != len(row.strips):
                row.height = len(row.strips)
                self._valid = min(self._valid, index)
        return row.strips

    def _settle(self, *, jumped: bool = False) -> None:
        """Paint the visible items, so that their heights are exact, and keep the scroll position."""
        if not self._width or not self.size.height:
            return
        if self.follows:
            self._paint_up(len(self._rows), self.size.height)
            top = self._layout()[-1] - self.size.height
        else:
            top = self._settle_here(jumped=jumped)
        self.virtual_size = Size(self._width, self._layout()[-1])
        self._go_to(max(0, top))
        self._let_go()
        self.refresh()

    def _settle_here(self, *, jumped: bool) -> int:
        """Paint around an item that keeps its place on the screen; return the new top line."""
        top = self.scroll_offset.y
        if not self._rows:
            return top
        starts = self._layout()
        anchor = min(bisect_right(starts, top) - 1, len(self._rows) - 1)
        if not jumped:
            anchor = self._first_known(anchor, top)
        above = starts[anchor] - top
        self._paint_up(anchor, above)
        self._paint_down(anchor, self.size.height - above)
        return self._layout()[anchor] - above

    def _first_known(self, first: int, top: int) -> int:
        """Return the first visible item with an exact height; an estimated one may move everything below it."""
        starts, bottom = self._layout(), top + self.size.height
        for index in range(first, len(self._rows)):
            if starts[index] >= bottom:
                break
            if self._rows[index].is_true:
                return index
        return first

    def _paint_up(self, before: int, room: int) -> None:
        """Paint the items before one until the room is filled."""
        for index in range(before - 1, -1, -1):
            if room <= 0:
                return
            room -= len(self._painted(index))

    def _paint_down(self, first: int, room: int) -> None:
        """Paint the items from one on until the room is filled."""
        for index in range(first, len(self._rows)):
            if room <= 0:
                return
            room -= len(self._painted(index))

    def _go_to(self, top: int) -> None:
        """Scroll without triggering the watcher."""
        if top != self.scroll_offset.y:
            self.set_reactive(LogView.scroll_y, float(top))
            self.set_reactive(LogView.scroll_target_y, float(top))
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.position = top

    def _let_go(self) -> None:
        """Drop painted strips far from the visible part."""
        painted = [index for index, row in enumerate(self._rows) if row.strips is not None]
        if len(painted) <= 2 * _KEPT:
            return
        here = bisect_right(self._layout(), self.scroll_offset.y)
        for index in sorted(painted, key=lambda index: abs(index - here))[_KEPT:]:
            self._rows[index].strips = None

    # ── Textual ─────────────────────────────────────────────────────────────

    def on_resize(self) -> None:
        """Wrap lines again when the width changes."""
        width = self.size.width - 1  # the last column is reserved for the scroll bar
        if width != self._width:
            self._width = width
            self._reset()
        else:
            self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow again when the user scrolls back to the end."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        self.follows = new_value >= self.max_scroll_y
        if not self.follows:
            self._settle(jumped=abs(new_value - old_value) >= self.size.height)

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        line = self.scroll_offset.y + y
        style = self.rich_style
        strip = self._line(line)
        if strip is None:
            return Strip.blank(self.size.width, style)
        strip = self._marked(strip, line).apply_style(Style(bgcolor=style.bgcolor))
        return strip.crop_extend(0, self.size.width, style).apply_offsets(0, line)

    def _line(self, line: int) -> Strip | None:
        starts = self._layout()
        if not 0 <= line < starts[-1]:
            return None
        index = bisect_right(starts, line) - 1
        strips = self._painted(index)
        inside = line - starts[index]
        return strips[inside] if inside < len(strips) else None

    # ── selecting with the mouse ────────────────────────────────────────────

    def _marked(self, strip: Strip, line: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(line) if selection is not None else None
        if span is None:
            return strip
        start, end = span
        cells = strip.cell_length
        end = cells if end == -1 else min(end, cells)
        if start >= end:
            return strip
        before, marked, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end, cells)
        return Strip.join([before, marked.apply_style(Style(reverse=True)), after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text."""
        last = self._layout()[-1] - 1
        first = selection.start.y if selection.start is not None else 0
        final = min(selection.end.y if selection.end is not None else last, last)
        found = []
        for line in range(first, final + 1):
            strip, span = self._line(line), selection.get_span(line)
            if strip is not None and span is not None:
                start, end = span
                found.append(strip.crop(start, None if end == -1 else end).text.rstrip())
        return "\n".join(found), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual passes it
        """Repaint the selection."""
        self.refresh()
