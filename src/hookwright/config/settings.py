"""The keys of a settings file other than `hooks`, checked one by one and merged by fixed laws."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from hookwright.config.fields import Wrong, flag, mapping, shown, text, texts, wrong_type
from hookwright.config.jsonfile import Path, Tree
from hookwright.config.parse import at_place
from hookwright.config.reserved import Variable, reserved_mode, variable_kind
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import Scope, Source

#: From weakest to strongest: the scalar of a later scope wins.
PRECEDENCE = (Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.FLAG, Scope.MANAGED)
#: Keys that are not settings.
_APART = frozenset({"hooks", "$schema"})

#: What is reported of a key in a file of a project that is not trusted.
UNTIL_TRUSTED = "has no effect until the project is trusted"


class Sourced(msgspec.Struct, frozen=True):
    """A string and where it is written: a permission rule, a directory."""

    text: str
    source: Source


class Switch(msgspec.Struct, frozen=True):
    """A boolean and where its effective value is written."""

    on: bool
    source: Source


class PermissionSettings(msgspec.Struct, frozen=True):
    """Permission rules of all files, as written; a rule's anchor is in its source."""

    allow: tuple[Sourced, ...] = ()
    ask: tuple[Sourced, ...] = ()
    deny: tuple[Sourced, ...] = ()
    additional_directories: tuple[Sourced, ...] = ()
    default_mode: str | None = None


class SettingEffect(enum.Enum):
    """How far the settings of a file take effect."""

    #: Not at all: the file of an untrusted project.
    NONE = frozenset[Variable]()
    #: A trusted project: of `env` the names on the allowlist.
    PROJECT = frozenset({Variable.HARMLESS})
    #: A project trusted for this run as a whole: all but variables that load code.
    KNOWN = frozenset({Variable.HARMLESS, Variable.UNKNOWN})
    #: A project whose other variables are trusted as well.
    VARIABLES = frozenset({Variable.HARMLESS, Variable.UNKNOWN, Variable.LOADS_CODE})
    #: The user's or the administrator's own file.
    FULL = frozenset(Variable)


class Declared(msgspec.Struct, frozen=True):
    """The valid settings of one file."""

    origin: Source
    #: False for a file of an untrusted project: it is listed, and nothing in it takes effect.
    effective: bool
    raw: Mapping[str, Json]
    env: Mapping[str, str]
    permissions: PermissionSettings
    model: str | None
    disable_all_hooks: Switch | None
    allow_managed_hooks_only: Switch | None
    http_urls: tuple[str, ...] | None
    http_env_vars: tuple[str, ...] | None
    enabled_plugins: Mapping[str, bool]
    plugin_options: Mapping[str, tuple[tuple[str, str], ...]]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The merged settings of all files that take effect, without hooks."""

    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    permissions: PermissionSettings = PermissionSettings()
    model: str | None = None
    #: The effective `disableAllHooks`, or None if no file sets it.
    disable_all_hooks: Switch | None = None
    #: Set if a managed file only allows managed hooks.
    allow_managed_hooks_only: Switch | None = None
    #: None allows every URL.
    allowed_http_hook_urls: tuple[str, ...] | None = None
    http_hook_allowed_env_vars: tuple[str, ...] | None = None
    enabled_plugins: Mapping[str, bool] = msgspec.field(default_factory=dict)
    plugin_options: Mapping[str, tuple[tuple[str, str], ...]] = msgspec.field(default_factory=dict)
    #: Every key except `hooks`, merged: the strongest scalar, lists joined, objects key by key.
    raw: Mapping[str, Json] = msgspec.field(default_factory=dict)


def merge(files: Iterable[Declared]) -> Settings:
    """Merge the files that take effect.

    Law: a scalar is taken from the strongest scope that sets it, managed > flag > local > project > user, and among
    files of one scope from the last. `env` follows that law variable by variable, `enabledPlugins` plugin by plugin.
    Lists of all files are joined. `allowManagedHooksOnly` only applies in managed files. A file that takes no effect
    adds nothing.
    """
    found = sorted((file for file in files if file.effective), key=lambda file: PRECEDENCE.index(file.origin.scope))
    env: dict[str, str] = {}
    plugins: dict[str, bool] = {}
    options: dict[str, tuple[tuple[str, str], ...]] = {}
    raw: dict[str, Json] = {}
    for file in found:
        env |= file.env
        plugins |= file.enabled_plugins
        options |= file.plugin_options
        raw = _joined(raw, file.raw)
    return Settings(
        env=env,
        permissions=_merged_permissions(found),
        model=_last(file.model for file in found),
        disable_all_hooks=_last(file.disable_all_hooks for file in found),
        allow_managed_hooks_only=_last(file.allow_managed_hooks_only for file in found),
        allowed_http_hook_urls=_united(file.http_urls for file in found),
        http_hook_allowed_env_vars=_united(file.http_env_vars for file in found),
        enabled_plugins=plugins,
        plugin_options=options,
        raw=raw,
    )


def hold_by(settings: Settings, forced: frozenset[str]) -> Callable[[Handler], tuple[SkipReason, str] | None]:
    """Return the test for switches that hold a handler back; `forced` are the plugins managed files enable.

    Law: an effective `disableAllHooks: true` of a managed file holds every handler; of any other file all but managed
    handlers and those of forced plugins. `allowManagedHooksOnly` holds all but managed handlers, forced plugins and
    handlers registered in code.
    """
    disabled = settings.disable_all_hooks
    managed_only = settings.allow_managed_hooks_only

    def hold(handler: Handler) -> tuple[SkipReason, str] | None:
        source = handler.source
        managed = source.scope is Scope.MANAGED or (source.plugin is not None and source.plugin.root in forced)
        if disabled is not None and disabled.on and not (managed and disabled.source.scope is not Scope.MANAGED):
            return SkipReason.DISABLED, f"disableAllHooks is true in {disabled.source}"
        if managed_only is not None and managed_only.on and not managed and source.scope is not Scope.PROGRAM:
            return SkipReason.MANAGED_ONLY, f"allowManagedHooksOnly is set in {managed_only.source}"
        return None

    return hold


def declare(tree: Tree, origin: Source, effect: SettingEffect) -> tuple[Declared, tuple[Diagnostic, ...]]:
    """Check the keys of one file; report invalid ones and, in an untrusted file, ignored ones."""
    effective = effect is not SettingEffect.NONE
    reader = _SettingsReader(tree, origin, effect)
    declared = Declared(
        origin=origin,
        effective=effective,
        raw=setting_keys(tree),
        env=reader.env(),
        permissions=reader.permissions(),
        model=reader.typed("model", text),
        disable_all_hooks=reader.switch("disableAllHooks"),
        allow_managed_hooks_only=reader.managed_only(),
        http_urls=reader.strings("allowedHttpHookUrls"),
        http_env_vars=reader.strings("httpHookAllowedEnvVars"),
        enabled_plugins=reader.plugins(),
        plugin_options=reader.plugin_options(),
    )
    reader.misplaced()
    if not effective:
        reader.ignored(declared.raw)
    return declared, tuple(reader.diagnostics)


def setting_keys(tree: Tree) -> dict[str, Json]:
    """Return what a file sets other than hooks."""
    return {key: item for key, item in tree.value.items() if key not in _APART} if isinstance(tree.value, dict) else {}


class _SettingsReader:
    """One pass over the keys of one file."""

    def __init__(self, tree: Tree, origin: Source, effect: SettingEffect) -> None:
        self.tree = tree
        self.origin = origin
        self.effect = effect
        self.effective = effect is not SettingEffect.NONE
        self.top: dict[str, Json] = tree.value if isinstance(tree.value, dict) else {}
        self.diagnostics: list[Diagnostic] = []
        if not isinstance(tree.value, dict):
            self.report("not-an-object", (), f"{shown(tree.value)} is not a settings object. Write {{}}.")

    def report(self, code: str, at: Path, message: str, severity: Severity = Severity.ERROR) -> None:
        """Report a problem at one place."""
        self.diagnostics.append(Diagnostic(code, message, at_place(self.origin, self.tree, at), severity))

    def typed(self, key: str, shape: Callable[[str, Json], Json], within: Path = ()) -> Json:
        """Return an optional key of one shape; None if it is absent or invalid."""
        holder: Json = self.top
        for step in within:
            holder = holder[step]
        if key not in holder:
            return None
        value = shape(key, holder[key])
        if isinstance(value, Wrong):
            self.report(value.code, (*within, key), value.message)
            return None
        return value

    def switch(self, key: str) -> Switch | None:
        """Return a boolean with its place."""
        value = self.typed(key, flag)
        return None if value is None else Switch(value, at_place(self.origin, self.tree, (key,)))

    def managed_only(self) -> Switch | None:
        """Return `allowManagedHooksOnly`; an invalid value means true."""
        key = "allowManagedHooksOnly"
        if key not in self.top:
            return None
        if self.origin.scope is not Scope.MANAGED:
            self.report("setting-ignored", (key,), f"`{key}` only applies in managed settings.", Severity.WARNING)
            return None
        found = self.switch(key)
        return found if found is not None else Switch(True, at_place(self.origin, self.tree, (key,)))

    def strings(self, key: str, within: Path = ()) -> tuple[str, ...] | None:
        """Return a list of strings without invalid elements; a value that is not a list allows nothing."""
        holder: Json = self.top
        for step in within:
            holder = holder[step]
        if key not in holder:
            return None
        if not isinstance(holder[key], list):
            self.typed(key, texts, within)
            return ()
        for index, item in enumerate(holder[key]):
            if not isinstance(item, str):
                wrong = wrong_type(f"each element of {key}", item, "a string", "It is ignored.")
                self.report(wrong.code, (*within, key, index), wrong.message)
        return tuple(item for item in holder[key] if isinstance(item, str))

    def env(self) -> dict[str, str]:
        """Return variables; one that is not a string is ignored, the others are kept."""
        found = self.typed("env", mapping)
        variables: dict[str, str] = {}
        for name, value in (found or {}).items():
            checked = text(name, value)
            if isinstance(checked, Wrong):
                self.report(checked.code, ("env", name), checked.message)
            elif not name or "=" in name or "\0" in name + checked:
                self.report("bad-value", ("env", name), f"{shown(name)} is not an environment variable. Remove it.")
            elif (kind := variable_kind(name, checked)) is Variable.RESERVED and self._of_project:
                self._reserved(("env", name), f"a project may not set {name}")
            elif kind not in self.effect.value:
                self._needs_a_yes(name, kind)
            else:
                variables[name] = checked
        return variables

    def permissions(self) -> PermissionSettings:
        """Return permission rules with their places."""
        if self.typed("permissions", mapping) is None:
            return PermissionSettings()
        lists = {
            name: self._sourced(key)
            for key, name in (
                ("allow", "allow"),
                ("ask", "ask"),
                ("deny", "deny"),
                ("additionalDirectories", "additional_directories"),
            )
        }
        mode = self.typed("defaultMode", text, ("permissions",))
        if self._of_project and mode is not None and reserved_mode(mode):
            self._reserved(("permissions", "defaultMode"), f"a project may not choose {mode}")
            mode = None
        return PermissionSettings(**lists, default_mode=mode)

    @property
    def _of_project(self) -> bool:
        return self.origin.scope in (Scope.PROJECT, Scope.LOCAL)

    def _reserved(self, at: Path, why: str) -> None:
        """Report a key that could redirect requests, programs or trust, and is ignored in a project's files."""
        if self.effective:  # an untrusted file is ignored and reported as a whole
            self.report(
                "reserved-setting", at, f"{why}, trusted or not. Set it in your own settings.", Severity.WARNING
            )

    def _needs_a_yes(self, name: str, kind: Variable) -> None:
        if self.effective:
            why = "can make other programs load code" if kind is Variable.LOADS_CODE else "may change other programs"
            text = f"{name} {why}, so it needs its own yes. Review it with: hookwright trust"
            self.report("setting-ignored", ("env", name), text, Severity.WARNING)

    def _sourced(self, key: str) -> tuple[Sourced, ...]:
        found = self.strings(key, ("permissions",)) or ()
        items = self.top["permissions"].get(key)
        places = [index for index, item in enumerate(items if isinstance(items, list) else []) if isinstance(item, str)]
        return tuple(
            Sourced(item, at_place(self.origin, self.tree, ("permissions", key, index)))
            for item, index in zip(found, places, strict=True)
        )

    def plugins(self) -> dict[str, bool]:
        """Return `enabledPlugins`: true, or a list of versions, enables."""
        enabled: dict[str, bool] = {}
        for name, value in (self.typed("enabledPlugins", mapping) or {}).items():
            if isinstance(value, bool | list):
                enabled[name] = value is not False
            else:
                wrong = wrong_type(name, value, "true or false", "Write true.")
                self.report(wrong.code, ("enabledPlugins", name), wrong.message)
        return enabled

    def plugin_options(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Return `pluginConfigs.<id>.options`, scalars only."""
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        for name, config in (self.typed("pluginConfigs", mapping) or {}).items():
            options = config.get("options") if isinstance(config, dict) else None
            if isinstance(options, dict):
                found[name] = tuple((key, _option(value)) for key, value in options.items())
        return found

    def misplaced(self) -> None:
        """Report keys that belong inside `hooks` and are next to it."""
        for key in self.top:
            if key in CATALOGUE:
                message = f"{key} is outside `hooks`, so its hooks never run. Move it into `hooks`."
                self.report("unknown-key", (key,), message, Severity.WARNING)
            elif key != "hooks" and key.lower() in ("hooks", "hook"):
                message = f"`{key}` is not a settings key and is ignored. Did you mean `hooks`?"
                self.report("unknown-key", (key,), message, Severity.WARNING)

    def ignored(self, keys: Iterable[str]) -> None:
        """Report the keys of an untrusted file."""
        for key in keys:
            message = f"`{key}` {UNTIL_TRUSTED}. Review it with: hookwright trust"
            self.report("setting-ignored", (key,), message, Severity.WARNING)


def _option(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _last(values: Iterable[Json]) -> Json:
    found = None
    for value in values:
        if value is not None:
            found = value
    return found


def _united(lists: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    found = [items for items in lists if items is not None]
    return tuple(dict.fromkeys(item for items in found for item in items)) if found else None


def _merged_permissions(files: Sequence[Declared]) -> PermissionSettings:
    def joined(name: str) -> tuple[Sourced, ...]:
        return tuple(item for file in files for item in getattr(file.permissions, name))

    return PermissionSettings(
        joined("allow"),
        joined("ask"),
        joined("deny"),
        joined("additional_directories"),
        _last(file.permissions.default_mode for file in files),
    )


def _joined(weaker: Json, stronger: Json) -> Json:
    if isinstance(weaker, dict) and isinstance(stronger, Mapping):
        both = {key: _joined(weaker[key], value) if key in weaker else value for key, value in stronger.items()}
        return {**weaker, **both}
    if isinstance(weaker, list) and isinstance(stronger, list):
        return weaker + [item for item in stronger if item not in weaker]
    return stronger
