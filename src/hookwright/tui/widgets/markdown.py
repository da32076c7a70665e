"""Markdown as lines of segments, block by block, so that a growing answer repaints only its last block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.theme import Theme as Names
from textual.theme import Theme

from hookwright.protocol.jsontext import Json
from hookwright.tui.widgets.palette import styles_of
from hookwright.tui.widgets.spans import safe

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def blocks(text: str) -> list[str]:
    """Split a text at blank lines that surely end a block: outside fences, before a line that is not indented."""
    found: list[list[str]] = [[]]
    fence = ""
    blank = False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if blank and not fence and line.strip() and not line.startswith((" ", "\t")):
            found.append([])
        if mark is not None and not fence:
            fence = mark[1]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        blank = not line.strip()
        found[-1].append(line)
    return ["\n".join(lines).strip("\n") for lines in found if any(line.strip() for line in lines)]


class _LeftHeading(Heading):
    """A heading aligned to the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _PlainCode(CodeBlock):
    """Code on the screen's background, indented by two."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2), background_color="default"
        )


class _Markdown(Markdown):
    elements: ClassVar[dict[str, Json]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
    }

    def __init__(self, markup: str, code_theme: str) -> None:
        super().__init__(markup, code_theme=code_theme, hyperlinks=False)
        # HTML tags are text here: a parser that understands them would drop what the model wrote.
        parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
        self.parsed = parser.parse(markup)


def _on_screen(segment: Segment) -> Segment:
    """Use the screen's background where code asks for the terminal's default."""
    segment = safe(segment)
    style = segment.style
    if style is None or style.bgcolor is None or not style.bgcolor.is_default:
        return segment
    clear = Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline, dim=style.dim)
    return Segment(segment.text, clear)


class MarkdownPainter:
    """A painter for Markdown in one theme, with a cache of painted blocks."""

    def __init__(self, theme: Theme) -> None:
        styles = styles_of(theme)
        names = {
            "markdown.code": styles["code"],
            "markdown.link": styles["link"],
            "markdown.link_url": styles["link"],
            "markdown.item.bullet": styles["accent"],
            "markdown.item.number": styles["accent"],
            "markdown.block_quote": styles["dim"],
            "markdown.hr": styles["dim"],
            **{f"markdown.h{level}": styles["head"] for level in range(1, 7)},
        }
        self._console = Console(theme=Names(names), color_system="truecolor", force_terminal=True, legacy_windows=False)
        self._base = styles[""]
        self._code_theme = "ansi_dark" if theme.ansi else "monokai" if theme.dark else "friendly"
        self._painted = lru_cache(maxsize=2048)(self._paint)

    def lines(self, text: str, width: int) -> Iterator[list[Segment]]:
        """Paint a text without control characters."""
        for number, block in enumerate(blocks(text)):
            if number:
                yield []
            yield from self._painted(block, width)

    def _paint(self, block: str, width: int) -> list[list[Segment]]:
        options = self._console.options.update(width=max(width, 8))
        body = _Markdown(block, self._code_theme)
        painted = self._console.render_lines(body, options, style=self._base, pad=False)
        lines = [[_on_screen(segment) for segment in line] for line in painted]
        filled = [place for place, line in enumerate(lines) if any(segment.text.strip() for segment in line)]
        return lines[filled[0] : filled[-1] + 1] if filled else []
