"""The conversation line by line: words instead of colours and boxes, for pipes and screen readers."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from hookwright._version import __version__
from hookwright.agent.state.options import ResumeSession
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.config import Review, Reviewed
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.observers import Notice
from hookwright.protocol.jsontext import Json
from hookwright.text import flat, harmless, say
from hookwright.tui.chat.chat import Chat
from hookwright.tui.chat.choices import asked_by_hook, offers, reply
from hookwright.tui.chat.forms import Unfit, asked_lines, fields, value_of
from hookwright.tui.chat.plan import ChatPlan, read_plan
from hookwright.tui.chat.questions import question_lines
from hookwright.tui.chat.slash_commands import change_permissions, help_lines, permission_lines
from hookwright.tui.feed.entries import listed, row, state_text
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.firings import firing_lines
from hookwright.tui.feed.items import (
    AddedText,
    AnswerText,
    Banner,
    CallItem,
    CallState,
    FiringItem,
    Hooked,
    Item,
    Level,
    PromptItem,
    Remark,
)
from hookwright.tui.feed.words import Line, call_argument, quiet_line, result_lines

_REMARKS = {Level.INFO: "Note", Level.WARNING: "Warning", Level.ERROR: "Error"}


def talk(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Run a line-by-line conversation until the input ends; return the exit status."""
    plan = read_plan(args, env)
    return asyncio.run(_talk(plan, can_ask=bool(args.plain) or sys.stdin.isatty()))


async def _talk(plan: ChatPlan, *, can_ask: bool) -> int:
    view = LineView(plan, can_ask=can_ask)
    loop = asyncio.get_running_loop()
    ended: list[int] = []

    def end(status: int) -> None:
        ended.append(status)
        view.chat.leave("other")

    loop.add_signal_handler(signal.SIGTERM, end, 143)
    loop.add_signal_handler(signal.SIGHUP, end, 129)
    loop.add_signal_handler(signal.SIGINT, view.stop)
    view.listen()
    await view.chat.run()
    view.flush()
    if view.chat.way_back is not None and sys.stdout.isatty():
        print(f"Resume with: {view.chat.way_back}")
    return ended[0] if ended else 0


class LineView:
    """Prints items that no longer change, and reads lines."""

    def __init__(self, plan: ChatPlan, *, can_ask: bool) -> None:
        self.can_ask = can_ask
        self.feed = Feed(plan.options.cwd)
        self.chat = Chat(plan, self.feed, self)
        self._loop = asyncio.get_running_loop()
        self._printed = 0
        self._generation = 0
        self._scheduled = False
        self._asked: asyncio.Future[str] | None = None
        self._asking = asyncio.Lock()
        self._lines: list[str] = []
        self._part: list[str] = []
        self._closed = False

    # ── lines in ────────────────────────────────────────────────────────────

    def listen(self) -> None:
        """Read stdin in a separate thread: it may be anything, and it may never end."""

        def read() -> None:
            with suppress(RuntimeError):  # the loop has ended
                for line in sys.stdin:
                    self._loop.call_soon_threadsafe(self.take, line.rstrip("\n"))
                self._loop.call_soon_threadsafe(self.close)

        threading.Thread(target=read, name="hookwright-stdin", daemon=True).start()

    def take(self, line: str) -> None:
        """Use a line as an answer, or keep it until everything before it is done."""
        self._lines.append(line)
        self._answer_with_line()
        self._advance()

    def close(self) -> None:
        """End the input: open questions are answered with no, and the session ends after the last prompt."""
        self._closed = True
        self._answer_with_line()
        self._advance()

    def _answer_with_line(self) -> None:
        if self._asked is not None and (self._lines or self._closed):
            self._asked.set_result(self._lines.pop(-1 if sys.stdin.isatty() else 0) if self._lines else "")
            self._asked = None

    def _advance(self) -> None:
        """Process the next line if nothing else is running, so that lines take effect in order."""
        chat = self.chat
        while chat.agent is not None and not self.feed.busy and not chat.queued:
            if not self._lines:
                if self._closed:
                    chat.finish()
                return
            self._say(self._lines.pop(0))

    def _say(self, line: str) -> None:
        """Run a command or send a prompt; a line that ends in a backslash continues on the next."""
        if line.endswith("\\"):
            self._part.append(line[:-1])
            return
        text = "\n".join([*self._part, line]).strip()
        self._part = []
        if text and not self._run_command(text):
            self.chat.submit(text)

    def stop(self) -> None:
        """Interrupt the turn, or leave if there is none."""
        if not self.chat.interrupt():
            self.chat.leave()

    def _run_command(self, text: str) -> bool:
        name, _, arguments = text.partition(" ")
        command = _COMMANDS.get(name)
        if command is not None:
            self._print(command(self, arguments.strip()))
        return command is not None

    # ── lines out ───────────────────────────────────────────────────────────

    def changed(self) -> None:
        """Schedule a flush."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Print the items that no longer change, in order."""
        self._scheduled = False
        if self.feed.generation != self._generation:
            self._generation, self._printed = self.feed.generation, 0
        items = self.feed.items
        while self._printed < len(items) and settled(items, self._printed, busy=self.feed.busy):
            self._print(lines_of(items[self._printed], self.feed.banner.cwd))
            self._printed += 1
        self._advance()

    def _print(self, lines: Iterator[Line]) -> None:
        say(("".join(text for _, text in line).rstrip() for line in lines), sys.stdout)

    # ── the view of the chat ────────────────────────────────────────────────

    def observe(self, notice: Notice) -> None:
        """Do nothing: there is no terminal to send anything to."""

    async def permit(self, question: PermissionQuestion) -> Permission:
        """Ask about a call; a number chooses, any other line denies it and is passed to the model."""
        async with self._asking:
            self.flush()
            found = (item for item in reversed(self.feed.items) if isinstance(item, CallItem))
            call = next((item for item in found if item.id == question.tool_use_id), None)
            choices = offers(question, self.feed.banner.cwd, by_hook=asked_by_hook(call))
            self._print(iter([(("", f"Permission needed: {flat(question.tool_name)}"),)]))
            self._print(question_lines(question, call, self.feed.banner.cwd))
            self._print(iter([(("", f"{number} {offer.text}"),) for number, offer in enumerate(choices, 1)]))
            answer = (await self._answer("Your choice, or what the model should do instead: ")).strip()
            if answer.isdigit() and 0 < int(answer) <= len(choices):
                return reply(choices[int(answer) - 1].choice)
            return Permission(allow=False, message=answer)

    async def fill_in(self, asked: ElicitationRequest) -> Elicited:
        """Ask for each field of a server's form; n declines."""
        async with self._asking:
            self._print(iter([(("", f"{flat(asked.server)} asks:"),), *asked_lines(asked)]))
            if (await self._answer("Answer it? y or n: ")).strip().lower() not in ("y", "yes"):
                return Elicited("decline")
            given: dict[str, Json] = {}
            for field in fields(asked.requested_schema):
                try:
                    value = value_of(field, await self._answer(f"{field.title} ({field.hint}): "))
                except Unfit as problem:
                    self._print(iter([(("", f"{problem}. The form is cancelled."),)]))
                    return Elicited("cancel")
                given |= {} if value is None else {field.name: value}
            return Elicited("accept", given)

    async def review(self, found: Review) -> Sequence[Reviewed]:
        """Ask about each item; only y or yes trusts it."""
        from hookwright.tui.chat.review import head_lines, item_lines

        self._print(head_lines(found))
        chosen = []
        for item in found.pending:
            self._print(item_lines(item))
            answer = await self._answer("Trust this as it is now? y or n: ")
            if answer.strip().lower() in ("y", "yes") and not item.item.unbound:
                chosen.append(item)
        return chosen

    async def _answer(self, question: str) -> str:
        """Ask; on a terminal, what was typed before the question is not its answer."""
        typed = sys.stdin.isatty()
        if typed:
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        sys.stdout.write(question)
        sys.stdout.flush()
        asked: asyncio.Future[str] = self._loop.create_future()
        self._asked = asked
        if not typed:
            self._answer_with_line()
        return await asked


def settled(items: Sequence[Item], place: int, *, busy: bool) -> bool:
    """Return whether an item no longer changes; hooks may still be added to the latest prompt."""
    item, is_last = items[place], place == len(items) - 1
    match item:
        case AnswerText(done=done):
            return done
        case CallItem(state=state):
            return state is not CallState.RUNNING
        case PromptItem() | Hooked():
            return not (busy and is_last)
        case Banner(hooks=hooks):
            return bool(hooks)
        case _:
            return True


def lines_of(item: Item, cwd: str) -> Iterator[Line]:
    """Write an item in words, without what only the verbose view shows."""
    match item:
        case Banner(model=model, hooks=hooks):
            yield (("", f"Hookwright {__version__}, model {flat(model)}, in {flat(item.cwd)}"),)
            yield (("", hooks),)
        case PromptItem(text=text, firings=firings):
            yield (("", f"You: {harmless(text)}"),)
            yield from _hooks(quiet_line(firings))
        case AnswerText(text=text, parent=None):
            yield (("", f"Model: {harmless(text)}"),)
        case CallItem():
            yield (("", f"Tool {flat(item.name)}: {flat(call_argument(item.name, item.input, cwd))}"),)
            for number, line in enumerate(result_lines(item)):
                yield (("", "Result: " if number == 0 else "  "), *line)
            yield from _hooks(quiet_line(item.firings))
        case Remark(level=Level.QUIET):
            return
        case Remark(text=text, level=level):
            yield (("", f"{_REMARKS[level]}: {harmless(text)}"),)
        case Hooked(firings=firings):
            yield from _hooks(quiet_line(firings))
        case FiringItem() | AddedText() | AnswerText():
            return


def _hooks(line: Line | None) -> Iterator[Line]:
    if line is not None:
        (style, first), *rest = line
        yield (("", "Hooks: "), (style, first.removeprefix("◈ ")), *rest)


# ── commands ────────────────────────────────────────────────────────────────


def _browse(view: LineView, arguments: str) -> Iterator[Line]:
    agent = view.chat.agent
    if agent is None:
        yield (("", "The session is still starting."),)
        return
    hooks = agent.session.hooks
    for event, found in listed(hooks.states(), view.chat.activity).items():
        if found and arguments in ("", event):
            yield (("", event),)
            for one in found:
                yield (("", "  "), *row(one)[1:], ("", f", {state_text(one.state)}, from {one.entry.handler.source}"))


def _verbose(view: LineView, arguments: str) -> Iterator[Line]:  # noqa: ARG001 - every command gets its arguments
    for item in view.feed.items:
        if isinstance(item, FiringItem):
            yield from firing_lines(item.firing)


def _permissions(view: LineView, arguments: str) -> Iterator[Line]:
    agent = view.chat.agent
    if agent is None:
        yield (("", "The session is still starting."),)
    elif arguments:
        yield (("", change_permissions(agent.session, arguments)),)
    else:
        yield from permission_lines(agent.session)


def _resume(view: LineView, arguments: str) -> Iterator[Line]:
    if not arguments or not view.chat.resume(ResumeSession(arguments)):
        yield (("", "/resume needs the id of a session here; `hookwright chat --resume` on a screen lets you choose."),)


def _exit(view: LineView, arguments: str) -> Iterator[Line]:  # noqa: ARG001 - every command gets its arguments
    view.chat.leave()
    return iter(())


def _help(view: LineView, arguments: str) -> Iterator[Line]:  # noqa: ARG001 - every command gets its arguments
    return help_lines()


_COMMANDS: dict[str, Callable[[LineView, str], Iterator[Line]]] = {
    "/help": _help,
    "/hooks": _browse,
    "/verbose": _verbose,
    "/permissions": _permissions,
    "/resume": _resume,
    "/exit": _exit,
}
