"""Items as strips: what the conversation looks like at a given width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip
from textual.theme import Theme

from hookwright._version import __version__
from hookwright.text import harmless
from hookwright.tui.feed.diffs import input_diff
from hookwright.tui.feed.firings import firing_lines
from hookwright.tui.feed.items import (
    AddedText,
    AnswerText,
    Banner,
    CallItem,
    CallState,
    FiringItem,
    Hooked,
    Item,
    Level,
    PromptItem,
    Remark,
)
from hookwright.tui.feed.words import (
    PROMPT_LINES,
    RESULT_LINES,
    VERBOSE_LINES,
    Line,
    banner_lines,
    call_head,
    prompt_lines,
    quiet_line,
    result_lines,
)
from hookwright.tui.widgets.palette import styles_of
from hookwright.tui.widgets.spans import painted

_REMARKS = {
    Level.QUIET: ("dim", "· "),
    Level.INFO: ("dim", "· "),
    Level.WARNING: ("warn", "▲ "),
    Level.ERROR: ("bad", "✗ "),
}
_MARGIN = 2


class Painter:
    """A painter for items in one theme; `detail` is for the verbose view."""

    def __init__(self, theme: Theme, *, detail: bool = False) -> None:
        from hookwright.tui.widgets.markdown import (
            MarkdownPainter,  # the first answer needs it, the first frame does not
        )

        self._styles = styles_of(theme)
        self._markdown = MarkdownPainter(theme)
        self._console = Console(color_system="truecolor", force_terminal=True, legacy_windows=False)
        self._detail = detail

    def paint(self, item: Item, width: int, cwd: str) -> list[Strip]:
        """Paint one item, with a blank line before it."""
        strips = list(self._item(item, max(width, 10), cwd))
        return [Strip.blank(0), *strips] if strips else []

    def _item(self, item: Item, width: int, cwd: str) -> Iterator[Strip]:
        match item:
            case Banner():
                yield from self.lines(banner_lines(item, __version__), width)
            case PromptItem():
                limit = VERBOSE_LINES if self._detail else PROMPT_LINES
                yield from self.lines(prompt_lines(item, limit), width, hang=_MARGIN)
                yield from self._quiet(quiet_line(item.firings), width)
            case AnswerText(parent=None):
                for segments in self._markdown.lines(harmless(item.text), width - _MARGIN):
                    yield Strip([Segment(" " * _MARGIN), *segments])
            case AnswerText(text=text):
                if self._detail:
                    yield from self._block("subagent", text, width)
            case CallItem():
                yield from self._call(item, width, cwd)
            case Remark(level=Level.QUIET) if not self._detail:
                return
            case Remark(text=text, level=level):
                style, mark = _REMARKS[level]
                first, *rest = harmless(text).expandtabs(4).splitlines() or [""]
                lines: list[Line] = [((style, mark + first),), *(((style, "  " + line),) for line in rest)]
                yield from self.lines(lines, width, hang=_MARGIN)
            case Hooked(firings=firings):
                yield from self._quiet(quiet_line(firings), width)
            case FiringItem(firing=firing):
                if self._detail:
                    yield from self.lines(firing_lines(firing), width, hang=8)
            case AddedText(text=text, hook_name=name):
                if self._detail:
                    yield from self._block(
                        f"{name} added for the model" if name else "added for the model", text, width
                    )
            case _:
                assert_never(item)

    def _call(self, call: CallItem, width: int, cwd: str) -> Iterator[Strip]:
        deeper = _MARGIN if call.parent is not None else 0
        inner = width - deeper
        body = list(self.lines([call_head(call, cwd)], inner, hang=_MARGIN))
        rewritten = call.rewritten
        if rewritten is not None:
            diff = [(("dim", "a hook rewrote the input:"),), *input_diff(*rewritten)]
            body += self._hanging(self.lines(diff, inner - 4))
        limit = VERBOSE_LINES if self._detail else RESULT_LINES
        body += self._hanging(self.lines(result_lines(call, limit), inner - 4))
        body += self._quiet(quiet_line(call.firings), inner)
        if call.state is CallState.RUNNING and not call.firings:
            body += self._hanging(self.lines([(("dim", "…"),)], inner - 4))
        indent = Segment(" " * deeper)
        return iter([Strip([indent, *strip]) for strip in body] if deeper else body)

    def _hanging(self, strips: Iterable[Strip]) -> list[Strip]:
        """Indent lines below a call."""
        marks = [Segment("  └ ", self._styles["dim"]), Segment("    ")]
        return [Strip([marks[min(number, 1)], *strip]) for number, strip in enumerate(strips)]

    def _quiet(self, line: Line | None, width: int) -> list[Strip]:
        indent = Segment(" " * _MARGIN)
        found = self.lines([line], width - _MARGIN, hang=2) if line is not None else ()
        return [Strip([indent, *strip]) for strip in found]

    def _block(self, head: str, text: str, width: int) -> Iterator[Strip]:
        lines: list[Line] = [(("accent", "▹ "), ("dim", harmless(head)))]
        lines += [(("dim", f"  {line}"),) for line in harmless(text).expandtabs(4).splitlines()]
        return self.lines(lines, width, hang=_MARGIN)

    def lines(self, lines: Iterable[Line], width: int, hang: int = 0) -> Iterator[Strip]:
        """Wrap lines at a width, with a hanging indent."""
        for line in lines:
            text = self._text(line)
            for number, part in enumerate(text.divide(breaks(text.plain, width, hang))):
                strip = self._strip(part)
                yield Strip([Segment(" " * hang), *strip]) if number and hang else strip

    def text(self, lines: Iterable[Line]) -> Text:
        """Join lines for a widget that wraps them itself."""
        return Text("\n").join(self._text(line) for line in lines)

    def _text(self, line: Line) -> Text:
        """Paint one line; a line end inside it is shown as a mark."""
        return painted((content.replace("\n", " ⏎ "), self._styles[style]) for style, content in line)

    def _strip(self, text: Text) -> Strip:
        text.rstrip()
        return Strip([segment for segment in text.render(self._console) if segment.text])


def breaks(text: str, width: int, hang: int) -> list[int]:
    """Return where to wrap a line: between words, but inside a word that would leave half of the line empty."""
    found: list[int] = []
    start, room = 0, width
    while cell_len(text[start:]) > room:
        end = start + _fits(text[start:], room)
        space = text.rfind(" ", start, end + 1) + 1
        cut = space if space - start > room // 2 else end
        found.append(cut)
        start, room = cut, max(width - hang, 8)
    return found


def _fits(text: str, room: int) -> int:
    """Return how many characters fit into the room; at least one, whatever its width."""
    used = 0
    for number, char in enumerate(text):
        used += cell_len(char)
        if used > room:
            return max(number, 1)
    return len(text)


def estimate(item: Item, width: int) -> int:
    """Estimate the height of an item without painting it; only the scroll bar relies on it."""
    room = max(width - 4, 10)
    match item:
        case PromptItem(text=text) | AnswerText(text=text, parent=None) | Remark(text=text):
            return 1 + sum(1 + len(line) // room for line in text.split("\n"))
        case CallItem(result=result):
            return 3 + min(result.count("\n") + 1, 7)
        case Hooked():
            return 2
        case Banner():
            return 4
        case _:
            return 0


def estimate_detail(item: Item, width: int) -> int:
    """Estimate the height of an item in the verbose view."""
    match item:
        case FiringItem(firing=firing):
            skips = len(firing.outcome.skips) if firing.outcome is not None else 0
            return 3 + 3 * len(firing.runs) + 2 * skips
        case AddedText(text=text) | AnswerText(text=text):
            return 2 + text.count("\n") + len(text) // max(width, 10)
        case CallItem(result=result):
            return 3 + result.count("\n")
        case _:
            return estimate(item, width)
