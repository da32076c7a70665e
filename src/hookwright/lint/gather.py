"""From paths on the command line to everything the rules check."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from hookwright.config.files import Unreadable, read_bytes
from hookwright.config.frontmatter import ComponentFile, find_components, read_frontmatter
from hookwright.config.jsonfile import Broken, JsonFault, Path, parse_json, shown_pointer
from hookwright.config.locations import Locations, Surroundings, locate
from hookwright.config.parse import Found, parse_hooks
from hookwright.config.plugins import find_plugins
from hookwright.config.scripts import Reach
from hookwright.config.settings import SettingEffect, declare, merge
from hookwright.errors import ConfigError
from hookwright.lint.subject import CheckedHook, CheckOptions, Document, Role, Subject
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Component, Plugin, Scope, Source

_MANIFEST = os.path.join(".claude-plugin", "plugin.json")
_STANDARD_HOOKS = os.path.join("hooks", "hooks.json")
#: Scopes that belong to the project itself.
_OWN = ("project", "local")


class CheckScope(msgspec.Struct, frozen=True, kw_only=True):
    """What to check: paths, and how far beyond the project."""

    paths: tuple[str, ...] = ()
    user: bool = False
    everything: bool = False


def gather(wanted: CheckScope, options: CheckOptions, around: Surroundings) -> Subject:
    """Read every requested document; raise ConfigError for a path that is not one."""
    found: dict[str, Document] = {}
    projects: list[str] = []
    plugins: list[Plugin] = []
    for path in wanted.paths or (".",):
        full = os.path.abspath(os.path.join(around.cwd, path))
        if os.path.isdir(full):
            projects += [] if _is_plugin(full) else [full]
            documents = _directory(full, wanted, around)
        elif os.path.isfile(full):
            documents = _file(full, around)
        else:
            raise ConfigError(f"{path}: no such file or directory.")
        for document in documents:
            found.setdefault(document.path, document)
    for document in found.values():
        if document.origin.plugin is not None and document.origin.plugin not in plugins:
            plugins.append(document.origin.plugin)
    hooks = tuple(hook for document in found.values() for hook in _hooks(document, options))
    return Subject(tuple(found.values()), hooks, options, tuple(projects), tuple(plugins))


# ── directories ─────────────────────────────────────────────────────────────


def _is_plugin(directory: str) -> bool:
    manifest = os.path.isfile(os.path.join(directory, _MANIFEST))
    standard = os.path.isfile(os.path.join(directory, _STANDARD_HOOKS))
    return manifest or (standard and not os.path.isdir(os.path.join(directory, ".claude")))


def _directory(directory: str, wanted: CheckScope, around: Surroundings) -> Iterator[Document]:
    if _is_plugin(directory):
        yield from _plugin(directory, around)
        if not os.path.isdir(os.path.join(directory, ".claude")):
            return
    sources = (*_OWN, "user") if wanted.user or wanted.everything else _OWN
    locations = locate(directory, around, sources=sources)
    documents = [
        _settings(file.path, file.scope, _reach(locations))
        for file in locations.files
        if (wanted.everything or file.scope is not Scope.MANAGED) and os.path.lexists(file.path)
    ]
    yield from documents
    yield from _components(os.path.join(locations.project_dir, ".claude"), _reach(locations), from_project=True)
    if wanted.user or wanted.everything:
        yield from _components(locations.config_dir, _reach(locations), from_project=False)
    if wanted.everything:
        yield from _enabled_plugins(documents, locations, around)


def _reach(locations: Locations) -> Reach:
    return Reach(locations.project_dir, locations.start_dir, locations.home)


def _enabled_plugins(documents: Sequence[Document], locations: Locations, around: Surroundings) -> Iterator[Document]:
    declared = [document.declared for document in documents if document.declared is not None]
    for item in find_plugins(declared, merge(declared), locations, (), around.cwd).enabled:
        yield from _plugin(item.plugin.root, around, item.plugin)


def _plugin(root: str, around: Surroundings, plugin: Plugin | None = None) -> Iterator[Document]:
    """Read a plugin: its manifest, its hooks files, its skills."""
    manifest_path = os.path.join(root, _MANIFEST)
    reach = Reach(root, root, around.home, root)
    plugin = plugin if plugin is not None else Plugin(_plugin_name(root), root, "")
    named = [os.path.join(root, _STANDARD_HOOKS)]
    if os.path.lexists(manifest_path):
        manifest = _json(manifest_path, Role.MANIFEST, Source(Scope.PLUGIN, manifest_path, plugin=plugin), reach)
        yield manifest
        declared = manifest.value.get("hooks")
        items = declared if isinstance(declared, list) else [declared]
        named += [os.path.normpath(os.path.join(root, item)) for item in items if isinstance(item, str)]
    for path in dict.fromkeys(named):
        if os.path.lexists(path):
            yield _json(path, Role.PLUGIN_HOOKS, Source(Scope.PLUGIN, path, plugin=plugin), reach)
    yield from _components(root, reach, from_project=True, plugin=plugin)


def _plugin_name(root: str) -> str:
    try:
        parsed = parse_json(read_bytes(os.path.join(root, _MANIFEST)))
    except OSError:
        return os.path.basename(root)
    value = None if isinstance(parsed, Broken) else parsed.value
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name else os.path.basename(root)


def _components(
    directory: str, reach: Reach, *, from_project: bool, plugin: Plugin | None = None
) -> Iterator[Document]:
    for file in find_components(directory, from_project=from_project, plugin=plugin):
        document = _component(file, reach)
        if document is not None:
            yield document


# ── single files ────────────────────────────────────────────────────────────


def _file(path: str, around: Surroundings) -> Iterator[Document]:
    """Read one file by what its name and its place say about it."""
    folder, name = os.path.split(path)
    if name.endswith(".md"):
        project = _above(folder, ".claude") or folder
        kind = "skill" if name == "SKILL.md" else "agent"
        document = _component(ComponentFile(path, kind, True), Reach(project, project, around.home))
        if document is not None:
            yield document
        return
    if not name.endswith(".json"):
        raise ConfigError(f"{path}: not a settings file (.json), a skill or agent (.md), or a directory.")
    plugin_root = os.path.dirname(folder)
    if (name == "hooks.json" and os.path.basename(folder) == "hooks") or os.path.basename(folder) == ".claude-plugin":
        yield from (item for item in _plugin(plugin_root, around) if item.path == path)
        return
    project = os.path.dirname(folder) if os.path.basename(folder) == ".claude" else folder
    scope = Scope.LOCAL if name == "settings.local.json" else Scope.PROJECT
    if os.path.realpath(folder) == os.path.realpath(around.config_dir):
        scope = Scope.USER
    elif name.startswith("managed-settings") or os.path.basename(folder) == "managed-settings.d":
        scope = Scope.MANAGED
    yield _settings(path, scope, Reach(project, project, around.home))


def _above(folder: str, name: str) -> str | None:
    """Find the directory that holds a parent of a certain name."""
    while folder != os.path.dirname(folder):
        if os.path.basename(folder) == name:
            return os.path.dirname(folder)
        folder = os.path.dirname(folder)
    return None


def _settings(path: str, scope: Scope, reach: Reach) -> Document:
    source = Source(scope, path, from_project=scope in (Scope.PROJECT, Scope.LOCAL))
    return _json(path, Role.SETTINGS, source, reach)


def _read(path: str) -> tuple[bytes, Broken | None]:
    try:
        return read_bytes(path), None
    except FileNotFoundError:
        return b"", Broken((JsonFault("unreadable-file", "a link that leads nowhere.", 1, 1),))
    except Unreadable as error:
        return b"", Broken((JsonFault("unreadable-file", f"cannot be read: {error}.", 1, 1),))


def _json(path: str, role: Role, source: Source, reach: Reach) -> Document:
    data, broken = _read(path)
    parsed = broken if broken is not None else parse_json(data)
    text = data.decode("utf-8-sig", "replace")
    if isinstance(parsed, Broken):
        return Document(path, text, role, source, parsed, ("hooks",), Found(), reach)
    at = _hooks_at(parsed.value, role)
    effect = SettingEffect.KNOWN if source.scope in (Scope.PROJECT, Scope.LOCAL) else SettingEffect.FULL
    declared = declare(parsed, source, effect) if role is Role.SETTINGS else None
    found = parse_hooks(parsed, source, at) if at is not None else Found()
    if declared is not None:
        found = msgspec.structs.replace(found, diagnostics=(*declared[1], *found.diagnostics))
    where = ("hooks",) if at is None else at
    own = declared[0] if declared is not None else None
    return Document(path, text, role, source, parsed, where, found, reach, own)


def _hooks_at(value: Json, role: Role) -> Path | None:
    """Return the path of the hooks object; None when the file only names other files."""
    if not isinstance(value, dict):
        return None
    if role is Role.MANIFEST:
        declared = value.get("hooks")
        if not isinstance(declared, dict):
            return None
        return ("hooks", "hooks") if isinstance(declared.get("hooks"), dict) else ("hooks",)
    if role is Role.PLUGIN_HOOKS and "hooks" not in value and any(key in CATALOGUE for key in value):
        return ()
    return ("hooks",)


def _component(file: ComponentFile, reach: Reach) -> Document | None:
    """Read a skill or an agent; None when its head declares no hooks and is whole."""
    source = Source(Scope.COMPONENT, file.path, from_project=file.from_project, plugin=file.plugin)
    head = read_frontmatter(file.path, source)
    text = _read(file.path)[0].decode("utf-8", "replace")
    if head.tree is None:
        faults = tuple(
            JsonFault(item.code, item.message, item.source.line if item.source else 1, 1) for item in head.diagnostics
        )
        if not faults or "hooks:" not in text:
            return None
        return Document(file.path, text, Role.COMPONENT, source, Broken(faults), ("hooks",), Found(), reach)
    if "hooks" not in head.data:
        return None
    named = head.data.get("name")
    component = Component(file.kind, named if isinstance(named, str) else file.name)
    origin = msgspec.structs.replace(source, component=component)
    found = parse_hooks(head.tree, origin)
    return Document(file.path, text, Role.COMPONENT, origin, head.tree, ("hooks",), found, reach)


# ── hooks ───────────────────────────────────────────────────────────────────


def _hooks(document: Document, options: CheckOptions) -> Iterator[CheckedHook]:
    """Join each parsed handler with its place in the document."""
    parsed = {handler.source.pointer: (group, handler) for group in document.found.groups for handler in group.handlers}
    for group_at, at, entry in raw_handlers(document):
        known = parsed.get(shown_pointer(at))
        if known is not None:
            yield CheckedHook(document, known[0], known[1], group_at, at, entry, options)


def raw_handlers(document: Document) -> Iterable[tuple[Path, Path, dict[str, Json]]]:
    """Yield the handlers as written: (path of the group, path of the handler, entry)."""
    for event, groups in document.events.items():
        for index, group in enumerate(groups if isinstance(groups, list) else []):
            if isinstance(group, dict):
                yield from _entries((*document.at, event, index), group)


def _entries(at: Path, group: dict[str, Json]) -> Iterator[tuple[Path, Path, dict[str, Json]]]:
    if "hooks" not in group:
        yield at, at, group
    handlers = group.get("hooks")
    for number, entry in enumerate(handlers if isinstance(handlers, list) else []):
        if isinstance(entry, dict):
            yield at, (*at, "hooks", number), entry
