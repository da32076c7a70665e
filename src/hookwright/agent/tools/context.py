"""What the tools of one agent work with: its directory, its environment, its commands and its tasks."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Protocol

from hookwright.agent.tools.board import Board, Change
from hookwright.agent.tools.envfiles import EnvFiles
from hookwright.agent.tools.shells import Shells
from hookwright.projects.lookup import Search

#: Sees a change to a task before it is made; a text refuses it and goes to the model.
TaskGate = Callable[[Change], Awaitable[str | None]]
#: Answers a question about some text: (question, text) -> answer.
AskModel = Callable[[str, str], Awaitable[str]]


class FileReading(Protocol):
    """What searches may show."""

    def may_read(self, path: str) -> bool:
        """Return whether a file that a search found may be shown."""
        ...

    def directories(self) -> tuple[str, ...]:
        """Return the directories in which a link may lead to another file."""
        ...


class Unbound:
    """Searches that no rule limits, for tools without a session."""

    def may_read(self, _path: str) -> bool:
        """Return True."""
        return True

    def directories(self) -> tuple[str, ...]:
        """Return none: links stay below the folder that is searched."""
        return ()


@dataclasses.dataclass(kw_only=True)
class ToolContext:
    """Shared by the calls of one agent; tools change nothing but `cwd` and `seen`."""

    #: Where the session started; commands return to it when their directory is gone.
    root: str
    #: Where commands run; `cd` in a command moves it.
    cwd: str
    env: Mapping[str, str]
    #: The session's own folder, for output of background commands.
    folder: str
    shells: Shells
    env_files: EnvFiles
    board: Board = dataclasses.field(default_factory=Board)
    reading: FileReading = dataclasses.field(default_factory=Unbound)
    gate: TaskGate | None = None
    ask_model: AskModel | None = None
    #: Files whose content is in the conversation: read, or written as a whole.
    seen: set[str] = dataclasses.field(default_factory=set)
    #: Seconds one search may take.
    search_limit: float = 20.0

    @property
    def search(self) -> Search:
        """The search program with this environment and watchdog."""
        return Search(self.env, self.shells.watchdog, self.search_limit)

    def move(self, directory: str) -> None:
        """Run commands in another directory from now on."""
        self.cwd = directory

    @contextlib.contextmanager
    def at(self, directory: str) -> Iterator[ToolContext]:
        """Run one call in its own directory, whatever parallel calls do; where it ends is the session's directory."""
        own = dataclasses.replace(self, cwd=directory)
        try:
            yield own
        finally:
            if own.cwd != directory:
                self.move(own.cwd)

    def for_agent(self) -> ToolContext:
        """Return a copy for a subagent, which may change its directory without moving ours."""
        return dataclasses.replace(self, seen=set())
