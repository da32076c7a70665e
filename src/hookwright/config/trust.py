"""Project-supplied hooks only run if the user trusts them, and trust is bound to content.

An item is one hook (event, matcher, every field of the handler, and the files it runs, see `scripts`) or the settings
keys of the project's files taken together. Its digest covers all of that. A digest the user accepted is trusted,
anything else is not. The trust check only reads the bytes it binds.

The files of a hook are checked again before every run. The moment between that check and the start of the process
stays open: a program that writes at exactly that time can still swap a file.
"""

from __future__ import annotations

import enum
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.config.files import Unreadable, read_bytes
from hookwright.config.scripts import MAX_FILES, Reach, TooManyFiles, named_files
from hookwright.config.truststore import FileCopy, Record, TrustStore
from hookwright.errors import TrustError
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import Handler, MatcherGroup, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import Scope, Source
from hookwright.storage import StrictStamp, strict_stamp
from hookwright.text import short_path

ABSENT, DIRECTORY = "absent", "directory"
#: Larger files cannot be bound, so hooks that run them cannot be trusted.
_MAX_BOUND = 64 * 1024 * 1024
#: Larger files are bound without a copy; a later diff only shows that they changed.
_MAX_COPY = 64 * 1024
#: A file this new may change again within the resolution of the clock, so its stamp proves nothing yet.
_GRAIN = 2_000_000_000


_NOT_TRUSTED = "it came with the project and is not trusted; review it with: hookwright trust"


class TrustPolicy(enum.Enum):
    """What is trusted of the hooks a project supplies."""

    STORED = "what the user trusted before"
    EVERYTHING = "everything"
    NOTHING = "nothing"

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> TrustPolicy:
        """Return EVERYTHING for `HOOKWRIGHT_TRUST=1`, else STORED, also in headless runs (D13)."""
        return cls.EVERYTHING if env.get("HOOKWRIGHT_TRUST") == "1" else cls.STORED


class Item(msgspec.Struct, frozen=True):
    """One thing to trust: what it is, what it runs, and the digest over both."""

    source: Source
    #: Empty for the settings of a project.
    event: str
    matcher: str | None
    label: str
    #: The configuration entry in normal form, for the digest and for a diff.
    entry: str
    files: tuple[FileCopy, ...]
    digest: str
    #: Why this item has no digest, so that it can never be trusted.
    unbound: str = ""

    @property
    def place(self) -> str:
        """The place in the configuration, independent of working directory and line."""
        source = self.source
        owner = source.plugin.name if source.plugin is not None else ""
        part = f"{source.component.kind} {source.component.name}" if source.component is not None else ""
        return " ".join(filter(None, (source.scope.value, owner, part, source.pointer)))

    @property
    def record(self) -> Record:
        """The decision that trusts this item as it is."""
        if self.unbound:
            raise TrustError(f"{self.source}: cannot be trusted: {self.unbound}")
        return Record(self.digest, self.entry, self.place, self.files)


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


def hook_item(group: MatcherGroup, handler: Handler, reach: Reach) -> tuple[Item, Stamps]:
    """Bind one handler and the files it runs; also return the stamps that show a later change."""
    fields = {name: getattr(handler, name) for name in handler.__struct_fields__ if name != "source"}
    source = handler.source
    origin = [source.scope, source.plugin.name if source.plugin else None, source.component]
    entry = {"event": group.event, "matcher": group.matcher, "kind": handler.kind, "from": origin, **fields}
    text = msgspec.json.format(msgspec.json.encode(entry, order="sorted"), indent=1).decode()
    if source.root is not None:
        reach = msgspec.structs.replace(reach, plugin_root=source.root)
    files: tuple[FileCopy, ...] = ()
    stamps: Stamps = ()
    problem = ""
    try:
        paths = named_files(handler, reach)
        stamps = tuple((path, strict_stamp(path)) for path in paths)
        files = tuple(_copy(path, reach.project_dir) for path in paths)
        if reach.start_dir != reach.project_dir:
            # Files missing from the start directory must not make trust depend on where a session starts.
            own = named_files(handler, msgspec.structs.replace(reach, start_dir=reach.project_dir))
            files = tuple(file for path, file in zip(paths, files, strict=True) if path in own or file.digest != ABSENT)
    except TooManyFiles:
        problem = f"it names more than {MAX_FILES} files; name them one by one."
    except Unreadable as error:
        problem = f"a file it runs cannot be bound: {error}."
    digest = "" if problem else _digest(text, files)
    item = Item(source, group.event, group.matcher, handler.label, text, files, digest, problem)
    return item, stamps


def settings_item(settings: Mapping[str, Mapping[str, Json]], source: Source) -> Item | None:
    """Bind the settings keys of the project's files; None if they set nothing."""
    told = {path: keys for path, keys in settings.items() if keys}
    if not told:
        return None
    text = msgspec.json.format(msgspec.json.encode(told, order="sorted"), indent=1).decode()
    label = ", ".join(dict.fromkeys(key for keys in told.values() for key in keys))
    return Item(source, "", None, label, text, (), _digest(text, ()))


def _digest(text: str, files: Sequence[FileCopy]) -> str:
    told = [text, [(file.path, file.real, file.digest) for file in files]]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


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


class _Admitted:
    """One handler the gate checks, with what was last seen of it."""

    def __init__(self, group: MatcherGroup, handler: Handler, reach: Reach) -> None:
        self.group = group
        self.handler = handler
        self._reach = reach
        self._seen: tuple[Item, tuple[Json, ...], int] | None = None

    @property
    def item(self) -> Item:
        """Return the handler as it is now; its files are read again if they may have changed."""
        if self._seen is None or self._may_have_changed(*self._seen):
            now = time.time_ns()
            self._seen = (*hook_item(self.group, self.handler, self._reach), now)
        return self._seen[0]

    def _may_have_changed(self, item: Item, stamps: Stamps, seen_at: int) -> bool:
        # A file written just before it was read may change again within the same tick of the clock.
        return bool(item.unbound) or any(
            strict_stamp(path) != old or (old is not None and old.changed > seen_at - _GRAIN) for path, old in stamps
        )


class TrustGate:
    """The check, before each run, whether a project-supplied handler may run."""

    def __init__(self, reach: Reach, policy: TrustPolicy, store: TrustStore, settings: Item | None = None) -> None:
        self.policy = policy
        self.store = store
        self.reach = reach
        self.settings = settings
        self._admitted: dict[Source, _Admitted] = {}
        self._records: tuple[Record, ...] = ()
        self._records_stamp: object = "never read"
        self._broken = ""
        self._accepted: frozenset[str] = frozenset()
        self._assessed: dict[Source, tuple[str, State]] = {}

    def admit(self, groups: Iterable[MatcherGroup]) -> None:
        """Add handlers to check; those of skills and agents are added when they are activated."""
        for group in groups:
            for handler in group.handlers:
                if handler.source.from_project:
                    self._admitted[handler.source] = _Admitted(group, handler, self.reach)

    def __call__(self, handler: Handler, cwd: str) -> tuple[SkipReason, str] | None:
        """Check a handler: the gate itself is what `HookEngine(gate=…)` takes."""
        return self.check(handler, cwd)

    def check(self, handler: Handler, cwd: str = "") -> tuple[SkipReason, str] | None:
        """Return why a handler may not run now, in this working directory, or None."""
        if not handler.source.from_project or self.policy is TrustPolicy.EVERYTHING:
            return None
        if self.policy is TrustPolicy.NOTHING:
            return SkipReason.UNTRUSTED, "nothing from the project is trusted in this run"
        admitted = self._admitted.get(handler.source)
        if admitted is None or admitted.handler != handler:
            return SkipReason.UNTRUSTED, "it was added after the hooks were loaded"
        item = admitted.item
        self._read_records()
        if self._broken:
            return SkipReason.UNTRUSTED, self._broken
        match self._state(item):
            case Trusted():
                return self._strayed(admitted, cwd)
            case Changed(previous):
                reason = SkipReason.GUARD_CHANGED if _failed_closed(previous) else SkipReason.CHANGED
                return reason, f"{_what_changed(item, previous)}; review it with: hookwright trust"
            case New():
                return SkipReason.UNTRUSTED, item.unbound or _NOT_TRUSTED

    def _strayed(self, admitted: _Admitted, cwd: str) -> tuple[SkipReason, str] | None:
        """Check where relative paths lead from a working directory that was not bound; its content may differ."""
        if not cwd or cwd in self.reach.bases:
            return None
        there, _ = hook_item(admitted.group, admitted.handler, msgspec.structs.replace(self.reach, start_dir=cwd))
        known = {file.digest for file in admitted.item.files}
        closed = admitted.handler.on_failure is OnFailure.BLOCK
        reason = SkipReason.GUARD_CHANGED if closed else SkipReason.CHANGED
        for file in there.files:
            if file.digest not in known and file.digest != ABSENT:
                return reason, f"in {cwd} it would run {file.path}, which is not trusted"
        return (reason, there.unbound) if there.unbound else None

    def trusts_settings(self) -> bool:
        """Return whether the settings keys of the project's files take effect."""
        if self.settings is None or self.policy is TrustPolicy.EVERYTHING:
            return True
        if self.policy is TrustPolicy.NOTHING:
            return False
        self._read_records()
        return self.settings.digest in self._accepted

    def items(self) -> list[tuple[Item, State]]:
        """Return every item with its state, the settings first."""
        self._read_records()
        items = self._items()
        return list(zip(items, assess(items, self._records), strict=True))

    def removed(self) -> list[Record]:
        """Return what was trusted and is no longer configured in any form."""
        states = self.items()
        kept = {item.digest for item, _ in states}
        kept |= {state.previous.digest for _, state in states if isinstance(state, Changed)}
        return [record for record in self._records if record.digest not in kept]

    def diagnostics(self) -> list[Diagnostic]:
        """Report every handler that will not run, and a store that cannot be used."""
        found = []
        for admitted in self._admitted.values():
            held = self.check(admitted.handler)
            if held is None or (self._broken and held[1] == self._broken):
                continue
            reason, why = held
            code = "untrusted" if reason is SkipReason.UNTRUSTED else "changed-since-trusted"
            message = f"`{admitted.handler.label}` does not run: {why}"
            found.append(Diagnostic(code, message, admitted.handler.source, Severity.WARNING))
        if self._broken:
            found.append(Diagnostic("trust-store", self._broken, Source(Scope.USER, self.store.path)))
        return found

    def _items(self) -> list[Item]:
        found = [admitted.item for admitted in self._admitted.values()]
        return found if self.settings is None else [self.settings, *found]

    def _state(self, item: Item) -> State:
        """Return the state of one item; only an unknown digest needs a comparison with all others."""
        if item.digest and item.digest in self._accepted:
            return Trusted()
        known = self._assessed.get(item.source)
        if known is None or known[0] != item.digest:
            items = self._items()
            states = assess(items, self._records)
            self._assessed = {one.source: (one.digest, state) for one, state in zip(items, states, strict=True)}
        return self._assessed[item.source][1]

    def _read_records(self) -> None:
        """Read the store again if it changed: the user may have trusted or revoked in another terminal."""
        now = strict_stamp(self.store.path)
        if now == self._records_stamp:
            return
        self._records_stamp, self._broken, self._assessed = now, "", {}
        try:
            self._records = self.store.decisions(self.reach.project_dir)
        except TrustError as error:
            self._records, self._broken = (), str(error)
        self._accepted = frozenset(record.digest for record in self._records)


def _failed_closed(previous: Record) -> bool:
    """Return whether the trusted form of a handler fails closed; the changed form does not matter."""
    try:
        entry = msgspec.json.decode(previous.entry)
    except msgspec.DecodeError:
        return False
    return isinstance(entry, dict) and entry.get("on_failure") == OnFailure.BLOCK.value


def _what_changed(item: Item, previous: Record) -> str:
    if item.unbound:
        return item.unbound
    if item.entry != previous.entry:
        return "its entry changed after it was trusted"
    old = {(file.path, file.real, file.digest) for file in previous.files}
    new = {(file.path, file.real, file.digest) for file in item.files}
    names = sorted({path for path, _, _ in old ^ new})
    return f"{', '.join(names[:3])} changed after it was trusted"
