"""The one place where text becomes something a terminal shows: whatever it holds, it cannot move the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from hookwright.text import harmless

#: (text, style) pairs.
Parts = Iterable[tuple[str, Style | str]]


def painted(parts: Parts) -> Text:
    """Return the text of parts that wraps where it is shown."""
    text = Text()
    for content, style in parts:
        text.append(harmless(content), style)
    return text


def on_one_line(parts: Parts, overflow: str = "ellipsis") -> Text:
    """Return the text of parts that is cut where its line ends; `ellipsis` marks the cut, `crop` does not."""
    text = painted(parts)
    text.no_wrap = True
    text.overflow = "crop" if overflow == "crop" else "ellipsis"
    return text


def safe(segment: Segment) -> Segment:
    """Return a segment another painter made, without control characters: Markdown may write them as `&#27;`."""
    shown = harmless(segment.text)
    return segment if shown == segment.text else Segment(shown, segment.style)
