"""Put a session together: hooks, model, permissions, servers, tools, transcript."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from hookwright.agent.permissions import Permissions, PermissionSetup, SettingsFiles, Workspace
from hookwright.agent.state.actor import Actor
from hookwright.agent.state.dialogue import current_messages
from hookwright.agent.state.inbox import TaskNotice
from hookwright.agent.state.instructions import Instructions
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.session import Person, Session
from hookwright.agent.state.session_model import SessionModel, resolve
from hookwright.agent.state.updates import Listener
from hookwright.agent.subagents.classifier import classifier
from hookwright.agent.subagents.mcp_tools import configured, offer
from hookwright.agent.subagents.runner import Crew
from hookwright.agent.subagents.team import Team
from hookwright.agent.subagents.toolset import Toolset
from hookwright.agent.subagents.verifier import SessionTools
from hookwright.agent.subagents.worktrees import create
from hookwright.agent.tools import ShellEnded, ToolContext, bench_for
from hookwright.agent.transcript import session_folder
from hookwright.agent.turn.late_hooks import watch_background
from hookwright.agent.turn.opening import announce_instructions, first_system_prompt
from hookwright.agent.turn.resuming import close_lost_calls
from hookwright.agent.turn.tasks import task_gate
from hookwright.agent.turn.transcripts import Begun, begin, open_dialogue, remember
from hookwright.code_hooks import Hooks
from hookwright.config.locations import Locations, Surroundings, locate
from hookwright.engine import Options
from hookwright.mcp.servers import McpServers
from hookwright.models import from_environment
from hookwright.models.types import Model
from hookwright.observers import Observer
from hookwright.protocol.events import WorktreeCreate
from hookwright.protocol.jsontext import Json
from hookwright.session import HookSession, open_session
from hookwright.wiring import Powers


class Parts(msgspec.Struct, frozen=True):
    """What an agent is made of."""

    session: Session
    main: Actor
    crew: Crew
    toolset: Toolset
    begun: Begun


class HostParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a program brings along besides options."""

    model: Model | None = None
    hooks: Hooks | None = None
    person: Person = Person()
    listeners: Sequence[Listener] = ()
    observers: Sequence[Observer] = ()


async def assemble(options: AgentOptions, brought: HostParts, closing: AsyncExitStack) -> Parts:
    """Open everything; what was opened is closed by `closing`, last first."""
    located = _located(options)
    begun = begin(options, located.config_dir)
    if options.worktree is not None:
        options = await _in_worktree(options, options.worktree, begun, brought.observers)
    voice = SessionModel(brought.model if brought.model is not None else from_environment(options.env))
    closing.push_async_callback(voice.close)
    places = options.places()
    config = configured(options, located.project_dir)
    servers = await closing.enter_async_context(McpServers(config.servers, env=options.env, cwd=options.cwd))
    lent = SessionTools()
    hooks = await closing.enter_async_context(
        open_session(
            places,
            hooks=brought.hooks,
            powers=Powers(
                model=voice, servers=servers, messages=current_messages, tools=lent, attended=options.attended
            ),
            observers=brought.observers,
            options=Options(await_rewake=options.one_shot),
            journal=options.journal,
            watchdog=options.watchdog,
        )
    )
    session = _session(options, hooks, voice, begun, brought)
    bench = _bench(session)
    closing.push_async_callback(bench.shells.aclose)
    main = _main_actor(session, bench, begun)
    lent.lender = main
    crew = Crew(session)
    for diagnostic in config.diagnostics:
        session.report(diagnostic)
    mcp = await offer(session, servers, config.sources) if config.servers else {}
    toolset = Toolset(session, crew, Team(session, crew), mcp)
    toolset.equip()
    session.equip = toolset.equip
    session.background_tasks = lambda: [*_shell_tasks(bench), *crew.running()]
    return Parts(session, main, crew, toolset, begun)


# ── places ──────────────────────────────────────────────────────────────────


def _located(options: AgentOptions) -> Locations:
    return locate(options.cwd, Surroundings.here(options.env, options.home, None), settings=options.settings)


async def _in_worktree(options: AgentOptions, name: str, begun: Begun, observers: Sequence[Observer]) -> AgentOptions:
    """Make the worktree with the hooks of the directory that we are in; the session then starts in the new one."""
    async with open_session(options.places(), observers=observers) as hooks:
        event = WorktreeCreate(session_id=begun.session_id, transcript_path=begun.path, cwd=options.cwd, name=name)
        path = await create(name, event, hooks.fire, hooks.engine.hooks)
    return msgspec.structs.replace(options, cwd=path)


# ── parts ───────────────────────────────────────────────────────────────────


def _session(
    options: AgentOptions, hooks: HookSession, voice: SessionModel, begun: Begun, brought: HostParts
) -> Session:
    loaded = hooks.loaded
    model = options.model or loaded.settings.model
    if model is not None:
        voice.main_model = resolve(model)
    permissions = Permissions(
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
        classifier(voice, current_messages),
    )
    session = Session(options, hooks, voice, permissions, brought.person)
    session.listeners.extend(brought.listeners)
    session.id = begun.session_id
    session.transcript_path = begun.path
    if not options.safe_mode:
        session.instructions = Instructions(
            options.cwd, loaded.project_dir, loaded.locations.config_dir, loaded.locations.home
        )
    for diagnostic in (*loaded.diagnostics, *permissions.notices):
        session.report(diagnostic)
    permissions.notices.clear()
    watch_background(session)
    return session


def _main_actor(session: Session, bench: ToolContext, begun: Begun) -> Actor:
    if begun.told is not None:
        remember(session, begun.told)
    dialogue = open_dialogue(session, begun.told)
    main = Actor(session, dialogue, bench, system="")
    main.system = first_system_prompt(session, announce_instructions(session))
    main.max_turns = session.options.max_turns
    bench.gate = task_gate(main)
    if begun.told is not None:
        main.waiting_calls = close_lost_calls(main, begun.told)
    return main


def _bench(session: Session) -> ToolContext:
    env = {**session.options.env, **session.hooks.loaded.settings.env, "CLAUDECODE": "1"}
    folder = session_folder(session.transcript_path)
    bench = bench_for(session.cwd, env, folder, session.hooks.env_files, session.report)
    bench.shells.watchdog = session.hooks.watchdog

    def ended(task: ShellEnded) -> None:
        status = "killed" if task.killed else "completed" if task.status == 0 else "failed"
        session.inbox.put(
            TaskNotice(
                task_id=task.task.id,
                status=status,
                summary=f'Background command "{task.task.description or task.task.command}" {status} '
                f"(exit code {task.status})",
                output=task.task.output,
            )
        )

    bench.shells.on_end = ended
    return bench


def _shell_tasks(bench: ToolContext) -> list[dict[str, Json]]:
    return [
        {"id": task.id, "type": "shell", "status": "running", "description": task.description, "command": task.command}
        for task in bench.shells.running()
    ]
