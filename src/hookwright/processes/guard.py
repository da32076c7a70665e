"""Start processes under marks no other process has, and let a watchdog end them if the host is killed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from hookwright.processes.process import Command, NotStarted, Process, start
from hookwright.processes.watchdog import Watchdog

#: The environment variable that carries a mark; for a hook, the part after the dot is its run id in the journal.
RUN_VARIABLE = "HOOKWRIGHT_RUN"

Started = Process | NotStarted
#: Starts a command within a time limit.
Launch = Callable[[Command, float | None], Started]


def mark_prefix(env: Mapping[str, str]) -> str:
    """Return the start of the marks of one owner of processes.

    A process inside a hook continues the hook's own mark, so it is found and ended with the hook.
    """
    outer = env.get(RUN_VARIABLE, "")
    inherited = f"{outer}/" if re.fullmatch(r"[\w./-]{1,1000}", outer) else ""
    return f"{inherited}{os.urandom(4).hex()}."


def start_guarded(
    command: Command, limit: float | None, watchdog: Watchdog | None, launch: Launch = start
) -> Process | NotStarted:
    """Start a command; the watchdog, if there is one, knows its mark from before the start until its end."""
    if watchdog is None:
        return launch(command, limit)
    watchdog.guard(command.mark)
    process = launch(command, limit)
    if isinstance(process, NotStarted):
        watchdog.release(command.mark)
    else:
        watchdog.started(command.mark, process.pid)
        process.on_end = lambda: watchdog.release(command.mark)
    return process
