"""The hooks of one session: loaded, wired to their executors, reloaded when their files change, closed together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar, overload

import msgspec

from hookwright.background import Background
from hookwright.code_hooks import Hooks
from hookwright.config import FileStatus, Loaded, Places, component_groups
from hookwright.engine import HookEngine, Options
from hookwright.errors import ConfigError, HookwrightError, InvalidEvent
from hookwright.hookset import HookSet
from hookwright.observers import Observer
from hookwright.observers.journal import Journal, Retention
from hookwright.observers.live import LiveFeed
from hookwright.observers.recorder import RECORD_VARIABLE, Recorder
from hookwright.processes.watchdog import Watchdog
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import ConfigChange, Event
from hookwright.protocol.handlers import Kind, MatcherGroup
from hookwright.protocol.job import Executor
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome, Run
from hookwright.protocol.samples import new_session_id
from hookwright.protocol.sources import Component, Scope
from hookwright.selection import HookState, inactive
from hookwright.storage import Stamp, stamp
from hookwright.text import did_you_mean
from hookwright.visibility import read_texts
from hookwright.wiring import Means, Powers, Wiring

E = TypeVar("E", bound=Event)


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What every event of a session carries."""

    session_id: str
    #: The file with the conversation; empty if the host writes none.
    transcript_path: str
    cwd: str

    def event(self, kind: type[E], fields: Mapping[str, Json]) -> E:
        """Build an event of this session; raise InvalidEvent for a field that is unknown, missing or of a wrong type.

        A field given by the caller replaces the session's own. The first event of a tool call gets a new `tool_use_id`
        if it has none.
        """
        known = kind.__struct_fields__
        for name in fields:
            if name not in known:
                raise InvalidEvent(f"{kind.event_name} has no field `{name}`{did_you_mean(name, known)}")
        made = {"tool_use_id": f"toolu_{os.urandom(12).hex()}"} if kind.rules.opens_call else {}
        try:
            return msgspec.convert({**msgspec.structs.asdict(self), **made, **fields}, kind)
        except msgspec.ValidationError as error:
            raise InvalidEvent(f"{kind.event_name}: {str(error).replace('$.', '')}") from None


class HookSession:
    """Fires events at hooks that may change while the session runs."""

    def __init__(self, identity: Identity, loaded: Loaded, engine: HookEngine, wiring: Wiring, frozen: bool) -> None:
        self.identity = identity
        self.places = wiring.places
        self.loaded = loaded
        self.engine = engine
        #: Messages for the user: reloads, kept and refused changes. The caller that shows them must clear the list.
        self.notices: list[Diagnostic] = []
        self._wiring = wiring
        self._frozen = frozen
        self._stamps = _stamps(loaded)
        self._added: list[MatcherGroup] = []
        self._loop = asyncio.get_running_loop()

    @property
    def background(self) -> Background:
        """The hooks in the background, which outlive their events."""
        return self._wiring.background

    @property
    def watchdog(self) -> Watchdog | None:
        """The watchdog that ends hooks if this process is killed; None if the session has none."""
        return self._wiring.watchdog

    def event(self, kind: type[E], /, **fields: Json) -> E:
        """Build an event with the session's own id, transcript and directory; raise InvalidEvent for a wrong field."""
        return self.identity.event(kind, fields)

    @overload
    async def fire(self, event: Event, /) -> Outcome: ...
    @overload
    async def fire(self, event: type[Event], /, **fields: Json) -> Outcome: ...
    async def fire(self, event: Event | type[Event], /, **fields: Json) -> Outcome:
        """Apply changed settings, then fire the event, or an event of this class with these fields.

        Call it in the event loop that opened the session: background hooks belong to that loop.
        """
        self._check_loop()
        moment = _complete(self.identity, event, fields)
        await self.refresh(moment)
        return await self.engine.fire(moment)

    def _check_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise HookwrightError(
                "this session was opened in another event loop, which owns its background hooks. Call it from there "
                "with asyncio.run_coroutine_threadsafe(session.fire(…), loop), or open a session in this loop."
            )

    async def recheck(self, event: Event, before: Sequence[Run] = ()) -> Outcome:
        """Let guards judge an input that was rewritten after its PreToolUse hooks ran; see `HookEngine.recheck`."""
        self._check_loop()
        return await self.engine.recheck(event, before)

    def env_files(self) -> list[tuple[str, str]]:
        """Return what hooks persisted through CLAUDE_ENV_FILE, as (hook, path) in hook order."""
        return [(label, path) for path, label in self._wiring.env_files.items() if _has_content(path)]

    def states(self) -> tuple[HookState, ...]:
        """Return the state of every configured hook, including those of skills and agents that are not active."""
        return self.engine.states(_with_inactive(self.engine.hooks, self.loaded))

    # ── changes while the session runs ──────────────────────────────────────

    def activate(self, groups: Sequence[MatcherGroup]) -> None:
        """Add the hooks of a skill, an agent or a plugin."""
        fresh = [group for group in groups if group not in self._added]
        self._added += fresh
        self.loaded.gate.admit(fresh)
        self._apply()

    def deactivate(self, component: Component) -> None:
        """Remove the hooks of a component."""
        self._added = [
            group for group in self._added if any(handler.source.component != component for handler in group.handlers)
        ]
        self._apply()

    def _apply(self) -> None:
        self.engine.replace_hooks(self.loaded.hooks.plus(self._added, self.loaded.hold))

    async def refresh(self, event: Event) -> None:
        """Check the settings files; fire ConfigChange with the old hooks, then apply the new ones unless blocked.

        Law (D12, R-361 … R-363): a change takes effect from the next event; a file that broke keeps the last good
        hooks and is reported; a blocked change is not applied until the file changes again; a frozen session never
        reloads.
        """
        changed = () if self._frozen else [path for path, old in self._stamps.items() if stamp(path) != old]
        if not changed:
            return
        self._stamps = {path: stamp(path) for path in self._stamps}
        try:
            new = self.places.load()
        except ConfigError as error:  # managed settings that broke: what they said before stays in force
            self.notices.append(Diagnostic("reload-kept", f"{error} The last valid hooks stay active."))
            return
        broken = _newly_broken(self.loaded, new)
        if broken:
            self.notices += broken
            return
        for path in changed:
            outcome = await self.engine.fire(_config_change(event, _scope_of(path, new), path))
            if outcome.blocked:
                text = f"{path} changed; a ConfigChange hook blocked the change"
                self.notices.append(Diagnostic("reload-kept", text, None, Severity.INFO))
                return
        self.notices.append(_reloaded(changed, self.loaded, new))
        self.notices += [diagnostic for diagnostic in new.diagnostics if diagnostic not in self.loaded.diagnostics]
        self._take(new)

    def reload(self) -> None:
        """Reload the configuration without firing ConfigChange: the user has just trusted it."""
        self._take(self.places.load())

    def _take(self, new: Loaded) -> None:
        self.loaded, self._stamps = new, _stamps(new)
        new.gate.admit(self._added)
        self.engine.reconnect(self._wiring.host(new), self._wiring.executors(new), new.gate)
        self._apply()


@asynccontextmanager
async def open_session(
    places: Places | str = ".",
    *,
    session_id: str | None = None,
    transcript_path: str = "",
    hooks: Hooks | None = None,
    powers: Powers | None = None,
    observers: Sequence[Observer] = (),
    options: Options | None = None,
    executors: Mapping[Kind, Executor] | None = None,
    journal: bool = False,
    frozen: bool = False,
    watchdog: bool = False,
) -> AsyncIterator[HookSession]:
    """Load the hooks of a project and keep them, their executors and their background work for a session.

    Events the session builds carry `session_id` (a new one if it is None), `transcript_path` and the project's
    directory. With `executors` the host runs handlers of some kinds itself; the other kinds keep theirs. With
    `watchdog` a second process ends running hooks if this one is killed.
    """
    where = Places(project=places) if isinstance(places, str) else places
    loaded = where.load()
    async with AsyncExitStack() as closing:
        means = Means(
            replaced={} if executors is None else executors,
            watchdog=_watchdog(closing) if watchdog else None,
            warm=options is not None and options.warm,
        )
        wiring = Wiring(where, powers if powers is not None else Powers(), closing, means)
        closing.push_async_callback(wiring.close_workers)  # after the background, whose hooks may be theirs
        closing.push_async_callback(wiring.background.aclose)
        listeners = [*observers, wiring.note_env_file]
        if journal:
            listeners += [_journal(where, lambda: session), LiveFeed(where.state_folder, read_texts)]
        if record := where.env.get(RECORD_VARIABLE):
            listeners.append(Recorder(record))
        engine = HookEngine(
            loaded.hooks,
            host=wiring.host(loaded),
            executors=wiring.executors(loaded),
            background=wiring.background,
            gate=loaded.gate,
            observers=listeners,
            options=options,
        )
        session = HookSession(_identity(where, session_id, transcript_path), loaded, engine, wiring, frozen)
        if hooks is not None:
            session.activate(hooks.groups)
        yield session


def _watchdog(closing: AsyncExitStack) -> Watchdog:
    """Start a watchdog that ends with the session."""
    watchdog = Watchdog()
    closing.push_async_callback(watchdog.aclose)
    return watchdog


def _journal(where: Places, session: Callable[[], HookSession]) -> Journal:
    """Return the journal of a session that is about to open; it asks for it when the first event ends."""
    return Journal(
        where.state_folder,
        lambda note: session().notices.append(note),
        configuration=lambda: session().engine.hooks.digest,
        source=where.agent,
        retention=Retention.of(where.env),
    )


def _identity(where: Places, session_id: str | None, transcript_path: str) -> Identity:
    return Identity(
        session_id=new_session_id() if session_id is None else session_id,
        transcript_path=transcript_path,
        cwd=os.path.abspath(os.path.join(where.surroundings.cwd, where.project)),
    )


def survey(loaded: Loaded) -> HookEngine:
    """Build an engine to question, not to fire: it has every configured hook, active or not, and no executor."""
    return HookEngine(_with_inactive(loaded.hooks, loaded), host=loaded.host, executors={}, gate=loaded.gate)


def _with_inactive(hooks: HookSet, loaded: Loaded) -> HookSet:
    """Add the hooks of skills and agents that are not active; a switch holds each of them."""
    active = {(entry.handler.source.component, entry.handler.source.path) for entry in hooks}
    groups = [
        group
        for file in loaded.components()
        for group in component_groups(file).groups
        if any((handler.source.component, handler.source.path) not in active for handler in group.handlers)
    ]
    return hooks.plus(groups, lambda handler: loaded.hold(handler) or inactive(handler))


@overload
def fire_sync(event: Event, /, places: Places | str = ".", *, hooks: Hooks | None = None) -> Outcome: ...
@overload
def fire_sync(
    event: type[Event], /, places: Places | str = ".", *, hooks: Hooks | None = None, **fields: Json
) -> Outcome: ...
def fire_sync(
    event: Event | type[Event], /, places: Places | str = ".", *, hooks: Hooks | None = None, **fields: Json
) -> Outcome:
    """Fire one event from a plain script without an event loop, and wait for background hooks."""
    if _in_a_loop():
        raise HookwrightError(
            "fire_sync cannot be called inside a running event loop. Write: async with open_session(…) as session: "
            "outcome = await session.fire(…)"
        )

    async def fire() -> Outcome:
        async with open_session(places, hooks=hooks, options=Options(await_rewake=True), frozen=True) as session:
            outcome = await session.engine.fire(_complete(session.identity, event, fields))
            await session.background.wait()
            return outcome

    return asyncio.run(fire())


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _complete(identity: Identity, event: Event | type[Event], fields: Mapping[str, Json]) -> Event:
    """Return the event to fire; fields belong to a class alone, since an event already has its own."""
    if isinstance(event, type):
        return identity.event(event, fields)
    if fields:
        raise InvalidEvent(f"{event.event_name} is complete; pass the class to give fields: {', '.join(fields)}")
    return event


# ── files that may change ───────────────────────────────────────────────────


def _stamps(loaded: Loaded) -> dict[str, Stamp | None]:
    return {file.path: stamp(file.path) for file in loaded.files if file.path}


def _reloaded(changed: Sequence[str], old: Loaded, new: Loaded) -> Diagnostic:
    """Report a reload; new or removed hooks make it a warning, since someone else may have edited the file."""
    before, after = ({(entry.event, entry.handler.label): None for entry in loaded.hooks} for loaded in (old, new))
    text = f"{', '.join(changed)} changed; hooks reloaded"
    for words, here, there in (("new", after, before), ("removed", before, after)):
        labels = dict.fromkeys(label for event, label in here if (event, label) not in there)
        text += f"; {words}: {', '.join(labels)}" if labels else ""
    severity = Severity.INFO if before.keys() == after.keys() else Severity.WARNING
    return Diagnostic("reloaded", text, None, severity)


def _newly_broken(old: Loaded, new: Loaded) -> list[Diagnostic]:
    """Report files that were readable before and are not now, with their faults."""
    before = {file.path for file in old.files if file.status is FileStatus.BROKEN}
    broken = [file.path for file in new.files if file.status is FileStatus.BROKEN and file.path not in before]
    if not broken:
        return []
    text = f"{', '.join(broken)} cannot be read any more; the last good hooks stay active"
    return [
        Diagnostic("reload-kept", text),
        *(diagnostic for diagnostic in new.diagnostics if diagnostic not in old.diagnostics),
    ]


_CHANGE_SOURCES = {
    Scope.MANAGED: "policy_settings",
    Scope.USER: "user_settings",
    Scope.PROJECT: "project_settings",
    Scope.LOCAL: "local_settings",
}


def _scope_of(path: str, loaded: Loaded) -> str:
    scopes = {file.path: file.scope for file in loaded.files}
    return _CHANGE_SOURCES.get(scopes.get(path, Scope.USER), "user_settings")


def _config_change(event: Event, source: str, path: str) -> ConfigChange:
    return ConfigChange(
        session_id=event.session_id,
        transcript_path=event.transcript_path,
        cwd=event.cwd,
        prompt_id=event.prompt_id,
        source=source,
        file_path=path,
    )


def _has_content(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
