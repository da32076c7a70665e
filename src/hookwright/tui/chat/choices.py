"""The choices of a permission dialog, and the answer each of them gives."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from hookwright.agent.permissions.settings import rule_texts
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ask
from hookwright.text import flat
from hookwright.tui.feed.items import CallItem


class Once(msgspec.Struct, frozen=True):
    """Allow this call."""


class Always(msgspec.Struct, frozen=True):
    """Allow this call and what these updates cover for the session."""

    updates: tuple[Mapping[str, Json], ...]


class ByRule(msgspec.Struct, frozen=True):
    """Allow this call and write a rule to the local settings; the user may edit it first."""

    rule: str


class RefuseChoice(msgspec.Struct, frozen=True):
    """Deny; the model continues."""


class RefuseWithWords(msgspec.Struct, frozen=True):
    """Deny with a message for the model."""


Choice = Once | Always | ByRule | RefuseChoice | RefuseWithWords


class Offer(msgspec.Struct, frozen=True):
    """One line of the dialog."""

    text: str
    choice: Choice


HOOK_ASKS = "A hook asks about every such call; a rule would not skip the question."


def asked_by_hook(call: CallItem | None) -> bool:
    """Return whether a PreToolUse hook asks for the user's decision."""
    firings = call.firings if call is not None else ()
    return any(firing.outcome is not None and isinstance(firing.outcome.decision, Ask) for firing in firings)


def offers(question: PermissionQuestion, cwd: str, *, by_hook: bool) -> tuple[Offer, ...]:
    """Return the choices; where a hook asks, rules would not skip the question, so none are offered."""
    found = [Offer("Allow once", Once())]
    if question.suggestions and not by_hook:
        session = tuple({**one, "destination": "session"} for one in question.suggestions)
        words = "; ".join(covered(one) for one in session)
        found.append(Offer(f"Allow for this session: {words}", Always(session)))
        rule = proposed_rule(question, cwd)
        if rule is not None:
            found.append(Offer(f"Allow by rule: {flat(rule)} …", ByRule(rule)))
    found.append(Offer("Deny", RefuseChoice()))
    found.append(Offer("Deny with a message …", RefuseWithWords()))
    return tuple(found)


#: A command that a rule can name literally.
_PLAIN_COMMAND = re.compile(r"[\w./=-]+(?: [\w./=-]+)*")


def proposed_rule(question: PermissionQuestion, cwd: str) -> str | None:
    """Return a rule for calls like this one: the suggested one, else one for its command or the folder of its file.

    None for a command that a rule cannot name literally: a rule for the whole tool would allow every command.
    """
    rules = rule_texts(question.suggestions)
    command = question.tool_input.get("command")
    if not rules and isinstance(command, str):
        return f"{question.tool_name}({command})" if _PLAIN_COMMAND.fullmatch(command) else None
    path = question.tool_input.get("file_path")
    if rules or not isinstance(path, str):
        return rules[0] if rules else question.tool_name
    folder = os.path.dirname(path)
    inside = folder == cwd or folder.startswith(cwd.rstrip("/") + "/")
    where = "/" + os.path.relpath(folder, cwd) if inside else "/" + folder
    return f"{question.tool_name}({where.removesuffix('/.')}/**)"


def covered(update: Mapping[str, Json]) -> str:
    """Describe what an update allows."""
    match update.get("type"):
        case "addRules":
            return ", ".join(flat(text) for text in rule_texts((update,)))
        case "setMode":
            return "edits without asking" if update.get("mode") == "acceptEdits" else f"mode {update.get('mode')}"
        case "addDirectories":
            return "work in " + ", ".join(flat(path) for path in update.get("directories", ()))
        case other:
            return str(other)


def reply(choice: Choice, text: str = "") -> Permission:
    """Return the answer for a choice; `text` is the message of a denial or the edited rule."""
    match choice:
        case Once():
            return Permission(allow=True)
        case Always(updates=updates):
            return Permission(allow=True, updated_permissions=updates)
        case ByRule(rule=rule):
            return Permission(allow=True, updated_permissions=(rule_update(text.strip() or rule),))
        case RefuseChoice():
            return Permission(allow=False)
        case RefuseWithWords():
            return Permission(allow=False, message=text.strip())


def rule_update(text: str) -> dict[str, Json]:
    """Return the update that writes an allow rule to the user's local settings of the project."""
    return {"type": "addRules", "rules": [split_rule(text)], "behavior": "allow", "destination": "localSettings"}


def split_rule(text: str) -> dict[str, str]:
    """Split a rule into the parts the protocol uses."""
    tool, bracket, content = text.partition("(")
    if not bracket or not content.endswith(")"):
        return {"toolName": text}
    return {"toolName": tool, "ruleContent": content[:-1]}


#: The answer of Esc: deny, and end the turn.
STOP = Permission(allow=False, interrupt=True)
