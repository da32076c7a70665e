"""Widgets that ignore keys meant for the prompt."""

from __future__ import annotations

from textual import events
from textual.containers import VerticalScroll
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hookwright.tui.chat.quiet import QuietTime

#: Keys that move, confirm or leave.
_MOVES = frozenset({"up", "down", "home", "end", "pageup", "pagedown", "tab", "shift+tab", "enter"})
#: Keys that refuse; they are never too early.
_REFUSES = frozenset({"escape"})


class QuietKeys:
    """Takes keys only after a quiet time; keys without a meaning are text and restart it."""

    quiet: QuietTime
    letters: str

    async def _on_key(self, event: events.Key) -> None:
        meant = event.key in _MOVES or event.key in self.letters
        if event.key not in _REFUSES and not self.quiet.admits(has_meaning=meant):
            event.stop()
            event.prevent_default()


class QuietOptions(QuietKeys, OptionList):
    """A list of answers."""

    def __init__(self, *options: Option, letters: str, quiet: QuietTime) -> None:
        super().__init__(*options)
        self.letters = letters
        self.quiet = quiet


class QuietScroll(QuietKeys, VerticalScroll, can_focus=True):
    """Text to read before answering."""

    def __init__(self, *, letters: str, quiet: QuietTime) -> None:
        super().__init__()
        self.letters = letters
        self.quiet = quiet
