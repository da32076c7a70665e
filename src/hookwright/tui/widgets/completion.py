"""The completion menu above the prompt."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from rich.style import Style

from hookwright.text import flat
from hookwright.tui.chat.complete import Suggestion, project_files, suggestions
from hookwright.tui.widgets.palette import styles_of
from hookwright.tui.widgets.spans import on_one_line

if TYPE_CHECKING:
    from hookwright.tui.chat.chat import Chat
    from hookwright.tui.chat.history import History
    from hookwright.tui.widgets.app import ChatApp


#: Lines of the menu.
_ROWS = 8


class Completion:
    """The prompt's helper: the suggestions for its text, and which one is selected."""

    def __init__(self, app: ChatApp, chat: Chat, history: History) -> None:
        self._app = app
        self._chat = chat
        self._history = history
        self._found: list[Suggestion] = []
        self._chosen = 0
        #: None until the user mentions a file.
        self._files: list[str] | None = None
        #: Texts without a menu: one whose menu was closed, one recalled from the history.
        self._closed: str | None = None
        self._looked_back: str | None = None

    @property
    def has_menu(self) -> bool:
        """Whether there is something to choose."""
        return bool(self._found)

    def look_back(self, step: int, current: str) -> str | None:
        """Return an earlier or later prompt."""
        self._closed = None
        found = self._history.back(current) if step < 0 else self._history.forth()
        self._looked_back = found
        return found

    def look(self) -> None:
        """Update the menu for the text before the cursor."""
        before = self._app.prompt.before_cursor
        if "@" in before and self._files is None:
            self._files = []
            self._app.run_worker(self._read_files(), name="files")
        quiet = before in (self._closed, self._looked_back)
        self._found = [] if quiet else suggestions(before, self._skills(), self._files or [])
        if len(self._found) == 1 and self._found[0].text.rstrip() == before:
            self._found = []
        self._chosen = 0
        self._draw()

    def _skills(self) -> dict[str, str]:
        agent = self._chat.agent
        skills = agent.session.equipment.components.skills if agent is not None else {}
        return {name: flat(skill.description) for name, skill in skills.items()}

    async def _read_files(self) -> None:
        cwd, agent = self._chat.plan.options.cwd, self._chat.agent
        found = await asyncio.to_thread(project_files, cwd)
        if agent is not None:
            may_read = agent.session.permissions.may_read
            found = [name for name in found if may_read(os.path.join(cwd, name))]
        self._files = found
        self.look()

    def press(self, key: str) -> None:
        """Move the selection, take it, or close the menu."""
        prompt = self._app.prompt
        if not self._found:
            return
        if key in ("up", "down"):
            self._chosen = (self._chosen + (1 if key == "down" else -1)) % len(self._found)
            self._draw()
            return
        before = prompt.before_cursor
        if key == "escape":
            self._closed, self._found = before, []
            self._draw()
            return
        chosen = self._found[self._chosen]
        prompt.put(chosen.text + prompt.text[len(before) :])
        if key == "enter" and chosen.label.startswith("/"):
            self._found = []
            prompt.send()

    def _draw(self) -> None:
        menu = self._app.menu
        menu.display = bool(self._found)
        styles = styles_of(self._app.current_theme)
        parts: list[tuple[str, Style | str]] = []
        width = max((len(one.label) for one in self._found), default=0) + 2
        first, shown = window(self._chosen, len(self._found))
        for number, one in list(enumerate(self._found))[first : first + shown]:
            style = styles["head" if number == self._chosen else ""]
            parts.append((f"{'❯' if number == self._chosen else ' '} {flat(one.label):<{width}}", style))
            parts.append((f"{one.detail}\n", styles["dim"]))
        if shown < len(self._found):
            parts.append((f"  {self._chosen + 1} of {len(self._found)}, up and down for more", styles["dim"]))
        text = on_one_line(parts)
        text.rstrip()
        menu.update(text)


def window(chosen: int, count: int) -> tuple[int, int]:
    """Return the first line and the number of lines to show; with more than fit, one line says so."""
    if count <= _ROWS:
        return 0, count
    shown = _ROWS - 1
    return max(0, min(chosen - shown // 2, count - shown)), shown
