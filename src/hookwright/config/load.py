"""load_hooks: from a directory to its hooks and settings, with every problem found on the way."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from hookwright.config.frontmatter import ComponentFile, find_components
from hookwright.config.items import Item, settings_item, variables_item
from hookwright.config.jsonfile import Broken, Tree, fault_reports, parse_json, read_tree
from hookwright.config.locations import Locations, SettingsFile, Surroundings, anchor, flag_file, locate
from hookwright.config.parse import Found, parse_hooks
from hookwright.config.plugins import Enabled, find_plugins, plugin_hooks
from hookwright.config.scripts import Reach
from hookwright.config.settings import Declared, SettingEffect, Settings, declare, hold_by, merge, setting_keys
from hookwright.config.trust import TrustGate, TrustPolicy
from hookwright.config.truststore import TrustStore
from hookwright.errors import ConfigError
from hookwright.hookset import HookSet
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import Handler, HandlerMode
from hookwright.protocol.host import Host
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import Scope, Source
from hookwright.text import short_path

_PROJECT_SCOPES = (Scope.PROJECT, Scope.LOCAL)


class FileStatus(enum.Enum):
    """The result of looking for a file."""

    READ = "read"
    ABSENT = "absent"
    BROKEN = "ignored"


class FileRead(msgspec.Struct, frozen=True):
    """A settings file, present or not; the path is absolute, and empty for inline settings."""

    path: str
    scope: Scope
    status: FileStatus


class Loaded(msgspec.Struct, frozen=True, eq=False):
    """The loaded configuration of one directory."""

    hooks: HookSet
    settings: Settings
    diagnostics: tuple[Diagnostic, ...]
    project_dir: str
    files: tuple[FileRead, ...]
    #: Checks trust before each run of a project-supplied handler.
    gate: TrustGate
    #: Applies the switches that hold handlers back to hooks that are added later.
    hold: Callable[[Handler], tuple[SkipReason, str] | None]
    plugins: tuple[Enabled, ...]
    locations: Locations
    surroundings: Surroundings

    @property
    def host(self) -> Host:
        """The surroundings of these hooks, as an engine needs them."""
        host = self.surroundings.host(self.project_dir, self.settings.env)
        return msgspec.structs.replace(host, hook_env=self.gate.environment)

    def components(self) -> tuple[ComponentFile, ...]:
        """Return the skills and agents of project, user and plugins; their hooks run while they are active."""
        found: list[ComponentFile] = []
        project = os.path.join(self.project_dir, ".claude")
        if os.path.realpath(project) != os.path.realpath(self.locations.config_dir):
            found += find_components(project, from_project=True)
        found += find_components(self.locations.config_dir)
        for item in self.plugins:
            found += find_components(item.plugin.root, from_project=item.from_project, plugin=item.plugin)
        return tuple(found)


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where hooks are looked for, and what is trusted."""

    project: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(os.environ))
    #: The user's home directory; None for that of the environment.
    home: str | None = None
    #: The directory that relative paths start from; None for that of the process.
    cwd: str | None = None
    #: Values of `--settings`: paths of files, or JSON objects.
    settings: tuple[str, ...] = ()
    #: Values of `--shadow`, written in the same way: their hooks run in shadow mode, and nothing else in them is read.
    shadow: tuple[str, ...] = ()
    #: The sources to read: some of user, project and local; None for all.
    sources: tuple[str, ...] | None = None
    plugin_dirs: tuple[str, ...] = ()
    trust: TrustPolicy | None = None
    #: The folder for trust store and journal; None for the user's.
    state_dir: str | None = None
    #: Only managed hooks, as with `--safe-mode`.
    managed_only: bool = False
    #: The agent whose events these hooks get, as the journal names it.
    agent: str = "hookwright"

    @property
    def surroundings(self) -> Surroundings:
        """The environment, home and directory of a load."""
        return Surroundings.here(self.env, self.home, self.cwd)

    @property
    def state_folder(self) -> str:
        """The folder for trust store and journal."""
        return self.state_dir or self.surroundings.state_dir

    def load(self) -> Loaded:
        """Read the whole configuration."""
        return load_hooks(self)


class _Read(msgspec.Struct, frozen=True):
    """One settings file with its tree and its problems."""

    file: SettingsFile
    origin: Source
    tree: Tree | None
    diagnostics: tuple[Diagnostic, ...]
    status: FileStatus


def load_hooks(places: Places | str = ".") -> Loaded:
    """Load the hooks and settings of a directory; raise ConfigError for a place that must exist and does not."""
    where = Places(project=places) if isinstance(places, str) else places
    around = where.surroundings
    sources = () if where.managed_only else where.sources
    plugin_dirs = () if where.managed_only else where.plugin_dirs
    locations = locate(where.project, around, settings=where.settings, sources=sources)
    read = [_read(file, locations, around.cwd) for file in locations.files]
    shadow_files = [flag_file(value, around.cwd, "--shadow") for value in where.shadow if not where.managed_only]
    shadows = [_read(file, locations, around.cwd) for file in shadow_files]
    policy = where.trust if where.trust is not None else TrustPolicy.from_env(around.env)
    store = TrustStore(os.path.join(where.state_folder, "trust.json"))
    gate = _gate(read, locations, policy, store)
    declared, reports = _declare(read, gate)
    merged = merge(declared)
    plugins = find_plugins(declared, merged, locations, plugin_dirs, around.cwd)
    found = [parse_hooks(item.tree, item.origin) for item in read if item.tree is not None]
    found += [Found((), plugins.diagnostics), *(plugin_hooks(item, around.cwd) for item in plugins.enabled)]
    found += [_in_shadow(parse_hooks(item.tree, item.origin)) for item in shadows if item.tree is not None]
    reports += [report for item in shadows for report in item.diagnostics]
    groups = gate.marked(group for part in found for group in part.groups)
    gate.admit(groups)
    reports += [report for part in found for report in part.diagnostics]
    reports += [*gate.diagnostics(), *_switch_reports(merged)]
    hold = hold_by(merged, plugins.forced_roots)
    return Loaded(
        hooks=HookSet.build(groups, hold),
        settings=merged,
        diagnostics=tuple(reports),
        project_dir=locations.project_dir,
        files=tuple(FileRead(item.file.path, item.file.scope, item.status) for item in (*read, *shadows)),
        gate=gate,
        hold=hold,
        plugins=plugins.enabled,
        locations=locations,
        surroundings=around,
    )


def _in_shadow(found: Found) -> Found:
    """Return what a file declares with every handler in shadow mode."""
    groups = []
    for group in found.groups:
        handlers = tuple(msgspec.structs.replace(handler, mode=HandlerMode.SHADOW) for handler in group.handlers)
        groups.append(msgspec.structs.replace(group, handlers=handlers))
    return Found(tuple(groups), found.diagnostics)


def _read(file: SettingsFile, locations: Locations, cwd: str) -> _Read:
    origin = Source(
        file.scope,
        "--settings" if file.inline is not None else short_path(file.path, cwd),
        from_project=file.scope in _PROJECT_SCOPES,
        anchor=anchor(file, locations),
        project=file.project,
    )
    if file.inline is not None:
        parsed = parse_json(file.inline)
        if isinstance(parsed, Broken):
            raise ConfigError(f"--settings: not valid JSON: {parsed.faults[0].message}")
        return _Read(file, origin, parsed, tuple(fault_reports(parsed, origin)), FileStatus.READ)
    tree, reports = read_tree(file.path, origin)
    if file.scope is Scope.MANAGED and tree is not None and not isinstance(tree.value, dict):
        reports = [Diagnostic("not-an-object", "it is not a settings object.", origin)]
        tree = None
    if file.scope is Scope.MANAGED and tree is None and reports:
        raise ConfigError(
            f"managed settings cannot be used: {reports[0]} Hooks that your administrator requires would be missing, "
            "so nothing starts until the file is repaired or removed."
        )
    absent = tree is None and not reports
    status = FileStatus.ABSENT if absent else FileStatus.BROKEN if tree is None else FileStatus.READ
    return _Read(file, origin, tree, tuple(reports), status)


def _gate(read: Sequence[_Read], locations: Locations, policy: TrustPolicy, store: TrustStore) -> TrustGate:
    fixed = [item for level in _levels(read).values() for item in (level.settings, level.variables) if item is not None]
    reach = Reach(locations.project_dir, locations.start_dir, locations.home, root=locations.root)
    return TrustGate(reach, policy, store, fixed)


class _Level(msgspec.Struct, frozen=True):
    """What is to be trusted of the settings files of one directory, hooks apart."""

    settings: Item | None = None
    variables: Item | None = None


def _levels(read: Sequence[_Read]) -> dict[str, _Level]:
    """Return what is to be trusted of the settings of each level of the project, hooks apart."""
    own = [item for item in read if item.file.scope in _PROJECT_SCOPES and item.tree is not None]
    found = {}
    for level in dict.fromkeys(item.file.project for item in own):
        files = [item for item in own if item.file.project == level]
        keys = {item.file.scope.value: setting_keys(item.tree) for item in files if item.tree is not None}
        origins = {item.file.scope.value: item.origin for item in files}
        found[level] = _Level(settings_item(keys, origins), variables_item(keys, origins))
    return found


def _declare(read: Sequence[_Read], gate: TrustGate) -> tuple[list[Declared], list[Diagnostic]]:
    declared: list[Declared] = []
    reports: list[Diagnostic] = []
    levels = _levels(read)
    for item in read:
        reports += item.diagnostics
        if item.tree is None:
            continue
        effect = SettingEffect.FULL
        if item.file.scope in _PROJECT_SCOPES:
            effect = _effect(levels[item.file.project], gate)
        one, found = declare(item.tree, item.origin, effect)
        declared.append(one)
        reports += found
    return declared, reports


def _effect(level: _Level, gate: TrustGate) -> SettingEffect:
    """Return how far the settings of one level take effect."""
    if level.settings is not None and not gate.trusts(level.settings):
        return SettingEffect.NONE
    if level.variables is not None and gate.trusts(level.variables):
        return SettingEffect.VARIABLES
    return SettingEffect.KNOWN if gate.policy is TrustPolicy.EVERYTHING else SettingEffect.PROJECT


def _switch_reports(settings: Settings) -> list[Diagnostic]:
    found = []
    disabled, managed_only = settings.disable_all_hooks, settings.allow_managed_hooks_only
    if disabled is not None and disabled.on:
        who = "no hook runs" if disabled.source.scope is Scope.MANAGED else "only managed hooks run"
        message = f"disableAllHooks is true, so {who}. Set it to false to use the others."
        found.append(Diagnostic("hooks-disabled", message, disabled.source, Severity.WARNING))
    if managed_only is not None and managed_only.on:
        message = "allowManagedHooksOnly is set, so only managed hooks run. Your administrator decides this."
        found.append(Diagnostic("managed-only", message, managed_only.source, Severity.INFO))
    return found
