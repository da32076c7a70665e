"""The lines around the prompt: activity above it, facts and keys below it."""

from __future__ import annotations

from rich.style import Style
from textual.widgets import Static

from hookwright.text import flat
from hookwright.tui.widgets.palette import styles_of
from hookwright.tui.widgets.spans import on_one_line

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine(Static):
    """A spinner with its text and the elapsed time, and the queued prompts."""

    DEFAULT_CSS = "StatusLine { height: auto; padding: 0 2; display: none; }"

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._frame = 0

    def show(self, text: str | None, elapsed: float, waiting: list[str]) -> None:
        """Draw the next frame; hide the line when nothing is running."""
        self.display = text is not None or bool(waiting)
        if not self.display:
            return
        styles = styles_of(self.app.current_theme)
        parts: list[tuple[str, Style | str]] = []
        if text is not None:
            self._frame = (self._frame + 1) % len(_FRAMES)
            parts += [(f"{_FRAMES[self._frame]} ", styles["accent"]), (flat(text), "")]
            parts += [(f"  {elapsed:.0f} s" if elapsed >= 1 else "", styles["dim"])]
            parts += [("  esc to interrupt", styles["dim"])]
        for prompt in waiting:
            parts.append((f"{chr(10) if parts else ''}  queued: {prompt}", styles["dim"]))
        self.update(on_one_line(parts))


def fitted(text: str, room: int) -> str:
    """Shorten facts to the room there is: drop whole ones from the end, and cut only the first."""
    facts = text.split(" · ")
    while len(facts) > 1 and len(" · ".join(facts)) > room:
        facts.pop()
    kept = " · ".join(facts)
    return kept if len(kept) <= room else (kept[: room - 1] + "…")[:room]


class FootLine(Static):
    """One line of facts and keys; a narrow line drops the keys first."""

    DEFAULT_CSS = "FootLine { height: 1; padding: 0 2; color: $secondary; }"

    def __init__(self, left: str = "", right: str = "") -> None:
        super().__init__("", markup=False)
        self._left, self._right = left, right

    def show(self, left: str, right: str) -> None:
        """Replace the text."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self._draw()

    def on_resize(self) -> None:
        """Fit it into the new width."""
        self._draw()

    def _draw(self) -> None:
        room = self.content_size.width
        text = fitted(self._left, room)
        gap = room - len(text) - len(self._right)
        if gap >= 2:
            text += " " * gap + self._right
        self.update(on_one_line([(text.replace("\n", " "), "")], "crop"))
