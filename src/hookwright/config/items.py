"""What there is to trust: hooks with the files they run, settings, variables, agents; each with its digest."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.config.files import Unreadable, is_inside, read_bytes
from hookwright.config.reserved import Variable, variable_kind
from hookwright.config.scripts import MAX_FILES, Reach, Runs, ScriptRole, TooManyFiles, module_names, what_runs
from hookwright.config.truststore import FileCopy, Record
from hookwright.errors import TrustError
from hookwright.protocol.handlers import Handler, MatcherGroup
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope, Source
from hookwright.storage import StrictStamp, strict_stamp
from hookwright.text import short_path

ABSENT, DIRECTORY = "absent", "directory"
#: Larger files cannot be bound, so hooks that run them cannot be trusted.
_MAX_BOUND = 64 * 1024 * 1024
#: Larger files are bound without a copy; a later diff only shows that they changed.
_MAX_COPY = 64 * 1024


class Item(msgspec.Struct, frozen=True):
    """One thing to trust: what it is, what it runs, and the digest over both."""

    source: Source
    #: Empty for what is not a hook.
    event: str
    matcher: str | None
    label: str
    #: The configuration entry in normal form, for the digest and for a diff.
    entry: str
    files: tuple[FileCopy, ...]
    digest: str
    #: Why this item has no digest, so that it can never be trusted.
    unbound: str = ""
    #: What it runs that is not bound, so that it may change without notice.
    notes: tuple[str, ...] = ()
    #: Why a yes to everything does not include this item.
    caution: str = ""
    #: The directory whose trust this is; empty for the project of the session.
    project: str = ""
    #: Further files that declare a part of it.
    others: tuple[Source, ...] = ()

    @property
    def place(self) -> str:
        """The place in the configuration, independent of working directory and line."""
        source = self.source
        owner = source.plugin.name if source.plugin is not None else ""
        part = f"{source.component.kind} {source.component.name}" if source.component is not None else ""
        # The keys of both settings files of a project are one item, whichever of them declares some now.
        scope = source.scope if self.event or source.scope is not Scope.LOCAL else Scope.PROJECT
        return " ".join(filter(None, (scope.value, owner, part, source.pointer)))

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every place that declares it."""
        return (self.source, *self.others)

    @property
    def record(self) -> Record:
        """The decision that trusts this item as it is."""
        if self.unbound:
            raise TrustError(f"{self.source}: cannot be trusted: {self.unbound}")
        return Record(self.digest, self.entry, self.place, self.files)

    @property
    def borrowed(self) -> bool:
        """Whether it is a hook of the user or the administrator that runs files of the project."""
        return bool(self.event) and not self.source.from_project


class Trusted(msgspec.Struct, frozen=True):
    """The user accepted exactly this."""


class New(msgspec.Struct, frozen=True):
    """The user has not accepted any form of this."""


class Changed(msgspec.Struct, frozen=True):
    """The user accepted an earlier form of this."""

    previous: Record


State = Trusted | New | Changed
#: Path → its stamp when it was bound.
Stamps = tuple[tuple[str, StrictStamp | None], ...]


class Bound(msgspec.Struct, frozen=True):
    """A hook, bound to the files it runs."""

    item: Item
    runs: Runs
    #: Every file and list of modules as it was read, also those that do not decide about trust.
    copies: tuple[FileCopy, ...] = ()
    stamps: Stamps = ()
    #: Existing files of the project that it runs, whatever its environment says.
    run: tuple[str, ...] = ()
    #: Existing modules of the project that Python would import.
    modules: tuple[str, ...] = ()

    def as_read(self, reach: Reach) -> bool:
        """Return whether the same files still have the same content."""
        try:
            return _copies(self.runs, reach) == self.copies
        except Unreadable:
            return False


def hook_item(group: MatcherGroup, handler: Handler, reach: Reach) -> Bound:
    """Bind one handler and the files it runs; also return the stamps that show a later change.

    Law: of a handler that came with the project every file is bound. Of another one only the files of the project are:
    its own script is its owner's.
    """
    source = handler.source
    fields = {name: getattr(handler, name) for name in handler.__struct_fields__ if name != "source"}
    if not handler.shadow:
        del fields["mode"]  # so that what was trusted before there were modes still is
    origin = [source.scope, source.plugin.name if source.plugin else None, source.component]
    entry = {"event": group.event, "matcher": group.matcher, "kind": handler.kind, "from": origin, **fields}
    text = msgspec.json.format(msgspec.json.encode(entry, order="sorted"), indent=1).decode()
    if source.root is not None:
        reach = msgspec.structs.replace(reach, plugin_root=source.root)
    found = Runs({}, {}, (), False, ())
    copies: tuple[FileCopy, ...] = ()
    files: tuple[FileCopy, ...] = ()
    stamps: Stamps = ()
    problem = ""
    try:
        found = _own(what_runs(handler, reach, "" if source.from_project else reach.root), handler, reach)
        stamps = _stamps(found)
        copies = _copies(found, reach)
        files = _deciding(copies, found, handler, reach)
    except TooManyFiles:
        problem = f"it names more than {MAX_FILES} files; name them one by one."
    except Unreadable as error:
        problem = f"a file it runs cannot be bound: {error}."
    item = Item(
        source=source,
        event=group.event,
        matcher=group.matcher,
        label=handler.label,
        entry=text,
        files=files,
        digest="" if problem else _digest(text, files),
        unbound=problem,
        notes=found.notes,
        project=reach.project_dir,
    )
    here = [path for path in found.files if os.path.lexists(path) and is_inside(path, reach.root or reach.project_dir)]
    run = tuple(path for path in here if found.files[path] is ScriptRole.RUN)
    return Bound(
        item, found, copies, stamps, run, tuple(path for path in here if found.files[path] is ScriptRole.MODULE)
    )


def _own(found: Runs, handler: Handler, reach: Reach) -> Runs:
    if handler.source.from_project:
        return found
    files = {
        path: role for path, role in found.files.items() if role is not ScriptRole.NAMED and _below(path, reach.root)
    }
    modules = {folder: names for folder, names in found.modules.items() if files and _below(folder, reach.root)}
    return msgspec.structs.replace(found, files=files, modules=modules)


def _below(path: str, root: str) -> bool:
    return bool(root) and is_inside(os.path.dirname(path) if not os.path.lexists(path) else path, root)


def _stamps(found: Runs) -> Stamps:
    paths = list(found.files)
    for folder in found.modules:
        paths.append(folder)
        paths += [os.path.join(folder, os.path.dirname(name)) for name in _listed(found, folder) if "/" in name]
    return tuple((path, strict_stamp(path)) for path in dict.fromkeys(paths))


def _listed(found: Runs, folder: str) -> list[str]:
    names = found.modules[folder]
    return module_names(folder, None if names is None else set(names))


def _copies(found: Runs, reach: Reach) -> tuple[FileCopy, ...]:
    """Read every file, then the names of every folder of modules."""
    files = [_copy(path, reach.project_dir) for path in found.files]
    return (*files, *(_listing(found, folder, reach) for folder in found.modules))


def _deciding(copies: Sequence[FileCopy], found: Runs, handler: Handler, reach: Reach) -> tuple[FileCopy, ...]:
    """Return what trust depends on; what is missing from the start directory must not make it depend on that."""
    home = found.files
    if reach.start_dir != reach.project_dir:
        at_home = msgspec.structs.replace(reach, start_dir=reach.project_dir)
        home = _own(
            what_runs(handler, at_home, "" if handler.source.from_project else reach.root), handler, reach
        ).files
    paths = [*found.files, *(None for _ in found.modules)]
    return tuple(one for path, one in zip(paths, copies, strict=True) if one.digest != ABSENT or path in home)


def _listing(found: Runs, folder: str, reach: Reach) -> FileCopy:
    """Bind the names of modules in a folder: one that appears may be imported instead of another."""
    names = _listed(found, folder)
    text = "".join(f"{name}\n" for name in names)
    name = f"modules in {short_path(folder, reach.project_dir) or '.'}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest() if names else ABSENT
    return FileCopy(name, short_path(os.path.realpath(folder), reach.project_dir), digest, text)


#: The keys of each settings file of a level, by scope.
Keys = Mapping[str, Mapping[str, Json]]


def settings_item(settings: Keys, origins: Mapping[str, Source]) -> Item | None:
    """Bind the settings keys of the project's files; None if they set nothing."""
    set_keys = {scope: keys for scope, keys in settings.items() if keys}
    if not set_keys:
        return None
    label = ", ".join(dict.fromkeys(key for keys in set_keys.values() for key in keys))
    return _declared(set_keys, "settings", [origins[scope] for scope in set_keys], label)


def variables_item(settings: Keys, origins: Mapping[str, Source]) -> Item | None:
    """Bind the variables of the project's files that are not on the allowlist; None if there are none."""
    found: dict[str, dict[str, Json]] = {}
    for scope, keys in settings.items():
        env = keys.get("env")
        wanted = (Variable.UNKNOWN, Variable.LOADS_CODE)
        pairs = env.items() if isinstance(env, dict) else ()
        chosen = {name: value for name, value in pairs if variable_kind(name, str(value)) in wanted}
        if chosen:
            found[scope] = chosen
    if not found:
        return None
    names = list(dict.fromkeys(name for env in found.values() for name in env))
    loads = [name for name in names if variable_kind(name) is Variable.LOADS_CODE]
    caution = (
        f"{', '.join(loads)} can make other programs load code, your own hooks included"
        if loads
        else f"{', '.join(names)} may change what other programs do"
    )
    item = _declared({"env": found}, "env", [origins[scope] for scope in found], f"env {', '.join(names)}")
    return msgspec.structs.replace(item, caution=caution)


def agent_item(name: str, fields: Mapping[str, Json], prompt: str, source: Source) -> Item:
    """Bind what an agent file of the project asks for, with the prompt that would get it."""
    asked = [f"{key} {fields[key]}" for key in AGENT_POWERS if fields.get(key) is not None]
    entry = {"agent": name, "prompt": prompt, **{key: value for key, value in fields.items() if key != "hooks"}}
    return _plain_item(entry, source, f"agent {name}: {', '.join(asked)}")


#: What an agent file of a project may only say when it is trusted.
AGENT_POWERS = ("permissionMode", "model", "isolation")


def _declared(value: Mapping[str, Json], pointer: str, sources: Sequence[Source], label: str) -> Item:
    """Bind what one or two settings files declare together; each of them is named."""
    first, *others = [msgspec.structs.replace(source, pointer=pointer) for source in sources]
    return msgspec.structs.replace(_plain_item(value, first, label), others=tuple(others))


def _plain_item(value: Mapping[str, Json], source: Source, label: str) -> Item:
    text = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1).decode()
    return Item(source, "", None, label, text, (), _digest(text, ()), project=source.project)


def _digest(text: str, files: Sequence[FileCopy]) -> str:
    bound = [text, [(file.path, file.real, file.digest) for file in files]]
    return hashlib.sha256(msgspec.json.encode(bound)).hexdigest()


def _copy(path: str, project_dir: str) -> FileCopy:
    """Read one file as it is now; of a symbolic link, the path and content of its target."""
    name, real = short_path(path, project_dir), short_path(os.path.realpath(path), project_dir)
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return FileCopy(name, real, DIRECTORY)
        data = read_bytes(path, _MAX_BOUND)
    except FileNotFoundError:
        return FileCopy(name, real, ABSENT)
    except OSError as error:
        raise Unreadable(f"{name}: {error}") from None
    digest = hashlib.sha256(data).hexdigest()
    try:
        text = data.decode() if len(data) <= _MAX_COPY else None
    except UnicodeDecodeError:
        text = None
    return FileCopy(name, real, digest, text)


def assess(items: Sequence[Item], records: Sequence[Record]) -> list[State]:
    """Compare items with what was trusted.

    Law: an item whose digest was accepted is trusted, wherever it is declared now. Any other item is a change of a
    record that no present item matches and that has the same entry, else the same place; without one it is new.
    """
    accepted = {record.digest for record in records}
    present = {item.digest for item in items}
    open_ = [record for record in records if record.digest not in present]
    by_entry = {record.entry: record for record in open_}
    by_place = {record.place: record for record in open_}
    states: list[State] = []
    for item in items:
        if item.digest and item.digest in accepted:
            states.append(Trusted())
            continue
        previous = by_entry.get(item.entry) or by_place.get(item.place)
        states.append(Changed(previous) if previous is not None else New())
    return states
