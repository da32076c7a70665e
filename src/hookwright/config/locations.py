"""Where settings and state are kept, for one start directory, home and environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.errors import ConfigError
from hookwright.protocol.host import Host
from hookwright.protocol.sources import Scope

#: Names another managed file, or a folder of managed files, instead of the system's.
MANAGED_VARIABLE = "HOOKWRIGHT_MANAGED_SETTINGS"

_MANAGED_DIRS = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
_MANAGED_DIR = "/etc/claude-code"
#: The scopes `sources` selects from; managed files and --settings are always read.
OPTIONAL_SCOPES = (Scope.USER, Scope.PROJECT, Scope.LOCAL)


class SettingsFile(msgspec.Struct, frozen=True):
    """A settings file, present or not."""

    scope: Scope
    path: str
    #: The text itself, for inline settings on the command line.
    inline: str | None = None
    #: The directory above the project that a file of the project belongs to; empty for the project itself.
    project: str = ""


class Locations(msgspec.Struct, frozen=True):
    """Every place one load reads, in configuration order."""

    start_dir: str
    project_dir: str
    config_dir: str
    home: str
    files: tuple[SettingsFile, ...]
    #: The topmost folder of other people's files: the repository, else the project; empty in the user's own folders.
    root: str = ""


class Surroundings(msgspec.Struct, frozen=True):
    """Where a load happens: environment, home directory, current directory, platform."""

    env: Mapping[str, str]
    home: str
    cwd: str
    platform: str = "linux"

    @classmethod
    def here(cls, env: Mapping[str, str] | None, home: str | None, cwd: str | None) -> Surroundings:
        """Return the given values, and those of the running process where one is missing."""
        env = env if env is not None else dict(os.environ)
        home = home if home is not None else env.get("HOME") or os.path.expanduser("~")
        return cls(env, os.path.abspath(home), cwd if cwd is not None else os.getcwd(), sys.platform)

    @property
    def config_dir(self) -> str:
        """The user's configuration folder: `~/.claude`, or `CLAUDE_CONFIG_DIR`."""
        named = self.env.get("CLAUDE_CONFIG_DIR") or os.path.join(self.home, ".claude")
        return os.path.abspath(os.path.join(self.cwd, named))

    @property
    def state_dir(self) -> str:
        """The folder for what outlives a run: trust store, journal, prompt history."""
        if named := self.env.get("HOOKWRIGHT_STATE_DIR"):
            return os.path.abspath(os.path.join(self.cwd, named))
        # The XDG specification says to ignore a relative path; here it would point into the workspace.
        base = self.env.get("XDG_STATE_HOME", "")
        return os.path.join(base if os.path.isabs(base) else os.path.join(self.home, ".local", "state"), "hookwright")

    def host(self, project_dir: str, settings_env: Mapping[str, str] | None = None) -> Host:
        """Describe these surroundings to an engine."""
        return Host(
            project_dir=os.path.abspath(os.path.join(self.cwd, project_dir)),
            env=self.env,
            settings_env=settings_env if settings_env is not None else {},
            home=self.home,
            config_dir=self.config_dir,
            remote=self.env.get("CLAUDE_CODE_REMOTE") == "true",
        )


def locate(
    start: str, around: Surroundings, *, settings: Sequence[str] = (), sources: Sequence[str] | None = None
) -> Locations:
    """Return the settings files for a start directory; raise ConfigError for a place that must exist and does not."""
    home, cwd, config_dir = around.home, around.cwd, around.config_dir
    start_dir = os.path.realpath(os.path.join(cwd, start))
    if not os.path.isdir(start_dir):
        raise ConfigError(f"{start} is not a directory. Name the directory whose hooks to load.")
    scopes = chosen_scopes(sources)
    upward = _upward_in_repository(start_dir)
    own = _Own(os.path.realpath(home), os.path.realpath(config_dir))
    project_dir = find_project(upward, own)
    files = [SettingsFile(Scope.MANAGED, path) for path in managed_files(around)]
    if Scope.USER in scopes:
        files.append(SettingsFile(Scope.USER, os.path.join(config_dir, "settings.json")))
    levels = find_levels(upward, project_dir, own)
    for scope, name in ((Scope.PROJECT, "settings.json"), (Scope.LOCAL, "settings.local.json")):
        for level in levels if scope in scopes else ():
            above = "" if level == project_dir else level
            files.append(SettingsFile(scope, os.path.join(level, ".claude", name), project=above))
    files.extend(flag_file(value, cwd) for value in settings)
    return Locations(start_dir, project_dir, config_dir, home, tuple(files), find_root(upward, own))


def chosen_scopes(sources: Sequence[str] | None) -> tuple[Scope, ...]:
    """Read a list such as `["user", "project"]`; None means all three."""
    if sources is None:
        return OPTIONAL_SCOPES
    names = {scope.value: scope for scope in OPTIONAL_SCOPES}
    for source in sources:
        if source not in names:
            raise ConfigError(f"{source!r} is not a settings source. Use {', '.join(names)}.")
    return tuple(names[source] for source in sources)


class _Own(msgspec.Struct, frozen=True):
    """The real paths of the user's own folders."""

    home: str
    config_dir: str

    def has_settings_in(self, directory: str) -> bool:
        """Return whether the settings of a directory, given by its real path, are the user's."""
        return directory == self.home or os.path.join(directory, ".claude") == self.config_dir


def find_project(upward: Sequence[str], own: _Own) -> str:
    """Find the nearest directory with project settings, from the start directory up to the repository root.

    Law (D7): outside a repository only the start directory is searched. Nothing above the repository root is read.
    The home directory's own `.claude` is user scope, never a project. Without settings the start directory is the
    project.
    """
    for directory in upward:
        if own.has_settings_in(directory):
            continue
        if _has_settings(directory):
            return directory
    return upward[0]


def find_levels(upward: Sequence[str], project_dir: str, own: _Own) -> list[str]:
    """Return the directories whose project settings are read, from the repository root down to the project.

    Law (D7): every directory with project settings from the repository root down to the start directory, so that a
    file further down never switches the guards above it off. The nearest one is the project; the hooks and settings
    of each level are trusted with that level.
    """
    above = [
        directory
        for directory in upward
        if directory != project_dir and not own.has_settings_in(directory) and _has_settings(directory)
    ]
    nearest = [] if own.has_settings_in(project_dir) else [project_dir]
    return [*reversed(above), *nearest]


def find_root(upward: Sequence[str], own: _Own) -> str:
    """Return the topmost folder of other people's files; empty where everything is the user's own.

    Law: the repository around the start directory, else the start directory. The home directory, what contains it, and
    the user's configuration folder are never other people's.
    """
    for directory in reversed(upward):
        if not any(_contains(directory, mine) for mine in (own.home, own.config_dir)):
            return directory
    return ""


def _contains(directory: str, path: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _has_settings(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, ".claude", name)) for name in _PROJECT_NAMES)


_PROJECT_NAMES = ("settings.json", "settings.local.json")


def _upward_in_repository(start_dir: str) -> list[str]:
    """Return a directory and those above it, up to the repository root; only itself outside a repository."""
    seen = [start_dir]
    while not os.path.lexists(os.path.join(seen[-1], ".git")):
        parent = os.path.dirname(seen[-1])
        if parent == seen[-1]:
            return [start_dir]
        seen.append(parent)
    return seen


def managed_files(around: Surroundings) -> tuple[str, ...]:
    """Return the administrator's files: the main file, then the drop-ins in alphabetical order."""
    folder = _MANAGED_DIRS.get(around.platform, _MANAGED_DIR)
    if named := around.env.get(MANAGED_VARIABLE):
        folder = os.path.abspath(os.path.join(around.cwd, named))
        if not os.path.isdir(folder):
            return (folder,)
    drop_ins = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(os.listdir(drop_ins))
    except (FileNotFoundError, NotADirectoryError):
        names = []
    except OSError as error:
        raise ConfigError(f"{drop_ins}: managed settings cannot be read: {error.strerror}. Nothing starts.") from error
    chosen = (name for name in names if name.endswith(".json") and not name.startswith("."))
    return (os.path.join(folder, "managed-settings.json"), *(os.path.join(drop_ins, name) for name in chosen))


def flag_file(value: str, cwd: str, option: str = "--settings") -> SettingsFile:
    """Read the value of `--settings` or `--shadow`: a JSON object, or the path of a file that must exist."""
    if value.lstrip().startswith("{"):
        return SettingsFile(Scope.FLAG, "", inline=value)
    path = os.path.abspath(os.path.join(cwd, value))
    if not os.path.isfile(path):
        raise ConfigError(f"{option} {value}: no such file. Name a file, or write a JSON object in braces.")
    return SettingsFile(Scope.FLAG, path)


def anchor(file: SettingsFile, locations: Locations) -> str:
    """Return the directory a permission rule such as `Edit(/src/**)` starts from."""
    match file.scope:
        case Scope.PROJECT:
            return file.project or locations.project_dir
        case Scope.USER:
            return locations.config_dir
        case Scope.MANAGED:
            return os.path.dirname(file.path)
        case Scope.FLAG if file.path:
            return os.path.dirname(file.path)
        case _:
            return locations.start_dir
