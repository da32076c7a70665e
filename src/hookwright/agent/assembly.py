"""Build a session from its options: hooks, model, permissions, servers, tools, transcript."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import msgspec

from hookwright.agent.permissions import (
    Permissions,
    PermissionSetup,
    SettingsFiles,
    Workspace,
    read_mode,
)
from hookwright.agent.state.actor import Actor, AgentRole
from hookwright.agent.state.dialogue import current_messages
from hookwright.agent.state.inbox import Inbox
from hookwright.agent.state.instructions import Instructions, Sight
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.session import Person, Session, ignore
from hookwright.agent.state.session_model import SessionModel, resolve
from hookwright.agent.state.session_state import SessionState
from hookwright.agent.state.unsupported import refuse, without_effect
from hookwright.agent.state.updates import Diagnosed, Listener, Note
from hookwright.agent.subagents.background_commands import COMMAND_ENDED, BackgroundCommands
from hookwright.agent.subagents.classifier import classifier
from hookwright.agent.subagents.mcp_tools import configured
from hookwright.agent.subagents.permission_tool import asking_tool
from hookwright.agent.subagents.runner import Subagents, tools_of
from hookwright.agent.subagents.session_servers import SessionServers, connect
from hookwright.agent.subagents.toolset import Toolset
from hookwright.agent.subagents.verifier import SessionTools
from hookwright.agent.subagents.worktrees import create
from hookwright.agent.tools import EnvFiles, Shells, ToolContext
from hookwright.agent.transcript import session_folder
from hookwright.agent.turn.late_hooks import watch_background
from hookwright.agent.turn.opening import announce_instructions, first_system_prompt
from hookwright.agent.turn.resuming import close_lost_calls
from hookwright.agent.turn.tasks import task_gate
from hookwright.agent.turn.transcripts import Begun, begin, mirror_copy, open_dialogue, remember
from hookwright.code_hooks import Hooks
from hookwright.config.locations import Locations, Surroundings, locate
from hookwright.engine import Options
from hookwright.errors import ConfigError
from hookwright.mcp.servers import McpServers
from hookwright.models import from_environment
from hookwright.models.types import Block, Model
from hookwright.observers import Observer
from hookwright.protocol.events import WorktreeCreate
from hookwright.protocol.jsontext import Json
from hookwright.protocol.secrets import scrubbed
from hookwright.session import HookSession, open_session
from hookwright.wiring import Powers


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is made of."""

    session: Session
    main: Actor
    subagents: Subagents
    toolset: Toolset
    servers: SessionServers
    #: startup, resume or fork.
    source: str
    #: Calls of the resumed conversation that a hook deferred.
    deferred: tuple[Block, ...]


class HostParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a host supplies in addition to options."""

    model: Model | None = None
    hooks: Hooks | None = None
    person: Person = Person()
    listener: Listener = ignore
    observers: Sequence[Observer] = ()


async def assemble(options: AgentOptions, host_parts: HostParts, closing: AsyncExitStack) -> Parts:
    """Open everything a session needs; `closing` closes it in reverse order."""
    located = _located(options)
    begun = begin(options, located.config_dir)
    if options.worktree is not None:
        options = await _in_worktree(options, options.worktree, begun, host_parts.observers)
    inner = host_parts.model if host_parts.model is not None else from_environment(options.env)
    model = SessionModel(inner, options.fallback_model)
    closing.push_async_callback(model.close)
    config = configured(options, located.project_dir, host_parts.person.carry)
    servers = await closing.enter_async_context(McpServers(config.servers, env=options.env, cwd=options.cwd))
    main: Actor | None = None
    tools = SessionTools(lambda: main)
    powers = Powers(model=model, servers=servers, messages=current_messages, tools=tools, attended=options.attended)
    hooks = await closing.enter_async_context(_open_hooks(options, host_parts, powers))
    _choose_model(model, options, hooks, begun)
    refuse(options, hooks.loaded.settings.raw, model.main_model)
    session_servers = await connect(servers, config)
    tell, inbox, subagents = host_parts.listener, Inbox(), Subagents()
    env_files = EnvFiles(hooks.env_files, lambda diagnostic: tell(Diagnosed(diagnostic)))
    permissions = _permissions(options, hooks, model, begun)
    commands = BackgroundCommands(tell, inbox, lambda text: session.notify(text, COMMAND_ENDED))
    context = dataclasses.replace(_tool_context(begun, options, hooks, env_files, commands), reading=permissions)
    closing.push_async_callback(context.shells.aclose)
    toolset = Toolset(options, hooks, tell, subagents, session_servers)
    session = Session(
        options=options,
        hooks=hooks,
        model=model,
        permissions=permissions,
        person=_person(options, host_parts.person, session_servers),
        tell=tell,
        inbox=inbox,
        instructions=_instructions(options, hooks, permissions),
        equipment=toolset,
        servers=session_servers,
        background_tasks=lambda: [*_shell_tasks(context), *subagents.running()],
        state=SessionState(begun.session_id, begun.path, options.cwd, begun.title),
    )
    _report_findings(session, session_servers)
    watch_background(session)
    toolset.equip()
    main, deferred = _main_actor(session, context, begun)
    return Parts(
        session=session,
        main=main,
        subagents=subagents,
        toolset=toolset,
        servers=session_servers,
        source=begun.source,
        deferred=deferred,
    )


# ── places ──────────────────────────────────────────────────────────────────


def _located(options: AgentOptions) -> Locations:
    return locate(options.cwd, Surroundings.here(options.env, options.home, None), settings=options.settings)


async def _in_worktree(options: AgentOptions, name: str, begun: Begun, observers: Sequence[Observer]) -> AgentOptions:
    """Create the worktree with the hooks of the current directory; the session then starts in the new one."""
    async with open_session(options.places(), observers=observers) as hooks:
        event = WorktreeCreate(session_id=begun.session_id, transcript_path=begun.path, cwd=options.cwd, name=name)
        path = await create(name, event, hooks.fire, hooks.engine.hooks)
    return msgspec.structs.replace(options, cwd=path)


# ── parts ───────────────────────────────────────────────────────────────────


def _open_hooks(
    options: AgentOptions, host_parts: HostParts, powers: Powers
) -> AbstractAsyncContextManager[HookSession]:
    return open_session(
        options.places(),
        hooks=host_parts.hooks,
        powers=powers,
        observers=host_parts.observers,
        options=Options(sequential=options.sequential, timeouts=options.timeouts, await_rewake=options.one_shot),
        frozen=options.frozen,
        journal=options.journal,
        watchdog=options.watchdog,
    )


def _choose_model(model: SessionModel, options: AgentOptions, hooks: HookSession, begun: Begun) -> None:
    """Apply the model of the options or the settings, and what an earlier run knew about the conversation."""
    name = options.model or hooks.loaded.settings.model
    if name is not None:
        model.switch(resolve(name))
    if begun.earlier is not None:
        remember(model, begun.earlier)


def _permissions(options: AgentOptions, hooks: HookSession, model: SessionModel, begun: Begun) -> Permissions:
    loaded = hooks.loaded
    return Permissions(
        PermissionSetup(
            declared=loaded.settings.permissions,
            mode=options.permission_mode,
            allowed=options.allowed_tools,
            disallowed=options.disallowed_tools,
        ),
        Workspace(
            root=options.cwd,
            home=loaded.locations.home,
            added=options.add_dirs,
            readable=(session_folder(begun.path),),
        ),
        SettingsFiles(loaded.locations.config_dir, loaded.project_dir),
        classifier(model, current_messages),
    )


def _instructions(options: AgentOptions, hooks: HookSession, permissions: Permissions) -> Instructions | None:
    if options.safe_mode:
        return None
    loaded = hooks.loaded
    places = loaded.locations
    sight = Sight(places.root or loaded.project_dir, permissions.hides)
    return Instructions(options.cwd, loaded.project_dir, places.config_dir, places.home, sight)


def _report_findings(session: Session, connected: SessionServers) -> None:
    notices = session.permissions.take_notices()
    for diagnostic in (*session.hooks.loaded.diagnostics, *notices, *connected.diagnostics):
        session.report(diagnostic)
    options = session.options
    in_vain = without_effect(options, session.hooks.loaded.settings.raw)
    for text in (*in_vain, *session.model.ignored(options.tuning)):
        session.tell(Note(text, level="warning", tag="option"))


def _person(options: AgentOptions, person: Person, servers: SessionServers) -> Person:
    """Return whom to ask; a tool for permission questions answers them instead of the person."""
    if options.permission_tool is None:
        return person
    return msgspec.structs.replace(person, permit=asking_tool(options.permission_tool, servers))


def _main_actor(session: Session, context: ToolContext, begun: Begun) -> tuple[Actor, tuple[Block, ...]]:
    """Build the main agent; also return the deferred calls of the conversation it resumes."""
    role = _main_role(session)
    mirror_copy(begun, session.person.mirror)
    dialogue = open_dialogue(session, begun.earlier)
    system = first_system_prompt(session, announce_instructions(session))
    main = Actor(session, dialogue, context, role, system)
    return main, () if begun.earlier is None else close_lost_calls(dialogue, begun.earlier)


def _main_role(session: Session) -> AgentRole:
    """Return the role of the main agent; `--agent` gives it the model, tools, mode and hooks of an agent type."""
    options, agents = session.options, session.equipment.components.agents
    if options.agent is None:
        return AgentRole(max_turns=options.max_turns)
    kind = agents.get(options.agent)
    if kind is None:
        raise ConfigError(f"--agent {options.agent}: there is no such agent. Write one of {', '.join(sorted(agents))}.")
    if kind.model is not None and options.model is None:
        session.model.switch(resolve(kind.model))
    if kind.hooks:
        session.hooks.activate(kind.hooks)
    mode = kind.permission_mode if options.permission_mode is None else None
    limited = kind.tools is not None or kind.disallowed_tools
    return AgentRole(
        tools=tools_of(session, kind) if limited else None,
        mode=read_mode(mode) if mode is not None else None,
        max_turns=options.max_turns if options.max_turns is not None else kind.max_turns,
    )


# ── commands in the background ──────────────────────────────────────────────


def _tool_context(
    begun: Begun, options: AgentOptions, hooks: HookSession, env_files: EnvFiles, commands: BackgroundCommands
) -> ToolContext:
    folder = session_folder(begun.path)
    return ToolContext(
        root=options.cwd,
        cwd=options.cwd,
        env=scrubbed({**options.env, **hooks.loaded.settings.env, "CLAUDECODE": "1"}),
        folder=folder,
        shells=Shells(folder, commands.ended, hooks.watchdog, commands.started),
        env_files=env_files,
        gate=task_gate,
    )


def _shell_tasks(context: ToolContext) -> list[dict[str, Json]]:
    return [
        {"id": task.id, "type": "shell", "status": "running", "description": task.description, "command": task.command}
        for task in context.shells.running()
    ]
