"""The commands that the screen itself carries out; all others are the agent's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hookwright.agent.permissions import Behavior, InvalidUpdate, Mode, read_mode
from hookwright.agent.state.options import ResumeSession
from hookwright.agent.state.session import Session
from hookwright.tui.chat.choices import split_rule
from hookwright.tui.chat.complete import COMMANDS
from hookwright.tui.feed.items import Level
from hookwright.tui.feed.words import Line

if TYPE_CHECKING:
    from hookwright.tui.chat.chat import Chat
    from hookwright.tui.widgets.presenter import Presenter

_COMMAND = re.compile(r"/([A-Za-z0-9][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)

KEYS = (
    ("enter", "send; shift+enter, ctrl+j or \\ enter for a new line"),
    ("up, down", "earlier prompts"),
    ("tab", "complete /commands and @files"),
    ("esc", "interrupt; in a dialog: deny and stop"),
    ("ctrl+c", "copy what is marked, clear the prompt, interrupt; twice: end"),
    ("ctrl+d", "end the session"),
    ("ctrl+o", "verbose view: every hook run, skip and reason"),
    ("shift+tab", "next permission mode"),
    ("page up, page down", "scroll; ctrl+home and ctrl+end go to the ends"),
)


def carry_out(stage: Presenter, text: str) -> bool:
    """Carry out a command of the screen; False for what the agent is to hear."""
    found = _COMMAND.match(text)
    if found is None:
        return False
    name, words = found[1], (found[2] or "").strip()
    deed = _DEEDS.get(name)
    if deed is not None:
        deed(stage, words)
        stage.changed()
        return True
    agent = stage.conductor.agent
    known = agent is None or name in COMMANDS or name in agent.session.components.skills
    if not known:
        stage.feed.say(
            f"There is no command /{name}; /help lists them. Put a blank before it to send it as words.", Level.WARNING
        )
        stage.changed()
    return not known


def _help(stage: Presenter, words: str) -> None:  # noqa: ARG001 - every command gets its words
    from hookwright.tui.screens.page import PageScreen

    stage.app.push_screen(PageScreen("Help", tuple(help_lines()), stage.painter()))


def help_lines() -> Iterator[Line]:
    """List keys and commands."""
    yield (("bold", "Keys"),)
    for key, deed in KEYS:
        yield (("accent", f"  {key:<20}"), ("", deed))
    yield ()
    yield (("bold", "Commands"),)
    for name, deed in COMMANDS.items():
        yield (("accent", f"  {'/' + name:<20}"), ("", deed))


def _hooks(stage: Presenter, words: str) -> None:  # noqa: ARG001 - every command gets its words
    from hookwright.tui.screens.hooks import HooksScreen

    if stage.conductor.agent is None:
        stage.feed.say("The session is still starting.", Level.WARNING)
    else:
        stage.app.push_screen(HooksScreen(stage))


def _resume(stage: Presenter, words: str) -> None:
    if words:
        stage.resume(ResumeSession(words))
        return
    from hookwright.tui.screens.sessions import choose

    async def pick() -> None:
        chosen = await choose(stage)
        if chosen is not None:
            stage.resume(chosen)

    stage.app.run_worker(pick(), name="resume")


def _exit(stage: Presenter, words: str) -> None:  # noqa: ARG001 - every command gets its words
    stage.leave("prompt_input_exit")


def _theme(stage: Presenter, words: str) -> None:
    from hookwright.tui.widgets.palette import THEMES

    name = words if words in THEMES else "light" if stage.app.current_theme.dark else "dark"
    stage.use_theme(f"hookwright-{name}")


def _permissions(stage: Presenter, words: str) -> None:
    from hookwright.tui.screens.page import PageScreen

    agent = stage.conductor.agent
    if agent is None:
        stage.feed.say("The session is still starting.", Level.WARNING)
    elif words:
        stage.feed.say(change_permissions(stage.conductor, words))
    else:
        lines = tuple(permission_lines(agent.session))
        stage.app.push_screen(PageScreen("Permissions", lines, stage.painter()))


def permission_lines(session: Session) -> Iterator[Line]:
    """List the mode, the rules with their origins, and the directories."""
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
    yield (("dim", f"/permissions MODE       one of {', '.join(Mode)}"),)
    yield (("dim", "/permissions allow|ask|deny|remove RULE       kept in .claude/settings.local.json"),)


def change_permissions(conductor: Chat, words: str) -> str:
    """Switch the mode, or add or remove a rule; say what came of it."""
    assert conductor.agent is not None
    session = conductor.agent.session
    verb, _, rule = words.partition(" ")
    rule = rule.strip()
    if verb in ("allow", "ask", "deny", "remove"):
        if not rule:
            return f"/permissions {verb} needs a rule, such as Bash(git status)."
        for behavior in Behavior if verb == "remove" else (Behavior(verb),):
            kind = "removeRules" if verb == "remove" else "addRules"
            update = {"type": kind, "rules": [split_rule(rule)], "behavior": behavior.value}
            for destination in ("session", "localSettings") if verb == "remove" else ("localSettings",):
                session.update_permissions_of_person([{**update, "destination": destination}])
        return f"{rule} is removed." if verb == "remove" else f"{rule}: {verb} from now on."
    try:
        read_mode(words)
    except InvalidUpdate as error:
        return f"{error} Or write allow, ask, deny or remove and a rule."
    session.set_mode(words)
    return f"The mode is {session.permissions.mode.value} now."


_DEEDS: dict[str, Callable[[Presenter, str], None]] = {
    "help": _help,
    "hooks": _hooks,
    "resume": _resume,
    "permissions": _permissions,
    "theme": _theme,
    "exit": _exit,
    "quit": _exit,
}
