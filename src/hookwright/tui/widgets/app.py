"""The app: a conversation, a prompt and dialogs. Its first frame is painted before the agent is imported."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from hookwright.errors import HookwrightError
from hookwright.tui.widgets.hangup import HUNG_UP, Hangup
from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.palette import THEMES, wanted_theme
from hookwright.tui.widgets.prompt import Menu, PromptBox
from hookwright.tui.widgets.status import FootLine, StatusLine

if TYPE_CHECKING:
    from hookwright.tui.widgets.presenter import Presenter

#: Seconds within which a second Ctrl+C ends the chat.
_TWICE = 2.0
_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: HUNG_UP}
KEYS = "/help · ctrl+o verbose"


class AppLaunch(NamedTuple):
    """What is known before anything heavy is imported."""

    args: argparse.Namespace
    env: Mapping[str, str]
    cwd: str


class ChatApp(App[int]):
    """The layout and keys of one chat; the presenter decides what they show and do."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: $background; }
    #bottom { height: auto; max-height: 80%; }
    OptionList, OptionList:focus { background: $background; background-tint: $background 0%; }
    OptionList > .option-list--option-highlighted { background: $surface; color: $foreground; }
    OptionList:focus > .option-list--option-highlighted {
        background: $panel; color: $foreground; text-style: $block-cursor-text-style;
    }
    * {
        scrollbar-size-vertical: 1; scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; scrollbar-color: $panel; scrollbar-color-hover: $secondary;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "stop", show=False, priority=True),
        Binding("ctrl+d", "end", show=False, priority=True),
        Binding("ctrl+o", "verbose", show=False, priority=True),
        Binding("shift+tab", "mode", show=False, priority=True),
        Binding("escape", "interrupt", show=False),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
        Binding("ctrl+home", "top", show=False, priority=True),
        Binding("ctrl+end", "bottom", show=False, priority=True),
    ]

    def __init__(self, launch: AppLaunch) -> None:
        theme = wanted_theme(launch.args.theme, launch.env)
        super().__init__(ansi_color=True if theme.ansi else None)
        self.launch = launch
        self.animation_level = "none"
        for known in THEMES.values():
            self.register_theme(known)
        self.theme = theme.name
        self.log_view = LogView()
        self.bottom = Vertical(id="bottom")
        self.status = StatusLine()
        self.menu = Menu(markup=False)
        self.prompt = PromptBox("Send a message; / for commands, @ for files")
        self.foot = FootLine("starting …", KEYS)
        self.presenter: Presenter | None = None
        #: Why the chat failed, for the caller.
        self.failure: HookwrightError | None = None
        self._early: list[str] = []
        self._stopped_at = 0.0
        #: None until the app is on the screen.
        self._hangup: Hangup | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield self.log_view
        with self.bottom:
            yield self.status
            yield self.menu
            yield self.prompt
        yield self.foot

    def on_mount(self) -> None:
        """Focus the prompt; everything heavy comes after the first frame."""
        self.prompt.focus()
        loop = asyncio.get_running_loop()
        for number, status in _SIGNALS.items():
            loop.add_signal_handler(number, self._ended_by_signal, status)
        self._hangup = Hangup(self._driver, lambda: self._ended_by_signal(HUNG_UP))
        self.call_after_refresh(lambda: self.run_worker(self._run(), name="chat", exit_on_error=True))

    async def _run(self) -> None:
        """Import the presenter, read the command line, run the chat until it ends."""
        try:
            await asyncio.to_thread(_import_presenter)
            from hookwright.tui.widgets.presenter import open_presenter

            self.presenter = open_presenter(self)
            for text in self._early:
                self.presenter.submit(text)
            await self.presenter.run()
        except HookwrightError as error:
            self.failure = error
        if self._hangup is not None and self._hangup.happened:
            os._exit(HUNG_UP)  # the session is closed; Textual would wait for a terminal that is gone
        self.exit(1 if self.failure is not None else self.return_code)

    def _ended_by_signal(self, status: int) -> None:
        if status == HUNG_UP and self._return_code == HUNG_UP:
            return  # noticed twice, as a signal and by the watch; leaving twice would skip SessionEnd
        self._return_code = status
        if status == HUNG_UP and self._hangup is not None and not _has_terminal():
            self._hangup.note()
        if self.presenter is None:
            self.exit(status)
        else:
            self.presenter.leave("other")

    def panic(self, *renderables: RenderableType) -> None:
        """End the chat as after a hang-up where reading failed because the terminal is gone; else show the error."""
        if _has_terminal():
            super().panic(*renderables)
        else:
            self._ended_by_signal(HUNG_UP)

    # ── the prompt ──────────────────────────────────────────────────────────

    def on_prompt_box_submitted(self, message: PromptBox.Submitted) -> None:
        """Send a prompt, or keep it until the agent is there."""
        if self.presenter is None:
            self._early.append(message.text)
        else:
            self.presenter.submit(message.text)

    # ── keys ────────────────────────────────────────────────────────────────

    def action_stop(self) -> None:
        """Copy the selection, else clear the prompt, else interrupt, else end the chat when pressed twice."""
        marked = self.screen.get_selected_text()
        if marked:
            self.copy_to_clipboard(marked)
            self.screen.clear_selection()
        elif self.screen is self.screen_stack[0] and self.prompt.text:
            self.prompt.put("")
        elif self.presenter is not None and self.presenter.interrupt():
            pass
        elif time.monotonic() - self._stopped_at < _TWICE:
            self.action_end()
        else:
            self._stopped_at = time.monotonic()
            self.notify("Press ctrl+c again to exit.", timeout=_TWICE)

    def action_end(self) -> None:
        """End the chat; in a prompt with text, delete the character at the cursor."""
        if self.focused is self.prompt and self.prompt.text:
            self.prompt.action_delete_right()
        elif self.presenter is None:
            self.exit(0)
        else:
            self.presenter.leave("prompt_input_exit")

    async def action_quit(self) -> None:
        """End the chat cleanly, whichever key Textual binds to this."""
        self.action_end()

    def action_interrupt(self) -> None:
        """Answer an open question with no, else interrupt the running turn."""
        if self.presenter is not None and not self.presenter.refuse():
            self.presenter.interrupt()

    def action_verbose(self) -> None:
        """Open or close the verbose view."""
        if self.presenter is not None:
            self.presenter.toggle_verbose()

    def action_mode(self) -> None:
        """Switch to the next permission mode."""
        if self.presenter is not None and self.screen is self.screen_stack[0]:
            self.presenter.next_mode()

    def action_scroll(self, pages: int) -> None:
        """Scroll the visible conversation."""
        view = self._view()
        view.scroll_to(y=view.scroll_offset.y + pages * (view.size.height - 1), animate=False)

    def action_top(self) -> None:
        """Jump to the beginning."""
        self._view().scroll_to(y=0, animate=False)

    def action_bottom(self) -> None:
        """Jump to the end and follow it."""
        view = self._view()
        view.scroll_to(y=view.max_scroll_y, animate=False)

    def send_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence that draws nothing."""
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    def _view(self) -> LogView:
        return self.screen.query(LogView).first()


def _has_terminal() -> bool:
    """Return whether the terminal can still be asked for its size."""
    try:
        os.get_terminal_size(2)
    except OSError:
        return False
    return True


def _import_presenter() -> None:
    """Import what the first frame does not need, off the event loop, so that typing stays responsive."""
    import hookwright.tui.widgets.presenter  # noqa: F401 - importing is the work
