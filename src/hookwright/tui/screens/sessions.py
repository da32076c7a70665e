"""The list of conversations to resume."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hookwright.agent.state.options import ResumeSession, Start
from hookwright.agent.transcript import Saved, list_sessions, project_folders
from hookwright.config.locations import Surroundings, locate
from hookwright.text import flat
from hookwright.tui.feed.items import Level
from hookwright.tui.widgets.spans import on_one_line
from hookwright.tui.widgets.status import FootLine

if TYPE_CHECKING:
    from hookwright.tui.widgets.presenter import Presenter

_MOST = 200


async def choose(presenter: Presenter) -> Start | None:
    """Let the user choose one of the project's conversations; None for none of them."""
    found = await asyncio.to_thread(_saved, presenter)
    if not found:
        presenter.feed.say("No earlier conversations in this directory.", Level.WARNING)
        presenter.changed()
        return None
    chosen = await presenter.app.push_screen_wait(SessionsScreen(found))
    return ResumeSession(chosen) if chosen is not None else None


def _saved(presenter: Presenter) -> list[Saved]:
    options = presenter.chat.plan.options
    located = locate(options.cwd, Surroundings.here(options.env, options.home, None), settings=options.settings)
    current = presenter.feed.banner.session_id
    sessions = list_sessions(project_folders(located.config_dir, options.cwd, options.env), options.cwd)
    return [saved for saved in sessions if saved.id != current][:_MOST]


class SessionsScreen(Screen[str | None]):
    """A list of conversations, latest first."""

    DEFAULT_CSS = """
    SessionsScreen {
        & Static { padding: 1 2; }
        & OptionList { height: 1fr; border: none; padding: 0 1; background: $background; }
        & OptionList:focus { border: none; background: $background; }
        & FootLine { padding: 0 2; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]

    def __init__(self, sessions: list[Saved]) -> None:
        super().__init__()
        self._sessions = sessions

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static("Resume which conversation?", markup=False)
        yield OptionList(*(Option(_row(saved), id=saved.id) for saved in self._sessions))
        yield FootLine("", "enter: resume · esc: cancel")

    def on_mount(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option_id)


def _row(saved: Saved) -> Text:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.modified))
    title = flat(saved.title or saved.first_prompt)[:200] or "(no prompt)"
    last = flat(saved.last_text)[:200]
    tail = [(f"  … {last}", "dim")] if last and last != title else []
    return on_one_line([(f"{when}  {saved.size / 1024:5.0f} KB  {title[:80]}", ""), *tail])
