"""Permission updates from the user or a PermissionRequest hook: read them and apply them to a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import msgspec

from hookwright.agent.permissions.decide import Mode
from hookwright.agent.permissions.rules import Behavior, ListedRule, Origin, Rules, spoken_rules
from hookwright.agent.permissions.workspace import Workspace
from hookwright.agent.tools.tool import absolute
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json

DESTINATIONS = (Origin.SESSION, Origin.LOCAL, Origin.PROJECT, Origin.USER)


class InvalidUpdate(ValueError):
    """An invalid permission update; the message says what to write instead."""


class AddRules(msgspec.Struct, frozen=True):
    """Add rules to a destination."""

    rules: tuple[ListedRule, ...]
    behavior: Behavior
    destination: Origin


class ReplaceRules(msgspec.Struct, frozen=True):
    """Replace the rules of a destination that have this behaviour."""

    rules: tuple[ListedRule, ...]
    behavior: Behavior
    destination: Origin


class RemoveRules(msgspec.Struct, frozen=True):
    """Remove rules from a destination."""

    rules: tuple[ListedRule, ...]
    behavior: Behavior
    destination: Origin


class SetMode(msgspec.Struct, frozen=True):
    """Switch the permission mode."""

    mode: Mode
    destination: Origin


class AddDirectories(msgspec.Struct, frozen=True):
    """Add directories to the workspace."""

    directories: tuple[str, ...]
    destination: Origin


class RemoveDirectories(msgspec.Struct, frozen=True):
    """Remove directories from the workspace."""

    directories: tuple[str, ...]
    destination: Origin


Update = AddRules | ReplaceRules | RemoveRules | SetMode | AddDirectories | RemoveDirectories

_OF_RULES: dict[str, type[AddRules] | type[ReplaceRules] | type[RemoveRules]] = {
    "addRules": AddRules,
    "replaceRules": ReplaceRules,
    "removeRules": RemoveRules,
}
_OF_DIRECTORIES: dict[str, type[AddDirectories] | type[RemoveDirectories]] = {
    "addDirectories": AddDirectories,
    "removeDirectories": RemoveDirectories,
}


def read_mode(name: str) -> Mode:
    """Read the name of a mode; `manual` is an alias of `default`."""
    try:
        return Mode("default" if name == "manual" else name)
    except ValueError:
        raise InvalidUpdate(f"{name!r} is not a permission mode. Use one of {', '.join(Mode)}.") from None


def read_updates(entries: Sequence[Json]) -> tuple[tuple[Update, ...], tuple[Diagnostic, ...]]:
    """Read `updatedPermissions`; an invalid entry is reported and ignored."""
    updates: list[Update] = []
    notes: list[Diagnostic] = []
    for place, entry in enumerate(entries):
        try:
            updates.append(read_update(entry))
        except InvalidUpdate as error:
            notes.append(Diagnostic("invalid-permission-update", f"updatedPermissions[{place}]: {error}"))
    return tuple(updates), tuple(notes)


def read_update(entry: Json) -> Update:
    """Read one entry, or raise InvalidUpdate."""
    if not isinstance(entry, Mapping):
        raise InvalidUpdate('not an object. Write {"type": "addRules", …}.')
    kind = entry.get("type")
    names = {origin.value: origin for origin in DESTINATIONS}
    destination = names.get(str(entry.get("destination")))
    if destination is None:
        raise InvalidUpdate(f"destination is {entry.get('destination')!r}. Use one of {', '.join(names)}.")
    if kind in _OF_RULES:
        behavior = _behavior(entry.get("behavior"))
        return _OF_RULES[kind](_rules(entry.get("rules"), behavior, destination), behavior, destination)
    if kind in _OF_DIRECTORIES:
        directories = entry.get("directories")
        if not isinstance(directories, list) or not all(isinstance(item, str) for item in directories):
            raise InvalidUpdate("directories must be a list of paths.")
        return _OF_DIRECTORIES[kind](tuple(directories), destination)
    if kind == "setMode":
        return SetMode(read_mode(str(entry.get("mode"))), destination)
    raise InvalidUpdate(f"type is {kind!r}. Use one of {', '.join([*_OF_RULES, *_OF_DIRECTORIES, 'setMode'])}.")


def _behavior(name: Any) -> Behavior:
    try:
        return Behavior(name)
    except ValueError:
        raise InvalidUpdate(f"behavior is {name!r}. Use one of {', '.join(Behavior)}.") from None


def _rules(entries: Any, behavior: Behavior, destination: Origin) -> tuple[ListedRule, ...]:
    if not isinstance(entries, list):
        raise InvalidUpdate('rules must be a list of {"toolName": …, "ruleContent": …}.')
    texts = []
    for entry in entries:
        tool = entry.get("toolName") if isinstance(entry, Mapping) else None
        content = entry.get("ruleContent") if isinstance(entry, Mapping) else None
        if not isinstance(tool, str) or not isinstance(content, str | None):
            raise InvalidUpdate('each rule must be {"toolName": …, "ruleContent": …}, both strings.')
        texts.append(tool if content is None else f"{tool}({content})")
    found, notes = spoken_rules(texts, behavior, destination)
    if notes:
        raise InvalidUpdate(notes[0].message)
    return found


class RulesState(msgspec.Struct, frozen=True):
    """What a session's calls are decided by."""

    mode: Mode
    rules: Rules
    workspace: Workspace


def applied(state: RulesState, update: Update) -> RulesState:
    """Apply an update to the session at once, also if it is written to a file."""
    change = msgspec.structs.replace
    match update:
        case AddRules(rules=rules):
            return change(state, rules=state.rules.plus(rules))
        case ReplaceRules(rules=rules, behavior=behavior, destination=origin):
            return change(state, rules=state.rules.without(origin, behavior).plus(rules))
        case RemoveRules(rules=rules):
            gone = {(listed.behavior, listed.rule.text, listed.origin) for listed in rules}
            kept = tuple(
                listed
                for listed in state.rules.listed
                if (listed.behavior, listed.rule.text, listed.origin) not in gone
            )
            return change(state, rules=Rules(kept))
        case SetMode(mode=mode):
            return change(state, mode=mode)
        case AddDirectories(directories=directories):
            added = dict.fromkeys((*state.workspace.added, *_absolute(directories, state.workspace)))
            return change(state, workspace=change(state.workspace, added=tuple(added)))
        case RemoveDirectories(directories=directories):
            gone_dirs = set(_absolute(directories, state.workspace))
            kept_dirs = tuple(path for path in state.workspace.added if path not in gone_dirs)
            return change(state, workspace=change(state.workspace, added=kept_dirs))
    assert_never(update)


def _absolute(directories: Sequence[str], workspace: Workspace) -> list[str]:
    return [absolute(path, workspace.root, workspace.home) for path in directories]
