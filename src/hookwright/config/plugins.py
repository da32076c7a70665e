"""Enabled plugins: where they are installed, and their hooks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hookwright.config.fields import kind_of, shown
from hookwright.config.files import is_inside
from hookwright.config.jsonfile import Tree, read_tree
from hookwright.config.locations import Locations
from hookwright.config.parse import Found, at_place, parse_hooks
from hookwright.config.settings import Declared, Settings
from hookwright.errors import ConfigError
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Plugin, Scope, Source
from hookwright.text import short_path

_MANIFEST = os.path.join(".claude-plugin", "plugin.json")
_STANDARD_HOOKS = os.path.join("hooks", "hooks.json")


class Enabled(msgspec.Struct, frozen=True):
    """An enabled plugin."""

    plugin: Plugin
    #: Supplied by the project, or enabled only by the project.
    from_project: bool = False
    #: Enabled by a managed file, so that lower scopes cannot disable its hooks.
    forced: bool = False


class Plugins(msgspec.Struct, frozen=True):
    """All enabled plugins, and problems such as a plugin that cannot be found."""

    enabled: tuple[Enabled, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def forced_roots(self) -> frozenset[str]:
        """The roots of plugins that managed files enable."""
        return frozenset(item.plugin.root for item in self.enabled if item.forced)


def find_plugins(
    files: Sequence[Declared], settings: Settings, locations: Locations, plugin_dirs: Iterable[str], cwd: str
) -> Plugins:
    """Find the plugins enabled by settings and those named on the command line.

    Law: `enabledPlugins` is a scalar per plugin. A plugin that only an untrusted project file enables is also listed,
    so that it can be reviewed; like every plugin that only the project enables, it belongs to the project.
    """
    found: list[Enabled] = []
    reports: list[Diagnostic] = []
    installed, broken = _installed(locations)
    reports += broken
    for name, source in _asked_for(files, settings).items():
        root = _root_of(name, installed.get(name), locations)
        if root is None:
            message = f"the plugin {name} is enabled and not installed. Install it, or remove it from enabledPlugins."
            reports.append(Diagnostic("plugin-unreadable", message, source, Severity.WARNING))
            continue
        own = source.scope in (Scope.PROJECT, Scope.LOCAL) or is_inside(root, locations.project_dir)
        options = settings.plugin_options.get(name, ())
        plugin = Plugin(_name(root, name.split("@")[0]), root, _data_dir(name, locations), options)
        found.append(Enabled(plugin, own, source.scope is Scope.MANAGED))
    for folder in plugin_dirs:
        root = os.path.abspath(os.path.join(cwd, folder))
        if not os.path.isdir(root):
            raise ConfigError(f"--plugin-dir {folder}: no such directory.")
        name = _name(root, os.path.basename(root))
        plugin = Plugin(name, root, _data_dir(name, locations), settings.plugin_options.get(name, ()))
        found.append(Enabled(plugin, is_inside(root, locations.project_dir)))
    return Plugins(tuple(found), tuple(reports))


def _asked_for(files: Sequence[Declared], settings: Settings) -> dict[str, Source]:
    """Return each enabled plugin and the file that enables it: managed, else the user's, else the project's."""
    strength = (Scope.LOCAL, Scope.PROJECT, Scope.USER, Scope.FLAG, Scope.MANAGED)
    asked: dict[str, Source] = {}
    for file in sorted(files, key=lambda file: strength.index(file.origin.scope)):
        for name, on in file.enabled_plugins.items():
            pending = not file.effective and name not in settings.enabled_plugins
            if on and (pending or settings.enabled_plugins.get(name)):
                asked[name] = file.origin
    return asked


def _installed(locations: Locations) -> tuple[Mapping[str, Json], list[Diagnostic]]:
    """Read installed_plugins.json: one record per plugin in its first version, a list of records in its second."""
    path = os.path.join(locations.config_dir, "plugins", "installed_plugins.json")
    tree, reports = read_tree(path, Source(Scope.PLUGIN, path))
    plugins = tree.value.get("plugins") if tree is not None and isinstance(tree.value, dict) else None
    return (plugins if isinstance(plugins, dict) else {}), reports


def _root_of(name: str, records: Any, locations: Locations) -> str | None:
    """Return the installation for this project, else the user's, else the newest in the cache."""
    folder = os.path.join(locations.config_dir, "plugins")
    for record in sorted(_records(records), key=lambda record: _fitness(record, locations), reverse=True):
        path = record.get("installPath")
        if isinstance(path, str) and _fitness(record, locations):
            root = os.path.abspath(os.path.join(folder, path))
            if os.path.isdir(root):
                return root
    plugin, _, marketplace = name.partition("@")
    if not re.fullmatch(r"[\w.-]+", plugin) or not re.fullmatch(r"[\w.-]+", marketplace):
        return None
    cache = os.path.join(folder, "cache", marketplace, plugin)
    try:
        versions = sorted((entry.name for entry in os.scandir(cache) if entry.is_dir()), key=_version)
    except OSError:
        return None
    return os.path.join(cache, versions[-1]) if versions else None


def _records(records: Any) -> list[dict[str, Json]]:
    several = records if isinstance(records, list) else [records]
    return [record for record in several if isinstance(record, dict)]


def _fitness(record: dict[str, Json], locations: Locations) -> int:
    """Return the rank of a record: 2 for this project, 1 for every project, 0 for another project."""
    project = record.get("projectPath")
    if isinstance(project, str):
        return 2 if os.path.realpath(project) == locations.project_dir else 0
    return 1


def _version(name: str) -> tuple[tuple[int, int | str], ...]:
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in re.findall(r"\d+|[A-Za-z]+", name))


def _data_dir(name: str, locations: Locations) -> str:
    """Return the data folder of a plugin; special characters in its name become dashes."""
    return os.path.join(locations.config_dir, "plugins", "data", re.sub(r"[^a-zA-Z0-9_-]", "-", name))


def _name(root: str, fallback: str) -> str:
    tree, _ = read_tree(os.path.join(root, _MANIFEST), Source(Scope.PLUGIN))
    name = tree.value.get("name") if tree is not None and isinstance(tree.value, dict) else None
    return name if isinstance(name, str) and name else fallback


def plugin_hooks(enabled: Enabled, cwd: str) -> Found:
    """Read the hooks of one plugin: its standard file, then those its manifest names or contains."""
    root = enabled.plugin.root
    found: list[Found] = []

    def origin(path: str) -> Source:
        return Source(
            Scope.PLUGIN,
            short_path(path, cwd),
            from_project=enabled.from_project,
            plugin=enabled.plugin,
        )

    standard = os.path.join(root, _STANDARD_HOOKS)
    found.append(_hooks_file(standard, origin(standard)))
    path = os.path.join(root, _MANIFEST)
    manifest, reports = read_tree(path, origin(path))
    found.append(Found((), tuple(reports)))
    if manifest is not None:
        found.append(_manifest_hooks(manifest, origin(path), root, origin))
    groups = tuple(group for part in found for group in part.groups)
    return Found(groups, tuple(report for part in found for report in part.diagnostics))


def _manifest_hooks(manifest: Tree, source: Source, root: str, origin: Any) -> Found:
    declared = manifest.value.get("hooks") if isinstance(manifest.value, dict) else None
    if declared is None:
        return Found()
    if isinstance(declared, dict):
        return parse_hooks(manifest, source, ("hooks", "hooks") if "hooks" in declared else ("hooks",))
    reports: list[Diagnostic] = []
    parts: list[Found] = []
    for named in declared if isinstance(declared, list) else [declared]:
        path = os.path.normpath(os.path.join(root, named)) if isinstance(named, str) else ""
        at = at_place(source, manifest, ("hooks",))
        if not path or not is_inside(path, root):
            message = f"{shown(named)} is not a path inside the plugin. Write one, a list of them, or the hooks object."
            reports.append(Diagnostic("plugin-unreadable", message, at))
        elif path == os.path.join(root, _STANDARD_HOOKS):
            message = f"{shown(named)} is loaded anyway, and only once. Remove `hooks` from the manifest."
            reports.append(Diagnostic("duplicate-hooks-file", message, at, Severity.WARNING))
        elif not os.path.isfile(path):
            reports.append(Diagnostic("plugin-unreadable", f"{shown(named)} does not exist. Write its path.", at))
        else:
            parts.append(_hooks_file(path, origin(path)))
    groups = tuple(group for part in parts for group in part.groups)
    return Found(groups, (*reports, *(report for part in parts for report in part.diagnostics)))


def _hooks_file(path: str, source: Source) -> Found:
    tree, reports = read_tree(path, source)
    if tree is None:
        return Found((), tuple(reports))
    value = tree.value
    bare = isinstance(value, dict) and "hooks" not in value and any(key in CATALOGUE for key in value)
    if not isinstance(value, dict):
        reports.append(Diagnostic("not-an-object", f"{shown(value)} is {kind_of(value)}; write an object.", source))
    elif "modules" in value:
        message = "`modules` are JavaScript functions, which Hookwright does not run."
        reports.append(Diagnostic("unknown-key", message, at_place(source, tree, ("modules",)), Severity.WARNING))
    found = parse_hooks(tree, source, () if bare else ("hooks",))
    return Found(found.groups, (*reports, *found.diagnostics))
