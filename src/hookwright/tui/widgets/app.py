"""The app: a conversation, a prompt and dialogs. The first frame is painted before the agent is even imported."""

from __future__ import annotations

import argparse
import asyncio
import signal
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from hookwright.errors import HookwrightError
from hookwright.tui.widgets.logview import LogView
from hookwright.tui.widgets.palette import THEMES, wanted_theme
from hookwright.tui.widgets.prompt import Menu, PromptBox
from hookwright.tui.widgets.status import FootLine, StatusLine

if TYPE_CHECKING:
    from hookwright.tui.widgets.presenter import Presenter

#: Seconds in which a second Ctrl+C ends the chat.
_TWICE = 2.0
_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}
KEYS = "/help · ctrl+o verbose"


class AppLaunch(NamedTuple):
    """What is known before anything heavy is imported."""

    args: argparse.Namespace
    env: Mapping[str, str]
    cwd: str


class ChatApp(App[int]):
    """The screen of one chat; what it shows and does is the stage's business."""

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
        self.prompt = PromptBox("Say something; / for commands, @ for files")
        self.foot = FootLine("starting …", KEYS)
        self.stage: Presenter | None = None
        #: Why the chat could not go on, for whoever started it.
        self.failure: HookwrightError | None = None
        self._early: list[str] = []
        self._stopped_at = 0.0

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield self.log_view
        with self.bottom:
            yield self.status
            yield self.menu
            yield self.prompt
        yield self.foot

    def on_mount(self) -> None:
        """Take the keyboard; everything heavy comes after the first frame."""
        self.prompt.focus()
        loop = asyncio.get_running_loop()
        for number, status in _SIGNALS.items():
            loop.add_signal_handler(number, self._ended_by_signal, status)
        self.call_after_refresh(lambda: self.run_worker(self._run(), name="chat", exit_on_error=True))

    async def _run(self) -> None:
        """Import, read the command line, run the chat to its end."""
        try:
            await asyncio.to_thread(_import_stage)
            from hookwright.tui.widgets.presenter import open_stage

            self.stage = open_stage(self)
            for text in self._early:
                self.stage.submit(text)
            await self.stage.run()
        except HookwrightError as error:
            self.failure = error
        self.exit(1 if self.failure is not None else self.return_code)

    def _ended_by_signal(self, status: int) -> None:
        self._return_code = status
        if self.stage is None:
            self.exit(status)
        else:
            self.stage.leave("other")

    # ── the prompt ──────────────────────────────────────────────────────────

    def on_prompt_box_submitted(self, message: PromptBox.Submitted) -> None:
        """Say it, or keep it until somebody listens."""
        if self.stage is None:
            self._early.append(message.text)
        else:
            self.stage.submit(message.text)

    # ── keys ────────────────────────────────────────────────────────────────

    def action_stop(self) -> None:
        """Copy what is marked, else clear the prompt, else interrupt, else end the chat when pressed twice."""
        marked = self.screen.get_selected_text()
        if marked:
            self.copy_to_clipboard(marked)
            self.screen.clear_selection()
        elif self.screen is self.screen_stack[0] and self.prompt.text:
            self.prompt.put("")
        elif self.stage is not None and self.stage.interrupt():
            pass
        elif time.monotonic() - self._stopped_at < _TWICE:
            self.action_end()
        else:
            self._stopped_at = time.monotonic()
            self.notify("Press ctrl+c again to end the session.", timeout=_TWICE)

    def action_end(self) -> None:
        """End the chat; in a prompt with text the key deletes what is right of the cursor."""
        if self.focused is self.prompt and self.prompt.text:
            self.prompt.action_delete_right()
        elif self.stage is None:
            self.exit(0)
        else:
            self.stage.leave("prompt_input_exit")

    async def action_quit(self) -> None:
        """End in order, whichever key Textual gives to this."""
        self.action_end()

    def action_interrupt(self) -> None:
        """Break off the running turn."""
        if self.stage is not None:
            self.stage.interrupt()

    def action_verbose(self) -> None:
        """Open or close the verbose view."""
        if self.stage is not None:
            self.stage.toggle_verbose()

    def action_mode(self) -> None:
        """Go on in the next permission mode."""
        if self.stage is not None and self.screen is self.screen_stack[0]:
            self.stage.next_mode()

    def action_scroll(self, pages: int) -> None:
        """Scroll the conversation that is in sight."""
        view = self._view()
        view.scroll_to(y=view.scroll_offset.y + pages * (view.size.height - 1), animate=False)

    def action_top(self) -> None:
        """Go to the beginning."""
        self._view().scroll_to(y=0, animate=False)

    def action_bottom(self) -> None:
        """Go to the end and stay there."""
        view = self._view()
        view.scroll_to(y=view.max_scroll_y, animate=False)

    def send_to_terminal(self, sequence: str) -> None:
        """Write a sequence that draws nothing."""
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    def _view(self) -> LogView:
        return self.screen.query(LogView).first()


def _import_stage() -> None:
    """Import what the first frame does not need, off the loop, so that typing goes on."""
    import hookwright.tui.widgets.presenter  # noqa: F401 - importing is the work
