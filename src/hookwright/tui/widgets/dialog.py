"""The permission dialog: what a call would do, why the user is asked, and the possible answers."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input
from textual.widgets.option_list import Option

from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.text import flat
from hookwright.tui.chat.choices import STOP, ByRule, Offer, RefuseChoice, RefuseWithWords, asked_by_hook, offers, reply
from hookwright.tui.chat.questions import question_lines
from hookwright.tui.chat.quiet import QuietTime
from hookwright.tui.feed.items import CallItem
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.quiet_keys import QuietOptions
from hookwright.tui.widgets.spans import painted


class PermissionPanel(Vertical):
    """A panel shown until it is answered; `answer` is a future. Digits and letters select, enter confirms."""

    DEFAULT_CSS = """
    PermissionPanel {
        height: auto; border: round $warning; border-title-color: $warning; padding: 0 1; background: $background;
        & VerticalScroll { height: auto; max-height: 14; scrollbar-size-vertical: 1; }
        & OptionList {
            height: auto; max-height: 9; border: none; padding: 0; background: $background; margin-top: 1;
            &:focus { border: none; background: $background; }
        }
        & Input { display: none; height: 3; }
        & Input, & Input:focus { border: round $primary; background: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        *(Binding(str(number), f"select({number})", show=False) for number in range(1, 6)),
        Binding("y", "select(1)", show=False),
        Binding("n", "select_deny", show=False),
    ]

    def __init__(
        self, question: PermissionQuestion, call: CallItem | None, painter: Painter, cwd: str, quiet: QuietTime
    ) -> None:
        super().__init__()
        self._quiet = quiet
        self._question = question
        self._call = call
        self._painter = painter
        self._cwd = cwd
        self._by_hook = asked_by_hook(call)
        self._offers = offers(question, cwd, by_hook=self._by_hook)
        self._chosen: Offer | None = None
        self.answer: asyncio.Future[Permission] = asyncio.get_running_loop().create_future()

    def compose(self) -> ComposeResult:
        """Show the call, the reason, and the choices."""
        who = "A subagent" if self._question.agent_id is not None else "The model"
        self.border_title = f"{who} wants to use {flat(self._question.tool_name)}"
        with VerticalScroll(can_focus=False):
            yield LinesView(self._painter, question_lines(self._question, self._call, self._cwd), hang=2)
        options = (Option(self._row(number, 0)) for number in range(len(self._offers)))
        yield QuietOptions(*options, letters="12345yn", quiet=self._quiet)
        yield Input()
        self.border_subtitle = "finish typing, or press tab to answer"

    def take_keys(self) -> None:
        """Let the user answer; keys that come too early are dropped."""
        self.query_one(QuietOptions).focus()
        self.border_subtitle = "number or arrows: select · enter: confirm · esc: deny and stop"

    def _row(self, number: int, highlighted: int | None) -> Text:
        mark = "❯" if number == highlighted else " "
        return painted([(f"{mark} {number + 1} {self._offers[number].text}", "")])

    @on(QuietOptions.OptionHighlighted)
    def _highlighted(self, message: QuietOptions.OptionHighlighted) -> None:
        for number in range(len(self._offers)):
            message.option_list.replace_option_prompt_at_index(number, self._row(number, message.option_index))

    @on(QuietOptions.OptionSelected)
    def _selected(self, message: QuietOptions.OptionSelected) -> None:
        """Take the selected choice; two of them ask for text first."""
        if self.query_one(Input).display:
            return
        self._chosen = self._offers[message.option_index]
        match self._chosen.choice:
            case ByRule(rule=rule):
                self._ask_for_text("The rule, as written in a settings file", rule)
            case RefuseWithWords():
                self._ask_for_text("What the model should do instead", "")
            case choice:
                self._reply(reply(choice))

    def action_select(self, number: int) -> None:
        """Select one of the choices."""
        if number <= len(self._offers):
            self.query_one(QuietOptions).highlighted = number - 1

    def action_select_deny(self) -> None:
        """Select the choice that denies the call."""
        self.action_select(1 + next(n for n, offer in enumerate(self._offers) if offer.choice == RefuseChoice()))

    def action_back(self) -> None:
        """Close the text field, or deny the call and stop the turn."""
        field = self.query_one(Input)
        if field.display:
            field.display = False
            self.query_one(QuietOptions).focus()
        else:
            self.action_refuse()

    def action_refuse(self) -> None:
        """Deny the call and stop the turn."""
        self._reply(STOP)

    def _ask_for_text(self, hint: str, text: str) -> None:
        field = self.query_one(Input)
        field.placeholder, field.value, field.display = hint, text, True
        field.focus()

    @on(Input.Submitted)
    def _text_entered(self, message: Input.Submitted) -> None:
        assert self._chosen is not None
        self._reply(reply(self._chosen.choice, message.value))

    def _reply(self, answer: Permission) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)
