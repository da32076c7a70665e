"""Nothing that comes with a project has an effect until the user trusts it, and trust is bound to content.

One gate for everything (see `items`): hooks of the project, its settings, the variables that could make programs load
code, what its agents ask for, and hooks of the user or the administrator that would run files of the project. A digest
the user accepted is trusted, anything else is not. The trust check only reads the bytes it binds.

The files of a hook are checked again before every run. The moment between that check and the start of the process
stays open: a program that writes at exactly that time can still swap a file.
"""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.config.items import (
    ABSENT,
    Bound,
    Changed,
    Item,
    New,
    State,
    Trusted,
    assess,
    hook_item,
)
from hookwright.config.scripts import Reach, TooManyFiles, what_runs
from hookwright.config.truststore import Record, TrustStore
from hookwright.errors import TrustError
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import CommandHandler, Handler, MatcherGroup, OnFailure
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import Scope, Source
from hookwright.storage import strict_stamp
from hookwright.text import short_path

#: A file this new may change again within the resolution of the clock, so its stamp proves nothing yet.
_GRAIN = 2_000_000_000

_NOT_TRUSTED = "it came with the project and is not trusted; review it with: hookwright trust"


class TrustPolicy(enum.Enum):
    """What is trusted of what a project supplies."""

    STORED = "what the user trusted before"
    EVERYTHING = "everything"
    NOTHING = "nothing"

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> TrustPolicy:
        """Return EVERYTHING for `HOOKWRIGHT_TRUST=1`, else STORED, also in headless runs (D13)."""
        return cls.EVERYTHING if env.get("HOOKWRIGHT_TRUST") == "1" else cls.STORED


class _Admitted:
    """One handler the gate checks, with what was last seen of it."""

    def __init__(self, group: MatcherGroup, handler: Handler, reach: Reach) -> None:
        self.group = group
        self.handler = handler
        self.reach = reach
        self._seen: tuple[Bound, int] | None = None

    @property
    def bound(self) -> Bound:
        """The handler as it is now; its files are read again if they may have changed."""
        now = time.time_ns()
        if self._seen is None or _has_changed(self._seen[0]):
            self._seen = (hook_item(self.group, self.handler, self.reach), now)
        elif _is_young(*self._seen):
            same = self._seen[0].as_read(self.reach)
            self._seen = (self._seen[0] if same else hook_item(self.group, self.handler, self.reach), now)
        return self._seen[0]

    @property
    def item(self) -> Item:
        """The item of the handler as it is now."""
        return self.bound.item

    def elsewhere(self, cwd: str) -> Bound:
        """Bind the handler as it would run in another directory."""
        return hook_item(self.group, self.handler, msgspec.structs.replace(self.reach, start_dir=cwd))


def _has_changed(bound: Bound) -> bool:
    return bool(bound.item.unbound) or any(strict_stamp(path) != old for path, old in bound.stamps)


def _is_young(bound: Bound, seen_at: int) -> bool:
    """Return whether a file may change again within the tick of the clock in which it was read."""
    return any(old is not None and old.changed > seen_at - _GRAIN for _, old in bound.stamps)


class TrustGate:
    """The check, before each run, whether a handler may run the project's files."""

    def __init__(self, reach: Reach, policy: TrustPolicy, store: TrustStore, fixed: Sequence[Item] = ()) -> None:
        self.policy = policy
        self.store = store
        self.reach = reach
        #: What is not a hook: settings and variables of each level of the project, agents.
        self._fixed = {item.source: item for item in fixed}
        self._admitted: dict[Source, _Admitted] = {}
        self._records: dict[str, tuple[Record, ...]] = {}
        self._records_stamp: object = "never read"
        self._broken = ""
        self._accepted: dict[str, frozenset[str]] = {}
        self._assessed: dict[Source, tuple[str, State]] = {}

    @property
    def settings(self) -> Item | None:
        """The settings keys of the session's own project; None if it sets nothing."""
        own = (item for source, item in self._fixed.items() if source.pointer == "settings" and not source.project)
        return next(own, None)

    # ── what the gate knows ─────────────────────────────────────────────────

    def marked(self, groups: Iterable[MatcherGroup]) -> list[MatcherGroup]:
        """Return groups in which every hook that would run files of the project, though not its own, says so."""
        return [
            msgspec.structs.replace(group, handlers=tuple(self._marked(group, handler) for handler in group.handlers))
            for group in groups
        ]

    def _marked(self, group: MatcherGroup, handler: Handler) -> Handler:
        if handler.source.from_project or not self._may_borrow(handler):
            return handler
        bound = hook_item(group, handler, self.reach)
        if not bound.item.files and not bound.item.unbound:
            return handler
        return msgspec.structs.replace(handler, source=msgspec.structs.replace(handler.source, reaches_project=True))

    def _may_borrow(self, handler: Handler) -> bool:
        return isinstance(handler, CommandHandler) and bool(self.reach.root)

    def admit(self, groups: Iterable[MatcherGroup]) -> None:
        """Add handlers to check; those of skills and agents are added when they are activated."""
        for group in groups:
            for handler in group.handlers:
                source = handler.source
                if source.from_project or source.reaches_project:
                    self._admitted[source] = _Admitted(group, handler, self._reach_of(source))
                elif source.component is not None and self._may_borrow(handler):
                    self._admitted[source] = _Admitted(group, handler, self.reach)

    def add(self, item: Item) -> None:
        """Add something that is not a hook, such as what an agent asks for."""
        self._fixed[item.source] = item

    def _reach_of(self, source: Source) -> Reach:
        return msgspec.structs.replace(self.reach, project_dir=source.project) if source.project else self.reach

    # ── decisions ───────────────────────────────────────────────────────────

    def __call__(self, handler: Handler, cwd: str) -> tuple[SkipReason, str] | None:
        """Check a handler: the gate itself is what `HookEngine(gate=…)` takes."""
        return self.check(handler, cwd)

    def check(self, handler: Handler, cwd: str = "") -> tuple[SkipReason, str] | None:
        """Return why a handler may not run now, in this working directory, or None.

        Law: a handler that came with the project runs if it is trusted as it is now. Any other handler runs, unless it
        would run files of the project that are not trusted for it. One that fails closed refuses its event instead of
        being skipped, if it was trusted before or is not the project's.
        """
        source = handler.source
        if self.policy is TrustPolicy.EVERYTHING or not (source.from_project or self._admitted):
            return None
        admitted = self._admitted.get(source)
        if not source.from_project:
            return self._borrowed(admitted, cwd) if admitted is not None else None
        if self.policy is TrustPolicy.NOTHING:
            return SkipReason.UNTRUSTED, "nothing from the project is trusted in this run"
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

    def _borrowed(self, admitted: _Admitted, cwd: str) -> tuple[SkipReason, str] | None:
        """Hold a hook of the user or the administrator that would run untrusted files of the project."""
        bounds = [admitted.bound]
        if cwd and cwd not in admitted.reach.bases:
            bounds.append(admitted.elsewhere(cwd))
        known = {file.digest for file in bounds[0].item.files} if self.trusts(bounds[0].item) else set()
        for bound in bounds:
            if bound.item.unbound:
                return _closed(admitted, bound.item.unbound)
            strange = {file.path for file in bound.item.files if file.digest not in known and file.digest != ABSENT}
            names = [short_path(path, admitted.reach.project_dir) for path in bound.run]
            untrusted = [name for name in names if name in strange]
            if untrusted:
                shown = ", ".join(untrusted[:3])
                why = f"it runs {shown} of the project, which is not trusted; review it with: hookwright trust"
                return _closed(admitted, why)
        return None

    def _strayed(self, admitted: _Admitted, cwd: str) -> tuple[SkipReason, str] | None:
        """Check where relative paths lead from a working directory that was not bound; its content may differ."""
        if not cwd or cwd in admitted.reach.bases:
            return None
        there = admitted.elsewhere(cwd).item
        known = {file.digest for file in admitted.item.files}
        for file in there.files:
            if file.digest not in known and file.digest != ABSENT:
                return _closed(admitted, f"in {cwd} it would run {file.path}, which is not trusted", SkipReason.CHANGED)
        return _closed(admitted, there.unbound, SkipReason.CHANGED) if there.unbound else None

    def trusts(self, item: Item) -> bool:
        """Return whether an item takes effect; one that needs its own yes needs it whatever else is trusted."""
        if self.policy is TrustPolicy.EVERYTHING and not item.caution:
            return True
        if self.policy is TrustPolicy.NOTHING:
            return False
        self._read_records()
        return item.digest in self._accepted.get(item.project or self.reach.project_dir, frozenset())

    def trusts_settings(self) -> bool:
        """Return whether the settings keys of the project's files take effect."""
        return self.settings is None or self.trusts(self.settings)

    def environment(self, handler: Handler, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that keep untrusted code of the project out of a hook.

        Law: Python that runs text or a module by name does not import from the working directory, unless it is the
        project's own hook or the user trusted the modules there for it. Folders of scripts that such a hook runs by
        path stay on the path. A hook that imports modules of the project reads no compiled files from there.
        """
        found = {"CLAUDE_PROJECT_DIR": handler.source.project} if handler.source.project else {}
        if self.policy is TrustPolicy.EVERYTHING or not self._may_borrow(handler):
            return found
        admitted = self._admitted.get(handler.source)
        if handler.source.from_project or (admitted and admitted.bound.modules and self.trusts(admitted.item)):
            if admitted is not None and _imports(admitted.bound) and "PYTHONPYCACHEPREFIX" not in env:
                found["PYTHONPYCACHEPREFIX"] = os.path.join(os.path.dirname(self.store.path), "pycache")
            return found
        try:
            runs = what_runs(handler, self.reach, self.reach.root)
        except TooManyFiles:
            return {**found, "PYTHONSAFEPATH": "1"}  # in doubt, nothing is imported from the project
        if runs.inline_python:
            found["PYTHONSAFEPATH"] = "1"
            path = [*runs.python_folders, *filter(None, [env.get("PYTHONPATH")])]
            if runs.python_folders:
                found["PYTHONPATH"] = ":".join(path)
        return found

    # ── the review ──────────────────────────────────────────────────────────

    def items(self) -> list[tuple[Item, State]]:
        """Return every item with its state, what is not a hook first."""
        self._read_records()
        items = self._items()
        states = self._assess(items)
        return [(item, states[item.source]) for item in items]

    def removed(self) -> list[Record]:
        """Return what was trusted and is no longer configured in any form."""
        states = self.items()
        kept = {item.digest for item, _ in states}
        kept |= {state.previous.digest for _, state in states if isinstance(state, Changed)}
        own = self._records.get(self.reach.project_dir, ())
        return [record for record in own if record.digest not in kept]

    def diagnostics(self) -> list[Diagnostic]:
        """Report every handler that will not run, and a store that cannot be used."""
        found = []
        for admitted in self._admitted.values():
            held = self.check(admitted.handler)
            if held is None or (self._broken and held[1] == self._broken):
                continue
            reason, why = held
            code = "changed-since-trusted" if reason is SkipReason.CHANGED else "untrusted"
            if reason is SkipReason.GUARD_CHANGED and admitted.handler.source.from_project:
                code = "changed-since-trusted"
            message = f"`{admitted.handler.label}` does not run: {why}"
            found.append(Diagnostic(code, message, admitted.handler.source, Severity.WARNING))
        if self._broken:
            found.append(Diagnostic("trust-store", self._broken, Source(Scope.USER, self.store.path)))
        return found

    def _items(self) -> list[Item]:
        bounds = [admitted.bound for admitted in self._admitted.values()]
        found = [bound.item for bound in bounds if bound.item.source.from_project or bound.run or bound.modules]
        return [*self._fixed.values(), *found]

    def _assess(self, items: Sequence[Item]) -> dict[Source, State]:
        states: dict[Source, State] = {}
        for project in dict.fromkeys(item.project or self.reach.project_dir for item in items):
            own = [item for item in items if (item.project or self.reach.project_dir) == project]
            found = assess(own, self._records_of(project))
            states |= {item.source: state for item, state in zip(own, found, strict=True)}
        return states

    def _state(self, item: Item) -> State:
        """Return the state of one item; only an unknown digest needs a comparison with all others."""
        self._records_of(item.project)
        if item.digest and item.digest in self._accepted[item.project]:
            return Trusted()
        known = self._assessed.get(item.source)
        if known is None or known[0] != item.digest:
            items = self._items()
            states = self._assess(items)
            self._assessed = {one.source: (one.digest, states[one.source]) for one in items}
        return self._assessed[item.source][1]

    def _read_records(self) -> None:
        """Read the store again if it changed: the user may have trusted or revoked in another terminal."""
        now = strict_stamp(self.store.path)
        if now == self._records_stamp:
            return
        self._records_stamp, self._broken, self._assessed = now, "", {}
        self._records, self._accepted = {}, {}
        projects = {self.reach.project_dir, *(source.project for source in (*self._fixed, *self._admitted))}
        for project in filter(None, projects):
            self._records_of(project)

    def _records_of(self, project: str) -> tuple[Record, ...]:
        if project not in self._records:
            try:
                self._records[project] = self.store.decisions(project)
            except TrustError as error:
                self._records[project], self._broken = (), str(error)
            self._accepted[project] = frozenset(record.digest for record in self._records[project])
        return self._records[project]


def _imports(bound: Bound) -> bool:
    return any(file.path.startswith("modules in ") for file in bound.item.files)


def _closed(admitted: _Admitted, why: str, otherwise: SkipReason = SkipReason.UNTRUSTED) -> tuple[SkipReason, str]:
    """Hold a handler; one that fails closed refuses the event."""
    closed = admitted.handler.on_failure is OnFailure.BLOCK and not admitted.handler.shadow
    return (SkipReason.GUARD_CHANGED if closed else otherwise), why


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
