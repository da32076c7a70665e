"""Side effects of tool calls: the working directory, nested instructions, watched files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.instructions import as_text
from hookwright.agent.state.prompts import instructions_part, moved
from hookwright.agent.state.session import Session
from hookwright.agent.tools import Effect, Tool, ToolResult
from hookwright.agent.turn.opening import take_watch_paths
from hookwright.agent.turn.watch import INTERVAL, Watch, watched_names
from hookwright.protocol.events import CwdChanged, FileChanged, InstructionsLoaded
from hookwright.protocol.jsontext import Json


def after_tool(actor: Actor, tool: Tool, arguments: Mapping[str, Json], result: ToolResult) -> list[str]:
    """Apply what a call changed; return what the model should know about it."""
    texts = []
    if actor.context.cwd != actor.cwd:
        texts.append(move(actor, actor.context.cwd))
    path = arguments.get("file_path")
    if isinstance(path, str) and tool.effect in (Effect.READ, Effect.EDIT) and not result.is_error:
        texts += _instructions_for(actor, path)
    return texts


def move(actor: Actor, directory: str) -> str:
    """Work in another directory and fire CwdChanged; return the text for the model."""
    session, old = actor.session, actor.move(directory)
    event = actor.event(CwdChanged, old_cwd=old, new_cwd=directory)
    session.fire_later(event, lambda outcome: take_watch_paths(session, outcome))
    return moved(old, directory)


def _instructions_for(actor: Actor, path: str) -> list[str]:
    session = actor.session
    if session.instructions is None:
        return []
    found = session.instructions.for_file(path)
    for notice in session.instructions.take_notices():
        session.report(notice)
    for one in found:
        session.fire_later(session.event(InstructionsLoaded, **one.fields))
    return [instructions_part(as_text(found))] if found else []


async def watch_files(session: Session) -> None:
    """Check the watched files for as long as the session lasts; a change fires FileChanged."""
    watch, state = Watch(), session.state
    while True:
        names = watched_names(session.hooks.engine.hooks)
        if names or state.watch_paths:
            for change in watch.look(state.cwd, names, state.watch_paths):
                event = session.event(FileChanged, file_path=change.path, event=change.event)
                session.fire_later(event, lambda outcome: take_watch_paths(session, outcome))
        await asyncio.sleep(INTERVAL)
