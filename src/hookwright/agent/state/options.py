"""The options of an agent."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from hookwright.agent.state.components import AgentType
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.models.types import Tuning
from hookwright.protocol.jsontext import Json

MODES = ("default", "plan", "acceptEdits", "dontAsk", "bypassPermissions", "auto")


class NewSession(msgspec.Struct, frozen=True):
    """Start a new conversation; without an id, with a random one."""

    session_id: str | None = None


class ContinueLatest(msgspec.Struct, frozen=True):
    """Resume the project's latest conversation."""

    fork: bool = False


class ResumeSession(msgspec.Struct, frozen=True):
    """Resume a conversation by id."""

    session_id: str
    fork: bool = False
    #: The uuid of the line that the conversation is to end with; None for all of it.
    at: str | None = None
    #: The uuid of the prompt whose turn may be lost with that; None for whatever comes after it.
    drops: str | None = None


Start = NewSession | ContinueLatest | ResumeSession


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run; the defaults are a cautious headless session in the current directory."""

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
    #: The tools on offer; None for the default ones.
    tools: tuple[str, ...] | None = None
    settings: tuple[str, ...] = ()
    #: Settings files whose hooks run in shadow mode: they are recorded and decide nothing.
    shadow: tuple[str, ...] = ()
    setting_sources: tuple[str, ...] | None = None
    plugin_dirs: tuple[str, ...] = ()
    mcp_config: tuple[str, ...] = ()
    #: Ignore the project's `.mcp.json`.
    strict_mcp_config: bool = False
    agents: Mapping[str, AgentType] = msgspec.field(default_factory=dict)
    #: The skills on offer; None for all.
    skills: tuple[str, ...] | None = None
    #: The schema of the answer; None for free text.
    json_schema: Mapping[str, Json] | None = None
    #: The agent type whose prompt, tools, model and hooks the main agent has; its events carry the name.
    agent: str | None = None
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    #: The MCP tool that answers permission questions, by its full name; None for the person.
    permission_tool: str | None = None
    #: Thinking, effort, beta features and task budgets.
    tuning: Tuning = Tuning()
    #: Used for a request that the model is too busy for.
    fallback_model: str | None = None
    max_turns: int | None = None
    #: End when the session has cost this much, in US dollars.
    max_budget_usd: float | None = None
    add_dirs: tuple[str, ...] = ()
    #: The name of a worktree to start in.
    worktree: str | None = None
    #: Why Setup hooks run: `init` or `maintenance`.
    setup: str | None = None
    #: True trusts every hook of the project; None leaves it to the environment and the trust store.
    trust: bool | None = None
    #: Managed hooks only, and no memory, skills, agents or servers of the project.
    safe_mode: bool = False
    #: A user sits at a screen: commands that need one work, and idling sends a notification.
    attended: bool = False
    #: One prompt, then the end: `asyncRewake` hooks are awaited, since there is no later turn to wake.
    one_shot: bool = True
    #: Run hooks one after the other in configuration order; a stop ends the rest.
    sequential: bool = False
    #: False lets hooks run until they end.
    timeouts: bool = True
    #: Keep the hooks of the start: edits of settings files have no effect on this session.
    frozen: bool = False
    #: Compact when the model has read this many tokens; None for never.
    context_limit: int | None = 160_000
    #: Seconds until an unanswered question sends a notification.
    question_notice: float = 6.0
    idle_notice: float = 60.0
    #: Write every run and skip to the user's journal.
    journal: bool = False
    #: A second process ends running hooks if this one is killed.
    watchdog: bool = True

    def places(self) -> Places:
        """Return where the session's hooks come from."""
        return Places(
            project=self.cwd,
            env=self.env,
            home=self.home,
            settings=() if self.safe_mode else self.settings,
            shadow=self.shadow,
            sources=self.setting_sources,
            plugin_dirs=self.plugin_dirs,
            trust=TrustPolicy.EVERYTHING if self.trust else None,
            managed_only=self.safe_mode,
        )
