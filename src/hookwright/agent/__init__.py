"""The reference agent: a small, real coding agent with hooks at every point.

    from hookwright.agent import Agent, AgentOptions, open_agent

| place | contents |
|---|---|
| `agent`, `assembly` | the library: open an agent, and what it is made of |
| `state/` | what all agents of a session share, one agent at work, one conversation, options, updates, results |
| `turn/` | the life of a prompt, a turn and a tool call; starting, compacting, clearing and resuming a session |
| `subagents/` | subagents, teammates, skills, MCP tools, worktrees |
| `headless/` | `hookwright run`: arguments, streams, the control protocol |
| `tools/`, `permissions/`, `transcript/` | tools, rules, files |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookwright.agent.agent import Agent as Agent
    from hookwright.agent.agent import open_agent as open_agent
    from hookwright.agent.state.endings import Result as Result
    from hookwright.agent.state.options import AgentOptions as AgentOptions
    from hookwright.agent.state.session import Permission as Permission
    from hookwright.agent.state.session import PermissionQuestion as PermissionQuestion
    from hookwright.agent.state.session import Person as Person

_WHERE = {
    "Agent": "hookwright.agent.agent",
    "AgentOptions": "hookwright.agent.state.options",
    "Person": "hookwright.agent.state.session",
    "Permission": "hookwright.agent.state.session",
    "PermissionQuestion": "hookwright.agent.state.session",
    "Result": "hookwright.agent.state.endings",
    "open_agent": "hookwright.agent.agent",
}


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'hookwright.agent' has no attribute {name!r}")
    return getattr(importlib.import_module(where), name)
