"""The nouns of an inventory: a file of an agent, a hook in it, and what is wrong with either."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from hookwright.config.jsonfile import Path, shown_pointer
from hookwright.dialects.model import Dialect, HookFile, Moment
from hookwright.dialects.reading.tree import Content
from hookwright.protocol.jsontext import Json


class ForeignHook(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One handler in a file of an agent."""

    dialect: Dialect
    declared: HookFile
    path: str
    content: Content
    #: The event as it is written.
    event: str
    #: The agent's event of that name; None if it has none.
    moment: Moment | None
    #: The path of the group, and of the handler; the same in a flat file.
    group_at: Path
    at: Path
    group: Mapping[str, Json]
    entry: Mapping[str, Json]
    #: The key that holds the command; empty if there is none.
    command_key: str

    @property
    def command(self) -> str:
        """The command line; empty for another kind of handler."""
        found = self.entry.get(self.command_key) if self.command_key else None
        return found if isinstance(found, str) else ""

    @property
    def kind(self) -> str:
        """The type of the handler."""
        found = self.entry.get("type", "command")
        return found if isinstance(found, str) else str(found)

    @property
    def label(self) -> str:
        """The command, or what the handler is instead."""
        named = next((self.entry[key] for key in ("url", "prompt", "tool") if key in self.entry), "")
        return self.command or f"{self.kind} {named}".strip()

    @property
    def matcher(self) -> str | None:
        """The text of its matcher."""
        found = self.group.get("matcher", self.entry.get("matcher"))
        return found if isinstance(found, str) else None

    @property
    def limit(self) -> float | None:
        """The time limit in seconds that the agent applies; None if there is none."""
        value = self.entry.get(self.dialect.clock.key)
        seconds = self.dialect.clock.default
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = self.dialect.clock.seconds(value)
        most = self.moment.limit if self.moment is not None else None
        return min(seconds, most) if seconds is not None and most is not None else seconds

    @property
    def line(self) -> int:
        """The line of the handler."""
        return self.spot()[0]

    @property
    def pointer(self) -> str:
        """Where the handler is in the value of its file."""
        return shown_pointer(self.at)

    def spot(self, *steps: str | int) -> tuple[int, int]:
        """Return the line and column of a key of the handler, or of the handler itself."""
        return self.content.spot((*self.at, *steps))


class Trouble(enum.Enum):
    """What is wrong with a part of a file."""

    UNREADABLE = "the file cannot be read"
    VOID = "the file is ignored"
    EVENT = "an unknown event"
    KEY = "an unknown key"
    SHAPE = "a value of the wrong type"


class Problem(msgspec.Struct, frozen=True):
    """Something in a file that the agent cannot use, and what it does with it."""

    trouble: Trouble
    path: str
    what: str
    line: int = 1
    column: int = 1
    pointer: str = ""


class AgentHooks(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of one agent on this machine."""

    dialect: Dialect
    #: The files that exist, in the agent's order.
    files: tuple[str, ...] = ()
    hooks: tuple[ForeignHook, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def unreadable(self) -> tuple[Problem, ...]:
        """The files that could not be read."""
        return tuple(item for item in self.problems if item.trouble is Trouble.UNREADABLE)
