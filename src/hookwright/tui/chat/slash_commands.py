"""The slash commands that the screen runs itself; the agent runs all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from hookwright.agent.permissions import Behavior, InvalidUpdate, Mode, read_mode
from hookwright.agent.state.options import ResumeSession
from hookwright.agent.state.session import Session
from hookwright.tui.chat.chat import Chat
from hookwright.tui.chat.choices import split_rule
from hookwright.tui.chat.complete import COMMANDS
from hookwright.tui.feed.feed import Feed
from hookwright.tui.feed.items import Level
from hookwright.tui.feed.words import Line

_COMMAND = re.compile(r"/([A-Za-z0-9][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)

KEYS = (
    ("enter", "send; shift+enter, ctrl+j or \\ then enter starts a new line"),
    ("up, down", "earlier prompts"),
    ("tab", "complete /commands and @files"),
    ("esc", "interrupt; in a dialog, deny and stop"),
    ("ctrl+c", "copy the selection, clear the prompt or interrupt; twice to exit"),
    ("ctrl+d", "exit"),
    ("ctrl+o", "verbose view: every hook run, skip and reason"),
    ("shift+tab", "next permission mode"),
    ("page up, page down", "scroll; ctrl+home and ctrl+end jump to the ends"),
)
_STARTING = "The session is still starting."


class CommandView(Protocol):
    """What a screen offers to slash commands."""

    @property
    def chat(self) -> Chat:
        """The running chat."""

    @property
    def feed(self) -> Feed:
        """Where commands report."""

    def changed(self) -> None:
        """Repaint soon."""

    def show_page(self, title: str, lines: Iterable[Line]) -> None:
        """Open a page of text."""

    def browse_hooks(self) -> None:
        """Open the hooks browser."""

    def pick_session(self) -> None:
        """Let the user choose a conversation and resume it."""

    def switch_theme(self, name: str) -> None:
        """Switch to a theme, or to the opposite of the current one if the name is unknown."""

    def leave(self, reason: str) -> None:
        """End the chat."""


def run_command(view: CommandView, text: str) -> bool:
    """Run a command of the screen; return False if the text is for the agent."""
    found = _COMMAND.match(text)
    if found is None:
        return False
    name, argument = found[1], (found[2] or "").strip()
    command = _OF_SCREEN.get(name)
    if command is not None:
        command(view, argument)
        view.changed()
        return True
    agent = view.chat.agent
    known = agent is None or name in COMMANDS or name in agent.session.equipment.components.skills
    if not known:
        view.feed.say(
            f"/{name} is not a command; /help lists them. Start with a space to send it as a message.", Level.WARNING
        )
        view.changed()
    return not known


def _help(view: CommandView, argument: str) -> None:  # noqa: ARG001 - every command gets its argument
    view.show_page("Help", help_lines())


def help_lines() -> Iterator[Line]:
    """Yield the keys and commands."""
    yield (("bold", "Keys"),)
    for key, effect in KEYS:
        yield (("accent", f"  {key:<20}"), ("", effect))
    yield ()
    yield (("bold", "Commands"),)
    for name, effect in COMMANDS.items():
        yield (("accent", f"  {'/' + name:<20}"), ("", effect))


def _hooks(view: CommandView, argument: str) -> None:  # noqa: ARG001 - every command gets its argument
    if view.chat.agent is None:
        view.feed.say(_STARTING, Level.WARNING)
    else:
        view.browse_hooks()


def _resume(view: CommandView, argument: str) -> None:
    if not argument:
        view.pick_session()
    elif not view.chat.resume(ResumeSession(argument)):
        view.feed.say(_STARTING, Level.WARNING)


def _exit(view: CommandView, argument: str) -> None:  # noqa: ARG001 - every command gets its argument
    view.leave("prompt_input_exit")


def _theme(view: CommandView, argument: str) -> None:
    view.switch_theme(argument)


def _permissions(view: CommandView, argument: str) -> None:
    agent = view.chat.agent
    if agent is None:
        view.feed.say(_STARTING, Level.WARNING)
    elif argument:
        view.feed.say(change_permissions(agent.session, argument))
    else:
        view.show_page("Permissions", permission_lines(agent.session))


def permission_lines(session: Session) -> Iterator[Line]:
    """Yield the mode, the rules with their origins, and the directories."""
    permissions = session.permissions
    yield (("dim", "mode         "), ("bold", permissions.mode.value))
    yield (("dim", "directories  "), ("", permissions.workspace.root))
    for directory in permissions.workspace.added:
        yield (("", f"             {directory}"),)
    styles = {Behavior.ALLOW: "good", Behavior.ASK: "warn", Behavior.DENY: "bad"}
    for behavior, style in styles.items():
        yield ()
        yield ((style, behavior.value),)
        rules = permissions.rules.of(behavior)
        for listed in rules:
            yield (("", f"  {listed.rule.text}"), ("dim", f"  {listed.origin.value}"))
        if not rules:
            yield (("dim", "  none"),)
    yield ()
    yield (("dim", f"/permissions MODE       switch the mode: {', '.join(Mode)}"),)
    yield (("dim", "/permissions allow|ask|deny|remove RULE       change a rule in .claude/settings.local.json"),)


def change_permissions(session: Session, argument: str) -> str:
    """Switch the mode, or add or remove a rule; return what changed."""
    verb, _, rule = argument.partition(" ")
    rule = rule.strip()
    if verb in ("allow", "ask", "deny", "remove"):
        if not rule:
            return f"/permissions {verb} needs a rule, for example: /permissions {verb} Bash(git status)"
        for behavior in Behavior if verb == "remove" else (Behavior(verb),):
            kind = "removeRules" if verb == "remove" else "addRules"
            update = {"type": kind, "rules": [split_rule(rule)], "behavior": behavior.value}
            for destination in ("session", "localSettings") if verb == "remove" else ("localSettings",):
                session.update_permissions_of_person([{**update, "destination": destination}])
        return f"Removed {rule}." if verb == "remove" else f"Added to the {verb} rules: {rule}"
    try:
        read_mode(argument)
    except InvalidUpdate as error:
        return f"{error} To change a rule, write allow, ask, deny or remove before it."
    session.set_mode(argument)
    return f"The permission mode is now {session.permissions.mode.value}."


_OF_SCREEN: dict[str, Callable[[CommandView, str], None]] = {
    "help": _help,
    "hooks": _hooks,
    "resume": _resume,
    "permissions": _permissions,
    "theme": _theme,
    "exit": _exit,
    "quit": _exit,
}
