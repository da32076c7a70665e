"""The conversation as lines: only what is seen is painted, however long it is."""

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
#: Guesses the height of one item at a width.
Estimate = Callable[[Item, int], int]

#: Painted items that are kept when they are out of sight.
_KEPT = 1_000


class _Row:
    """One item: its height, guessed until it was painted."""

    __slots__ = ("height", "is_true", "item", "strips")

    def __init__(self, item: Item, height: int) -> None:
        self.item = item
        self.height = height
        #: The height was counted, not guessed.
        self.is_true = False
        self.strips: list[Strip] | None = None


def _nothing(item: Item, width: int) -> list[Strip]:  # noqa: ARG001 - until somebody says how to paint
    return []


def _no_height(item: Item, width: int) -> int:  # noqa: ARG001 - until somebody says how to paint
    return 0


class LogView(ScrollView, can_focus=False):
    """Shows a list of items that grows at its end; stays at the end while nobody scrolls up."""

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
        #: True while new lines pull the view along.
        self.follows = True

    @property
    def allow_select(self) -> bool:
        """Text can be marked with the mouse."""
        return True

    # ── content ─────────────────────────────────────────────────────────────

    def show(self, items: Sequence[Item], start: int = 0) -> None:
        """Take over a list whose items before `start` are known to be the same."""
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
        """Paint in this way from now on, and forget what was painted before."""
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
        """Give the first line of every item, and the number of lines behind the last."""
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
        """Paint what is in sight, so that its heights are true, and keep the place that somebody looks at."""
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
        """Paint around an item that stays where it is on the screen; return the line at the top of it."""
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
        """Find the first item in sight whose height is true; a guessed one may move everything below it."""
        starts, bottom = self._layout(), top + self.size.height
        for index in range(first, len(self._rows)):
            if starts[index] >= bottom:
                break
            if self._rows[index].is_true:
                return index
        return first

    def _paint_up(self, before: int, room: int) -> None:
        """Paint the items before one until so many lines are filled."""
        for index in range(before - 1, -1, -1):
            if room <= 0:
                return
            room -= len(self._painted(index))

    def _paint_down(self, first: int, room: int) -> None:
        """Paint items from one on until so many lines are filled."""
        for index in range(first, len(self._rows)):
            if room <= 0:
                return
            room -= len(self._painted(index))

    def _go_to(self, top: int) -> None:
        """Move without being told of it."""
        if top != self.scroll_offset.y:
            self.set_reactive(LogView.scroll_y, float(top))
            self.set_reactive(LogView.scroll_target_y, float(top))
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.position = top

    def _let_go(self) -> None:
        """Drop painted strips that are far away."""
        painted = [index for index, row in enumerate(self._rows) if row.strips is not None]
        if len(painted) <= 2 * _KEPT:
            return
        here = bisect_right(self._layout(), self.scroll_offset.y)
        for index in sorted(painted, key=lambda index: abs(index - here))[_KEPT:]:
            self._rows[index].strips = None

    # ── Textual ─────────────────────────────────────────────────────────────

    def on_resize(self) -> None:
        """Break lines anew when the width changed."""
        width = self.size.width - 1  # the last column is the scroll bar's, whether or not it is there
        if width != self._width:
            self._width = width
            self._reset()
        else:
            self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow again when somebody scrolls back to the end."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        self.follows = new_value >= self.max_scroll_y
        if not self.follows:
            self._settle(jumped=abs(new_value - old_value) >= self.size.height)

    def render_line(self, y: int) -> Strip:
        """Give one line of what is in sight."""
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

    # ── marking with the mouse ──────────────────────────────────────────────

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
        """Give the text that was marked."""
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

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual gives it
        """Show what is marked."""
        self.refresh()
