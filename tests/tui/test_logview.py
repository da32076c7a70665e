"""The view that paints only what is seen: nothing is lost, nothing jumps, and it is quick however long it is."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence

from textual.app import App, ComposeResult
from textual.selection import Selection
from textual.strip import Strip

from hookwright.tui.feed.items import AnswerText, Item, PromptItem, Remark
from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.paint import Painter, estimate
from hookwright.tui.widgets.palette import DARK


class Viewer(App[None]):
    """A view and nothing else."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__()
        self.animation_level = "none"
        self.items = list(items)
        self.view = LogView()
        self.painted = 0
        self._painter = Painter(DARK)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.use(self.paint, estimate)
        self.view.show(self.items)

    def paint(self, item: Item, width: int) -> list[Strip]:
        """Count what is painted."""
        self.painted += 1
        return self._painter.paint(item, width, "")

    @property
    def lines(self) -> list[str]:
        """Give what is in sight."""
        return [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]

    @property
    def whole(self) -> list[str]:
        """Give everything, painted line by line."""
        width = self.view.size.width - 1
        return [strip.text.rstrip() for item in self.items for strip in self._painter.paint(item, width, "")]


def conversation(messages: int, seed: int = 1) -> list[Item]:
    """Make messages of many heights, each with its number in it."""
    dice = random.Random(seed)
    items: list[Item] = []
    for number in range(messages):
        words = " ".join(f"w{number}.{place}" for place in range(dice.randrange(1, 60)))
        match number % 3:
            case 0:
                items.append(PromptItem(text=f"prompt {number}: {words}"))
            case 1:
                items.append(AnswerText(text=f"answer {number}\n\n- one\n- {words}\n\n```\ncode\n```", done=True))
            case _:
                items.append(Remark(text=f"remark {number} {words}"))
    return items


def test_scrolling_line_by_line_shows_every_line_once_and_never_jumps() -> None:
    async def run() -> None:
        app = Viewer(conversation(18))
        async with app.run_test(size=(60, 12)) as pilot:
            await pilot.pause()
            whole = app.whole
            assert app.lines == whole[-12:]
            seen = len(whole) - 12
            while app.view.scroll_offset.y > 0:
                before = app.lines
                app.view.scroll_to(y=app.view.scroll_offset.y - 1, animate=False)
                await pilot.pause()
                assert app.lines[1:] == before[:-1]
                seen -= 1
                assert app.lines == whole[seen : seen + 12]
            assert seen == 0

    asyncio.run(run())


def test_ten_thousand_messages_cost_what_is_seen_of_them() -> None:
    async def run() -> None:
        app = Viewer(conversation(10_000))
        async with app.run_test(size=(80, 30)) as pilot:
            await pilot.pause()
            assert app.painted < 60
            started, steps = time.perf_counter(), 40
            for _ in range(steps):
                app.view.scroll_to(y=app.view.scroll_offset.y - 29, animate=False)
                await pilot.pause()
            assert (time.perf_counter() - started) / steps < 0.5  # a fiftieth of it on a quiet machine
            app.view.scroll_to(y=0, animate=False)
            await pilot.pause()
            del app.items[30:]
            assert app.lines == app.whole[:30]
            app.items = conversation(10_000)
            app.view.scroll_to(y=app.view.max_scroll_y, animate=False)
            await pilot.pause()
            app.items.append(PromptItem(text="the newest of all"))
            app.view.show(app.items, len(app.items) - 1)
            await pilot.pause()
            assert app.lines[-1] == "❯ the newest of all"

    asyncio.run(run())


def test_new_lines_pull_the_view_along_unless_somebody_reads_above() -> None:
    async def run() -> None:
        app = Viewer(conversation(40))
        async with app.run_test(size=(60, 15)) as pilot:
            await pilot.pause()
            app.view.scroll_to(y=app.view.scroll_offset.y - 20, animate=False)
            await pilot.pause()
            before = app.lines
            app.items.append(AnswerText(text="a new answer", done=True))
            app.view.show(app.items, len(app.items) - 1)
            await pilot.pause()
            assert app.lines == before
            app.view.scroll_to(y=app.view.max_scroll_y, animate=False)
            await pilot.pause()
            app.items[-1] = AnswerText(text="a new answer that grows", done=True)
            app.view.show(app.items, len(app.items) - 1)
            await pilot.pause()
            assert app.lines[-1] == "  a new answer that grows"

    asyncio.run(run())


def test_another_width_breaks_lines_anew_and_stays_at_the_end() -> None:
    async def run() -> None:
        app = Viewer(conversation(50))
        async with app.run_test(size=(100, 20)) as pilot:
            await pilot.pause()
            for width in (40, 70, 25):
                await pilot.resize_terminal(width, 20)
                await pilot.pause()
                assert app.lines == app.whole[-20:]
                assert max(len(line) for line in app.lines) <= width

    asyncio.run(run())


def test_marked_text_is_what_stands_there() -> None:
    async def run() -> None:
        app = Viewer([PromptItem(text="first words"), AnswerText(text="second words", done=True)])
        async with app.run_test(size=(60, 20)):
            from textual.geometry import Offset

            marked = app.view.get_selection(Selection(Offset(2, 1), Offset(8, 3)))
            assert marked == ("first words\n\n  second", "\n")

    asyncio.run(run())
