"""Worktrees: created and removed by hooks if there are any, else by git."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.tools import Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.errors import HookFailed
from hookwright.hookset import HookSet
from hookwright.processes.process import Command, Exit, ExitCode, run
from hookwright.projects.git import LISTING, git_command, with_own_filters
from hookwright.protocol.events import Event, WorktreeCreate, WorktreeRemove
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIMIT = 120.0

Fire = Callable[[Event], Awaitable[Outcome]]


class WorktreeFailed(HookFailed):
    """A worktree could not be created or removed."""


async def create(name: str, event: WorktreeCreate, fire: Fire, hooks: HookSet) -> str:
    """Create a worktree and return its path; raise WorktreeFailed."""
    if not _NAME.fullmatch(name):
        raise WorktreeFailed(f"{name!r} is not a valid name for a worktree; use letters, digits, `.`, `_` and `-`.")
    if not hooks.of_event("WorktreeCreate"):
        return await _git_create(name, event.cwd)
    outcome = await fire(event)
    if not outcome.runs:
        return await _git_create(name, event.cwd)
    if outcome.blocked:
        raise WorktreeFailed(f"WorktreeCreate hook failed: {outcome.reason}")
    path = outcome.fields.get("worktree_path")
    if not isinstance(path, str):
        raise WorktreeFailed("WorktreeCreate hook returned no path; print the path of the new worktree.")
    return checked(path, event.cwd)


def checked(path: str, base: str) -> str:
    """Check the path of a hook's worktree: an existing directory, without dots, not through a link; return it."""
    if os.path.isabs(path) and any(part in (".", "..") for part in path.split("/")):
        raise WorktreeFailed(f"WorktreeCreate hook returned {path}: a path with dots is refused. Print the plain path.")
    full = os.path.normpath(os.path.join(base, path))
    below = os.path.relpath(full, base)
    if not below.startswith("..") and os.path.realpath(full) != os.path.join(os.path.realpath(base), below):
        raise WorktreeFailed(f"WorktreeCreate hook returned {path}, which leads through a link inside the repository.")
    if not os.path.isdir(full):
        raise WorktreeFailed(f"WorktreeCreate hook returned {path}, but there is no such directory.")
    return full


async def remove(path: str, event: WorktreeRemove, fire: Fire, hooks: HookSet) -> None:
    """Remove a worktree; a failed hook is an error only if the directory is still there."""
    outcome = await fire(event) if hooks.of_event("WorktreeRemove") else None
    if outcome is None or not outcome.runs:
        await _git(event.cwd, "worktree", "remove", "--force", path)
    elif outcome.blocked and os.path.isdir(path):
        raise WorktreeFailed(f"WorktreeRemove hook failed: {outcome.reason}")


async def _git_create(name: str, cwd: str) -> str:
    root = (await _git(cwd, "rev-parse", "--show-toplevel")).strip()
    path = os.path.join(root, ".claude", "worktrees", name)
    if not os.path.isdir(path):
        await _git(root, "worktree", "add", "-B", f"worktree-{name}", path)
    return path


async def _git(cwd: str, *arguments: str) -> str:
    """Run git without the programs that the repository's own configuration names; return what it printed."""
    listing = await _run_git(cwd, LISTING, os.environ)
    return await _run_git(cwd, arguments, with_own_filters(listing, os.environ))


async def _run_git(cwd: str, arguments: Sequence[str], env: Mapping[str, str]) -> str:
    ended = await run(Command(argv=tuple(git_command(cwd, *arguments)), cwd=cwd, env=env), _LIMIT)
    if not isinstance(ended, Exit):
        raise WorktreeFailed(f"git {arguments[0]} could not run in {cwd}.")
    if ended.status != ExitCode(0):
        said = ended.output.stderr.data.decode("utf-8", "replace").strip()
        raise WorktreeFailed(f"git {' '.join(arguments[:2])} failed in {cwd}: {said}")
    return ended.output.stdout.data.decode("utf-8", "replace")


@contextlib.asynccontextmanager
async def worktree_for(actor: Actor) -> AsyncIterator[None]:
    """Let an agent work in its own worktree; a worktree without changes is removed afterwards."""
    assert actor.identity is not None
    hooks, home = actor.session.hooks.engine.hooks, actor.context.cwd
    name = f"agent-{actor.identity.agent_id}"
    path = await create(name, actor.event(WorktreeCreate, name=name), actor.fire, hooks)
    actor.start_in(path)
    try:
        yield
    finally:
        if not await _is_changed(path):
            await remove(path, actor.event(WorktreeRemove, worktree_path=path, cwd=home), actor.fire, hooks)


async def _is_changed(path: str) -> bool:
    """Return whether something would be lost; if git fails, assume so."""
    try:
        return bool((await _git(path, "status", "--porcelain")).strip())
    except WorktreeFailed:
        return True


# ── the tools ───────────────────────────────────────────────────────────────


def worktree_tools() -> tuple[Tool, Tool]:
    """Build EnterWorktree and ExitWorktree, which move the calling agent."""
    entered: list[tuple[str, str]] = []

    async def enter(arguments: dict[str, Json], context: ToolContext) -> ToolResult:
        actor = caller().actor
        name = arguments.get("name") or f"wt-{len(entered) + 1}"
        try:
            path = await create(name, _create_event(actor, name), actor.fire, actor.session.hooks.engine.hooks)
        except WorktreeFailed as error:
            return failed(str(error))
        entered.append((path, context.cwd))
        context.move(path)
        response = {"worktreePath": path, "name": name}
        return ToolResult(response, f"You now work in {path}.")

    async def leave(arguments: dict[str, Json], context: ToolContext) -> ToolResult:
        if not entered:
            return failed("You are not in a worktree.")
        actor, (path, before) = caller().actor, entered[-1]
        if arguments.get("action", "keep") == "remove":
            event = actor.event(WorktreeRemove, worktree_path=path, cwd=before)
            try:
                await remove(path, event, actor.fire, actor.session.hooks.engine.hooks)
            except WorktreeFailed as error:
                return failed(str(error))
        entered.pop()
        context.move(before)
        return ToolResult({"worktreePath": path, "cwd": before}, f"You work in {before} again.")

    text = {"type": "string"}
    shared: dict[str, Json] = {"effect": Effect.OTHER, "output": {"type": "object"}, "render": str}
    return (
        Tool(
            name="EnterWorktree",
            description="Continue in a new worktree of the repository.",
            parameters=parameters({}, {"name": text}),
            run=enter,
            **shared,
        ),
        Tool(
            name="ExitWorktree",
            description="Go back from the worktree; `remove` deletes it.",
            parameters=parameters({}, {"action": {"type": "string", "enum": ["keep", "remove"]}}),
            run=leave,
            **shared,
        ),
    )


def _create_event(actor: Actor, name: str) -> WorktreeCreate:
    return actor.event(WorktreeCreate, name=name)
