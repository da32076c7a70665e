"""Write permission updates to settings files: completely or not at all, and without touching anything else."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec

from hookwright.agent.permissions.decide import Mode
from hookwright.agent.permissions.rules import Origin
from hookwright.agent.permissions.updates import (
    AddDirectories,
    AddRules,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    SetMode,
    Update,
)
from hookwright.projects.git import git_command
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.jsontext import Json
from hookwright.storage import locked, replace_file

Settings = dict[str, Json]


class SettingsFiles(msgspec.Struct, frozen=True):
    """The files that updates are written to."""

    config_dir: str
    project_dir: str

    def path(self, destination: Origin) -> str:
        """Return the file of a destination; the session has none."""
        match destination:
            case Origin.USER:
                return os.path.join(self.config_dir, "settings.json")
            case Origin.PROJECT:
                return os.path.join(self.project_dir, ".claude", "settings.json")
            case Origin.LOCAL:
                return os.path.join(self.project_dir, ".claude", "settings.local.json")
            case _:
                raise ValueError(f"{destination} is not a file")


def keep(update: Update, files: SettingsFiles) -> Diagnostic | None:
    """Write an update to its file; if that fails, leave the file unchanged and return why."""
    if update.destination is Origin.SESSION:
        return None
    if isinstance(update, SetMode) and update.mode is Mode.BYPASS:
        text = "bypassPermissions applies to this session only; it is not written to a settings file."
        return Diagnostic("permission-not-kept", text, None, Severity.WARNING)
    path = files.path(update.destination)
    try:
        _change(path, lambda settings: put(settings, update))
    except (OSError, ValueError) as error:
        return Diagnostic("permission-not-kept", f"{path}: {error}. The update applies to this session only.")
    return None


def put(settings: Settings, update: Update) -> None:
    """Apply an update to the content of a settings file; raise ValueError if a value has the wrong type."""
    permissions = _member(settings, "permissions", dict)
    match update:
        case SetMode(mode=mode):
            permissions["defaultMode"] = mode.value
        case AddDirectories(directories=directories) | RemoveDirectories(directories=directories):
            _edit(permissions, "additionalDirectories", directories, update)
        case AddRules(rules=rules, behavior=behavior) | RemoveRules(rules=rules, behavior=behavior):
            _edit(permissions, behavior.value, [listed.rule.text for listed in rules], update)
        case ReplaceRules(rules=rules, behavior=behavior):
            permissions[behavior.value] = [listed.rule.text for listed in rules]


def _edit(permissions: Settings, key: str, texts: Any, update: Update) -> None:
    known = _member(permissions, key, list)
    if isinstance(update, AddRules | AddDirectories):
        known += [text for text in dict.fromkeys(texts) if text not in known]
    else:
        known[:] = [text for text in known if text not in texts]


def _member(parent: Settings, key: str, kind: type) -> Any:
    value = parent.setdefault(key, kind())
    if not isinstance(value, kind):
        raise ValueError(f"`{key}` is not {'an object' if kind is dict else 'a list'}; fix it first")
    return value


def _change(path: str, edit: Callable[[Settings], None]) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    real = os.path.realpath(path)
    with locked(os.path.dirname(real)):
        is_new = not os.path.exists(real)
        settings: Any = {}
        if not is_new:
            with open(real, encoding="utf-8-sig") as file:
                text = file.read()
            settings = json.loads(text) if text.strip() else {}
        if not isinstance(settings, dict):
            raise ValueError("not a JSON object; fix it first")
        edit(settings)
        text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
        replace_file(real, text.encode("utf-8", "replace"))
    if is_new and path.endswith("settings.local.json"):
        ensure_ignored(path)


def ensure_ignored(path: str) -> None:
    """Make git ignore a personal file (R-007) without changing any committed file."""
    folder, name = os.path.split(path)
    try:
        ignored = _git(folder, "check-ignore", "-q", name).returncode
        if ignored != 1:  # 0: already ignored; 128: not a repository
            return
        found = _git(folder, "rev-parse", "--git-path", "info/exclude")
    except (OSError, subprocess.TimeoutExpired):  # without git there is nothing to ignore
        return
    exclude = os.path.join(folder, found.stdout.strip())
    os.makedirs(os.path.dirname(exclude), exist_ok=True)
    with open(exclude, "a+", encoding="utf-8") as file:
        file.seek(0)
        text = file.read()
        file.write(("" if not text or text.endswith("\n") else "\n") + "**/.claude/settings.local.json\n")


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = git_command(folder, *arguments)
    return subprocess.run(argv, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL, check=False)
