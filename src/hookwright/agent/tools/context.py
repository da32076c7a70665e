"""What the tools of one agent work with: its directory, its environment, its commands and its tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence

from hookwright.agent.tools.board import Board, Change
from hookwright.agent.tools.envfiles import EnvFiles
from hookwright.agent.tools.shells import Shells
from hookwright.projects.lookup import Search
from hookwright.protocol.diagnostics import Diagnostic

#: Hears of a change to a task before it counts; a text refuses it and goes to the model.
TaskGate = Callable[[Change], Awaitable[str | None]]
#: Answers a question about a text: (question, text) -> answer.
AskModel = Callable[[str, str], Awaitable[str]]


@dataclasses.dataclass(kw_only=True)
class ToolContext:
    """Shared by the calls of one agent; `cwd` is the only thing that tools change."""

    #: Where the session started; commands go back to it when their directory is gone.
    root: str
    #: Where commands run; `cd` in a command moves it.
    cwd: str
    env: Mapping[str, str]
    #: The session's own folder, for output of background commands.
    folder: str
    shells: Shells
    env_files: EnvFiles
    board: Board = dataclasses.field(default_factory=Board)
    gate: TaskGate | None = None
    ask_model: AskModel | None = None
    #: Seconds one search may take.
    search_limit: float = 20.0

    @property
    def search(self) -> Search:
        """Runs Grep and Glob with this environment and watchdog."""
        return Search(self.env, self.shells.watchdog, self.search_limit)

    def for_agent(self) -> ToolContext:
        """Lend the bench to a subagent, which may change its directory without moving ours."""
        return dataclasses.replace(self)


def bench_for(
    cwd: str,
    env: Mapping[str, str],
    folder: str,
    env_files: Callable[[], Sequence[tuple[str, str]]],
    report: Callable[[Diagnostic], None],
) -> ToolContext:
    """Set up a bench; `env_files` lists (hook, path) anew for each command, `report` hears of files that are broken."""
    checked = EnvFiles(env_files, report)
    return ToolContext(root=cwd, cwd=cwd, env=env, folder=folder, shells=Shells(folder), env_files=checked)
