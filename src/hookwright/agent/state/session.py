"""What all agents of one session share: its hooks, its model, its rules, its state and its unfinished work."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from hookwright.agent.permissions import Mode, Permissions
from hookwright.agent.permissions.settings import trust_own_changes
from hookwright.agent.permissions.updates import Update as PermissionUpdate
from hookwright.agent.state.components import Components
from hookwright.agent.state.inbox import Inbox
from hookwright.agent.state.instructions import Instructions
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.session_model import SessionModel
from hookwright.agent.state.session_state import SessionState
from hookwright.agent.state.updates import Diagnosed, Listener, ModeChanged, Note, Update
from hookwright.agent.state.user_notes import changed_hooks, notes
from hookwright.agent.tools import Tool
from hookwright.agent.transcript import Mirror
from hookwright.config import TrustPolicy
from hookwright.mcp.values import Carry, ElicitationRequest, Elicited
from hookwright.models.prices import total_usd
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import (
    Event,
    McpServer,
    ModeEvent,
    Notification,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import has_effort
from hookwright.protocol.outcome import Outcome, Run
from hookwright.session import HookSession

E = TypeVar("E", bound=Event)

#: Seconds that hooks of `fire_later` may still run when the session ends.
GRACE = 5.0


class Identity(msgspec.Struct, frozen=True):
    """An agent other than the main one."""

    agent_id: str
    agent_type: str


class PermissionQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A call that needs a person's permission."""

    tool_name: str
    tool_input: Mapping[str, Json]
    tool_use_id: str
    #: Why a person is asked, with the label of the hook or rule that asks.
    reason: str | None = None
    suggestions: tuple[Mapping[str, Json], ...] = ()
    agent_id: str | None = None
    #: The file outside the working directories that the call is about.
    blocked_path: str | None = None


class Permission(msgspec.Struct, frozen=True, kw_only=True):
    """The person's answer."""

    allow: bool
    message: str = ""
    updated_input: Mapping[str, Json] | None = None
    updated_permissions: tuple[Mapping[str, Json], ...] = ()
    interrupt: bool = False


#: Asks a person for permission.
AskPermission = Callable[[PermissionQuestion], Awaitable[Permission]]
#: Shows an MCP server's question to a person.
AskForm = Callable[[ElicitationRequest], Awaitable[Elicited]]


class Person(msgspec.Struct, frozen=True):
    """How to reach a person and the host program; None if there is none to ask."""

    permit: AskPermission | None = None
    fill_in: AskForm | None = None
    #: Passes messages to MCP servers that live in the host program.
    carry: Carry | None = None
    #: Receives every line of every transcript.
    mirror: Mirror | None = None


def ignore(update: Update) -> None:
    """Take an update of a session that has no listener."""


class Servers(Protocol):
    """The MCP servers of a session."""

    @property
    def status(self) -> tuple[tuple[str, str], ...]:
        """Every server with its state: connected, failed or disabled."""

    def server_of(self, tool: str) -> McpServer | None:
        """Return the server a tool comes from; None for the agent's own tools."""


class Equipment(Protocol):
    """What the model may call and start."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools on offer, by name."""

    @property
    def components(self) -> Components:
        """The agents, skills and commands of the session."""

    def equip(self) -> None:
        """Read agents and skills again and offer the tools that follow from them."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Session:
    """One session: the parts that stay the same while it runs, and `state`, the record of what changes."""

    options: AgentOptions
    hooks: HookSession
    model: SessionModel
    permissions: Permissions
    person: Person
    #: Passes an update to the host.
    tell: Listener
    inbox: Inbox
    #: None in safe mode, which reads no memory files.
    instructions: Instructions | None
    equipment: Equipment
    servers: Servers
    #: Lists what runs in the background, as Stop hooks read it.
    background_tasks: Callable[[], list[dict[str, Json]]]
    state: SessionState
    _companions: set[asyncio.Task[None]] = dataclasses.field(default_factory=set)
    _errands: set[asyncio.Task[None]] = dataclasses.field(default_factory=set)
    #: Hooks that changed after they were trusted, each shown once.
    _changed: set[str] = dataclasses.field(default_factory=set)

    # ── events ──────────────────────────────────────────────────────────────

    def event(self, cls: type[E], by: Identity | None = None, **fields: Any) -> E:
        """Build an event: the common fields, then its own."""
        common: dict[str, Json] = {
            "session_id": self.state.id,
            "transcript_path": self.state.transcript_path,
            "cwd": self.state.cwd,
            "prompt_id": self.state.prompt_id if self.state.prompt_id is not None else UNSET,
        }
        if by is not None:
            common |= {"agent_id": by.agent_id, "agent_type": by.agent_type or UNSET}
        elif self.options.agent is not None:
            common["agent_type"] = self.options.agent
        if issubclass(cls, ModeEvent):
            common["permission_mode"] = self.permissions.mode.value
        if cls.rules.effort and self.state.prompt_id is not None and (effort := self.effort) is not None:
            common["effort"] = {"level": effort}
        return cls(**{**common, **fields})

    async def fire(self, event: Event) -> Outcome:
        """Fire an event and show the person what its hooks say to them."""
        return self._shown(await self.hooks.fire(event))

    async def recheck(self, event: Event, before: Sequence[Run]) -> Outcome:
        """Let guards judge an input that was rewritten after they ran, and show the person what they say."""
        return self._shown(await self.hooks.recheck(event, before))

    def _shown(self, outcome: Outcome) -> Outcome:
        for note in notes(outcome):
            self.tell(note)
        for place, note in changed_hooks(outcome).items():
            if place not in self._changed:
                self._changed.add(place)
                self.tell(note)
        self.tell_of_changes()
        return outcome

    def fire_later(self, event: Event, then: Callable[[Outcome], None] | None = None) -> None:
        """Fire an event without waiting for its hooks; `then` receives the outcome."""

        async def run() -> None:
            outcome = await self.fire(event)
            if then is not None:
                then(outcome)

        _kept(run(), self._errands)

    def notify(self, message: str, notification_type: str, title: str | None = None) -> None:
        """Send a notification: `auth_success`, `elicitation_dialog`, or any type of the host's (R-347, R-348)."""
        fields: dict[str, Json] = {} if title is None else {"title": title}
        self.fire_later(self.event(Notification, message=message, notification_type=notification_type, **fields))

    @property
    def over_budget(self) -> bool:
        """Whether the session has cost as much as it may; True if that cannot be known, for want of a price."""
        limit = self.options.max_budget_usd
        cost = total_usd(self.model.cost_by_model.values())
        return limit is not None and (cost is None or cost >= limit)

    @property
    def effort(self) -> str | None:
        """The effort level of the model; None for models that do not take one."""
        if not has_effort(self.model.main_model):
            return None
        env, raw = self.options.env, self.hooks.loaded.settings.raw
        level = self.options.tuning.effort or env.get("CLAUDE_CODE_EFFORT_LEVEL") or raw.get("effortLevel")
        return level if isinstance(level, str) and level else "medium"

    @property
    def home(self) -> str:
        """The user's home directory."""
        return self.hooks.engine.host.home

    @property
    def config_dir(self) -> str:
        """The directory of transcripts and user settings."""
        return self.hooks.loaded.locations.config_dir

    def server_of(self, tool: str) -> McpServer | None:
        """Return the MCP server a tool comes from; None for the agent's own tools."""
        return self.servers.server_of(tool)

    # ── permissions ─────────────────────────────────────────────────────────

    def update_permissions_of_person(self, entries: Sequence[Mapping[str, Json]]) -> None:
        """Apply a person's permission updates; what they write to trusted project settings is trusted again."""
        if not entries:
            return
        before = self.hooks.places.load()
        kept = self._update_permissions(entries)
        if kept:
            trust_own_changes(before, self.hooks.places.load(), kept)

    def update_permissions_of_hook(self, entries: Sequence[Mapping[str, Json]]) -> None:
        """Apply a hook's permission updates; in a project whose settings a person trusted, for this session only.

        Trust is bound to content: a rule written there would switch off all settings of the project, deny rules
        included, until a person trusts them again.
        """
        gate = self.hooks.loaded.gate
        if gate.policy is not TrustPolicy.STORED or not gate.trusts_settings():
            self._update_permissions(entries)
            return
        written = [entry for entry in entries if entry.get("destination") in ("localSettings", "projectSettings")]
        for entry in written:
            text = f"a hook's rule for {entry['destination']} holds for this session; add it to the file yourself"
            self.report(Diagnostic("permission-not-kept", text, None, Severity.WARNING))
        self._update_permissions(
            [{**entry, "destination": "session"} if entry in written else entry for entry in entries]
        )

    def _update_permissions(self, entries: Sequence[Mapping[str, Json]]) -> Sequence[PermissionUpdate]:
        mode = self.permissions.mode
        kept = self.permissions.update(entries)
        self._tell_of_permissions(mode)
        return kept

    def set_mode(self, name: str) -> None:
        """Switch to another permission mode."""
        mode = self.permissions.mode
        self.permissions.set_mode(name)
        self._tell_of_permissions(mode)

    def _tell_of_permissions(self, before: Mode) -> None:
        for diagnostic in self.permissions.take_notices():
            self.report(diagnostic)
        if self.permissions.mode is not before:
            self.tell(ModeChanged(self.permissions.mode.value))

    # ── the host's listener ──────────────────────────────────────────────────

    def report(self, diagnostic: Diagnostic) -> None:
        """Show a finding to the person."""
        self.tell(Diagnosed(diagnostic))

    def complain(self, outcome: Outcome, text: str) -> None:
        """Show what is wrong with a hook's answer that was valid in itself."""
        self.tell(Note(f"{outcome.hook_name} hook error: {text}", level="error", tag="notice"))

    def tell_of_changes(self) -> None:
        """Report changed settings files and apply their rules."""
        found, self.hooks.notices[:] = list(self.hooks.notices), []
        if any(diagnostic.code == "reloaded" for diagnostic in found):
            self.permissions.reload(self.hooks.loaded.settings.permissions)
        for diagnostic in found:
            self.report(diagnostic)

    # ── unfinished work     ─────────────────────────────────────────────────

    def accompany(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something alongside the conversation; it ends with the session."""
        return _kept(work, self._companions)

    async def settle(self, grace: float = GRACE) -> None:
        """End what accompanies the session; give hooks of `fire_later` a moment more."""
        companions, errands = list(self._companions), list(self._errands)
        for task in companions:
            task.cancel()
        if errands:
            _, late = await asyncio.wait(errands, timeout=grace)
            for task in late:
                task.cancel()
        if companions or errands:
            await asyncio.wait([*companions, *errands])
        for task in (*companions, *errands):
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error


def _kept(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> asyncio.Task[None]:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task
