"""Put a session together: hooks, model, permissions, servers, tools, transcript."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from detent.agent.actor import Actor
from detent.agent.classifier import classifier
from detent.agent.crew import Crew
from detent.agent.dialogue import current_messages
from detent.agent.inbox import TaskNotice
from detent.agent.instructions import Instructions
from detent.agent.late import watch_background
from detent.agent.mcp_tools import configured, offer
from detent.agent.opening import announce_instructions, first_system_prompt
from detent.agent.options import AgentOptions
from detent.agent.permissions import Given, Permissions, SettingsFiles, Workspace
from detent.agent.records import Begun, begin, open_dialogue, remember
from detent.agent.resuming import close_lost_calls
from detent.agent.session import Person, Session
from detent.agent.tasks import task_gate
from detent.agent.team import Team
from detent.agent.tools import Bench, Ended, Tool, bench_for
from detent.agent.toolset import Toolset
from detent.agent.transcript import session_folder
from detent.agent.updates import Listener
from detent.agent.verifier import SessionTools
from detent.agent.voice import Voice, resolve
from detent.agent.worktrees import create
from detent.config import TrustPolicy
from detent.diagnostics import Severity
from detent.engine import Options
from detent.events import WorktreeCreate
from detent.mcp_servers import McpServers
from detent.model import Model
from detent.models import from_environment
from detent.observers import Observer
from detent.program import Hooks
from detent.session import HookSession, Places, Powers, open_session


class Parts(msgspec.Struct, frozen=True):
    """What an agent is made of."""

    session: Session
    main: Actor
    crew: Crew
    toolset: Toolset
    begun: Begun


async def assemble(
    options: AgentOptions,
    closing: AsyncExitStack,
    *,
    model: Model | None,
    hooks: Hooks | None,
    person: Person | None,
    listeners: Sequence[Listener],
    observers: Sequence[Observer],
) -> Parts:
    """Open everything; what was opened is closed by `closing`, last first."""
    options = await _in_worktree(options, observers)
    places = _places(options)
    config_dir = places.load().locations.config_dir if options.start is None else None
    voice = Voice(model if model is not None else from_environment(options.env))
    closing.push_async_callback(voice.close)
    tools = SessionTools()
    servers = _Servers()
    hook_session = await closing.enter_async_context(
        open_session(
            places,
            hooks=hooks,
            powers=Powers(model=voice, servers=servers.later, messages=current_messages, tools=tools),
            observers=observers,
            options=Options(await_rewake=options.one_shot),
            journal=options.journal,
        )
    )
    raise NotImplementedError(config_dir, hook_session)
