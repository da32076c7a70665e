"""Commands the agent runs itself, without the model."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.endings import COMPACTED
from hookwright.agent.tools import absolute
from hookwright.agent.turn.clearing import clear
from hookwright.agent.turn.compaction import Compacted, compact
from hookwright.agent.turn.switching import SwitchRefused, try_switch
from hookwright.protocol.events import DirectoryAdded

ADD_DIR_NEEDS_SCREEN = (
    "/add-dir is not available without a screen. Start with --add-dir, or send the control request register_repo_root."
)


def local_output(text: str) -> str:
    """Return what a command printed as the model reads it with the next prompt; Claude Code's own tags."""
    return f"<local-command-stdout>{text}</local-command-stdout>"


async def run_compact(actor: Actor, arguments: str) -> str:
    """Compact the conversation; the arguments say what to keep."""
    done = await compact(actor, "manual", arguments or None)
    if isinstance(done, Compacted):
        text = f"{COMPACTED} {done.said}"
        actor.dialogue.add_reminder(local_output(text))
        return text.strip()
    if done.refused:
        actor.dialogue.add_reminder(f"<local-command-stderr>{done.why}</local-command-stderr>")
    return done.why


async def run_clear(actor: Actor, arguments: str) -> str:  # noqa: ARG001 - every command gets its arguments
    """Clear the conversation and start a new one."""
    await clear(actor)
    return "The conversation is cleared."


async def run_model(actor: Actor, arguments: str) -> str:
    """Show or switch the model."""
    if not arguments:
        return f"The model is {actor.session.model.main_model}."
    done = await try_switch(actor, arguments, "command")
    if isinstance(done, SwitchRefused):
        text = f"The model stays {actor.session.model.main_model}: {done.reason}"
        actor.dialogue.add_reminder(local_output(text))
        return text
    return f"The model is {done} now."


async def run_add_dir(actor: Actor, arguments: str) -> str:
    """Also let the agent work in another directory."""
    if not actor.session.options.attended:
        return ADD_DIR_NEEDS_SCREEN
    return add_directory(actor, arguments, "slash_command")


def add_directory(actor: Actor, path: str, source: str) -> str:
    """Add a directory to the workspace and fire DirectoryAdded."""
    session = actor.session
    directory = absolute(path, session.state.cwd, session.home)
    if not os.path.isdir(directory):
        return f"{directory} is not a directory."
    workspace = session.permissions.workspace
    if directory == workspace.root or directory in workspace.added:
        return f"{directory} is there already."
    session.permissions.add_directory(directory)
    event = actor.event(DirectoryAdded, directory=directory, source=source)
    session.fire_later(event, lambda outcome: actor.dialogue.record_firing(outcome))
    return f"Added {directory} as a working directory."


COMMANDS: dict[str, Callable[[Actor, str], Awaitable[str]]] = {
    "add-dir": run_add_dir,
    "clear": run_clear,
    "compact": run_compact,
    "model": run_model,
}
