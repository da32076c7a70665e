"""Install a template in a project or a home: script, cases, settings entry, in this order, without overwriting."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookwright.agent.permissions.keep import ensure_ignored
from hookwright.config.files import read_to_edit
from hookwright.config.locations import Locations
from hookwright.errors import ConfigError
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope
from hookwright.storage import locked, replace_file
from hookwright.templates import Template, TemplateLanguage
from hookwright.templates.settingsfile import Group, with_hooks

#: Rules that keep an agent from editing its own project's guards.
PROTECTION = ("Edit(/.claude/hooks/**)", "Edit(/.claude/settings*.json)")


class InstallTarget(msgspec.Struct, frozen=True):
    """The places for a hook's parts in one scope."""

    #: The folder with `.claude`, or the user's configuration folder itself.
    base: str
    settings: str
    hooks: str
    #: The hooks folder as written in a command, quoted for a shell.
    named: str


class Installed(msgspec.Struct, frozen=True):
    """One file that was written, or already existed."""

    path: str
    what: str


def target(scope: Scope, where: Locations) -> InstallTarget:
    """Return the places for a hook of this scope."""
    if scope is Scope.USER:
        hooks = os.path.join(where.config_dir, "hooks")
        usual = os.path.join(where.home, ".claude")
        named = '"$HOME"/.claude/hooks' if where.config_dir == usual else shlex.quote(hooks)
        return InstallTarget(where.config_dir, os.path.join(where.config_dir, "settings.json"), hooks, named)
    folder = os.path.join(where.project_dir, ".claude")
    name = "settings.local.json" if scope is Scope.LOCAL else "settings.json"
    named = '"$CLAUDE_PROJECT_DIR"/.claude/hooks'
    return InstallTarget(where.project_dir, os.path.join(folder, name), os.path.join(folder, "hooks"), named)


def install(template: Template, language: TemplateLanguage, scope: Scope, where: Locations) -> list[Installed]:
    """Write everything, or raise ConfigError before anything is written."""
    place = target(scope, where)
    script = os.path.join(place.hooks, template.name + language.ending)
    files: dict[str, str] = {os.path.join(place.base, name): text for name, text in template.files.items()}
    if scope is Scope.USER and template.files:
        raise ConfigError(f"`{template.name}` keeps files in the project; install it with --scope project or local")
    if template.scripts:
        files[script] = template.scripts[language]
    files[os.path.join(place.hooks, "tests", f"{template.name}.yaml")] = template.cases
    groups = _filled(template.settings, f"{place.named}/{template.name}{language.ending}")
    deny = PROTECTION if template.guard and scope is not Scope.USER else ()
    _check(files)
    try:
        with_hooks(read_to_edit(place.settings) or "", groups, deny)
    except ConfigError as error:
        raise ConfigError(f"{place.settings}: {error}") from None
    done = [_write(path, text) for path, text in files.items()]
    done.append(_add(place.settings, groups, deny))
    if scope is Scope.LOCAL:
        ensure_ignored(place.settings)
        done.append(Installed(place.settings, "is ignored by git"))
    return done


def _filled(value: Json, command: str) -> Any:
    if isinstance(value, str):
        return value.replace("{script}", command)
    if isinstance(value, Mapping):
        return {key: _filled(item, command) for key, item in value.items()}
    return [_filled(item, command) for item in value] if isinstance(value, list) else value


def _check(files: Mapping[str, str]) -> None:
    """Refuse to overwrite: an existing file must equal the new one."""
    for path, text in files.items():
        if os.path.lexists(path) and read_to_edit(path) != text:
            raise ConfigError(f"{path} already exists and is not overwritten. Move it, or choose another template.")


def _write(path: str, text: str) -> Installed:
    if os.path.exists(path):
        return Installed(path, "already exists")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = 0o755 if text.startswith("#!") else 0o644
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return Installed(path, "written")


def _add(path: str, groups: Mapping[str, Sequence[Group]], deny: Sequence[str]) -> Installed:
    """Change the settings file in one step, under the lock that its other writers also take."""
    real = os.path.realpath(path)
    os.makedirs(os.path.dirname(real), exist_ok=True)
    with locked(os.path.dirname(real)):
        before = read_to_edit(real)
        after = with_hooks(before or "", groups, deny)
        if before == after:
            return Installed(path, "already has the entry")
        replace_file(real, after.encode())
    rules = "; rules keep the agent from editing hooks and settings" if deny else ""
    return Installed(path, ("created" if before is None else f"entry added for {', '.join(groups)}") + rules)
