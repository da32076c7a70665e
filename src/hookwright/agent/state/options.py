"""What an agent is started with."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from hookwright.agent.state.components import AgentType
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy

MODES = ("default", "plan", "acceptEdits", "dontAsk", "bypassPermissions", "auto")


class NewSession(msgspec.Struct, frozen=True):
    """Begin a new conversation; the id is made up unless one is given."""

    session_id: str | None = None


class ContinueLatest(msgspec.Struct, frozen=True):
    """Go on with the project's latest conversation."""

    fork: bool = False


class ResumeSession(msgspec.Struct, frozen=True):
    """Go on with a certain conversation."""

    session_id: str
    fork: bool = False


Start = NewSession | ContinueLatest | ResumeSession


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run may be told; the defaults are a careful headless session in the current directory."""

    cwd: str = msgspec.field(default_factory=os.getcwd)
    env: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(os.environ))
    home: str | None = None
    start: Start = NewSession()
    #: A name or alias; None for the settings' model, else the client's own.
    model: str | None = None
    #: None for the settings' `defaultMode`, else `default`.
    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    #: The tools that are offered; None for the usual ones.
    tools: tuple[str, ...] | None = None
    settings: tuple[str, ...] = ()
    setting_sources: tuple[str, ...] | None = None
    plugin_dirs: tuple[str, ...] = ()
    mcp_config: tuple[str, ...] = ()
    #: Leave the project's `.mcp.json` alone.
    strict_mcp_config: bool = False
    agents: Mapping[str, AgentType] = msgspec.field(default_factory=dict)
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    max_turns: int | None = None
    add_dirs: tuple[str, ...] = ()
    #: The name of a worktree to start in.
    worktree: str | None = None
    #: Why Setup hooks run: `init` or `maintenance`.
    setup: str | None = None
    #: Counts every hook of the project as trusted; None leaves it to the environment and the trust store.
    trust: bool | None = None
    #: Managed hooks only, and no memory, skills, agents or servers of the project.
    safe_mode: bool = False
    #: A person sits at a screen: local commands that need one work, and idling is noticed.
    attended: bool = False
    #: One prompt and then the end: `asyncRewake` hooks are awaited, since nobody would be left to wake.
    one_shot: bool = True
    #: Compact when the model has read this many tokens; None for never.
    context_limit: int | None = 160_000
    #: Seconds until a question that nobody answered becomes a notification.
    question_notice: float = 6.0
    idle_notice: float = 60.0
    #: A line for every run and skip in the user's journal.
    journal: bool = False
    #: A process beside this one ends running hooks if this one is killed.
    watchdog: bool = True

    def places(self) -> Places:
        """Say where the hooks of the session are looked for."""
        return Places(
            project=self.cwd,
            env=self.env,
            home=self.home,
            settings=() if self.safe_mode else self.settings,
            sources=self.setting_sources,
            plugin_dirs=self.plugin_dirs,
            trust=TrustPolicy.EVERYTHING if self.trust else None,
            managed_only=self.safe_mode,
        )
