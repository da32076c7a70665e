"""The permissions of one session: a mode and rules that change while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from hookwright.agent.permissions.call import ToolCall
from hookwright.agent.permissions.decide import AskUser, By, Mode, Permit, Refuse, Ruling, decide, guard
from hookwright.agent.permissions.keep import SettingsFiles, keep
from hookwright.agent.permissions.rules import Behavior, Origin, Rules, declared_rules, split_rules, spoken_rules
from hookwright.agent.permissions.updates import (
    AddDirectories,
    InvalidUpdate,
    RulesState,
    SetMode,
    Update,
    applied,
    read_mode,
    read_updates,
)
from hookwright.agent.permissions.workspace import Workspace
from hookwright.agent.tools.tool import Effect
from hookwright.config.settings import PermissionSettings as Declared
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Decision

#: Judges a call in auto mode: returns None if it may run, else the reason it may not; raises if it cannot decide.
Classifier = Callable[[ToolCall], Awaitable[str | None]]

NO_CLASSIFIER = "Classifier unavailable"
NO_VERDICT = "Auto mode could not evaluate this action and is blocking it for safety"


class PermissionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The permissions a session starts with."""

    declared: Declared = Declared()
    #: The mode of the command line; None for the settings' `defaultMode`.
    mode: str | None = None
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()


class Permissions:
    """The permissions of a session: decides its calls and applies changes."""

    def __init__(
        self, given: PermissionSetup, workspace: Workspace, files: SettingsFiles, classifier: Classifier | None = None
    ) -> None:
        self._notices: list[Diagnostic] = []
        self._files = files
        self._classifier = classifier
        rules = Rules(self._told(declared_rules(given.declared)))
        for texts, behavior in ((given.allowed, Behavior.ALLOW), (given.disallowed, Behavior.DENY)):
            words = [rule for text in texts for rule in split_rules(text)]
            rules = rules.plus(self._told(spoken_rules(words, behavior, Origin.CLI)))
        mode = self._mode(given.mode or given.declared.default_mode or Mode.DEFAULT.value)
        self._state = RulesState(mode, rules, workspace)
        self._bypass = mode is Mode.BYPASS
        self._add_declared(given.declared)

    @property
    def mode(self) -> Mode:
        """The current mode."""
        return self._state.mode

    @property
    def workspace(self) -> Workspace:
        """The directories of the session."""
        return self._state.workspace

    @property
    def rules(self) -> Rules:
        """The current rules."""
        return self._state.rules

    def decide(
        self, call: ToolCall, hook: Decision, mode: Mode | None = None, readable: tuple[str, ...] = ()
    ) -> Ruling:
        """Decide a call; for a subagent `mode` overrides the session's mode, and `readable` adds files it may read."""
        workspace = self.workspace
        if readable:
            workspace = msgspec.structs.replace(workspace, readable=(*workspace.readable, *readable))
        return decide(call, self.mode if mode is None else mode, self.rules, hook, workspace)

    def guard(self, call: ToolCall) -> Refuse | AskUser | None:
        """Apply the deny and ask rules to a call that a PermissionRequest hook allowed or rewrote."""
        return guard(call, self.rules, self.workspace)

    def hides(self, path: str) -> bool:
        """Return whether a deny rule for Read covers a file."""
        found = self.rules.guard(Behavior.DENY, "Read", {"file_path": path}, self.workspace.where(self.workspace.root))
        return found is not None and found[1] is None

    def may_read(self, path: str) -> bool:
        """Return whether a search or a completion may show a file: no deny or ask rule for `Read` applies to it."""
        if not any(listed.behavior is not Behavior.ALLOW for listed in self.rules.listed):
            return True
        given, cwd = {"file_path": path}, self.workspace.root
        return self.guard(ToolCall(tool="Read", input=given, effect=Effect.READ, cwd=cwd, path=path)) is None

    def directories(self) -> tuple[str, ...]:
        """Return the directories of the workspace."""
        return (self.workspace.root, *self.workspace.added, *self.workspace.readable)

    async def classify(self, call: ToolCall) -> Permit | Refuse:
        """Ask the classifier of auto mode; its refusals fire PermissionDenied."""
        if self._classifier is None:
            return Refuse(NO_CLASSIFIER, By.CLASSIFIER)
        try:
            reason = await self._classifier(call)
        except Exception as error:  # the host's classifier: a call it cannot judge does not run
            return Refuse(f"{NO_VERDICT}: {error}", By.CLASSIFIER)
        return Permit("classifier") if reason is None else Refuse(reason, By.CLASSIFIER)

    def set_mode(self, name: str) -> None:
        """Switch the mode; raise InvalidUpdate for an unknown name."""
        self._apply(SetMode(read_mode(name), Origin.SESSION))

    def add_directory(self, path: str) -> None:
        """Add a directory to the workspace for this session."""
        self._apply(AddDirectories((path,), Origin.SESSION))

    def update(self, entries: Sequence[Json]) -> tuple[Update, ...]:
        """Apply `updatedPermissions`; return the updates written to files. `take_notices` has what is wrong."""
        updates, notes = read_updates(entries)
        self._notices += notes
        kept = []
        for update in updates:
            if self._apply(update):
                note = keep(update, self._files)
                if note is None:
                    kept.append(update)
                else:
                    self._notices.append(note)
        return tuple(kept)

    def take_notices(self) -> list[Diagnostic]:
        """Return what was wrong with rules and updates, once."""
        notices, self._notices = self._notices, []
        return notices

    def reload(self, declared: Declared) -> None:
        """Apply changed settings files; rules of the command line and the session, and the mode, stay."""
        rules = self.rules.reloaded(self._told(declared_rules(declared)))
        self._state = msgspec.structs.replace(self._state, rules=rules)
        self._add_declared(declared)

    def _apply(self, update: Update) -> bool:
        if isinstance(update, SetMode) and update.mode is Mode.BYPASS and not self._bypass:
            text = "bypassPermissions is only available in sessions started with it; the mode is unchanged."
            self._notices.append(Diagnostic("invalid-permission-update", text))
            return False
        self._state = applied(self._state, update)
        return True

    def _add_declared(self, declared: Declared) -> None:
        for directory in declared.additional_directories:
            self._apply(AddDirectories((directory.text,), Origin.SESSION))

    def _mode(self, name: str) -> Mode:
        try:
            return read_mode(name)
        except InvalidUpdate as error:
            self._notices.append(Diagnostic("invalid-permission-update", f"{error} The session asks as usual."))
            return Mode.DEFAULT

    def _told(self, found: tuple[Any, tuple[Diagnostic, ...]]) -> Any:
        self._notices += found[1]
        return found[0]
