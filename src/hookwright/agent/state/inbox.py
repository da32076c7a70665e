"""What waits for the main agent's next turn: finished background work, messages, hooks that wake it, prompts."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping

import msgspec

from hookwright.protocol.jsontext import Json


class Prompt(msgspec.Struct, frozen=True):
    """A prompt of the user."""

    text: str
    #: Images and other blocks that belong to it.
    blocks: tuple[Mapping[str, Json], ...] = ()
    #: Sent as it is: a slash at its start is not a command.
    verbatim: bool = False
    #: The uuid of its line on disk; None for a random one.
    uuid: str | None = None
    #: A turn that is running reads it with its next tool results, unless it is a command or has other blocks.
    joins: bool = False

    def content(self, text: str) -> str | list[Mapping[str, Json]]:
        """Return the message for the model, with another text where a command expanded."""
        return text if not self.blocks else [*self.blocks, {"type": "text", "text": text}]


class TaskNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A background command or subagent ended."""

    task_id: str
    #: completed, failed or killed.
    status: str
    summary: str
    result: str = ""
    output: str = ""

    @property
    def text(self) -> str:
        """The notice as the model reads it."""
        lines = [
            "<task-notification>",
            f"<task-id>{self.task_id}</task-id>",
            f"<status>{self.status}</status>",
            f"<summary>{self.summary}</summary>",
        ]
        if self.output:
            lines.append(f"<output-file>{self.output}</output-file>")
        if self.result:
            lines.append(f"<result>{self.result}</result>")
        return "\n".join([*lines, "</task-notification>"])


class TeamMessage(msgspec.Struct, frozen=True):
    """A message from a teammate."""

    sender: str
    message: str

    @property
    def text(self) -> str:
        """The message as the model reads it."""
        return f'<teammate-message from="{self.sender}">\n{self.message}\n</teammate-message>'


class Wake(msgspec.Struct, frozen=True):
    """A background hook asks to wake the model."""


class Closed(msgspec.Struct, frozen=True):
    """No more prompts will come."""


InboxItem = Prompt | TaskNotice | TeamMessage | Wake | Closed


class Inbox:
    """A queue that can be checked without waiting."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[InboxItem] = asyncio.Queue()

    def put(self, item: InboxItem) -> None:
        """Add an item for the next turn."""
        self._queue.put_nowait(item)

    async def get(self) -> InboxItem:
        """Wait for the next item."""
        return await self._queue.get()

    def take_joining(self) -> list[Prompt]:
        """Take the prompts that a running turn reads: the first ones, up to an item that needs a turn of its own."""
        items = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        joining = [item for item in itertools.takewhile(_joins, items) if isinstance(item, Prompt)]
        for item in items[len(joining) :]:
            self._queue.put_nowait(item)
        return joining

    @property
    def empty(self) -> bool:
        """Whether no item is waiting."""
        return self._queue.empty()


def _joins(item: InboxItem) -> bool:
    return isinstance(item, Prompt) and item.joins and not item.blocks and (item.verbatim or item.text[:1] != "/")
