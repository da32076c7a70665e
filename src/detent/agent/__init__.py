"""The reference agent: a small, real coding agent with hooks at every point.

    from detent.agent import Agent, AgentOptions, open_agent

| file | what it tells |
|---|---|
| `loop` | the life of a turn |
| `tool_call`, `consent` | the life of a tool call, and whether it may run |
| `submission`, `opening`, `compaction` | the life of a prompt, the beginning of a session, a conversation made short |
| `session`, `actor`, `dialogue` | what all agents share, one agent at work, one conversation with its transcript |
| `crew`, `team`, `toolset`, `mcp_tools`, `worktrees` | subagents, teammates, skills, MCP, worktrees |
| `agent`, `assembly`, `options`, `updates`, `endings` | the library: open an agent, hear of it, read its result |
| `tools/`, `permissions/`, `transcript/` | tools, rules, files |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.agent.agent import Agent as Agent
    from detent.agent.agent import open_agent as open_agent
    from detent.agent.endings import Result as Result
    from detent.agent.options import AgentOptions as AgentOptions
    from detent.agent.session import Person as Person
    from detent.agent.session import Question as Question
    from detent.agent.session import Reply as Reply

_WHERE = {
    "Agent": "detent.agent.agent",
    "AgentOptions": "detent.agent.options",
    "Person": "detent.agent.session",
    "Question": "detent.agent.session",
    "Reply": "detent.agent.session",
    "Result": "detent.agent.endings",
    "open_agent": "detent.agent.agent",
}


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'detent.agent' has no attribute {name!r}")
    return getattr(importlib.import_module(where), name)
