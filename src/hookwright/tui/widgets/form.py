"""The form of an MCP server, shown instead of the prompt, one field after the other."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.protocol.jsontext import Json
from hookwright.text import flat
from hookwright.tui.chat.forms import Unfit, asked_lines, fields, value_of
from hookwright.tui.widgets.linesview import LinesView
from hookwright.tui.widgets.paint import Painter
from hookwright.tui.widgets.spans import painted


class FormPanel(Vertical):
    """A panel that asks for each field; `answer` is a future."""

    DEFAULT_CSS = """
    FormPanel {
        height: auto; border: round $primary; border-title-color: $primary; padding: 0 1; background: $background;
        & #field { height: auto; margin-top: 1; }
        & Input, & Input:focus { height: 3; border: round $primary; background: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "refuse", show=False)]

    def __init__(self, asked: ElicitationRequest, painter: Painter) -> None:
        super().__init__()
        self._asked = asked
        self._painter = painter
        self._fields = fields(asked.requested_schema)
        self._given: dict[str, Json] = {}
        self._at = 0
        self.answer: asyncio.Future[Elicited] = asyncio.get_running_loop().create_future()

    def compose(self) -> ComposeResult:
        """Show the message and the first field."""
        self.border_title = f"{flat(self._asked.server)} asks"
        yield LinesView(self._painter, asked_lines(self._asked))
        yield Static("", id="field", markup=False)
        yield Input()

    def on_mount(self) -> None:
        """Ask for the first field."""
        self._ask()
        self.border_subtitle = "finish typing, or press tab to answer"

    def take_keys(self) -> None:
        """Let the user answer."""
        self.query_one(Input).focus()
        self.border_subtitle = "enter: next field · esc: decline"

    def _ask(self, problem: str = "") -> None:
        left = len(self._fields) - self._at
        hint = f"{self._fields[self._at].title} ({self._fields[self._at].hint})" if left else "enter: submit"
        text = painted([(f"{problem}\n" if problem else "", "bold"), (f"{hint} · esc: decline", "")])
        self.query_one("#field", Static).update(text)
        self.query_one(Input).value = ""

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self._at < len(self._fields):
            field = self._fields[self._at]
            try:
                value = value_of(field, message.value)
            except Unfit as problem:
                self._ask(str(problem))
                return
            if value is not None:
                self._given[field.name] = value
            self._at += 1
        if self._at < len(self._fields):
            self._ask()
        else:
            self._reply(Elicited("accept", self._given))

    def action_refuse(self) -> None:
        """Decline the request."""
        self._reply(Elicited("decline"))

    def _reply(self, answer: Elicited) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)
