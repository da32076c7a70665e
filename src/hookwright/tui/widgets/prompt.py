"""The prompt: several lines, history, completion."""

from __future__ import annotations

import asyncio
from typing import Protocol

from textual import events
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.widgets import Static, TextArea

from hookwright.tui.chat.quiet import QuietTime

#: Keys that start a new line; terminals differ in which ones they can tell from a plain enter.
NEW_LINE = ("shift+enter", "ctrl+j", "alt+enter", "ctrl+enter")


class Helper(Protocol):
    """The history and completions of a prompt."""

    @property
    def has_menu(self) -> bool:
        """Whether the menu is open."""

    def look(self) -> None:
        """Called when the text has changed."""

    def press(self, key: str) -> None:
        """Handle a key for the menu: up, down, tab, enter or escape."""

    def look_back(self, step: int, current: str) -> str | None:
        """Return an earlier (-1) or later (1) prompt; None if there is none."""


class PromptBox(TextArea):
    """A text area that sends on enter. It calls its helper directly, so that keys stay in order."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto; min-height: 3; max-height: 12;
        border: round $secondary; background: $background; padding: 0 1;
        scrollbar-size-vertical: 1;
        &:focus { border: round $primary; background: $background; }
        & .text-area--cursor-line { background: $background; }
        & .text-area--placeholder { color: $secondary; }
    }
    """

    class Submitted(Message):
        """The user sent a prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str) -> None:
        super().__init__(soft_wrap=True, tab_behavior="focus", show_line_numbers=False, placeholder=placeholder)
        self.highlight_cursor_line = False
        #: Set once the history and completions are loaded.
        self.helper: Helper | None = None
        #: The time since the last key here.
        self.quiet = QuietTime()
        #: The user pressed tab: a dialog that waits may have the keyboard.
        self.given_up = asyncio.Event()

    @property
    def before_cursor(self) -> str:
        """The text up to the cursor."""
        row, column = self.cursor_location
        return "\n".join([*(self.document.get_line(line) for line in range(row)), self.document.get_line(row)[:column]])

    def put(self, text: str) -> None:
        """Replace the text and move to its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        if self.helper is not None:
            self.helper.look()

    async def _on_key(self, event: events.Key) -> None:
        """Handle the keys with a meaning here; everything else is typing."""
        self.quiet.restart()
        if self._takes(event.key):
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)

    def _takes(self, key: str) -> bool:
        row, _ = self.cursor_location
        helper = self.helper
        if helper is not None and helper.has_menu and key in ("up", "down", "tab", "enter", "escape"):
            helper.press(key)
        elif key in NEW_LINE:
            self.insert("\n")
        elif key == "enter":
            self._enter()
        elif key == "up" and row == 0:
            self._look_back(-1)
        elif key == "down" and row == self.document.line_count - 1:
            self._look_back(1)
        elif key == "tab":
            self.given_up.set()
        else:
            return False
        return True

    def _look_back(self, step: int) -> None:
        found = self.helper.look_back(step, self.text) if self.helper is not None else None
        if found is not None:
            self.put(found)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text and update the helper at once, since the next key may already be for the menu."""
        result = super().edit(edit)
        if self.helper is not None:
            self.helper.look()
        return result

    def _enter(self) -> None:
        """Send, unless a backslash before the cursor asks for a new line."""
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
        else:
            self.send()

    def send(self) -> None:
        """Send the text."""
        text = self.text.strip()
        if text:
            self.load_text("")
            self.post_message(self.Submitted(text))


class Menu(Static):
    """The list of completions."""

    DEFAULT_CSS = "Menu { height: auto; max-height: 8; padding: 0 2; background: $surface; display: none; }"
